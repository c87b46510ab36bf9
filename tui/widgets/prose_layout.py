"""How a thread of blocks is laid out: what is long is drawn where somebody looks, and guessed elsewhere. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Protocol

from rich.cells import cell_len

from tui.rendering.pieces import PIECE, Document, Lines, Parts, Piece, cut
from tui.text import fit, one_line, plain, wrap
from tui.widgets.row import Cell, Tone

INDENT = "│ "
AT_ONCE = 65_536  # characters of long texts that are drawn when they are set: up to here every height is known
LONG = 4 * PIECE  # characters of a body that is drawn in pieces
KEPT = 400  # drawn pieces out of sight that are kept


class Drawing(Protocol):
    """What is drawn for the width that there is, e.g. two columns; its texts are plain already."""

    def lines(self, width: int, /) -> Lines:
        """The lines, each of texts with their looks."""


@dataclass(frozen=True, slots=True)
class Block:
    """One contribution to a thread: a line that says who and when, what was written, and what is drawn below it.

    A `document` may be long: of it only what is in sight is drawn.
    """

    heading: tuple[Cell, ...]
    body: str
    tone: Tone | None = None
    drawing: Drawing | None = None
    document: Document | None = None


class _Chunk:
    """Lines that are drawn together; before that their number is a guess."""

    __slots__ = ("_piece", "drawn", "height", "is_long")

    def __init__(self, piece: Piece, width: int, *, is_long: bool) -> None:
        self._piece = piece
        self.is_long = is_long
        self.drawn: Lines | None = None
        self.height = piece.estimate(width)

    @property
    def characters(self) -> int:
        return self._piece.characters

    def draw(self, width: int) -> None:
        self.drawn = self._piece.lines(width)
        self.height = len(self.drawn)


class Layout:
    """The lines of a thread of blocks for one width."""

    def __init__(self) -> None:
        self._width = 0
        self._known: dict[Block, list[_Chunk]] = {}
        self._chunks: list[_Chunk] = []
        self._firsts: list[int] = []  # of each block: its first chunk
        self._starts: list[int] = [0]

    @property
    def total(self) -> int:
        """How many lines there are, as far as that is known."""
        return self._starts[-1]

    def put(self, blocks: Sequence[Block], width: int) -> None:
        """Lay these blocks out; those that were there before are not drawn again."""
        known = self._known if width == self._width else {}
        self._width = width
        self._known = {block: known.get(block) or _chunks(block, width) for block in blocks}
        self._chunks, self._firsts = [], []
        room = AT_ONCE
        for block in blocks:
            self._firsts.append(len(self._chunks))
            for chunk in self._known[block]:
                self._chunks.append(chunk)
                room -= chunk.characters if chunk.is_long else 0
                if chunk.drawn is None and (room >= 0 or not chunk.is_long):
                    chunk.draw(width)
        self._measure()

    def _measure(self) -> None:
        self._starts = [0, *accumulate(chunk.height for chunk in self._chunks)]

    def line(self, line: int) -> Parts:
        """The parts of a line; empty beyond the end, and where nothing is drawn yet."""
        index = bisect_right(self._starts, line) - 1
        if not 0 <= index < len(self._chunks):
            return ()
        drawn, place = self._chunks[index].drawn, line - self._starts[index]
        return drawn[place] if drawn is not None and place < len(drawn) else ()

    def start_of(self, block: int) -> int:
        """The line of a block's heading."""
        return self._starts[self._firsts[block]]

    def place(self, line: int) -> tuple[int, int]:
        """Which part a line belongs to, and how far below its beginning it is: holds when heights change."""
        index = max(0, min(bisect_right(self._starts, line) - 1, len(self._chunks) - 1))
        return index, line - self._starts[index]

    def line_at(self, place: tuple[int, int]) -> int:
        """The line of such a place; the last one of its part where that is shorter now."""
        index, below = place
        if index >= len(self._chunks):
            return self.total
        return self._starts[index] + min(below, max(0, self._chunks[index].height - 1))

    def draw(self, top: int, height: int) -> int:
        """Draw what these lines of the screen show. Returns where their first line is now."""
        while True:
            first, last = self._between(top, top + height)
            todo = [each for each in self._chunks[first:last] if each.drawn is None]
            if not todo:
                self._forget(first, last)
                return top
            anchor, below = self._anchor(top, height)
            for chunk in todo:
                chunk.draw(self._width)
            self._measure()
            top = max(0, min(self._starts[anchor] + below, self.total - height))

    def _between(self, top: int, bottom: int) -> tuple[int, int]:
        first = max(0, bisect_right(self._starts, max(0, top)) - 1)
        return first, max(first, bisect_right(self._starts, max(0, bottom)))

    def _anchor(self, top: int, height: int) -> tuple[int, int]:
        """What stays where it is: the first part in sight that is drawn already, else what is at the top."""
        first, last = self._between(top, top + height)
        for index in range(first, min(last, len(self._chunks))):
            if self._chunks[index].drawn is not None:
                return index, top - self._starts[index]
        return self.place(top)

    def _forget(self, first: int, last: int) -> None:
        """Drop what was drawn far away; its height stays known."""
        drawn = [index for index, each in enumerate(self._chunks) if each.is_long and each.drawn is not None]
        if len(drawn) > KEPT:
            for index in drawn:
                if not first - KEPT // 4 <= index < last + KEPT // 4:
                    self._chunks[index].drawn = None


def _chunks(block: Block, width: int) -> list[_Chunk]:
    """A block's heading, its body behind a line of its tone, what is drawn below it, and a blank line."""
    bar = (fit(INDENT, width), block.tone or "dim")
    body = block.body.strip("\n")
    is_long = len(body) > LONG
    pieces = [Piece(partial(_body, each, bar), len(each), each.count("\n")) for each in cut(body)] if is_long else []
    if block.document is not None:
        pieces += [Piece(partial(_behind, bar, each), each.characters, each.rows) for each in block.document.pieces]
    ending = Piece(partial(_ending, block, bar), 0)
    beginning = Piece(partial(_beginning, block, "" if is_long else body, bar, None if pieces else ending), 0)
    return [
        _Chunk(beginning, width, is_long=False),
        *(_Chunk(each, width, is_long=True) for each in pieces),
        *([_Chunk(ending, width, is_long=False)] if pieces else []),
    ]


def _room(width: int) -> int:
    return max(1, width - len(INDENT) - 1)


def _beginning(block: Block, body: str, bar: tuple[str, str | None], ending: Piece | None, width: int) -> list[Parts]:
    lines = [_heading(block, width)]
    lines += _body(stripped, bar, width) if (stripped := plain(body).strip("\n")) else []
    return [*lines, *(ending.lines(width) if ending is not None else ())]


def _body(source: str, bar: tuple[str, str | None], width: int) -> list[Parts]:
    return [(bar, (line, None)) for line in hung(plain(source.removesuffix("\n")), _room(width))]


def _behind(bar: tuple[str, str | None], drawing: Drawing, width: int) -> list[Parts]:
    return [(bar, *parts) for parts in drawing.lines(_room(width))]


def _ending(block: Block, bar: tuple[str, str | None], width: int) -> list[Parts]:
    return [*(_behind(bar, block.drawing, width) if block.drawing is not None else ()), ()]


_LISTED = re.compile(r"[•·○●✓✗–] (?:[A-Z]\d+ )?")


def hung(body: str, room: int) -> list[str]:
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
