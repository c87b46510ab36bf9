"""The way from the room to the history and into the past, and back. Beside `Prompting` and `Attaching`."""

import asyncio
from typing import TYPE_CHECKING

from core.blackboard.past import Folding, Past
from core.company import OpenCompany
from core.domain.entities import Event
from core.domain.event_filter import EventFilter, about
from tui.panes.event_log import subject_of
from tui.projection import WORDS, Projection

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen
    from tui.screens.history import HistoryScreen
    from tui.screens.past import PastScreen


class LookingBack:
    """What the two screens need of the room."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self._past: Past | None = None
        self._folds = asyncio.Lock()
        self.screen: HistoryScreen | None = None
        self.then: PastScreen | None = None

    @property
    def company(self) -> OpenCompany:
        """The company that is looked at."""
        return self._room.company

    @property
    def view(self) -> Projection:
        """The room's memory: the board as it is now."""
        return self._room.view

    def now(self) -> int:
        """The room's clock (ms)."""
        return self._room.now()

    # ------------------------------------------------------------- the ways

    def open(self, ref: str = "") -> None:
        """The log, of everything or of one thing, over whatever is open."""
        from tui.screens.history import HistoryScreen

        if self.view.loaded and self.screen is None:
            self.screen = HistoryScreen(self, about(ref))
            self._room.app.push_screen(self.screen)

    def look_at(self, event: Event, wanted: EventFilter) -> None:
        """The board as it was after an event; steps go among events that fit the filter."""
        from tui.screens.past import PastScreen

        if self.then is None:
            self.then = PastScreen(self, event, wanted)
            self._room.app.push_screen(self.then)

    def left(self, screen: "HistoryScreen | PastScreen") -> None:
        """Back to where it was opened."""
        if screen is self.then:
            self.then = None
        elif screen is self.screen:
            self.screen = None
        else:
            return
        screen.dismiss()

    def gone(self, screen: "HistoryScreen | PastScreen") -> None:
        """It is off the screen, whoever closed it."""
        self.then = None if screen is self.then else self.then
        self.screen = None if screen is self.screen else self.screen

    def to_now(self) -> None:
        """Out of the past and the log, to the room."""
        if self.then is not None:
            self.left(self.then)
        if self.screen is not None:
            self.left(self.screen)

    def to_thing(self, ref: str) -> str:
        """To a thing as it is now: in the room, or its run; says why not when it cannot be shown."""
        ref = subject_of(ref, self.view)
        if ref.startswith("run:"):
            self._room.attaching.open(ref)
            return ""
        if ref.startswith("agent:"):
            return "is among the agents: A in the room shows them."
        if not self._room.board.reveal(ref):
            return "is not on the board now." if ref else "It is about nothing that can be opened."
        self.to_now()
        self._room.set_focus(self._room.board.list)
        self._room.board.list.move_to(ref)
        return ""

    # ------------------------------------------------------------- the past

    async def board_at(self, number: int, folding: Folding) -> Projection:
        """The room's memory as it was after an event; folded in a thread. Raises Stopped and BoardError."""
        if self._past is None:
            self._past = Past(self.company.board.path, WORDS.keys())
        at_work = asyncio.ensure_future(self._fold(self._past, number, folding))
        # Whoever waits may give up; the thread ends by itself then, and no other may fold before.
        at_work.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(at_work)

    async def _fold(self, past: Past, number: int, folding: Folding) -> Projection:
        async with self._folds:
            return await asyncio.to_thread(_projected, past, number, folding)

    # ------------------------------------------------------------- bringing up to date

    def bring_up_to_date(self) -> None:
        """Show what the board has just told."""
        self._room.flush()

    def grow_older(self) -> None:
        """Once a second."""
        if self.screen is not None:
            self.screen.grow_older()
        if self.then is not None:
            self.then.show_head()


def _projected(past: Past, number: int, folding: Folding) -> Projection:
    then = Projection()
    then.load(number, past.at(number, folding))
    return then
