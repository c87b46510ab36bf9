"""What a list tells its pane. Every message carries the list, as `rows` and as `control`."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui.widgets.rows import Rows


class MarksChanged(Message, namespace="rows"):
    """The set of marked rows is another one."""

    def __init__(self, rows: "Rows") -> None:
        super().__init__()
        self.rows = rows

    @property
    def control(self) -> "Rows":
        """The list it happened in, so that `@on` can select by it."""
        return self.rows


class CursorMoved(Message, namespace="rows"):
    """The cursor is on another row, or on none; `because_gone` when its own row left the list."""

    def __init__(self, rows: "Rows", row_id: str | None, because_gone: bool) -> None:
        super().__init__()
        self.rows = rows
        self.row_id = row_id
        self.because_gone = because_gone

    @property
    def control(self) -> "Rows":
        """The list whose cursor moved."""
        return self.rows


class _OnRow(Message):
    def __init__(self, rows: "Rows", row_id: str) -> None:
        super().__init__()
        self.rows = rows
        self.row_id = row_id

    @property
    def control(self) -> "Rows":
        """The list it happened in."""
        return self.rows


class Selected(_OnRow, namespace="rows"):
    """The operator opened a row, by enter or a double click."""


class Expand(_OnRow, namespace="rows"):
    """The operator wants to see what is under a row."""


class Collapse(_OnRow, namespace="rows"):
    """The operator wants to hide what is under a row."""


class HeadingClicked(Message, namespace="rows"):
    """The operator clicked the title over a column; `column` is its place among the list's columns."""

    def __init__(self, rows: "Rows", column: int) -> None:
        super().__init__()
        self.rows = rows
        self.column = column

    @property
    def control(self) -> "Rows":
        """The list whose heading it is."""
        return self.rows
