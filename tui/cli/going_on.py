"""A company that goes on when the terminal of its room was closed: without a screen, until `opsroom stop`."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.domain.entities import Event
from core.domain.errors import OpsroomError

if TYPE_CHECKING:
    from core.company import OpenCompany
    from core.server.doors import Doors
    from tui.notifying_company import Notifying

LOOK_S = 1.0
ANSWER_S = 0.5  # whoever stopped it gets the answer before its socket closes
log = logging.getLogger(__name__)


async def go_on(company: "OpenCompany", doors: "Doors", news: "Notifying | None", *, has_socket: bool) -> None:
    """Own the company until somebody stops it or a signal comes, then let it go. Its ticker and runs never paused."""
    _leave_terminal()
    ended = asyncio.Event()
    _end_on_signals(ended)

    def hear(events: Sequence[Event]) -> None:
        if any(event.kind == "CompanyStopped" for event in events):
            ended.set()

    unfollow = company.board.follow(hear)
    log.warning("The room's terminal was closed; the company goes on without it in process %s.", os.getpid())
    try:
        if not has_socket:
            with contextlib.suppress(OpsroomError, OSError):
                await doors.open_socket()
        tells = True
        while not ended.is_set():
            tells = tells and _look(news)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await ended.wait()
        await asyncio.sleep(ANSWER_S)
    finally:
        unfollow()
        if news is not None:
            await news.close()
            await news.settle()
        log.warning("The company does not go on without a room any more: it was stopped, or this process ended.")


def _look(news: "Notifying | None") -> bool:
    """Tell what is new. A fault in that must not end the company: whether it may be tried again."""
    try:
        if news is not None:
            news.look()
    except Exception:
        log.exception("Nothing is told any more of the company that goes on without a room")
        return False
    return True


def _leave_terminal() -> None:
    """What is read or written from now on, by whatever part, must not fail at a terminal that is not there."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    os.close(nothing)


def _end_on_signals(ended: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, lambda: None)  # it comes once more when the session's leader ends
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
