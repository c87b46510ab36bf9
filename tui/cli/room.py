"""`opsroom DIR`: the room. The socket for other processes is made after the first paint, also after a take-over."""

import argparse
import asyncio
import signal
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.config import Config, read_config, runner_kinds
from core.domain.errors import Invalid
from tui.cli.demo import on_terminal
from tui.cli.exits import Exit
from tui.cli.logs import keep_log
from tui.cli.names import folder_of, quoted
from tui.cli.output import say
from tui.recent import holds_company, with_newest

if TYPE_CHECKING:
    from core.company import OpenCompany
    from core.server.doors import Doors
    from tui.app import OpsroomApp

_POLL_S = 0.25
_TERMINAL_S = 1.0


def room(arguments: argparse.Namespace) -> int:
    """Open the room on a company; where none is named and none is here, what one can begin with."""
    if arguments.dir is None and not holds_company(Path.cwd()):
        from tui.cli.beginning import begin

        return begin()
    folder = folder_of(arguments.dir or ".")
    config = read_config(folder)
    if not on_terminal():
        raise Invalid(
            "The room needs a terminal.",
            f"Without one: opsroom status {quoted(folder)}, or opsroom run {quoted(folder)} --headless.",
        )
    return open_room(folder, config)


def open_room(folder: Path, config: Config, *, pace_ms: int | None = None, start: bool = False) -> int:
    """Show the room until the person leaves it. With `start` opening it is the operator's start of the company."""
    return asyncio.run(_open(folder, config, pace_ms, start))


async def _open(folder: Path, config: Config, pace_ms: int | None, start: bool) -> int:
    from core.commands.company import StartCompany
    from core.company import OpenCompany
    from core.server.doors import Doors
    from tui.app import OpsroomApp
    from tui.cli.going_on import go_on
    from tui.cli.working import runners_of
    from tui.personal import Personal

    # wrong settings are told before the board is touched
    personal = Personal.read()
    company = await OpenCompany.open(folder, runners_of(config, pace_ms))
    try:
        keep_log(folder)
        personal.memory.keep(recent=with_newest(personal.memory.now.recent, company.folder))
        if start:
            await company.execute(StartCompany())
        app = OpsroomApp(company, runner_kinds=runner_kinds(config), personal=personal)
        goes_on = personal.settings.when_terminal_closes == "go on"
        _leave_on_signals(app, goes_on)
    except BaseException:
        await company.close()
        raise
    # From here on the app starts and ends the company. Runs may want a way to the board as soon as they start.
    async with Doors(company) as doors:
        serving = asyncio.create_task(_serve(company, app, doors), name="socket")
        jobs = [serving, asyncio.create_task(_leave_with_the_terminal(app, goes_on), name="terminal")]
        try:
            await app.run_async()
        finally:
            has_socket = serving.done()
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
        if app.company_goes_on:
            try:
                await go_on(company, doors, app.room.disturbing.news, has_socket=has_socket)
            finally:
                await company.close()
            return Exit.HUNG_UP
    if not app.return_code:
        say(f"Come back with: opsroom {quoted(folder)}")
    return app.return_code or Exit.OK


def _leave_on_signals(app: "OpsroomApp", goes_on: bool) -> None:
    """A polite kill ends the room whole: the terminal is restored and no run is left behind. So does a closed
    terminal, unless the company is to go on.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, app.exit, None, int(Exit.TERMINATED))
    loop.add_signal_handler(signal.SIGHUP, partial(app.hang_up, int(Exit.HUNG_UP), go_on=goes_on))


async def _leave_with_the_terminal(app: "OpsroomApp", goes_on: bool) -> None:
    """A terminal can be closed without a signal, e.g. when `make` leads its session."""
    from tui.driver import is_gone

    while not is_gone(sys.stdin.fileno()):  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(_TERMINAL_S)
    app.hang_up(int(Exit.HUNG_UP), go_on=goes_on)


async def _serve(company: "OpenCompany", app: "OpsroomApp", doors: "Doors") -> None:
    from tui.cli.working import open_socket

    while not (app.is_running and company.is_owner):  # noqa: ASYNC110 - both are states of others
        await asyncio.sleep(_POLL_S)
    await open_socket(doors, lambda text: app.notify(text, severity="warning", markup=False))
