"""The footer: at most seven keys, and only those that apply now. The rest is under `?`."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static


class KeyLine(Static):
    """Tells keys; clicking it does nothing, so that no decision is one click away."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._keys: tuple[tuple[str, str], ...] = ()

    def show(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show these keys with their words."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._draw()

    def on_resize(self) -> None:
        """Whole entries only: what does not fit is left out from the middle of the list, never help."""
        self._draw()

    def _draw(self) -> None:
        width = self.size.width - 2
        keys = list(self._keys)
        while len(keys) > 2 and sum(len(key) + len(word) + 4 for key, word in keys) - 3 > width:
            keys.pop(-2 if keys[-2][0] != "?" else -3)
        parts = [Content.assemble((key, "bold $footer-key-foreground"), f" {word}") for key, word in keys]
        self.update(Content("   ").join(parts), layout=False)
