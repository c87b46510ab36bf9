"""A pane with one list and its filter: it keeps all rows, shows those that fit, and tells in its title which."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from tui.filter_line import FilterLine
from tui.filter_words import Keys, Values
from tui.panes.words import entitle
from tui.widgets.row import Row
from tui.widgets.rows import Rows


class FilterPane(Vertical):
    """`facts` says of a row what it is, for the `keys` of the filter; its words look for what stands in the cells."""

    def __init__(
        self, title: str, rows: Rows, keys: Keys, facts: Callable[[Row], Values], *, id: str, classes: str = ""
    ) -> None:
        super().__init__(id=id, classes=f"pane {classes}")
        self.list = rows
        self.filter = FilterLine(keys, lambda: rows, self._show, id=f"{id}-filter")
        self._title = title
        self._facts = facts
        self._all: Sequence[Row] = ()
        self._empty = rows.empty

    def compose(self) -> ComposeResult:
        """The list; below it the line of the filter while there is one."""
        yield self.list
        yield self.filter

    def on_mount(self) -> None:
        """The title is there before the rows are."""
        self._show()

    def set_rows(self, rows: Sequence[Row]) -> None:
        """All rows there are."""
        self._all = rows
        self._show()

    def reveal(self, row_id: str) -> bool:
        """Put the cursor on a row, past a filter that hides it; False when there is none."""
        if self.filter.is_narrow and self.list.row(row_id) is None:
            self.filter.clear()
        return self.list.move_to(row_id)

    def _show(self) -> None:
        if self.list.empty != self.filter.nothing:
            self._empty = self.list.empty
        self.list.empty = self.filter.nothing if self.filter.is_narrow else self._empty
        found = [row for row in self._all if self._fits(row)]
        self.list.set_rows(found)
        entitle(self, self.filter.title(self._title, len(found), len(self._all)))

    def _fits(self, row: Row) -> bool:
        # what is marked stays in sight: it is meant for an act
        return row.id in self.list.marked or self.filter.fits(text_of(row), self._facts(row))


def text_of(row: Row) -> str:
    """What stands in a row."""
    return " ".join(cell if isinstance(cell, str) else cell[0] for cell in row.cells)
