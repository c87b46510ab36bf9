"""Draws rows as strips and remembers what it drew; `rows.py` decides which rows, and when."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from tui.text import fit, one_line, plain
from tui.widgets.look import LookUp, mixed
from tui.widgets.row import GAP, Column, Row, Slot, cells_of, lay_out, twig

GUTTER = 3  # the cursor's sign, the mark's sign, and air: neither is told by colour alone
MARGIN = 1  # between the text and the scrollbar
CURSOR_SIGN, MARK_SIGN = "▌", "✓"


class RowPainter:
    """Strips of rows, one width and one theme at a time."""

    def __init__(self, columns: Sequence[Column], look: LookUp) -> None:
        self._columns = columns
        self._look = look
        self._styles: dict[tuple[str | None, bool, bool], Style] = {}
        self._strips: FIFOCache[tuple[Row, bool, bool], Strip] = FIFOCache(512)
        self._width = -1
        self.slots: tuple[Slot, ...] = ()

    def forget(self) -> None:
        """Drop what was drawn: the theme or the focus is another one."""
        self._styles.clear()
        self._strips.clear()

    def entitle(self, columns: Sequence[Column]) -> bool:
        """Take columns that differ in their titles alone; True when they do."""
        changed = tuple(columns) != tuple(self._columns)
        self._columns = columns
        return changed

    def fit_to(self, width: int) -> None:
        """Lay the columns out for a width, unless they are."""
        if width != self._width:
            self._width = width
            self._strips.clear()
            self.slots = lay_out(self._columns, max(0, width - GUTTER - MARGIN))

    def row(self, row: Row, cursor: bool, marked: bool) -> Strip:
        """The strip of one row."""
        key = (row, cursor, marked)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(row, cursor, marked)
            self._strips[key] = strip
        return strip

    def blank(self) -> Strip:
        """The strip where there is no row."""
        return Strip.blank(self._width, self._style(None))

    def header(self) -> Strip:
        """The strip with the columns' titles."""
        style = self._style("header")
        titles = Row("", tuple(column.title for column in self._columns))
        segments = [Segment(" " * GUTTER, self._style(None))]
        segments += [
            Segment(text, self._style(None) if text == " " * GAP else style) for text, _ in cells_of(titles, self.slots)
        ]
        return self._exactly(segments, self._style(None))

    def empty(self, text: str, line: int, height: int) -> Strip:
        """One line of what is said in the middle when there are no rows."""
        lines = plain(text).splitlines()
        index = line - max(0, (height - len(lines)) // 2)
        if not 0 <= index < len(lines):
            return self.blank()
        said = fit(one_line(lines[index]), self._width)
        style = self._style("empty")
        segment = Segment(said, style)
        before = Segment(" " * ((self._width - segment.cell_length) // 2), style)
        return self._exactly([before, segment], style)

    def on_fold_sign(self, row: Row, x: int) -> bool:
        """Whether this cell of a row's line is its fold sign."""
        for slot in self.slots:
            if slot.column.tree:
                end = GUTTER + slot.start + len(twig(row, slot.width))
                return end - 2 <= x < end
        return False

    def column_at(self, x: int) -> int | None:
        """Which column stands in this cell of a line, by its place among all columns."""
        return next((s.index for s in self.slots if s.start <= x - GUTTER < s.start + max(1, s.width)), None)

    def _draw(self, row: Row, cursor: bool, marked: bool) -> Strip:
        base = self._style(None, cursor, row.muted)
        segments = [
            Segment(CURSOR_SIGN if cursor else " ", self._style("sign", cursor) if cursor else base),
            Segment(MARK_SIGN if marked else " ", self._style("mark", cursor)),
            Segment(" " * (GUTTER - 2), base),
        ]
        segments += [
            Segment(text, self._style(tone, cursor, row.muted) if tone else base)
            for text, tone in cells_of(row, self.slots)
        ]
        return self._exactly(segments, base)

    def _exactly(self, segments: list[Segment], style: Style) -> Strip:
        return Strip(segments).adjust_cell_length(self._width, style)

    def _style(self, component: str | None, cursor: bool = False, muted: bool = False) -> Style:
        key = (component, cursor, muted)
        style = self._styles.get(key)
        if style is None:
            over = ("cursor" if cursor else None, component, "muted" if muted else None)
            style = mixed([self._look(None), *(self._look(name) for name in over if name)])
            self._styles[key] = style
        return style
