"""Small pieces of content that several panes draw: tones as styles, money, clock times. Foreign text goes through."""

import time
from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.rendering.isolation import sealed
from tui.signs import Look
from tui.text import amount, one_line, plain, wrap
from tui.widgets.row import Tone

STYLES: dict[Tone, str] = {
    "good": "$text-success",
    "warn": "$text-warning",
    "bad": "bold $text-error",
    "info": "$text-primary",
    "dim": "$foreground 60%",
    "strong": "bold",
    "name": "bold $text-accent",
    "unknown": "underline $text-error",
}


def said(text: str, tone: Tone | None = None) -> Content:
    """One line of anybody's text, literally, in a tone."""
    return Content.styled(sealed(one_line(text)), STYLES[tone] if tone else "")


def put(where: Static, content: Content, *, layout: bool = False) -> None:
    """Show something else; what looks the same is not painted again. `layout` when its height may change."""
    shown = where.content
    if not isinstance(shown, Content) or not content.is_same(shown):
        same = isinstance(shown, Content) and _height(shown, where) == _height(content, where) > 0
        where.update(content, layout=layout and not same)


def _height(content: Content, where: Static) -> int:
    """Its lines there; 0 where that is not certain. A new layout draws the whole screen anew: each key paid for it."""
    lines = content.plain.split("\n")
    return len(lines) if all(cell_len(each) <= where.content_size.width for each in lines) else 0


def entitle(where: Widget, title: Content) -> None:
    """Give a pane another title, if it is another one."""
    if where.border_title != title.markup:
        where.border_title = title


def line(*parts: Content | str, gap: str = "") -> Content:
    """Parts beside one another."""
    contents = [Content(part) if isinstance(part, str) else part for part in parts]
    return Content(gap).join(contents) if gap else Content.assemble(*contents)


def money(micros: int) -> str:
    """Millionths of a dollar, for people."""
    return f"${micros / 1_000_000:,.2f}"


def exact(micros: int) -> str:
    """`$5.00`; what is no whole cent is told to the micro: `$0.000025`."""
    whole, rest = divmod(abs(micros), 1_000_000)
    return f"{'-' if micros < 0 else ''}${whole:,}.{f'{rest:06d}'.rstrip('0').ljust(2, '0')}"


def tokens(number: int) -> str:
    """A number of tokens, short."""
    if number >= 10_000_000:
        return f"{number / 1_000_000:.0f}M tok"
    return f"{number / 1000:.0f}k tok" if number >= 100_000 else f"{amount(number)} tok"


def clock_time(ms: int) -> str:
    """The local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(ms / 1000))


def lasted(ms: int) -> str:
    """How long something took."""
    seconds = max(0, ms) / 1000
    if seconds < 10:
        return f"{seconds:.1f}s"
    return f"{seconds:.0f}s" if seconds < 120 else f"{seconds / 60:.0f}m"


def bar(done: int, total: int, cells: int) -> Content:
    """A bar that tells by its strokes too, not by its colour alone."""
    filled = cells * done // total if total else 0
    return Content.assemble(("━" * filled, "bold $text-success"), ("╌" * (cells - filled), "$foreground 40%"))


def tally(counts: Sequence[tuple[Look, int]], room: int, gap: str = " ") -> Content:
    """How many there are of each: `● 1 working`; the last ones lose their words first where they have no room."""
    shown = Content("")
    for worded in range(len(counts), -1, -1):
        parts = [
            said(f"{sign} {count} {word}" if place < worded else f"{sign}{count}", tone)
            for place, ((sign, word, tone), count) in enumerate(counts)
        ]
        shown = Content(gap).join(parts)
        if shown.cell_length <= room:
            break
    return shown


def hanging(label: Content | str, text: str, width: int, tone: Tone | None = None, *, indent: int = 6) -> Content:
    """A label and a text that keeps to its own column when it needs more lines."""
    lines = wrap(one_line(text), max(8, width - indent))
    label = Content.styled(label, STYLES["dim"]) if isinstance(label, str) else label
    first = Content.assemble(label, " " * max(0, indent - label.cell_length))
    padded = f"\n{' ' * indent}".join(plain(each) for each in lines)
    return Content.assemble(first, Content.styled(padded, STYLES[tone] if tone else ""))
