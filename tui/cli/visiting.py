"""The room of one visitor in a browser: `python -m tui.cli.visiting DIR`, started by `opsroom serve --web` alone.

It follows the owner of the board and never becomes it: a page that is left must not take the company along.
"""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import Config, read_config, runner_kinds
from tui.cli.exits import Exit
from tui.cli.logs import LOG, keep_log
from tui.cli.output import prepare

if TYPE_CHECKING:
    from tui.app import OpsroomApp

_LOOK_S = 0.5


def main(folder: Path) -> int:
    """Show the room to whoever is at the other end of the pipes, until they leave."""
    prepare()
    config = read_config(folder)
    _quiet(folder)
    return asyncio.run(_show(folder, config))


def argv(folder: Path) -> list[str]:
    """What starts it."""
    return [sys.executable, "-m", "tui.cli.visiting", str(folder)]


def _quiet(folder: Path) -> None:
    """What a fault prints belongs into the log: standard error is the terminal of whoever serves."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), 2)


async def _show(folder: Path, config: Config) -> int:
    from core.company import OpenCompany
    from tui.app import OpsroomApp
    from tui.personal import Personal

    personal = await asyncio.to_thread(Personal.read)
    company = await OpenCompany.open(folder, role="reader")
    try:
        keep_log(folder)
        app = OpsroomApp(company, runner_kinds=runner_kinds(config), personal=personal, start=False)
    except BaseException:
        await company.close()
        raise
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, app.exit, None, int(Exit.HUNG_UP))
    watch = asyncio.create_task(_leave_with_the_server(app), name="server")
    try:
        await app.run_async()
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
    return app.return_code or Exit.OK


async def _leave_with_the_server(app: "OpsroomApp") -> None:
    from tui.driver import is_gone

    while not is_gone(0):  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(_LOOK_S)
    app.exit(None, int(Exit.HUNG_UP))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
