"""The goal's text in one place: written as lines, checked as lines, saved as one edit. Nothing written is lost."""

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from core.commands.registry import Command, parse
from core.domain.errors import OpsroomError
from tui.actions import Hint
from tui.goal_text import Draft, draft_of, read_text, to_text
from tui.panes.words import put, said
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.screens.exploring import Exploring

HINT = "^s saves · esc leaves and keeps it"
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
        self.text = TextArea(text or self._begun, id="goal-text", soft_wrap=True, show_line_numbers=True)
        self.problem = Static(id="goal-problem")

    def compose(self) -> ComposeResult:
        """The text, what is wrong with it, and the two keys."""
        with Vertical(classes="dialog") as dialog:
            tag = self._talk.goal.name_tag if self._talk.goal else ""
            dialog.border_title = said(f"Edit {tag}")
            yield self.text
            yield self.problem
            yield Static(said(HINT, "dim"), id="goal-hint")

    def on_mount(self) -> None:
        """The cursor stands behind the title; a small screen has no room for numbers of lines."""
        self.text.focus()
        self.text.show_line_numbers = self.app.size.width >= 60
        self.text.move_cursor((0, len(self.text.document.get_line(0))))

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
        theirs = draft_of(goal).changes(self._since)
        both = frozenset(changes) & frozenset(theirs) - {name for name in changes if changes[name] == theirs.get(name)}
        if both - self._warned:
            self._warned = both
            names = ", ".join(FIELDS[name] for name in FIELDS if name in both)
            self._say(
                f"{names.capitalize()} changed meanwhile: ^s again puts yours in place, esc leaves to look", "warn"
            )
            return
        if not changes:
            self._done(False)
            return
        try:
            command = parse("EditGoal", {"goal": goal.id, **changes})
        except OpsroomError as problem:
            self._say(f"{problem.message} {problem.hint}")
            return
        self._save(command, changes)

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
