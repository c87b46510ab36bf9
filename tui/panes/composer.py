"""One line in which the operator writes a reason. It asks below the lists and covers nothing."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Static

from tui.actions import Hint
from tui.panes.words import said

Written = Callable[[str], None]


class Composer(Horizontal):
    """Hidden until something asks; enter hands the text over, esc drops it."""

    HINTS: ClassVar = (Hint("enter", "send", 1), Hint("esc", "cancel", 0))

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "drop", "Cancel", show=False)]

    def __init__(self) -> None:
        super().__init__(id="composer")
        self._question = Static(id="question")
        self._field = Input(id="reason", placeholder="say in a line why; enter sends, esc goes back", max_length=2000)
        self._then: Written | None = None
        self._back_to: str = ""

    def compose(self) -> ComposeResult:
        """The question, and the field beside it."""
        yield self._question
        yield self._field

    @property
    def asks(self) -> bool:
        """Whether it waits for a text."""
        return self._then is not None

    def ask(self, question: str, then: Written) -> None:
        """Ask for a line; `then` gets it unless it is empty."""
        self._then = then
        self._question.update(said(question, "strong"))
        self._field.value = ""
        focused = self.screen.focused
        self._back_to = focused.id if focused is not None and focused.id and focused is not self._field else ""
        self.add_class("-asks")
        self.screen.set_focus(
            self._field
        )  # now, not after what comes before it: the next key is a letter of the reason

    @on(Input.Submitted, "#reason")
    def _written(self, event: Input.Submitted) -> None:
        event.stop()
        if not (text := event.value.strip()):
            return
        then = self._then
        self._close()
        if then is not None:
            then(text)

    def action_drop(self) -> None:
        """Nothing is sent."""
        self._close()

    def _close(self) -> None:
        self._then = None
        self.remove_class("-asks")
        if self._back_to and (found := self.screen.query(f"#{self._back_to}")):
            self.screen.set_focus(found.first())
