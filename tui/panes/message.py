"""The line above the footer: what is held and until when, else the last thing that the board said."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import Static

from tui.modes import crumbs
from tui.panes.words import line, put, said
from tui.widgets.row import Tone

STEP = " › "


class MessageLine(Static):
    """What it says stays until the next key."""

    def __init__(self) -> None:
        super().__init__(id="message")
        self._message = Content("")
        self._held: list[Content] = []
        self._path: list[tuple[str, str]] = []

    @property
    def says(self) -> str:
        """What is said; empty where the line only tells where one is."""
        return self.content.plain if self._said and isinstance(self.content, Content) else ""

    def on_mount(self) -> None:
        """Where nothing is said, the line tells where one is."""
        self._path = crumbs(self.app)
        self._draw()

    def on_click(self, event: events.Click) -> None:
        """A click on a place of the way goes back there."""
        offset = event.get_content_offset(self)
        if self._said or offset is None:
            return
        end = 0
        for name, label in self._path[:-1]:
            end += cell_len(label) + len(STEP)
            if offset.x < end:
                if (go := getattr(self.app, "action_mode", None)) is not None:
                    go(name)
                return

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

    @property
    def _said(self) -> list[Content]:
        return [*self._held, *([self._message] if self._message else [])]

    def _draw(self) -> None:
        way = STEP.join(label for _, label in self._path)
        parts = self._said or [said(f"{way}  · esc back", "dim") if way else Content("")]
        put(self, Content("   ").join(parts), layout=True)
