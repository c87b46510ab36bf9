"""The way from the room to the board mode and back, and what of it outlives its screen. Beside `LookingBack`."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.board_look import BoardLook
from tui.board_view import Used
from tui.board_view_deps import Links
from tui.panes.status import Standing
from tui.screens.board_used import RunsUsed

if TYPE_CHECKING:
    from tui.screens.board_mode import BoardScreen
    from tui.screens.control import ControlScreen

READ_AGAIN_S = 0.5


class Boarding:
    """While `screen` is there, the keys of the room act on what is selected on it."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.screen: BoardScreen | None = None
        self.folds: dict[str, bool] = {}
        self.words = ""
        self.links = Links()
        self.cursor = ""
        self._runs = RunsUsed()
        self._reading = False

    @property
    def room(self) -> "ControlScreen":
        """The room that it belongs to."""
        return self._room

    @property
    def look(self) -> BoardLook:
        """What was chosen last, also before the last start."""
        return self._room.app.personal.memory.now.board or BoardLook()

    @look.setter
    def look(self, look: BoardLook) -> None:
        self._room.app.personal.memory.keep(board=look)

    @property
    def used(self) -> Mapping[str, Used]:
        """Runs and cost by reference."""
        return self._runs.used

    @property
    def standing(self) -> tuple[bool, bool]:
        """Whether the selected thing is being read, and whether less than everything shows."""
        if self.screen is None:
            narrow = self._room.board.filtered or self._room.inbox.filter.is_narrow
            return self._room.has_class("-in-detail"), narrow
        return self.screen.in_detail, self.screen.table.filtered or self.screen.table.root > 0

    # ------------------------------------------------------------- the ways

    def open(self) -> None:
        """The whole board; with the cursor where it was, else on what is selected in the room."""
        from tui.screens.board_mode import BoardScreen

        if self._room.view.loaded and self.screen is None:
            self.cursor = self.cursor or self._room.situation.ref
            self.screen = BoardScreen(self)
            self._room.app.push_screen(self.screen)
            self._read()

    def left(self, screen: "BoardScreen") -> None:
        """Back to the room."""
        if self.screen is screen:
            self.gone(screen)
            screen.dismiss()

    def gone(self, screen: "BoardScreen") -> None:
        """It is off the screen, whoever closed it: the keys act on the room's own again."""
        if self.screen is screen:
            self.cursor = screen.ref
            self.screen = None
            self._room.look_again()
            # what was read before may be old
            self._room.detail.touch(frozenset({self._room.detail.ref}))

    # ------------------------------------------------------------- bringing up to date

    def touch(self, dirty: frozenset[str], now: int) -> None:
        """Something happened."""
        self._runs.touch(self._room.view, dirty)
        if self.screen is not None:
            self.screen.show(dirty, now)
            self._read()

    def grow_older(self, now: int) -> None:
        """Once a second."""
        if self.screen is not None:
            self.screen.grow_older(now)

    def stand(self, standing: Standing) -> None:
        """What the bar at the top tells."""
        if self.screen is not None:
            self.screen.stand(standing)

    def _read(self) -> None:
        if self._runs.is_behind and not self._reading:
            self._reading = True
            self._room.app.run_worker(self._read_runs(), name="read runs", group="board runs", exit_on_error=False)

    async def _read_runs(self) -> None:
        try:
            while self._runs.is_behind and self.screen is not None:
                changed = await self._runs.read(self._room.company.board.readers)
                if self.screen is not None:
                    self.screen.use(changed)
                if self._runs.is_behind:
                    await asyncio.sleep(READ_AGAIN_S)
        finally:
            self._reading = False
