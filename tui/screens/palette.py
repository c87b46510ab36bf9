"""The palette: a line to type in, and below it what fits. What does not apply now is told with the reason."""

from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from core.commands.registry import Registered
from tui.actions import Hint
from tui.palette import Entry, Things, entries, found
from tui.panes.words import entitle, put, said
from tui.text import counted
from tui.widgets.row import Column, Row
from tui.widgets.row_messages import CursorMoved, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from tui.app import OpsroomApp

COLUMNS = (Column("", width=29), Column("key", width=5), Column("", min_width=22, drop_below=50))
THINGS = (Column("", min_width=18), Column("", width=0), Column("", width=20, drop_below=50))
HINT = "enter does it · T345, G12, R7, Q3 or a name goes there · esc back"
HINT_THINGS = "T345, G12, R7, Q3, a name or words of a title · enter goes there · esc back"


class Palette(ModalScreen[Entry]):
    """`only_things` leaves the actions out: then it is for going to a thing."""

    CSS_PATH: ClassVar = ["dialogs.tcss", "palette.tcss"]
    AUTO_FOCUS = "#palette-query"
    HINTS: ClassVar = (Hint("enter", "do it", 1), Hint("↑/↓", "choose", 2), Hint("esc", "back", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    def __init__(self, app: "OpsroomApp", *, only_things: bool = False) -> None:
        super().__init__()
        self._only_things = only_things
        self._all = [] if only_things else entries(app, lambda command: _open_form(app, command))
        self._things = Things(app.room.view, app.room.jumping.go)
        self._shown: list[Entry] = []
        self.field = Input(id="palette-query", placeholder="type a few letters")
        self.list = Rows(
            *(THINGS if only_things else COLUMNS), markable=False, empty="Nothing fits.", id="palette-rows"
        )
        self._hint = Static(said(HINT_THINGS if only_things else HINT, "dim"), id="hint")

    def compose(self) -> ComposeResult:
        """The line, what fits, and the keys."""
        with Vertical(classes="dialog"):
            yield self.field
            yield self.list
            yield self._hint

    def on_mount(self) -> None:
        """Everything, before a letter is typed."""
        self._find("")

    def _find(self, query: str) -> None:
        things, more = self._things.entries(query) if self._only_things or query.strip() else ([], 0)
        if not self._only_things:
            # an id or a name goes first; titles that happen to hold the letters stand below the actions
            exact = things[:1] if self._things.is_exact(query) else []
            rest = things[len(exact) :] if len(query.strip()) > 2 else []
            self._shown = [*exact, *found(self._all, query), *rest]
        else:
            self._shown = things
        self.list.empty = self._things.missing(query) or "Nothing fits."
        self.list.set_rows([_row(place, entry) for place, entry in enumerate(self._shown)])
        self.list.action_first()
        title = "Go to" if self._only_things else "Palette"
        count = counted(len(self._shown), "thing" if self._only_things else "entry").replace("entrys", "entries")
        entitle(self.query_one(".dialog"), said(f"{title} · {count}{f', {more} more' if more else ''}"))
        self._tell()

    @on(Input.Changed, "#palette-query")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._find(event.value)

    @on(CursorMoved)
    def _moved(self, event: CursorMoved) -> None:
        event.stop()
        self._tell()

    def _tell(self) -> None:
        """Where the reason has no column of its own, it stands below."""
        entry = self._entry
        why = f"not now: {entry.why_not}" if entry is not None and entry.why_not else ""
        put(self._hint, said(why, "warn") if why else said(HINT_THINGS if self._only_things else HINT, "dim"))

    @property
    def _entry(self) -> Entry | None:
        row = self.list.cursor_id
        return self._shown[int(row)] if row is not None and int(row) < len(self._shown) else None

    @on(Input.Submitted, "#palette-query")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._do()

    @on(Selected)
    def _opened(self, event: Selected) -> None:
        event.stop()
        self._do()

    def _do(self) -> None:
        """Close first: what is done is done on the screen below."""
        entry = self._entry
        if entry is None:
            return
        if entry.why_not:
            self._tell()
            return
        self.app.call_later(entry.act)
        self.dismiss(None)

    def action_step(self, by: int) -> None:
        """The entry above or below, while one types."""
        self.list.action_step(by)

    def action_page(self, by: int) -> None:
        """A page of entries."""
        self.list.action_page(by)

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialog leaves it, too."""
        if self.get_widget_at(*event.screen_offset)[0] is self:
            self.action_leave()

    def action_leave(self) -> None:
        """Nothing is done."""
        self.dismiss(None)


def _row(place: int, entry: Entry) -> Row:
    about = f"not now: {entry.why_not}" if entry.why_not else entry.about
    cells = (entry.name, (entry.key, "info"), (about, "dim"))
    return Row(str(place), cells, muted=bool(entry.why_not))  # type: ignore[arg-type]


def _open_form(app: "OpsroomApp", command: Registered) -> None:
    from tui.screens.command_form import open_command

    open_command(app, command)
