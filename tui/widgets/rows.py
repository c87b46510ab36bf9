"""`Rows`: the one list of the room, drawn line by line, for flat lists and for trees.

It knows rows, a cursor and marks; what a row means and what happens on it belongs to the pane that owns it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.widgets import row_messages
from tui.widgets.look import Look, look_of
from tui.widgets.row import TONES, Cell, Column, Row, Tone
from tui.widgets.row_painter import RowPainter

__all__ = ["Cell", "Column", "Row", "Rows", "Tone"]


class Rows(ScrollView, can_focus=True):
    """A list over any number of rows that renders only what is on the screen.

    The cursor belongs to a row's id and not to a place: it stays on its row, at its line of the screen, while
    rows come and go around it.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--cursor",
        "rows--sign",
        "rows--mark",
        "rows--header",
        "rows--empty",
        "rows--muted",
        *(f"rows--{tone}" for tone in TONES),
    }
    DEFAULT_CSS = """
    Rows {
        height: 1fr; min-width: 1; min-height: 1; overflow-x: hidden; scrollbar-size-vertical: 1;
        background: $surface; color: $foreground;
        & > .rows--cursor { background: $panel; }
        &:focus > .rows--cursor { background: $primary 30%; text-style: bold; }
        & > .rows--sign { color: $foreground 50%; }
        &:focus > .rows--sign { color: $accent; }
        & > .rows--mark { color: $accent; text-style: bold; }
        & > .rows--header { color: $foreground 60%; text-style: underline; }
        & > .rows--empty { color: $foreground 60%; }
        & > .rows--muted { color: $foreground 50%; }
        & > .rows--good { color: $text-success; }
        & > .rows--warn { color: $text-warning; }
        & > .rows--bad { color: $text-error; text-style: bold; }
        & > .rows--info { color: $text-primary; }
        & > .rows--dim { color: $foreground 60%; }
        & > .rows--strong { text-style: bold; }
        &:nocolor > .rows--muted { text-style: dim; }
        &:nocolor > .rows--dim { text-style: dim; }
        &:nocolor > .rows--warn { text-style: underline; }
        &:nocolor > .rows--bad { text-style: bold underline; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "step(-1)", "Up", show=False, id="rows.up"),
        Binding("down,j", "step(1)", "Down", show=False, id="rows.down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="rows.page_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="rows.page_down"),
        Binding("ctrl+u", "half(-1)", "Half a page up", show=False, id="rows.half_up"),
        Binding("ctrl+d", "half(1)", "Half a page down", show=False, id="rows.half_down"),
        Binding("home,g", "first", "First", show=False, id="rows.first"),
        Binding("end,G", "last", "Last", show=False, id="rows.last"),
        Binding("left,h", "fold", "Collapse", show=False, id="rows.collapse"),
        Binding("right,l", "unfold", "Expand", show=False, id="rows.expand"),
        Binding("enter", "select", "Open", show=False, id="rows.open"),
        Binding("space", "toggle_mark", "Mark", show=False, id="rows.mark"),
    ]

    Selected = row_messages.Selected
    Expand = row_messages.Expand
    Collapse = row_messages.Collapse
    CursorMoved = row_messages.CursorMoved
    MarksChanged = row_messages.MarksChanged
    HeadingClicked = row_messages.HeadingClicked

    def __init__(
        self,
        *columns: Column,
        empty: str = "",
        markable: bool = True,
        header: bool = False,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.columns = columns or (Column(),)
        self.markable = markable
        self.marked: set[str] = set()
        self._header = int(header)
        self._empty = empty
        self._rows: list[Row] = []
        self._index: dict[str, int] = {}
        self._cursor = 0
        self._painter = RowPainter(self.columns, self._look)

    # ------------------------------------------------------------- the rows

    @property
    def rows(self) -> Sequence[Row]:
        """The rows as last set; not to be changed."""
        return self._rows

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self._cursor] if self._rows else None

    @property
    def cursor_id(self) -> str | None:
        """The id of the row under the cursor."""
        return self._rows[self._cursor].id if self._rows else None

    @property
    def empty(self) -> str:
        """What is said, in the middle, when there are no rows."""
        return self._empty

    @empty.setter
    def empty(self, text: str) -> None:
        if text != self._empty:
            self._empty = text
            if not self._rows:
                self._measure()
                self.refresh()

    def entitle(self, *titles: str) -> None:
        """Other titles over the columns, where the rows now tell of something else."""
        self.columns = tuple(replace(column, title=title) for column, title in zip(self.columns, titles, strict=True))
        if self._painter.entitle(self.columns):
            self.refresh()

    def row(self, row_id: str) -> Row | None:
        """Return the row with this id, if it is in the list."""
        index = self._index.get(row_id)
        return None if index is None else self._rows[index]

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows; only lines that look different are painted again."""
        shown, top = self._on_screen(), self._top
        old_id, old_count = self.cursor_id, len(self._rows)
        anchors = self._anchors()
        self._rows = list(rows)
        self._index = {row.id: index for index, row in enumerate(self._rows)}
        place = None if old_id is None else self._index.get(old_id)
        self._cursor = max(0, min(self._cursor, len(self._rows) - 1)) if place is None else place
        self._prune_marks()
        if len(self._rows) != old_count:
            self._measure()
        if not self._rows or not old_count:
            self.refresh()  # what is said without rows stands on other lines than the rows
        self._hold(anchors)
        if self._top == top:
            for line, (before, after) in enumerate(zip(shown, self._on_screen(), strict=False)):
                if before != after:
                    self._refresh_index(top + line)
        if self.cursor_id != old_id:
            self.post_message(self.CursorMoved(self, self.cursor_id, because_gone=old_id is not None))

    def update_row(self, row: Row) -> bool:
        """Put a row in the place of the one with its id; False when there is none."""
        index = self._index.get(row.id)
        if index is None:
            return False
        if self._rows[index] != row:
            self._rows[index] = row
            self._refresh_index(index)
        return True

    def move_to(self, row_id: str) -> bool:
        """Put the cursor on a row and bring it on the screen; False when it is not in the list."""
        index = self._index.get(row_id)
        if index is not None:
            self._move(index)
        return index is not None

    def toggle_mark(self, row_id: str | None = None) -> None:
        """Mark a row, by default the one under the cursor, or take its mark away."""
        row_id = row_id or self.cursor_id
        if self.markable and row_id in self._index:
            self.marked ^= {row_id}
            self._refresh_index(self._index[row_id])
            self.post_message(self.MarksChanged(self))

    def _prune_marks(self) -> None:
        # a batch must not act on what the operator cannot see
        if gone := self.marked - self._index.keys():
            self.marked -= gone
            self.post_message(self.MarksChanged(self))

    # ------------------------------------------------------------- places

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    @property
    def _lines(self) -> int:
        """How many rows the screen has room for."""
        return max(0, self.scrollable_content_region.height - self._header)

    def _on_screen(self) -> list[tuple[Row, bool, bool]]:
        top = self._top
        visible = self._rows[top : top + self._lines]
        return [(row, top + i == self._cursor, row.id in self.marked) for i, row in enumerate(visible)]

    def _measure(self) -> None:
        lines = len(self._rows) or len(self._empty.splitlines())
        self.virtual_size = Size(0, lines + self._header)

    def _anchors(self) -> list[tuple[str, int]]:
        """Rows by whose line on the screen the scroll position is held: the cursor's, else those in sight."""
        top, lines = self._top, self._lines
        seen = [(row.id, line) for line, row in enumerate(self._rows[top : top + lines])]
        if self._rows and 0 <= self._cursor - top < lines:
            seen.insert(0, (self._rows[self._cursor].id, self._cursor - top))
        return seen

    def _hold(self, anchors: list[tuple[str, int]]) -> None:
        for row_id, line in anchors:
            if (index := self._index.get(row_id)) is not None:
                self._scroll(index - line)
                return

    def _scroll(self, top: int) -> None:
        top = max(0, min(top, len(self._rows) - self._lines))
        if top != self._top:
            self.scroll_to(y=top, animate=False, force=True)

    def _reveal(self) -> None:
        if lines := self._lines:
            self._scroll(min(max(self._top, self._cursor - lines + 1), self._cursor))

    def _move(self, index: int) -> None:
        index = max(0, min(index, len(self._rows) - 1))
        old, self._cursor = self._cursor, index
        if self._rows and index != old:
            self._refresh_index(old)
            self._refresh_index(index)
            self.post_message(self.CursorMoved(self, self.cursor_id, because_gone=False))
        self._reveal()

    def _refresh_index(self, index: int) -> None:
        line = index - self._top
        if 0 <= line < self._lines:
            self.refresh(Region(0, line + self._header, self.size.width, 1))

    # ------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        painter = self._painter
        painter.fit_to(self.scrollable_content_region.width)
        if y < self._header:
            return painter.header()
        line = y - self._header
        if not self._rows:
            return painter.empty(self._empty, line, self._lines)
        index = self._top + line
        if index >= len(self._rows):
            return painter.blank()
        row = self._rows[index]
        return painter.row(row, index == self._cursor, row.id in self.marked)

    def _look(self, component: str | None) -> Look:
        return look_of(self, component and f"rows--{component}")

    def notify_style_update(self) -> None:
        """Forget what was drawn in the old style."""
        self._painter.forget()
        super().notify_style_update()

    def on_mount(self) -> None:
        """Take the height of the rows set before."""
        self._measure()

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._reveal()

    # ------------------------------------------------------------- keys and mouse

    def action_step(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self._move(self._cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by so many screens."""
        self._move(self._cursor + by * max(1, self._lines - 1))

    def action_half(self, by: int) -> None:
        """Move the cursor by so many half screens."""
        self._move(self._cursor + by * max(1, self._lines // 2))

    def action_first(self) -> None:
        """Go to the first row."""
        self._move(0)

    def action_last(self) -> None:
        """Go to the last row."""
        self._move(len(self._rows) - 1)

    def action_select(self) -> None:
        """Open the row under the cursor."""
        if row := self.current:
            self.post_message(self.Selected(self, row.id))

    def action_toggle_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away."""
        self.toggle_mark()

    def action_fold(self) -> None:
        """Collapse the row under the cursor, or go to the row it hangs under."""
        if (row := self.current) is None:
            return
        if row.expandable and row.expanded:
            self.post_message(self.Collapse(self, row.id))
            return
        for index in range(self._cursor - 1, -1, -1):
            if self._rows[index].depth < row.depth:
                self._move(index)
                return

    def action_unfold(self) -> None:
        """Expand the row under the cursor, or go to the first row under it."""
        if (row := self.current) is None or not row.expandable:
            return
        if not row.expanded:
            self.post_message(self.Expand(self, row.id))
        elif self._cursor + 1 < len(self._rows) and self._rows[self._cursor + 1].depth > row.depth:
            self._move(self._cursor + 1)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor and a click on a fold sign folds; only a second click opens."""
        if (offset := event.get_content_offset(self)) is None:
            return
        if offset.y < self._header:
            if (column := self._painter.column_at(offset.x)) is not None:
                self.post_message(self.HeadingClicked(self, column))
            return
        index = self._top + offset.y - self._header
        if index >= len(self._rows):
            return
        row = self._rows[index]
        # rows move by themselves: the second click counts only on the row that the first one chose
        if event.chain == 2 and index == self._cursor:
            self.post_message(self.Selected(self, row.id))
            return
        self._move(index)
        if row.expandable and self._painter.on_fold_sign(row, offset.x):
            self.post_message((self.Collapse if row.expanded else self.Expand)(self, row.id))
