"""The line above the footer: what is held and until when, else the last thing that the board said."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from tui.modes import crumbs
from tui.panes.words import line, put, said
from tui.widgets.row import Tone


class MessageLine(Static):
    """What it says stays until the next key."""

    def __init__(self) -> None:
        super().__init__(id="message")
        self._message = Content("")
        self._held: list[Content] = []
        self._crumbs = Content("")

    @property
    def says(self) -> str:
        """The text on the line."""
        return self.content.plain if isinstance(self.content, Content) else str(self.content)

    def on_mount(self) -> None:
        """Where nothing is said, the line tells where one is."""
        self._crumbs = said(path + "  · esc back", "dim") if (path := crumbs(self.app)) else Content("")
        self._draw()

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Say something."""
        self._message = said(text, tone)
        self._draw()

    def clear(self) -> None:
        """A key was pressed: what was said is read."""
        if self._message:
            self._message = Content("")
            self._draw()

    def count_down(self, held: Sequence[tuple[str, int]], undo: str = "u") -> None:
        """Show what is held and for how many seconds more; the last one is what the key `undo` takes back."""
        self._held = [
            line(said("◷ ", "warn"), said(words, "strong"), said(f" in {seconds}s", "warn")) for words, seconds in held
        ]
        if self._held:
            self._held[-1] = line(self._held[-1], said(f" · {undo} takes it back", "dim"))
        self._draw()

    def _draw(self) -> None:
        parts = [*self._held, *([self._message] if self._message else [])] or [self._crumbs]
        put(self, Content("   ").join(parts), layout=True)
