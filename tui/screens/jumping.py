"""Going to a thing whatever mode one is in, and back to where one was. Beside `Attaching` and `LookingBack`.

A thing that the board's tree does not list (an archived goal, its tasks) is pinned: the detail shows it until
another row is chosen.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.entities import Approval
from core.domain.states import ApprovalStatus
from tui.modes import HOME, mode_of
from tui.targets import exists, tag_of, words_of
from tui.text import in_words, one_line
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen

MOST = 50  # places on the trail; the oldest goes first


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody was: the mode (or `run`), what was selected, which tab, and whether it was being read."""

    mode: str
    ref: str
    tab: int = 1
    in_detail: bool = False
    item: str = ""


class Jumping:
    """The trail, and what is pinned."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.trail: deque[Place] = deque(maxlen=MOST)
        self.pinned = ""

    # ------------------------------------------------------------- where one is

    def subject(self) -> str:
        """What is selected on the screen that is looked at, e.g. `task:3`; empty where nothing is."""
        from tui.screens.agents import AgentsScreen
        from tui.screens.history import HistoryScreen
        from tui.screens.run import RunScreen

        screen = next((each for each in reversed(self._room.app.screen_stack) if mode_of(each)), self._room)
        match screen:
            case RunScreen():
                return f"run:{screen.run_now.id}"
            case AgentsScreen():
                return f"agent:{screen.agent.id}" if screen.agent is not None else ""
            case HistoryScreen():
                from tui.panes.event_log import thing_of

                return thing_of(screen.event, screen.back.view) if screen.event is not None else ""
            case _:
                return str(getattr(screen, "subject", "")) or self._of_the_room()

    def _of_the_room(self) -> str:
        item = self._room.situation.item
        is_question = item is not None and item.id.startswith("approval:")
        return item.id if item is not None and is_question else self._room.situation.ref

    def here(self) -> Place:
        """Where one is now."""
        app = self._room.app
        top = next((mode_of(each) for each in reversed(app.screen_stack) if mode_of(each)), HOME)
        if top == "run":
            return Place("run", self.subject())
        item = self._room.inbox.item
        chosen = item.id if item is not None and self._room.situation.item is not None else ""
        ref = self._room.situation.ref if top == HOME else self.subject()
        return Place(top, ref, self._room.detail.tabs.open, self._room.has_class("-in-detail"), chosen)

    # ------------------------------------------------------------- the ways

    def go(self, ref: str) -> None:
        """To this thing; the way back is kept. Tells why when there is none."""
        if not exists(self._room.view, ref) and self._room.view.find(ref) is None:
            self._tell(f"{tag_of(self._room.view, ref)} is not on this board.", "warn")
            return
        here = self.here()
        if self._show(ref) and (not self.trail or self.trail[-1] != here):
            self.trail.append(here)

    def back(self) -> None:
        """To where one was before the last jump."""
        while self.trail:
            place = self.trail.pop()
            if place != self.here():
                self._return_to(place)
                return
        self._tell("There is no place to go back to: only jumps leave a trail.", "dim")

    def _show(self, ref: str) -> bool:
        kind = ref.partition(":")[0]
        if kind == "run":
            self._room.attaching.open(ref)
            return True
        if kind == "approval":
            return self._show_question(ref)
        if kind == "agent":
            return self._show_agent(ref)
        return self._show_on_board(ref)

    def _show_agent(self, ref: str) -> bool:
        if not self._room.app.modes.go("agents"):
            return self._refused()
        screen = self._room.leading.screen
        if screen is not None:
            screen.call_after_refresh(screen.choose, ref)
        return True

    def _show_question(self, ref: str) -> bool:
        """A question that waits in the inbox; one that is answered below its thing, or in the history."""
        room = self._room
        question = room.view.tables.get(Approval, int(ref.partition(":")[2]))
        if question is None:
            return False
        if question.status == ApprovalStatus.PENDING and room.inbox.list.row(ref) is not None:
            if not room.app.modes.go(HOME):
                return self._refused()
            self.pinned = ""
            room.inbox.list.move_to(ref)
            room.decisions.deafen()
            room.call_after_refresh(room.inbox.list.focus)
            return True
        if question.entity.startswith(("goal:", "task:", "round:")):
            if not self._show_on_board(question.entity):
                return False
            told = f"{question.name_tag} ({one_line(question.title)}) is over: {in_words(question.status)}."
            room.call_after_refresh(room.say, told, "dim")
            return True
        room.looking_back.open(ref)
        return True

    def _show_on_board(self, ref: str) -> bool:
        room = self._room
        if not room.app.modes.go(HOME):
            return self._refused()
        self.pinned = ""
        if room.board.reveal(ref):
            room.board.list.move_to(ref)
            room.call_after_refresh(room.board.list.focus)
            return True
        self.pinned = ref
        room.call_after_refresh(room.detail.prose.focus)
        tag = tag_of(room.view, ref)
        room.call_after_refresh(room.say, f"{tag} is not listed on the board now; esc goes back to the board.", "dim")
        return True

    def _return_to(self, place: Place) -> None:
        room = self._room
        if place.mode == "run":
            room.attaching.open(place.ref)
            return
        if place.mode != HOME:
            if place.ref.startswith("agent:") and place.mode == "agents":
                self._show_agent(place.ref)
            elif not room.app.modes.go(place.mode):
                self._refused()
            return
        if place.item and room.inbox.list.row(place.item) is not None:
            if not room.app.modes.go(HOME):
                self._refused()
                return
            self.pinned = ""
            room.inbox.list.move_to(place.item)
            room.decisions.deafen()
            room.call_after_refresh(room.inbox.list.focus)
        elif not place.ref:
            room.app.modes.go(HOME)
        elif not self._show_on_board(place.ref):
            return
        room.detail.open_tab(place.tab)
        if place.in_detail:
            room.call_after_refresh(room.detail.prose.focus)

    def unpin(self) -> None:
        """A row was chosen: it is what is shown."""
        self.pinned = ""

    def _refused(self) -> bool:
        self._tell("Something is being written or asked here: finish or leave it (esc) first.", "warn")
        return False

    def _tell(self, text: str, tone: Tone) -> None:
        tell: Callable[[str, Tone], None] = getattr(self._room.app.screen, "say", self._room.say)
        tell(text, tone)

    # ------------------------------------------------------------- targets of a text

    def pointed(self, ref: str) -> None:
        """Say where the chosen target leads."""
        if not ref:
            self._tell("There is no other id or @name in that direction.", "dim")
            return
        view = self._room.view
        self._tell(f"{tag_of(view, ref)}  {one_line(words_of(view, ref))} · enter goes there", "info")
