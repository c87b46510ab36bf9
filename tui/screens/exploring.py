"""The talk screen: the operator and the coordinator find out what a goal asks for, and the goal grows beside the talk.

It can be left at any time: the talk lies on the board and goes on. Nothing here waits for the board in a handler.
"""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from core.commands.registry import Command, parse
from core.domain.entities import Goal
from core.domain.errors import OpsroomError
from core.domain.states import GoalStatus
from tui.actions import Hint
from tui.goal_text import Draft, draft_of
from tui.letters import read_letter, told
from tui.panes.aid import CommentAid
from tui.panes.composer import Composer
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.talk import Change, Talk, growing, read_talk, standing
from tui.panes.words import line, put, said
from tui.told_commands import hint_for
from tui.widgets.prose import Prose
from tui.widgets.row import Tone

if TYPE_CHECKING:
    from tui.screens.goal_form import GoalForm
    from tui.screens.writing import Writing

PLACEHOLDER = "answer, ask, or say what you want; enter sends"
NAMES_COMMANDS = "Possible now"
"""How a hint of the board begins that is for those who send commands by name."""
QUIET = "Nothing was said yet.\nThe coordinator opens with a question, or you begin."
HINTS = (
    Hint("enter", "send", 1), Hint("^e", "edit goal", 2), Hint("^r", "ready", 3), Hint("tab", "read", 4),
    Hint("esc", "leave", 0),
)  # fmt: skip
READING_HINTS = (
    Hint("↑/↓", "scroll", 4), Hint("tab", "next", 1), Hint("^e", "edit goal", 2), Hint("^r", "ready", 3),
    Hint("esc", "write", 0),
)  # fmt: skip


