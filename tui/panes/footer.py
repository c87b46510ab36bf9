"""The footer: at most seven keys, and only those that apply now. The rest is under `?`."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from tui.actions import Hint
from tui.panes.words import put

GAP = 3


class KeyLine(Static):
    """Tells keys; clicking it does nothing, so that no decision is one click away."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._hints: tuple[Hint, ...] = ()

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
        parts = [Content.assemble((hint.key, "bold $footer-key-foreground"), f" {hint.word}") for hint in hints]
        put(self, Content(" " * GAP).join(parts))
