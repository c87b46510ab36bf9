"""Differences in git's own form, coloured; a line that is too wide goes on below, under its sign. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tui.rendering.pieces import Lines, Parts, Piece
from tui.text import plain, wrap

PIECE_LINES = 60
_LOOKS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("diff --git ",), "strong"),
    (("--- ", "+++ ", "new file", "deleted file", "old mode", "new mode", "Binary files", "\\ "), "dim"),
    (("@@",), "info"),
    (("+",), "good"),
    (("-",), "bad"),
)


def is_difference(text: str) -> bool:
    """Whether a text is a difference: it begins as git's, or with the names of two files and a hunk."""
    if text.startswith("diff --git "):
        return True
    first = text[:4_000].split("\n")[:3]
    return len(first) == 3 and all(map(str.startswith, first, ("--- ", "+++ ", "@@ ")))


@dataclass(frozen=True, slots=True)
class UnifiedDiff:
    """A difference, drawn as a whole."""

    text: str

    def lines(self, width: int) -> Lines:
        """Draw it in so many cells."""
        return _drawn(self.text.split("\n"), False, width)


def difference(text: str) -> tuple[Piece, ...]:
    """A difference of any length."""
    rows, pieces, in_hunk = text.split("\n"), [], False
    for first in range(0, len(rows), PIECE_LINES):
        mine = rows[first : first + PIECE_LINES]
        pieces.append(Piece(partial(_drawn, mine, in_hunk), sum(map(len, mine)), len(mine)))
        for row in mine:
            in_hunk = _in_hunk(row, in_hunk)
    return tuple(pieces)


def _in_hunk(row: str, before: bool) -> bool:
    return row.startswith("@@") or (before and not row.startswith("diff --git "))


def _drawn(rows: Sequence[str], in_hunk: bool, width: int) -> list[Parts]:
    width = max(8, width)
    lines: list[Parts] = []
    for row in rows:
        if not in_hunk and row.startswith("index "):
            continue
        if row.startswith("diff --git "):
            lines.append((("", None),))
        in_hunk = _in_hunk(row, in_hunk)
        lines += _row(row, in_hunk, width)
    return lines


def _row(row: str, in_hunk: bool, width: int) -> Iterator[Parts]:
    look = _look(row, in_hunk)
    # What goes on below keeps its sign: a line that went must not look like one that stayed.
    sign, text = (row[0], row[1:]) if in_hunk and row[:1] in ("+", "-", " ") else ("", row)
    for part in wrap(plain(text.rstrip("\r")), width - len(sign)) or [""]:
        yield ((f"{sign}{part}", look),)


def _look(row: str, in_hunk: bool) -> str | None:
    """The look of a line. Within a hunk its first sign alone counts: `--- x` there is a line that went."""
    if in_hunk and row[:1] in ("+", "-"):
        return "good" if row[0] == "+" else "bad"
    return next((look for starts, look in _LOOKS if row.startswith(starts)), None)
