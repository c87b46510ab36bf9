"""The line in which any list is filtered: hidden until asked for, wrong words are said, esc shows everything again.

Its owner draws the rows: `show` is called when others are wanted; `fits` says which, `title` what is left.
"""

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from core.domain.errors import Invalid
from tui.actions import Hint
from tui.filter_words import Keys, Values, Words, examples, parse_words
from tui.panes.words import line, said
from tui.text import one_line
from tui.widgets.rows import Rows


class FilterLine(Input):
    """`keys` is what may stand before a colon; `list_of` gives the list that has the focus before and after.

    `show` draws the list anew, at once: the cursor is put on a row of what it shows.
    """

    DEFAULT_CSS = """
    FilterLine {
        display: none; height: 1; border: none; padding: 0 1; background: $panel; color: $foreground;
        &.-open { display: block; }
        &.-wrong { color: $text-error; text-style: underline; }
        &:focus { border: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "Clear", show=False),
        Binding("down", "submit", "To the list", show=False),
    ]
    HINTS: ClassVar = (Hint("enter", "to the list", 1), Hint("esc", "clear", 0))

    class Refused(Message):
        """The words mean nothing; what showed before still shows."""

        def __init__(self, problem: Invalid) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, keys: Keys, list_of: Callable[[], Widget], show: Callable[[], None], *, id: str) -> None:
        typed = "  ".join(f"{key}:{next(iter(known), '…').replace(' ', '_')}" for key, known in keys.items())
        super().__init__(placeholder=f"words  {typed}", id=id)
        self.keys = keys
        self.wanted = Words()
        self._list_of = list_of
        self._show_rows = show
        self._row_before: str | None = None
        self._row_put: str | None = None

    # ------------------------------------------------------------- what it asks for

    @property
    def is_narrow(self) -> bool:
        """Whether less than everything shows."""
        return bool(self.wanted)

    def fits(self, text: str, values: Values) -> bool:
        """Whether a row is to be shown: `text` is what stands in it."""
        return self.wanted.fits(text, values)

    @property
    def nothing(self) -> str:
        """What an empty list says while it is narrow."""
        return f"Nothing fits the filter; esc shows everything.\n{examples(self.keys)}"

    def title(self, name: str, shown: int, total: int) -> Content:
        """The name of the pane, how many of how many it shows, and by what words."""
        if not self.is_narrow:
            return said(name)
        told = said(f"/ {one_line(self.value.strip())}", "info")
        return line(said(f"{name} · {shown} of {total}"), told, gap="  ")

    # ------------------------------------------------------------- typing

    def ask(self) -> None:
        """Let the operator type; the list keeps its row where that still fits."""
        if not self.has_focus:
            self._row_before = self._row()
        self._row_put = self._row()
        self.add_class("-open")
        self.screen.set_focus(self)

    def clear(self) -> None:
        """Everything again, and the cursor where it was unless it was moved meanwhile."""
        narrow, self.wanted = self.is_narrow, Words()
        with self.prevent(Input.Changed):
            self.value = ""
        self.remove_class("-open", "-wrong")
        if narrow:
            self._show_rows()
        listed = self._list_of()
        if isinstance(listed, Rows) and self._row_before is not None and listed.cursor_id == self._row_put:
            listed.move_to(self._row_before)
        self._row_before = None

    def _row(self) -> str | None:
        listed = self._list_of()
        return listed.cursor_id if isinstance(listed, Rows) else None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        try:
            wanted = parse_words(event.value, self.keys)
        except Invalid as problem:
            self.add_class("-wrong")
            self.post_message(self.Refused(problem))
            return
        self.remove_class("-wrong")
        if wanted != self.wanted:
            self.wanted = wanted
            self._show_rows()
            self._row_put = self._row()

    @on(Input.Submitted)
    def _typed_out(self, event: Input.Submitted) -> None:
        event.stop()
        self._row_before = None
        if not self.value.strip():
            self.clear()
        self._leave()

    def action_drop(self) -> None:
        """Show everything again."""
        self.clear()
        self._leave()

    def _leave(self) -> None:
        self.screen.set_focus(self._list_of())

    def on_blur(self, _event: events.Blur) -> None:
        """Left without words, it hides."""
        if not self.value.strip():
            self.remove_class("-open")
