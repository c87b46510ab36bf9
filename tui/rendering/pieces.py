"""A long text in pieces, each drawn when somebody looks at it: what it costs is what is seen. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tui.text import plain, wrap

Parts = tuple[tuple[str, str | None], ...]
"""A drawn line: plain texts with the names of their looks."""
Lines = Sequence[Parts]

PIECE = 4_096  # characters of one piece: drawing it is not felt at the keyboard
_JOINED = re.compile("[\u0300-\u036f\u200d\ufe00-\ufe0f\u20d0-\u20ff\U0001f3fb-\U0001f3ff]")
_MOST_JOINED = 16


class Piece:
    """A part of a text that is drawn by itself. `characters` and `rows` are those of its source, for its height."""

    __slots__ = ("_draw", "characters", "rows")

    def __init__(self, draw: Callable[[int], Lines], characters: int, rows: int = 1) -> None:
        self._draw = draw
        self.characters = characters
        self.rows = rows

    def lines(self, width: int) -> Lines:
        """Draw it in so many cells."""
        return self._draw(max(1, width))

    def estimate(self, width: int) -> int:
        """About as many lines as it will have; at least one."""
        return max(1, self.rows, -(-self.characters // max(1, width)))


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A text ready to be drawn, and what it is in words, e.g. `Markdown, 12 lines`. Equal to itself alone."""

    pieces: tuple[Piece, ...]
    about: str


def cut(text: str, most: int = PIECE) -> Iterator[str]:
    """Slices of a text that make it up: between lines where that is possible, else within a line."""
    place = 0
    while len(text) - place > most:
        end = text.rfind("\n", place, place + most) + 1
        if end <= place:
            end = place + most
            # what belongs to the character before stays with it
            for _ in range(_MOST_JOINED):
                if end >= len(text) or not (_JOINED.match(text[end]) or text[end - 1] == "\u200d"):
                    break
                end += 1
        yield text[place:end]
        place = end
    if place < len(text):
        yield text[place:]


def as_written(text: str) -> tuple[Piece, ...]:
    """The text itself, wrapped."""
    return tuple(written_piece(each) for each in cut(text))


def written_piece(source: str) -> Piece:
    """One slice of a text, wrapped."""

    def draw(width: int) -> Lines:
        return [((line, None),) for line in wrap(plain(source.removesuffix("\n")), width)]

    return Piece(draw, len(source), source.count("\n"))


def fixed(lines: Lines) -> Piece:
    """A few lines that are the same at every width."""
    return Piece(lambda _width: lines, 0, len(lines))


def counted_lines(text: str) -> int:
    """How many lines a text has."""
    return text.count("\n") + (not text.endswith("\n"))
