"""What a list shows: rows of toned cells, the columns they stand in, and how columns share a width.

Data and pure functions only; `rows.py` beside it draws them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tui.text import fit, one_line

Tone = Literal["good", "warn", "bad", "info", "dim", "strong", "name", "unknown"]
"""What a cell means; the theme decides how that looks. `name` is somebody's, `unknown` a name that nobody has."""

TONES: tuple[Tone, ...] = ("good", "warn", "bad", "info", "dim", "strong", "name", "unknown")

Cell = str | tuple[str, Tone]

GAP = 1  # cells between two columns
MOST_CHARACTERS = 2_000  # of one cell: no line shows more, and a huge text must not be felt


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list or a tree.

    `expandable` is None in a flat list, False for a leaf of a tree, True for a branch.
    """

    id: str
    cells: tuple[Cell, ...]
    depth: int = 0
    expandable: bool | None = None
    expanded: bool = False
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """Where a cell stands. Without a width it shares what the others leave; `tree` carries the indentation."""

    title: str = ""
    width: int | None = None
    align: Literal["left", "right"] = "left"
    min_width: int = 1
    drop_below: int | None = None
    tree: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """A column that has found room: which one, where it begins, how wide it is."""

    index: int
    column: Column
    start: int
    width: int


def lay_out(columns: Sequence[Column], width: int) -> tuple[Slot, ...]:
    """Return the columns that have room in so many cells, with their places."""
    shown = [(i, c) for i, c in enumerate(columns) if c.drop_below is None or width >= c.drop_below]
    while len(shown) > 1 and _least(shown) > width:
        # the text matters more than its attributes: fixed columns go first, the last of them first
        fixed = [n for n, (_, column) in enumerate(shown) if column.width is not None]
        shown.pop(fixed[-1] if fixed else -1)
    spare = max(0, width - _least(shown))
    flexible = sum(column.width is None for _, column in shown)
    slots: list[Slot] = []
    start = 0
    for index, column in shown:
        cells = column.width
        if cells is None:
            share = spare // flexible
            spare, flexible = spare - share, flexible - 1
            cells = column.min_width + share
        cells = max(0, min(cells, width - start))
        slots.append(Slot(index, column, start, cells))
        start += cells + GAP
    return tuple(slots)


def _least(shown: Sequence[tuple[int, Column]]) -> int:
    """The fewest cells these columns can live in."""
    gaps = GAP * max(0, len(shown) - 1)
    return gaps + sum(c.min_width if c.width is None else c.width for _, c in shown)


def twig(row: Row, width: int) -> str:
    """Return the indentation and the fold sign of a row in a tree."""
    sign = "" if row.expandable is None else "  " if not row.expandable else "▾ " if row.expanded else "▸ "
    # a deep branch keeps half of a narrow column for its text
    return "  " * min(row.depth, max(0, width // 2 - len(sign)) // 2) + sign


def cells_of(row: Row, slots: Sequence[Slot]) -> Iterator[tuple[str, Tone | None]]:
    """Yield the text of a row part by part, each with its tone, gaps included; the parts fill the slots exactly."""
    for position, slot in enumerate(slots):
        if position:
            yield " " * GAP, None
        cell = row.cells[slot.index] if slot.index < len(row.cells) else ""
        text, tone = (cell, None) if isinstance(cell, str) else cell
        width = slot.width
        if slot.column.tree and (prefix := twig(row, width)):
            prefix = fit(prefix, width)
            yield prefix, "dim"
            width -= len(prefix)
        # the last line of defence: whoever built the row may have forgotten that the text is foreign
        yield fit(one_line(text[:MOST_CHARACTERS]), width, pad=True, right=slot.column.align == "right"), tone
