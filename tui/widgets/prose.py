"""`Prose`: a thread of blocks as plain wrapped text, drawn line by line.

Bodies are shown as they were written: no markup, no Markdown, nothing of theirs acts.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.strip import Strip

from tui.text import amount, fit, one_line, plain, wrap
from tui.widgets.look import look_of, mixed
from tui.widgets.row import TONES, Cell, Tone
from tui.widgets.target_view import Parts, TargetView

INDENT = "│ "
MOST_CHARACTERS = 100_000  # of one block: wrapping more would be felt at the keyboard


class Drawing(Protocol):
    """What is drawn for the width that there is, e.g. two columns; its texts are plain already."""

    def lines(self, width: int, /) -> Sequence[tuple[tuple[str, Tone | None], ...]]:
        """The lines, each of texts with their tones."""


@dataclass(frozen=True, slots=True)
class Block:
    """One contribution to a thread: a line that says who and when, what was written, and a drawing below it."""

    heading: tuple[Cell, ...]
    body: str
    tone: Tone | None = None
    drawing: Drawing | None = None


class Prose(TargetView, can_focus=True):
    """A thread to read. Who stands at its end stays at the end when it grows; who reads above is left in peace."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"prose--heading", "prose--empty", *(f"prose--{tone}" for tone in TONES)}
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
        self._wrapped: dict[Block, list[Parts]] = {}
        self._starts: list[int] = [0]
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
            self.forget_target()
            self.scroll_to(y=0, animate=False, force=True)
        elif follow:
            self._to_line(self._starts[-1])

    def show_block(self, index: int) -> None:
        """Bring the heading of a block to the top of the screen, if there is so much below it."""
        if 0 <= index < len(self._blocks):
            self._to_line(self._starts[index])

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
        block = max(0, bisect_right(self._starts, top) - 1)
        below = top - self._starts[block]
        self._lay_out()
        # The new size may have been drawn already, with lines of the old one.
        self.refresh()
        if end and top:
            self._to_line(self._starts[-1])
        elif block < len(self._blocks):
            size = self._starts[block + 1] - self._starts[block]
            self._to_line(self._starts[block] + min(below, size - 1))

    def notify_style_update(self) -> None:
        """Forget how things looked in the old style."""
        self._styles.clear()
        super().notify_style_update()

    def action_scroll_home(self) -> None:
        """Go to the first line."""
        self._to_line(0)

    def action_scroll_end(self) -> None:
        """Go to the last line."""
        self._to_line(self._starts[-1])

    def _to_line(self, line: int) -> None:
        self.scroll_to(y=min(line, self.max_scroll_y), animate=False, force=True)

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._width:
            self._width, self._wrapped = width, {}
        if width:  # not before the first layout: wrapped to nothing, a text would be a line a character
            known = self._wrapped
            self._wrapped = {block: known.get(block) or _drawn(block, width) for block in self._blocks}
            self._starts = [0, *accumulate(len(self._wrapped[block]) for block in self._blocks)]
        self.virtual_size = Size(0, self._starts[-1])

    def drawn_line(self, line: int) -> Parts:
        """The parts of a line; empty beyond the end."""
        if not self._blocks:
            said = plain(self._empty).splitlines()
            return ((fit(said[line], self._width), "empty"),) if line < len(said) else ()
        block = bisect_right(self._starts, line) - 1
        if block >= len(self._blocks):
            return ()
        lines = self._wrapped.get(self._blocks[block], [])
        return lines[line - self._starts[block]] if lines else ()  # nothing before the first layout

    def _style(self, component: str | None) -> Style:
        style = self._styles.get(component)
        if style is None:
            looks = [look_of(self, None)]
            for name in component.split() if component else ():
                looks.append(look_of(self, f"prose--{name}"))
            style = self._styles[component] = mixed(looks)
        return style


def _drawn(block: Block, width: int) -> list[Parts]:
    """The lines of a block: its heading, its body behind a line of its tone, and a blank one."""
    body = block.body
    if (more := len(body) - MOST_CHARACTERS) > 0:
        body = f"{body[:MOST_CHARACTERS]}\n… {amount(more)} characters more"
    body = plain(body).strip("\n")
    lines = [_heading(block, width)]
    bar = (fit(INDENT, width), block.tone or "dim")
    room = max(1, width - len(INDENT) - 1)
    lines += [(bar, (line, None)) for line in (_hung(body, room) if body else ())]
    if block.drawing is not None:
        lines += [(bar, *parts) for parts in block.drawing.lines(room)]
    return [*lines, ()]


_LISTED = re.compile(r"[•·○●✓✗–] (?:[A-Z]\d+ )?")


def _hung(body: str, room: int) -> list[str]:
    """The wrapped lines; those of a list keep to their column when they need more lines."""
    lines: list[str] = []
    for line in body.split("\n"):
        sign = _LISTED.match(line)
        indent = sign.end() if sign is not None else 0
        if not indent or cell_len(line) <= room or room < 4 * indent:
            lines += wrap(line, room)
            continue
        first, *more = wrap(line[indent:], room - indent)
        lines += [line[:indent] + first, *(" " * indent + each for each in more)]
    return lines


def _heading(block: Block, width: int) -> Parts:
    parts: list[tuple[str, str | None]] = []
    room = width
    for cell in block.heading:
        text, tone = (cell, None) if isinstance(cell, str) else cell
        text = fit((" " if parts else "") + one_line(text), room)
        room -= cell_len(text)
        parts.append((text, f"heading {tone}" if tone else "heading"))
    return tuple(parts)
