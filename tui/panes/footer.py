"""The footer: at most seven keys, and only those that apply now. The rest is under `?`."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.actions import Hint
from tui.panes.words import put

GAP = 3


class KeyLine(Static):
    """Tells keys; a click on one presses it. A decision needs a double click: none is one click away."""

    class Pressed(Message):
        """A key was clicked; `chain` is 2 for the second click at once."""

        def __init__(self, hint: Hint, chain: int) -> None:
            super().__init__()
            self.hint = hint
            self.chain = chain

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._hints: tuple[Hint, ...] = ()
        self._drawn: list[Hint] = []

    def on_click(self, event: events.Click) -> None:
        """Which key stands there."""
        offset = event.get_content_offset(self)
        end = 0
        for hint in self._drawn if offset is not None else ():
            begin, end = end, end + cell_len(f"{hint.key} {hint.word}")
            if offset is not None and begin <= offset.x < end:
                self.post_message(self.Pressed(hint, event.chain))
                return
            end += GAP

    def show(self, hints: Sequence[Hint]) -> None:
        """Show these keys with their words."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self._draw()

    def on_resize(self) -> None:
        """Whole entries only: what matters least is left out."""
        self._draw()

    def _draw(self) -> None:
        width = self.size.width - 2
        hints = list(self._hints)
        while len(hints) > 1 and sum(len(hint.key) + 1 + len(hint.word) + GAP for hint in hints) - GAP > width:
            hints.remove(max(reversed(hints), key=lambda hint: hint.rank))
        self._drawn = hints
        parts = [Content.assemble((hint.key, "bold $footer-key-foreground"), f" {hint.word}") for hint in hints]
        put(self, Content(" " * GAP).join(parts))
