"""Texts with looks, wrapped between words. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.cells import cell_len

from tui.rendering.pieces import Parts
from tui.text import wrap

Span = tuple[str, str | None]
"""A plain text and the name of its look, or several names with blanks between them."""


def wrapped(spans: Sequence[Span], width: int) -> list[Parts]:
    """Lines of at most so many cells; each keeps the looks of its texts."""
    text = "".join(each for each, _ in spans)
    ends = list(accumulate(len(each) for each, _ in spans))
    lines: list[Parts] = []
    place = 0
    for line in wrap(text, width):
        # wrapping only leaves blanks out
        place = max(place, text.find(line, place))
        lines.append(tuple(_between(spans, ends, place, place + len(line))))
        place += len(line)
    return lines


def _between(spans: Sequence[Span], ends: Sequence[int], start: int, end: int) -> list[Span]:
    found: list[Span] = []
    index = bisect_right(ends, start)
    while index < len(spans) and start < end:
        text, look = spans[index]
        begin = ends[index] - len(text)
        found.append((text[start - begin : end - begin], look))
        start = ends[index]
        index += 1
    return found


def cells(spans: Sequence[Span]) -> int:
    """How wide they are on one line."""
    return sum(cell_len(text) for text, _ in spans)


def padded(line: Sequence[Span], width: int, align: str = "left") -> list[Span]:
    """A line with blanks up to a width: behind it, before it (`right`), or around it (`center`)."""
    spare = max(0, width - cells(line))
    before = {"right": spare, "center": spare // 2}.get(align, 0)
    blank = [(" " * before, None)] if before else []
    after = [(" " * (spare - before), None)] if spare > before else []
    return [*blank, *line, *after]
