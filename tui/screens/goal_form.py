"""The goal's text in one place: written as lines, checked as lines, saved as one edit. Nothing written is lost."""

from typing import TYPE_CHECKING, Any, ClassVar

from core.commands.registry import Command, parse
from core.domain.entities import Goal
from core.domain.errors import OpsroomError
from core.domain.states import GoalStatus
from tui.goal_text import Draft, draft_of, first_of, read_text, to_text
from tui.panes.words import put, said
from tui.screens.lines_form import TextForm
from tui.text import capital

if TYPE_CHECKING:
    from tui.screens.exploring import Exploring

HINT = "^s saves · esc leaves and keeps it"
OVER = "the talk is over"
FIELDS = {
    "title": "the title", "description": "the description", "must_haves": "the must-haves",
    "constraints": "the constraints", "out_of_scope": "what is out of scope",
}  # fmt: skip


class GoalForm(TextForm):
    """`since` is the goal when the text was begun: what changed elsewhere meanwhile is kept, or asked about."""

    CSS_PATH: ClassVar = [*TextForm.CSS_PATH, "exploring.tcss"]

    def __init__(self, talk: "Exploring", since: Draft, text: str = "") -> None:
        self._talk = talk
        self._since = since
        self._begun = to_text(since)
        self._warned: frozenset[str] = frozenset()
        self._is_over = False
        tag = talk.goal.name_tag if talk.goal else ""
        super().__init__(f"Edit {tag}", text or self._begun, HINT, line_numbers=True)

    def on_mount(self) -> None:
        """A small screen has no room for numbers of lines."""
        self.text.show_line_numbers = self.app.size.width >= 60
        self.touch()

    def touch(self) -> None:
        """The goal may be another now: a talk that ended below the text is told, and stays told while one writes."""
        goal = self._talk.goal
        is_over = goal is not None and not is_talked_about(goal)
        if is_over != self._is_over and self.is_mounted:
            self._is_over = is_over
            put(self.hint, said(f"{OVER} · {HINT}" if is_over else HINT, "warn" if is_over else "dim"), layout=True)

    def action_leave(self) -> None:
        """Leave without saving; the text is kept for the next time."""
        if self.text.text != self._begun:
            self._talk.keep_edit(self.text.text, self._since)
        self.close(False)

    def action_save(self) -> None:
        """Save what differs, unless a line cannot be understood or somebody else changed the same part."""
        goal = self._talk.goal
        if goal is None:
            return
        draft, problems = read_text(self.text.text, [must["id"] for must in goal.must_haves])
        if draft is None:
            self.tell(first_of(problems))
            self.text.move_cursor((problems[0].line - 1, 0))
            return
        changes = draft.changes(self._since)
        if not changes:
            self._talk.forget_edit(False)
            self.close(False)
            return
        if doubt := self._doubt(goal, changes):
            self.tell(doubt, "warn")
            return
        try:
            command = parse("EditGoal", {"goal": goal.id, **changes})
        except OpsroomError as problem:
            self.tell(str(problem))
            return
        self.hand_over(self._save(command), lambda: self._talk.forget_edit(True))

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
        return capital(told)

    async def _save(self, command: Command) -> str:
        await self._talk.save(command)
        return ""


def is_talked_about(goal: Goal) -> bool:
    """Whether the talk about a goal goes on."""
    return goal.exploring and goal.status == GoalStatus.DRAFT


def _names(fields: frozenset[str]) -> str:
    return ", ".join(FIELDS[name] for name in FIELDS if name in fields)
