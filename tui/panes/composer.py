"""The lines in which the operator writes. They stand below the lists and cover nothing.

A reason is a plain line. A comment has an `Aid`: it tells whom the text will wake, completes names, and remembers.
"""

from collections.abc import Callable
from typing import ClassVar, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from core.domain.limits import COMMENT_MAX
from tui.actions import Hint
from tui.letters import RETURN, Past
from tui.panes.words import put, said
from tui.text import one_line

Written = Callable[[str], None]
WHY = "say in a line why; enter sends, esc goes back"
NEEDED, EMPTY = "a reason is needed", "nothing is written"
REASON_MAX = 2000


class Aid(Protocol):
    """Helps who writes; everything from memory."""

    placeholder: str
    past: Past

    def preview(self, text: str) -> Content:
        """What will happen when this is sent."""

    def refusal(self, text: str) -> str:
        """Why this cannot be sent; empty when it can."""

    def complete(self, text: str, at: int) -> tuple[str, int, Content | None]:
        """The text and the cursor after completing what stands before it, and what else it may be."""


class Line(Input):
    """One line; what is pasted keeps its lines, each end of a line drawn as ⏎."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,alt+enter,shift+enter", "new_line", show=False),
        Binding("ctrl+o", "in_editor", show=False),
    ]

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        # terminals send a return for each end of a line
        self.replace(one_line("\n".join(event.text.splitlines())), *self.selection)

    def action_new_line(self) -> None:
        """A new line in the text."""
        self.insert_text_at_cursor(RETURN)

    def action_in_editor(self) -> None:
        """Write it in the operator's editor; what is saved there stands here."""
        if (ways := getattr(self.app, "ways", None)) is not None:
            ways.write(self.value.replace(RETURN, "\n"), self._come_back)

    def _come_back(self, text: str) -> None:
        self.value = one_line(text)
        self.cursor_position = len(self.value)


class Composer(Vertical):
    """Hidden until something asks; enter hands the text over, esc drops it. One that `stays` is always open."""

    HINTS: ClassVar = (Hint("enter", "send", 1), Hint("esc", "cancel", 0))
    COMMENT_HINTS: ClassVar = (
        Hint("enter", "send", 1), Hint("tab", "complete @name", 2), Hint("↑/↓", "written before", 3),
        Hint("esc", "cancel", 0),
    )  # fmt: skip

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "Cancel", show=False),
        Binding("tab", "complete", show=False),
        Binding("up", "past(-1)", show=False),
        Binding("down", "past(1)", show=False),
    ]

    def __init__(self, *, stays: bool = False) -> None:
        super().__init__(id="composer")
        self._question = Static(id="question")
        self._preview = Static(id="preview")
        self.field = Line(id="reason", placeholder=WHY, max_length=REASON_MAX)
        self._stays = stays
        self._then: Written | None = None
        self._aid: Aid | None = None
        self._past: Past | None = None
        self._back_to: str = ""

    def compose(self) -> ComposeResult:
        """The question, the field beside it, and below them what the text will do."""
        with Horizontal(id="writing"):
            yield self._question
            yield self.field
        yield self._preview

    @property
    def asks(self) -> bool:
        """Whether it waits for a text."""
        return self._then is not None

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The keys that mean something while it asks."""
        if self._aid is not None:
            own: tuple[Hint, ...] = getattr(self._aid, "hints", self.COMMENT_HINTS)
            return own
        return (*self.HINTS, Hint("↑/↓", "written before", 2)) if self._past else self.HINTS

    @property
    def foretells(self) -> str:
        """What the line below the text says."""
        return self._preview.content.plain if isinstance(self._preview.content, Content) else ""

    def ask(self, question: str, then: Written, aid: Aid | None = None, past: Past | None = None) -> None:
        """Ask for a line; `then` gets it unless it is empty. `past` are lines of before, of what has no aid."""
        self._then, self._aid = then, aid
        self._past = aid.past if aid is not None else past
        self._question.update(said(question, "strong"))
        self.field.placeholder = aid.placeholder if aid else WHY
        self.field.max_length = COMMENT_MAX if aid else REASON_MAX
        self.field.value = ""
        focused = self.screen.focused
        self._back_to = focused.id if focused is not None and focused.id and focused is not self.field else ""
        self.add_class("-asks")
        self.remove_class("-needs")
        self.set_class(aid is not None, "-aided")
        self.foretell()
        self.screen.set_focus(self.field)  # now, not after what comes before it: the next key is a letter of the reason

    def help_with(self, aid: Aid) -> None:
        """Another aid for what is being written."""
        self._aid = aid
        self.foretell()

    def foretell(self) -> None:
        """Say anew what the text will do."""
        if self._aid is not None:
            put(self._preview, self._aid.preview(self.field.value))

    def give_back(self, text: str) -> None:
        """What could not be sent may be written on, unless something else is written already."""
        if self.asks and not self.field.value:
            self._show(text)

    @on(Input.Changed, "#reason")
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.foretell()

    @on(Input.Submitted, "#reason")
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        if self._then is None:
            return
        if not event.value.strip():
            self._need()
            return
        if self._aid is not None and (why_not := self._aid.refusal(event.value)):
            put(self._preview, said(why_not, "bad"))
            return
        if self._past is not None:
            self._past.keep(event.value)
        then = self._then
        if self._stays:
            self.field.value = ""
        else:
            self._close()
        then(event.value if self._aid is not None else event.value.strip())

    def _need(self) -> None:
        """Enter on nothing: say that it takes a text."""
        self.field.value = ""
        if self._aid is not None:
            put(self._preview, said("Nothing is written yet.", "warn"))
            return
        asks_why = self.field.placeholder == WHY or self.field.placeholder.startswith("why;")
        first = NEEDED if asks_why else EMPTY
        if not self.field.placeholder.startswith((NEEDED, EMPTY)):
            self.field.placeholder = f"{first}: {self.field.placeholder}"
        self.add_class("-needs")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """One that stays leaves esc to its screen; only a comment and a reason have a past."""
        if action == "drop":
            return not self._stays
        if action == "past":
            return self._past is not None
        return True

    def action_drop(self) -> None:
        """Nothing is sent; what was written can be brought back."""
        if self._past is not None:
            self._past.keep(self.field.value)
        self._close()

    def action_complete(self) -> None:
        """Complete a name; where there is none, go to the next pane."""
        if self._aid is None:
            self.screen.focus_next()
            return
        text, at, others = self._aid.complete(self.field.value, self.field.cursor_position)
        if (text, at) == (self.field.value, self.field.cursor_position) and others is None:
            self.screen.focus_next()
            return
        if text != self.field.value:
            with self.field.prevent(Input.Changed):
                self.field.value = text
            self.field.cursor_position = at
        self.foretell()
        if others is not None:
            put(self._preview, others)

    def action_past(self, by: int) -> None:
        """What was written before, or after."""
        if self._past is not None and (line := self._past.step(by, self.field.value)) is not None:
            self._show(line)

    def _show(self, text: str) -> None:
        self.field.value = text
        self.field.cursor_position = len(text)

    def _close(self) -> None:
        self._then = None
        self.remove_class("-asks")
        if self._back_to and (found := self.screen.query(f"#{self._back_to}")):
            self.screen.set_focus(found.first())
