"""Which columns of the board mode show: space hides or shows one, enter takes the choice, esc drops it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.actions import Hint
from tui.board_look import ALWAYS, COLUMNS, BoardLook
from tui.board_view_cells import ABOUT, TITLES
from tui.panes.words import said
from tui.widgets.row import Column, Row
from tui.widgets.rows import Rows


class BoardColumns(ModalScreen[frozenset[str]]):
    """Gives back the names of the hidden columns; None when the choice was dropped."""

    CSS_PATH = "dialogs.tcss"
    AUTO_FOCUS = "#columns"
    HINTS: ClassVar = (Hint("space", "hide or show", 2), Hint("enter", "take", 1), Hint("esc", "drop", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", show=False, priority=True),
        Binding("escape,q", "drop", show=False),
    ]

    def __init__(self, look: BoardLook) -> None:
        super().__init__()
        self._hidden: set[str] = set(look.hidden)
        self.list = Rows(Column("", width=2), Column("", width=10), Column(""), markable=False, id="columns")

    def compose(self) -> ComposeResult:
        """One line a column."""
        with Vertical(classes="dialog", id="choose-columns") as dialog:
            dialog.border_title = said("Columns of the board")
            yield self.list
            yield Static(said("space hides or shows · enter takes it · esc drops it", "dim"), id="hint")

    def on_mount(self) -> None:
        """As they are."""
        self._show()

    def _show(self) -> None:
        self.list.set_rows(
            [
                Row(name, ("" if name in self._hidden else ("✓", "good"), TITLES[name], (ABOUT[name], "dim")),
                    muted=name in self._hidden)
                for name in COLUMNS
            ]
        )  # fmt: skip

    def action_turn(self) -> None:
        """Hide the column under the cursor, or show it; the title always shows."""
        name = self.list.cursor_id
        if name is not None and name not in ALWAYS:
            self._hidden ^= {name}
            self._show()

    def on_rows_selected(self) -> None:
        """Enter takes the choice."""
        self.dismiss(frozenset(self._hidden))

    def action_drop(self) -> None:
        """As it was."""
        self.dismiss(None)
