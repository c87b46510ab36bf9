"""The way from the room to the prompts' screen and back. Beside `Writing` and `Leading`."""

from typing import TYPE_CHECKING

from core.commands.registry import Command
from core.company import OpenCompany
from tui.actions import Situation
from tui.projection import Projection

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen
    from tui.screens.prompts import PromptsScreen


class Prompting:
    """What the screen needs of the room."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.screen: PromptsScreen | None = None

    @property
    def company(self) -> OpenCompany:
        """The company that is looked at."""
        return self._room.company

    @property
    def view(self) -> Projection:
        """The room's memory."""
        return self._room.view

    @property
    def situation(self) -> Situation:
        """What is selected in the room."""
        return self._room.situation

    def now(self) -> int:
        """The room's clock (ms)."""
        return self._room.now()

    def open(self, ref: str) -> None:
        """What is told about this, e.g. `task:3` or `agent:2`, over whatever is open."""
        from tui.screens.prompts import PromptsScreen

        if self.view.loaded and self.screen is None:
            self.screen = PromptsScreen(self, ref)
            self._room.app.push_screen(self.screen)

    def left(self, screen: "PromptsScreen") -> None:
        """Back to where it was opened."""
        if self.screen is screen:
            self.screen = None
            screen.dismiss()

    def bring_up_to_date(self) -> None:
        """Show what the board has just told."""
        self._room.flush()

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened."""
        if self.screen is not None:
            self.screen.touch(dirty)

    def grow_older(self) -> None:
        """Once a second."""
        if self.screen is not None:
            self.screen.grow_older()

    def send(self, words: str, command: Command) -> None:
        """Send a command from a worker; the screen tells what came of it."""
        self._room.decisions.send(words, command, self.screen)
