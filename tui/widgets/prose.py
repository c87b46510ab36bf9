"""`Prose`: a thread of blocks as wrapped text, drawn line by line.

Bodies are shown as they were written: no markup. A document is drawn as what it is; nothing of theirs acts.
"""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.strip import Strip

from tui.rendering.pieces import Parts
from tui.text import fit, plain
from tui.widgets.look import look_of, mixed
from tui.widgets.prose_layout import Block, Drawing, Layout
from tui.widgets.row import TONES
from tui.widgets.target_view import TargetView

__all__ = ["Block", "Drawing", "Prose"]

LOOKS = (
    "heading", "empty", "title", "emphasis", "struck", "quote", "link", "code", "keyword", "string", "number",
    "comment", "function",
)  # fmt: skip
"""How parts of a text can look beside the tones."""


class Prose(TargetView, can_focus=True):
    """A thread to read. Who stands at its end stays at the end when it grows; who reads above is left in peace."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"prose--{name}" for name in (*LOOKS, *TONES)}
    DEFAULT_CSS = """
    Prose {
        height: 1fr; min-width: 1; min-height: 1; overflow-x: hidden; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable; background: $surface; color: $foreground;
        & > .prose--heading { text-style: bold; }
        & > .prose--empty { color: $foreground 60%; }
        & > .prose--good { color: $text-success; }
        & > .prose--warn { color: $text-warning; }
        & > .prose--bad { color: $text-error; text-style: bold; }
        & > .prose--info { color: $text-primary; }
        & > .prose--dim { color: $foreground 60%; text-style: not bold; }
        & > .prose--strong { text-style: bold; }
        & > .prose--name { color: $text-accent; text-style: bold; }
        & > .prose--unknown { color: $text-error; text-style: underline; }
        & > .prose--title { color: $text-primary; text-style: bold; }
        & > .prose--emphasis { text-style: italic; }
        & > .prose--struck { text-style: strike; }
        & > .prose--quote { color: $text-secondary; }
        & > .prose--link { color: $text-accent; }
        & > .prose--code { color: $text-secondary; }
        & > .prose--keyword { color: $text-primary; text-style: bold; }
        & > .prose--string { color: $text-success; }
        & > .prose--number { color: $text-warning; }
        & > .prose--comment { color: $foreground 60%; text-style: italic; }
        & > .prose--function { color: $text-accent; }
        &:nocolor > .prose--comment { text-style: dim italic; }
        &:nocolor > .prose--code { text-style: bold; }
        &:nocolor > .prose--dim { text-style: dim; }
        &:nocolor > .prose--warn { text-style: underline; }
        &:nocolor > .prose--bad { text-style: bold underline; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, id="prose.up"),
        Binding("down,j", "scroll_down", "Down", show=False, id="prose.down"),
        Binding("pageup", "page_up", "Page up", show=False, id="prose.page_up"),
        Binding("pagedown,space", "page_down", "Page down", show=False, id="prose.page_down"),
        Binding("home,g", "scroll_home", "Start", show=False, id="prose.start"),
        Binding("end,G", "scroll_end", "End", show=False, id="prose.end"),
    ]

    def __init__(
        self,
        *,
        empty: str = "",
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._empty = empty
        self._thread = ""
        self._blocks: list[Block] = []
        self._width = 0
        self._layout = Layout()
        self._styles: dict[str | None, Style] = {}

    @property
    def empty(self) -> str:
        """What is said when there are no blocks."""
        return self._empty

    @empty.setter
    def empty(self, text: str) -> None:
        if text != self._empty:
            self._empty = text
            self.refresh()

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks as last set; not to be changed."""
        return self._blocks

    @property
    def at_end(self) -> bool:
        """Whether the last line is on the screen."""
        return self.scroll_offset.y >= self.max_scroll_y

    def set_blocks(self, blocks: Sequence[Block], *, thread: str = "") -> None:
        """Show these blocks; another thread begins at its top, the same one keeps the reader's place."""
        blocks = list(blocks)
        if thread == self._thread and blocks == self._blocks:
            return
        follow = thread == self._thread and self.at_end and bool(self._blocks)
        other = thread != self._thread
        self._thread, self._blocks = thread, blocks
        self._lay_out()
        self.refresh()
        if other:
            self.scroll_to(y=0, animate=False, force=True)
        elif follow:
            self.action_scroll_end()
        self._see()

    def show_block(self, index: int) -> None:
        """Bring the heading of a block to the top of the screen, if there is so much below it."""
        if 0 <= index < len(self._blocks):
            self._to_line(self._layout.start_of(index))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width = self.scrollable_content_region.width
        parts = self.marked(self.scroll_offset.y + y)
        segments = [Segment(text, self._style(component)) for text, component in parts]
        return Strip(segments).adjust_cell_length(width, self._style(None))

    def on_mount(self) -> None:
        """Wrap what was set before."""
        self._lay_out()

    def on_resize(self) -> None:
        """Wrap anew for another width and keep the block that was at the top."""
        if self.scrollable_content_region.width == self._width:
            return
        top, end = self.scroll_offset.y, self.at_end
        place = self._layout.place(top)
        self._lay_out()
        # The new size may have been drawn already, with lines of the old one.
        self.refresh()
        if end and top:
            self.action_scroll_end()
        else:
            self._to_line(self._layout.line_at(place))
        self._see()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Whatever moves the text: what comes in sight is drawn."""
        super().watch_scroll_y(old_value, new_value)
        self._see()

    def notify_style_update(self) -> None:
        """Forget how things looked in the old style."""
        self._styles.clear()
        super().notify_style_update()

    def action_scroll_home(self) -> None:
        """Go to the first line."""
        self._to_line(0)

    def action_scroll_end(self) -> None:
        """Go to the last line, wherever it is once the end is drawn."""
        self._to_line(self._layout.total)
        self._to_line(self._layout.total)

    def _to_line(self, line: int) -> None:
        self.scroll_to(y=min(line, self.max_scroll_y), animate=False, force=True)

    def _lay_out(self) -> None:
        self._width = self.scrollable_content_region.width
        if self._width:  # not before the first layout: wrapped to nothing, a text would be a line a character
            self._layout.put(self._blocks, self._width)
        self.virtual_size = Size(0, self._layout.total)

    def _see(self) -> None:
        """Draw what is in sight; what was guessed above it moves nothing that is read."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if not self._width or not height:
            return
        now, before = self._layout.draw(top, height), self.virtual_size.height
        if self._layout.total != before:
            self.virtual_size = Size(0, self._layout.total)
            self.refresh()
        if now != top:
            self._to_line(now)

    def drawn_line(self, line: int) -> Parts:
        """The parts of a line; empty beyond the end."""
        if not self._blocks:
            said = plain(self._empty).splitlines()
            return ((fit(said[line], self._width), "empty"),) if line < len(said) else ()
        return self._layout.line(line)

    def _style(self, component: str | None) -> Style:
        style = self._styles.get(component)
        if style is None:
            looks = [look_of(self, None)]
            for name in component.split() if component else ():
                looks.append(look_of(self, f"prose--{name}"))
            style = self._styles[component] = mixed(looks)
        return style
