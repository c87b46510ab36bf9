"""A list whose rows get their cells when they are first drawn, and whose columns can be others."""

from collections.abc import Callable

from textual.strip import Strip

from tui.widgets.row import Column, Row
from tui.widgets.row_painter import RowPainter
from tui.widgets.rows import Rows


class BoardRows(Rows):
    """Of ten thousand rows only those that are seen are made: the others have no cells yet. `fill` makes them."""

    def __init__(self, fill: Callable[[Row], Row], *columns: Column, id: str) -> None:
        super().__init__(*columns, markable=False, header=True, id=id)
        self._fill = fill

    def set_columns(self, columns: tuple[Column, ...]) -> None:
        """Other columns; the rows that are set next fit them."""
        if columns != self.columns:
            self.columns = columns
            self._painter = RowPainter(columns, self._look)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        index = self._top + y - self._header
        if y >= self._header and index < len(self._rows) and not self._rows[index].cells:
            self._rows[index] = self._fill(self._rows[index])
        return super().render_line(y)

    def on_screen(self) -> list[str]:
        """The ids of the rows that are seen."""
        return [row.id for row, _, _ in self._on_screen()]
