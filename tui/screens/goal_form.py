"""The goal's text in one place: written as lines, checked as lines, saved as one edit. Nothing written is lost."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from core.commands.registry import Command, parse
from core.domain.entities import Goal
from core.domain.errors import OpsroomError
from core.domain.states import GoalStatus
from tui.actions import Hint
from tui.goal_text import Draft, draft_of, read_text, to_text
from tui.panes.words import put, said
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.screens.exploring import Exploring

HINT = "^s saves · esc leaves and keeps it"
OVER = "the talk is over"
FIELDS = {
    "title": "the title", "description": "the description", "must_haves": "the must-haves",
    "constraints": "the constraints", "out_of_scope": "what is out of scope",
}  # fmt: skip


class GoalForm(ModalScreen[None]):
    """`since` is the goal when the text was begun: what changed elsewhere meanwhile is kept, or asked about."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "exploring.tcss"]
    HINTS: ClassVar = (Hint("^s", "save", 1), Hint("esc", "leave", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", show=False, priority=True),
        Binding("escape", "leave", "Leave", show=False, priority=True),
    ]

    def __init__(self, talk: "Exploring", since: Draft, text: str = "") -> None:
        super().__init__()
        self._talk = talk
        self._since = since
        self._begun = to_text(since)
        self._warned: frozenset[str] = frozenset()
        self._is_over = False
        self.text = TextArea(text or self._begun, id="goal-text", soft_wrap=True, show_line_numbers=True)
        self.problem = Static(id="goal-problem")
        self.hint = Static(said(HINT, "dim"), id="goal-hint")

    def compose(self) -> ComposeResult:
        """The text, what is wrong with it, and the two keys."""
        with Vertical(classes="dialog") as dialog:
            tag = self._talk.goal.name_tag if self._talk.goal else ""
            dialog.border_title = said(f"Edit {tag}")
            yield self.text
            yield self.problem
            yield self.hint

    def on_mount(self) -> None:
        """The cursor stands behind the title; a small screen has no room for numbers of lines."""
        self.text.focus()
        self.text.show_line_numbers = self.app.size.width >= 60
        self.text.move_cursor((0, len(self.text.document.get_line(0))))
        self.touch()

    def touch(self) -> None:
        """The goal may be another now: a talk that ended below the text is told, and stays told while one writes."""
        goal = self._talk.goal
        is_over = goal is not None and not is_talked_about(goal)
        if is_over != self._is_over and self.is_mounted:
            self._is_over = is_over
            put(self.hint, said(f"{OVER} · {HINT}" if is_over else HINT, "warn" if is_over else "dim"), layout=True)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._say("")

    def _say(self, text: str, tone: Tone = "bad") -> None:
        put(self.problem, said(text, tone), layout=True)

    def action_leave(self) -> None:
        """Leave without saving; the text is kept for the next time."""
        if self.text.text != self._begun:
            self._talk.keep_edit(self.text.text, self._since)
        self.dismiss()

    def action_save(self) -> None:
        """Save what differs, unless a line cannot be understood or somebody else changed the same part."""
        goal = self._talk.goal
        if goal is None:
            return
        draft, problems = read_text(self.text.text, [must["id"] for must in goal.must_haves])
        if draft is None:
            more = f"  (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            self._say(f"{problems[0]}{more}")
            self.text.move_cursor((problems[0].line - 1, 0))
            return
        changes = draft.changes(self._since)
        if not changes:
            self._done(False)
            return
        if doubt := self._doubt(goal, changes):
            self._say(doubt, "warn")
            return
        try:
            command = parse("EditGoal", {"goal": goal.id, **changes})
        except OpsroomError as problem:
            self._say(f"{problem.message} {problem.hint}")
            return
        self._save(command, changes)

    def _doubt(self, goal: Goal, changes: dict[str, Any]) -> str:
        """What is asked once before saving: the talk is over, or the goal changed meanwhile. Empty: nothing is."""
        theirs = draft_of(goal).changes(self._since)
        differ = frozenset(name for name in theirs if changes.get(name) != theirs[name])
        doubts = differ if is_talked_about(goal) else differ | {OVER}
        if goal.status != GoalStatus.DRAFT or not doubts - self._warned:
            return ""  # what is no draft the board refuses in its own words
        self._warned = doubts
        parts = [f"{OVER}; save all the same?"] if OVER in doubts else []
        parts += [f"{_names(differ & changes.keys())} changed meanwhile"] if differ & changes.keys() else []
        parts += [f"{_names(differ - changes.keys())} changed meanwhile and stay so"] if differ - changes.keys() else []
        does = "puts yours in place" if differ & changes.keys() else "saves"
        told = "; ".join(parts) + f"{'' if parts[-1].endswith('?') else ':'} ^s again {does}, esc leaves to look"
        return told[:1].upper() + told[1:]

    @work(name="save the goal", group="commands", exit_on_error=False)
    async def _save(self, command: Command, changes: dict[str, Any]) -> None:
        try:
            await self._talk.save(command)
        except OpsroomError as problem:
            self._say(f"{problem.message} {problem.hint}")
            return
        self._done(bool(changes))

    def _done(self, changed: bool) -> None:
        self._talk.forget_edit(changed)
        self.dismiss()


def is_talked_about(goal: Goal) -> bool:
    """Whether the talk about a goal goes on."""
    return goal.exploring and goal.status == GoalStatus.DRAFT


def _names(fields: frozenset[str]) -> str:
    return ", ".join(FIELDS[name] for name in FIELDS if name in fields)
