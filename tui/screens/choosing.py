"""One of a few things, by enter, by its number, or by a double click."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.actions import Hint
from tui.panes.words import said
from tui.widgets.row import Column, Row
from tui.widgets.row_messages import Selected
from tui.widgets.rows import Rows


class Choosing(ModalScreen[int]):
    """Answers with the place of the chosen row (the first is 0), or nothing. `rows` are names with a text beside."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "palette.tcss"]
    AUTO_FOCUS = "#choices"
    HINTS: ClassVar = (Hint("enter", "choose", 1), Hint("1-9", "by number", 2), Hint("esc", "back", 0))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Back", show=False)]

    def __init__(self, title: str, rows: Sequence[tuple[str, str]], verb: str) -> None:
        super().__init__()
        self._heading = title
        self._verb = verb
        columns = (Column("", width=1), Column("", width=14), Column("", min_width=10))
        self.list = Rows(*columns, markable=False, id="choices")
        self.list.set_rows([
            Row(str(place), ((str(place + 1) if place < 9 else "", "info"), (name, "strong"), (text, "dim")))
            for place, (name, text) in enumerate(rows)
        ])  # fmt: skip

    def compose(self) -> ComposeResult:
        """A list as high as it needs."""
        with Vertical(classes="dialog choosing") as dialog:
            dialog.border_title = said(self._heading)
            yield self.list
            yield Static(said(f"enter or its number {self._verb} · esc goes back", "dim"), id="hint")

    def on_mount(self) -> None:
        """No more lines than rows."""
        self.list.styles.height = max(1, len(self.list.rows))

    def on_key(self, event: events.Key) -> None:
        """A number chooses at once."""
        if event.key.isdecimal() and 0 < int(event.key) <= len(self.list.rows):
            event.stop()
            self.dismiss(int(event.key) - 1)

    @on(Selected)
    def _chosen(self, event: Selected) -> None:
        event.stop()
        self.dismiss(int(event.row_id))

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog leaves it, too."""
        if self.get_widget_at(*event.screen_offset)[0] is self:
            self.action_leave()

    def action_leave(self) -> None:
        """Nothing is chosen."""
        self.dismiss(None)
