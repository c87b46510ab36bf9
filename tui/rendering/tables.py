"""Rows of cells as a table for the width there is: nothing is cut, long cells go on below. Pure."""

from collections.abc import Sequence

from tui.rendering.pieces import Parts
from tui.rendering.spans import Span, cells, padded, wrapped

Cell = Sequence[Span]
GAP = " │ "
LEAST = 5  # cells that a column needs to be read
MOST_COLUMNS = 40


def widths(rows: Sequence[Sequence[Cell]], width: int) -> list[int] | None:
    """How wide each column is so that all fit in so many cells; None when they cannot be read beside one another."""
    count = max((len(row) for row in rows), default=0)
    natural = [max((_widest(row[n]) for row in rows if n < len(row)), default=1) for n in range(count)]
    room = width - len(GAP) * (count - 1)
    least = [min(each, LEAST) for each in natural]
    if count > MOST_COLUMNS or sum(least) > room:
        return None
    # narrow ones get all that they need; the wide ones share what is left
    given = [0] * count
    for place, index in enumerate(sorted(range(count), key=natural.__getitem__)):
        share = (room - sum(given)) // (count - place)
        given[index] = max(least[index], min(natural[index], share))
    return given


def _widest(cell: Cell) -> int:
    """The widest line of a cell."""
    text = "".join(each for each, _ in cell)
    return max(1, *(cells([(line, None)]) for line in text.split("\n"))) if "\n" in text else max(1, cells(cell))


def head(row: Sequence[Cell], columns: Sequence[int], aligns: Sequence[str] = ()) -> list[Parts]:
    """The names of the columns, and the line below them."""
    strong = [[(text, f"{look} strong" if look else "strong") for text, look in cell] for cell in row]
    rule = "─┼─".join("─" * each for each in columns)
    return [*body(strong, columns, aligns), ((rule, "dim"),)]


def body(row: Sequence[Cell], columns: Sequence[int], aligns: Sequence[str] = ()) -> list[Parts]:
    """One row; as many lines as its longest cell needs."""
    blocks = [wrapped(row[n], each) if n < len(row) else [] for n, each in enumerate(columns)]
    lines: list[Parts] = []
    for place in range(max(1, *(len(block) for block in blocks))):
        line: list[Span] = []
        for n, (block, cell_width) in enumerate(zip(blocks, columns, strict=True)):
            if n:
                line.append((GAP, "dim"))
            align = aligns[n] if n < len(aligns) else "left"
            line += padded(block[place] if place < len(block) else (), cell_width, align)
        lines.append(tuple(line))
    return lines


def card(names: Sequence[Cell], row: Sequence[Cell], width: int) -> list[Parts]:
    """A row where there is no room for columns: a line a cell, each behind its column's name."""
    lines: list[Parts] = []
    for n, cell in enumerate(row):
        name = [(text, f"{look} dim" if look else "dim") for text, look in names[n]] if n < len(names) else []
        lines += wrapped([*name, (": " if name else "", "dim"), *cell], width)
    return [*lines, (("─" * min(width, 12), "dim"),)]
