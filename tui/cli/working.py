"""A company at work in this process without a room: its socket, its progress, its whole end on a signal."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from core.agents.runner import Runner
from core.commands.company import StartCompany
from core.company import OpenCompany
from core.config import Config
from core.domain.errors import OpsroomError
from core.headless import Ended, Ending, Headless
from core.runners import runners_for
from core.server.doors import Doors
from tui.cli.deciding import item_text, read_all
from tui.cli.exits import Exit
from tui.cli.logs import keep_log
from tui.cli.names import quoted, tag_of
from tui.cli.output import note
from tui.cli.progress import Progress

T = TypeVar("T")
EXIT_OF = {
    Ending.DONE: Exit.OK,
    Ending.WAITS: Exit.WAITS,
    Ending.UNSUCCESSFUL: Exit.UNSUCCESSFUL,
    Ending.STUCK: Exit.STUCK,
}
SIGNALS = {
    signal.SIGINT: Exit.INTERRUPTED,
    signal.SIGTERM: Exit.TERMINATED,
    signal.SIGHUP: Exit.HUNG_UP,
}


@dataclass(frozen=True, slots=True)
class Manner:
    """How a company is to work: who decides, whether running it is the operator's start, at what pace."""

    approve_all: bool = False
    wait: bool = False
    start: bool = False
    pace_ms: int | None = None


class Interrupted(Exception):
    """A signal ended the work; everything that it had started is gone."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.code = SIGNALS[number]


async def until_signal(work: Coroutine[Any, Any, T]) -> T:
    """Do the work; a signal cancels it once, and what follows may end in peace. Raises Interrupted."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    came: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if not came:
            note(f"opsroom: {number.name}: ending whole …")
            task.cancel()
        came.append(number)

    # Who starts us with a signal ignored (nohup, &) means it.
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if came:
            raise Interrupted(came[0]) from None
        raise
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def runners_of(config: Config, pace_ms: int | None) -> Mapping[str, Runner]:
    """The runners for these settings, at another pace than theirs if one is given."""
    if config.rehearsal is not None and pace_ms is not None:
        rehearsal = config.rehearsal.model_copy(update={"pace_ms": pace_ms})
        config = config.model_copy(update={"rehearsal": rehearsal})
    return runners_for(config)


@asynccontextmanager
async def served(company: OpenCompany, warn: Callable[[str], None]) -> AsyncIterator[Doors]:
    """Take other processes' commands meanwhile. Without a socket the company works all the same."""
    async with Doors(company) as doors:
        await open_socket(doors, warn)
        yield doors


async def open_socket(doors: Doors, warn: Callable[[str], None]) -> None:
    """Open the owner's socket, or say why there is none."""
    try:
        await doors.open_socket()
    except (OpsroomError, OSError) as error:
        warn(f"Other processes cannot send commands: {error}")


async def work(folder: Path, config: Config, manner: Manner) -> Ended:
    """Own the company, let it work until there is an end to tell, and let it go. Raises BoardOwned and its kind."""
    company = await OpenCompany.open(folder, runners_of(config, manner.pace_ms), role="owner")
    try:
        if manner.start:
            await company.execute(StartCompany())
        async with Progress(company) as progress, served(company, progress.note):
            keep_log(folder, progress.note)
            await company.start()
            headless = Headless(
                company,
                approve_all=manner.approve_all,
                wait=manner.wait,
                took=lambda item, choice: progress.note(f"{choice.verb} {tag_of(item)} ({item.kind}): {item.title}"),
            )
            return await headless.run()
    finally:
        await company.close()


def tell(ended: Ended, folder: Path) -> None:
    """How it ended, and what a person can do now, on standard error."""
    note(f"opsroom: {ended.words}")
    materials = read_all(ended.owed, folder)
    for item in ended.owed:
        note(item_text(item, folder, materials))
    if ended.needs == "start":
        note(f"    opsroom start {quoted(folder)}")
    elif ended.needs == "goal":
        note(f"    opsroom goal add {quoted(folder)} TITLE")
