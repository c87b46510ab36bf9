"""The way from anywhere in the room to a run's live transcript, and back. Beside `Prompting` and `Leading`."""

import re
from typing import TYPE_CHECKING

from core.domain.entities import Run
from core.domain.inbox_item import InboxItem
from tui.modes import HOME
from tui.projection import Projection

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen
    from tui.screens.leading import Host, Leading
    from tui.screens.run import RunScreen

_COLUMNS = {"task": "task_id", "goal": "goal_id", "round": "round_id", "agent": "agent_id", "run": "id"}
_RUN = re.compile(r"\s*[Rr]?([0-9]{1,15})\s*")


class Attaching:
    """What the screen needs of the room."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.screen: RunScreen | None = None

    @property
    def leading(self) -> "Leading":
        """How acts are asked for, confirmed and sent."""
        return self._room.leading

    @property
    def view(self) -> Projection:
        """The room's memory."""
        return self._room.view

    def open(self, ref: str, host: "Host | None" = None) -> None:
        """The newest run about this (`task:3`, `agent:2`, `run:12`), one at work before all others."""
        if self.view.loaded:
            self._room.app.run_worker(
                self._look(ref, host or self._room), name="look for the run", group="attach", exclusive=True,
                exit_on_error=False,
            )  # fmt: skip

    def jump(self, text: str, host: "Host") -> None:
        """The run that somebody typed, e.g. R12."""
        found = _RUN.fullmatch(text)
        if found is None:
            host.say(f"{text[:40]!r} is no run; type R12.", "bad")
        else:
            self.open(f"run:{found[1]}", host)

    async def _look(self, ref: str, host: "Host") -> None:
        kind, _, number = ref.partition(":")
        column = _COLUMNS.get(kind)
        where = f"{column} = :id" if column else "status IN ('starting', 'running')"
        order = "status IN ('starting', 'running') DESC, id DESC LIMIT 1"
        about = {"id": int(number)} if column and number.isdecimal() else {}
        if column and not about:
            host.say("No run works on that.", "warn")
            return
        runs = await self._room.company.board.readers.entities(Run, f"{where} ORDER BY {order}", **about)
        if not runs:
            said = f"There is no R{number} on this board." if kind == "run" else "Nothing has run for that yet."
            host.say(said, "warn")
            return
        self.show(runs[0])

    def show(self, run: Run) -> None:
        """This run, over whatever is open."""
        from tui.screens.run import RunScreen

        if self.screen is not None:
            self.screen.show_run(run)
        else:
            self.screen = RunScreen(self, run)
            self._room.app.push_screen(self.screen)

    def left(self, screen: "RunScreen") -> None:
        """Back to where it was opened."""
        if self.screen is screen:
            self.screen = None
            screen.dismiss()

    def answer(self, item: InboxItem) -> None:
        """Leave for this item of the inbox, whatever the live view was opened from."""
        self._room.app.modes.go(HOME)
        self._room.inbox.reveal(item.id)
        # what was pressed for the run must decide nothing
        self._room.decisions.deafen()
        self._room.call_after_refresh(self._room.inbox.list.focus)

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened."""
        if self.screen is not None:
            self.screen.touch(dirty)

    def grow_older(self) -> None:
        """Once a second."""
        if self.screen is not None:
            self.screen.show_head()
            self.screen.show_keys()