class Exploring(Screen[None]):
    """One talk. While its goal is still being made, there is no number yet."""

    AUTO_FOCUS = "#reason"
    CSS_PATH: ClassVar = ["exploring.tcss", "../panes/lines.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+e", "edit", "Edit the goal", show=False, priority=True),
        Binding("ctrl+r", "ready", "Say that it is ready", show=False, priority=True),
        Binding("escape", "leave", "Leave", show=False),
        Binding("pageup", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(1)", show=False),
    ]

    def __init__(self, writing: "Writing", goal_id: int | None, title: str) -> None:
        super().__init__()
        self._writing = writing
        self._title = title
        self.goal_id = goal_id
        self._talk = Talk((), "", Change())
        self._reading = self._again = False
        self._shown_change = 0
        self._refused = ""
        self._form: GoalForm | None = None
        self.head = Static(id="talk-head")
        self.dialogue = Prose(empty=QUIET, id="dialogue")
        self.growing = Prose(id="growing")
        self.state = Static(id="standing")
        self.composer = Composer(stays=True)
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """The talk and the goal, and below them the line in which the operator writes."""
        yield self.head
        with Horizontal(id="talk-body"):
            with Vertical(id="talk-pane", classes="pane") as talk:
                talk.border_title = Content("Talk")
                yield self.dialogue
                yield self.state
            with Vertical(id="goal-pane", classes="pane") as goal:
                goal.border_title = Content("The goal")
                yield self.growing
        yield self.composer
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """What is known from memory at once; what was said when it is read."""
        view = self._writing.view
        aid = CommentAid(view, self._writing.past, goal=self.goal_id, placeholder=PLACEHOLDER)
        self.composer.ask("you:", self._send, aid)
        self._show()
        self._reading = True
        self._reader()

    @property
    def goal(self) -> Goal | None:
        """The goal as the room knows it."""
        return self._writing.view.tables.get(Goal, self.goal_id)

    def take(self, goal_id: int) -> None:
        """The goal was made: this is its number."""
        self.goal_id = goal_id
        aid = CommentAid(self._writing.view, self._writing.past, goal=goal_id, placeholder=PLACEHOLDER)
        self.composer.help_with(aid)
        self.read()

    # ------------------------------------------------------------- bringing up to date

    def touch(self, dirty: frozenset[str]) -> None:
        """Something happened: read again what was said if it was here."""
        if not self.is_mounted:
            return
        if f"goal:{self.goal_id}" in dirty:
            self.read()
            if self._refused and self._refused != self._content():
                # the refusal was about a goal that is no more
                self.message.clear()
                self._refused = ""
        if dirty:
            self._show()
            self.composer.foretell()
            if self._form is not None:
                self._form.touch()

    def grow_older(self) -> None:
        """Once a second: how long somebody has been thinking."""
        if self.is_mounted:
            self._show_standing()

    def read(self) -> None:
        """Read the talk; when something happens meanwhile, once more."""
        if self._reading:
            self._again = True
        elif self.goal_id is not None and self.is_mounted:
            self._reading = True
            self._reader()

    @work(name="read the talk", group="talk", exit_on_error=False)
    async def _reader(self) -> None:
        try:
            while self.goal_id is not None:
                self._again = False
                first = not self._talk.blocks
                self._talk = await read_talk(self._writing.company, self._writing.view, self.goal_id)
                self.dialogue.set_blocks(self._talk.blocks, thread="talk")
                if first:
                    self.call_after_refresh(self.dialogue.action_scroll_end)
                self._show()
                if not self._again:
                    break
                await asyncio.sleep(0.1)
        finally:
            self._reading = False

    def _show(self) -> None:
        goal = self.goal
        tag = f"{goal.name_tag} {goal.title}" if goal else self._title
        put(self.head, line(said("Exploring ", "dim"), said(tag, "strong")))
        if goal is not None:
            blocks, changed = growing(goal, self._talk.change, self._writing.view.tasks(goal.id))
            self.growing.set_blocks(blocks, thread="goal")
            if changed and self._talk.change.at != self._shown_change and self.focused is not self.growing:
                # what changed comes into sight
                self._shown_change = self._talk.change.at
                self.call_after_refresh(self.growing.show_block, changed[0])
        self._show_standing()

    def _show_standing(self) -> None:
        goal = self.goal
        words: tuple[str, Tone] = ("the goal is being made…", "dim")
        if goal is not None:
            words = standing(self._writing.view, goal, self._talk.last_author, self._writing.now())
        put(self.state, said(*words), layout=True)

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """Where there is room for one pane only, it is the one that is read."""
        self.set_class(now is self.growing, "-goal")
        self.show_keys()

    def show_keys(self) -> None:
        """The keys of the line, or of the pane that is read."""
        if self.is_attached:
            self.keys.show(READING_HINTS if isinstance(self.focused, Prose) else HINTS)

    def before_key(self) -> None:
        """A key comes: what was said is read, and the goal is as the board has it."""
        self.message.clear()
        self._writing.bring_up_to_date()

    # ------------------------------------------------------------- speaking

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)
        self._refused = ""

    def refuse(self, problem: OpsroomError) -> None:
        """Say why something was not done, and what can be done."""
        hint = "" if problem.hint.startswith(NAMES_COMMANDS) else hint_for("room", problem.hint)
        self.say(f"{problem.message} {hint}".strip(), "bad")
        self._refused = self._content()

    def _content(self) -> str:
        goal = self.goal
        return f"{goal.content_hash} {goal.exploring} {goal.status}" if goal else ""

    def _send(self, text: str) -> None:
        if self.goal_id is None:
            self.say("The goal is being made; send it again in a moment.", "warn")
            self.composer.give_back(text)
            return
        self._speak(text)

    @work(name="speak", group="commands", exit_on_error=False)
    async def _speak(self, text: str) -> None:
        letter = read_letter(text)
        try:
            command = parse("AddComment", {"goal": self.goal_id, "kind": letter.kind, "body": letter.body})
            answer = await self._writing.company.execute(command)
        except OpsroomError as problem:
            self.composer.give_back(text)
            self.refuse(problem)
            return
        if answer.get("wakes") or answer.get("unknown") or answer.get("held"):
            self.say(f"✓ {told(answer)}", "warn" if answer.get("unknown") else "good")
        self._writing.bring_up_to_date()

    def action_scroll(self, by: int) -> None:
        """Read back without leaving the line."""
        (self.dialogue.scroll_page_up if by < 0 else self.dialogue.scroll_page_down)(animate=False)

    def action_leave(self) -> None:
        """Back to the line, and from there to the room; the talk goes on."""
        if isinstance(self.focused, Prose):
            self.composer.field.focus()
            return
        self._writing.past.keep(self.composer.field.value)
        self._writing.left(self, self._farewell())

    def _farewell(self) -> str:
        goal = self.goal
        if goal is None or (goal.exploring and goal.status == GoalStatus.DRAFT):
            words = "The talk goes on; e on the goal takes it up again."
        elif goal.status == GoalStatus.DRAFT:
            words = "The talk is over; e on the goal takes it up again."
        else:
            words = f"The talk is over: {goal.name_tag} is {goal.status}."
        if goal is None or goal.id not in self._writing.edits:
            return words
        return words + (
            " Your edit was not saved; ^e there opens it."
            if goal.status == GoalStatus.DRAFT
            else " Your edit was not saved."
        )

    # ------------------------------------------------------------- the goal

    def action_ready(self) -> None:
        """Say that the goal is ready, exactly as it is shown."""
        goal = self.goal
        if goal is not None:
            arguments = {"goal": goal.id, "content_hash": goal.content_hash}
            self._make_ready(parse("ReadyGoal", arguments), goal.name_tag)

    @work(name="ready", group="commands", exit_on_error=False)
    async def _make_ready(self, command: Command, tag: str) -> None:
        try:
            await self._writing.company.execute(command)
        except OpsroomError as problem:
            self.refuse(problem)
            return
        self._writing.left(
            self,
            f"✓ {tag} is ready and reviewed by you: {self._writing.view.keymap.shown('dispatch')} dispatches it.",
            "good",
        )

    def action_edit(self) -> None:
        """Open the goal's text; what was written and not saved is there again."""
        from tui.screens.goal_form import GoalForm

        goal = self.goal
        if goal is None:
            return
        kept = self._writing.edits.get(goal.id)
        if goal.status != GoalStatus.DRAFT and kept is None:
            self.say(f"{goal.name_tag} is {goal.status}: only a draft can be edited.", "warn")
            return
        text, since = kept or ("", draft_of(goal))
        self._form = GoalForm(self, since, text)
        self.app.push_screen(self._form, self._form_closed)

    def _form_closed(self, _was_saved: bool | None) -> None:
        self._form = None

    async def save(self, command: Command) -> None:
        """Send an edit. Raises what the board refuses it with."""
        await self._writing.company.execute(command)
        self._writing.bring_up_to_date()

    def keep_edit(self, text: str, since: Draft) -> None:
        """The form was left without saving."""
        goal = self.goal
        if goal is not None:
            self._writing.edits[goal.id] = (text, since)
            over = (
                "" if goal.status == GoalStatus.DRAFT else f" {goal.name_tag} is {goal.status}: it takes no edit now."
            )
            self.say(f"Nothing was saved; ^e opens what you wrote again.{over}", "warn")

    def forget_edit(self, changed: bool) -> None:
        """The form was saved, or nothing in it differed."""
        self._writing.edits.pop(self.goal_id or 0, None)
        self.say("✓ saved" if changed else "Nothing was changed.", "good" if changed else "dim")
