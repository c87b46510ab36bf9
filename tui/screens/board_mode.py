"""The board mode: the whole board as table or tree, what waits for what, and beside it the selected thing.

The keys of the room act on what is selected here: the room asks this screen, while it is open, what that is.
"""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget

from tui.actions import ARRANGING, WAYS, Action, Hint, footer
from tui.board_look import COLUMNS, GROUPS, OVERS, BoardLook
from tui.board_view_cells import DOWN, TITLES, UP
from tui.keymap import named
from tui.modes import HOME, room_bindings
from tui.panes.composer import Composer
from tui.panes.detail import DetailPane
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.status import Standing, StatusBar
from tui.screens.board_table import BoardTable
from tui.widgets.prose import Prose
from tui.widgets.row import Tone
from tui.widgets.row_messages import CursorMoved, HeadingClicked, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui.app import OpsroomApp
    from tui.board_view import Used
    from tui.screens.board_opening import Boarding

FILTER_HINTS = (Hint("enter", "to the board", 1), Hint("esc", "clear", 0))
_TOLD = {"open": "Only what is open shows.", "finished": "What is finished shows, too.",
         "archived": "All shows, also what is archived."}  # fmt: skip
_BY = {"": "in one list", "status": "by status", "who": "by agent", "round": "by round", "goal": "by goal"}
_NOT_HERE = WAYS | {"leave", "home"}


class BoardScreen(Screen[None]):
    """The list at the left, the selected thing at the right; one of them where there is no room for both."""

    app: "OpsroomApp"
    MODE = "board"
    AUTO_FOCUS = "#whole-rows"
    CSS_PATH: ClassVar = [
        "board_mode.tcss", "../panes/status.tcss", "../panes/detail.tcss", "../panes/lines.tcss",
    ]  # fmt: skip
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *room_bindings(but=_NOT_HERE),
        *named("board", [
            Binding("o", "turn", "Table or tree", show=False),
            Binding("p", "group", "Group by the next", show=False),
            Binding("left_square_bracket", "sort(-1)", "Sort by the column before", show=False),
            Binding("right_square_bracket", "sort(1)", "Sort by the next column", show=False),
            Binding("U", "reverse", "The other direction", show=False),
            Binding("X", "over", "Hide what is finished, or show it", show=False),
            Binding("W", "columns", "Which columns show", show=False),
            Binding("x", "dependencies", "What waits for what", show=False),
        ]),
        Binding("q", "leave", show=False),
        Binding("tab,shift+tab", "other", show=False),
    ]  # fmt: skip

    def __init__(self, boarding: "Boarding") -> None:
        super().__init__()
        self._boarding = boarding
        self.room = boarding.room
        self._page = ""
        self.status = StatusBar()
        self.table = BoardTable(boarding)
        self.detail = DetailPane(boarding.room.company)
        self.composer = Composer()
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """All panes are there from the beginning; the size of the terminal decides how they stand."""
        yield self.status
        with Horizontal(id="both"):
            yield self.table
            yield self.detail
        yield self.composer
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """From memory at once; runs and costs when they are read."""
        now = self.room.now()
        self.table.show(self.room.view, (), now)
        self.table.list.move_to(self._boarding.cursor)
        self.room.grow_older()

    # ------------------------------------------------------------- bringing up to date

    def show(self, dirty: frozenset[str], now: int) -> None:
        """Something happened."""
        if self.is_mounted:
            self.table.show(self.room.view, dirty, now)

    def grow_older(self, now: int) -> None:
        """Once a second: what tells time moves on."""
        if self.is_mounted:
            self.table.grow_older(now)

    def use(self, changed: "Mapping[str, Used]") -> None:
        """Runs and costs were read."""
        if self.is_mounted:
            self.table.use(changed)

    def stand(self, standing: Standing) -> None:
        """The bar at the top."""
        self.status.show(self.room.view, standing)

    def before_key(self) -> None:
        """A key comes: it must meet the board as it is, and what was said is read."""
        self.room.before_key()

    # ------------------------------------------------------------- what is selected

    @property
    def in_detail(self) -> bool:
        """Whether the selected thing is being read."""
        return self.has_class("-in-detail")

    @property
    def ref(self) -> str:
        """What the keys act on; who reads a page stays on it when its line goes."""
        return self._page if self.in_detail else self.table.ref

    @property
    def subject(self) -> str:
        """What can be copied and jumped from."""
        return self.ref

    @on(CursorMoved)
    def _moved(self) -> None:
        self.room.look_again()

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """At once, with the focus itself: the next key acts on what is selected then."""
        if isinstance(now, (Prose, Rows)):
            if isinstance(now, Prose) and not self.in_detail:
                self._page = self.table.ref
            self.set_class(isinstance(now, Prose), "-in-detail")
        self.room.look_again()

    @on(Selected)
    def _open(self, event: Selected) -> None:
        row = event.rows.row(event.row_id)
        if not self.table.ref and row is not None and row.expandable:
            event.rows.post_message((Rows.Collapse if row.expanded else Rows.Expand)(event.rows, row.id))
            return
        self.room.leading.looked(self.room.situation)
        if not self.room.writing.opens(self.room.situation):
            self.detail.prose.focus()

    @on(HeadingClicked)
    def _sort_by(self, event: HeadingClicked) -> None:
        """A click on the title of a column sorts by it, a second one turns the direction around."""
        look = self._boarding.look
        if event.column == 0 or self.table.root:
            return
        name = look.columns[event.column - 1]
        self._choose(look.model_copy(update={"sort": name, "descending": name == look.sort and not look.descending}))

    @on(BoardTable.Refused)
    def _wrong_filter(self, event: BoardTable.Refused) -> None:
        self.message.say(str(event.problem), "warn")

    # ------------------------------------------------------------- saying

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)

    def show_keys(self) -> None:
        """The keys of what is on top: of this screen only when nothing asks above it."""
        if not self.is_attached:
            return
        top = self.app.screen
        if top is not self:
            self.keys.show(getattr(top, "HINTS", ()))
        elif self.composer.asks:
            self.keys.show(self.composer.hints)
        elif self.focused is self.table.field:
            self.keys.show(FILTER_HINTS)
        else:
            back = self.room.view.keymap.shown("back")  # told below in the words of where it leads
            usual = [hint for hint in footer(self.room.situation, 5, self._shown_key) if hint.key != back]
            self.keys.show([*usual, *self._hints()])

    def _shown_key(self, action: Action) -> str:
        return self.room.view.keymap.shown(action.name)

    def _hints(self) -> list[Hint]:
        if self.table.root:
            own = [Hint("x", "of this one", 3), Hint("esc", "to the board", 0)]
        else:
            look = self._boarding.look
            own = [
                Hint("o", "tree" if look.view == "table" else "table", 3), Hint("p", "group", 4),
                Hint("[ ]", "sort", 4), Hint("X", "finished", 5), Hint("x", "what waits", 5), Hint("esc", "back", 1),
            ]  # fmt: skip
        return self.app.personal.keymap.hints(own, "board")

    def on_screen_suspend(self) -> None:
        """Something opened above."""
        self.show_keys()

    def on_screen_resume(self) -> None:
        """It closed."""
        self.show_keys()

    def on_unmount(self) -> None:
        """The keys act on the room's own again."""
        self._boarding.gone(self)

    # ------------------------------------------------------------- keys of the room

    def action_act(self, name: str) -> None:
        """One of the actions of the table."""
        self.room.action_act(name)

    def takes(self, name: str) -> bool:
        """Do an action here that is about the screen itself; False for all that the room does."""
        if name == "filter":
            self.table.ask_filter()
        elif name == "back":
            self._back()
        elif name in ("home", "board", "leave"):
            self.action_leave()
        elif name == "inbox":
            self.app.modes.go(HOME)
            self.room.set_focus(self.room.inbox.list)
        elif name == "zoom":
            self.toggle_class("-alone")
        elif name in ARRANGING:
            self.say(
                f"Only the panes of the control room move; {self.room.view.keymap.shown('zoom')} zooms here.", "dim"
            )
        else:
            return False
        return True

    def _back(self) -> None:
        if self.composer.asks:
            self.composer.action_drop()
        elif self.in_detail:
            self.table.list.focus()
        elif self.table.root:
            self.table.turn_to(0)
            self.room.look_again()
        elif self.table.field.has_focus or self.table.filtered:
            self.table.clear_filter()
        else:
            self._boarding.left(self)

    def action_leave(self) -> None:
        """To the control room."""
        self._boarding.left(self)

    def action_other(self) -> None:
        """The list or the detail, whichever has not the focus."""
        (self.table.list if self.in_detail else self.detail.prose).focus()

    # ------------------------------------------------------------- keys of the board

    def _choose(self, look: BoardLook, told: str = "") -> None:
        """Show the board by this look from now on, and at the next start."""
        self._boarding.look = look
        chosen = self.table.ref
        if self.table.root:
            self.table.turn_to(0)
        self.table.look_differs()
        if chosen:
            self.table.list.move_to(chosen)
        self.room.look_again()
        if told:
            self.say(told, "dim")

    def action_turn(self) -> None:
        """From the table to the tree and back."""
        look = self._boarding.look
        self._choose(look.model_copy(update={"view": "tree" if look.view == "table" else "table"}))

    def action_group(self) -> None:
        """Group by the next: status, agent, round, goal, nothing; in the table."""
        look = self._boarding.look
        group = GROUPS[(GROUPS.index(look.group) + 1) % len(GROUPS)]
        self._choose(look.model_copy(update={"group": group, "view": "table"}), f"The table {_BY[group]}.")

    def action_sort(self, by: int) -> None:
        """Sort by the column before or after, of those that show."""
        look = self._boarding.look
        shown = look.columns
        place = shown.index(look.sort) + by if look.sort in shown else 0
        self._told_sort(look.model_copy(update={"sort": shown[place % len(shown)], "descending": False}))

    def action_reverse(self) -> None:
        """The other direction."""
        look = self._boarding.look
        self._told_sort(look.model_copy(update={"descending": not look.descending}))

    def _told_sort(self, look: BoardLook) -> None:
        self._choose(look, f"Sorted by {TITLES[look.sort]} {DOWN if look.descending else UP}")

    def action_over(self) -> None:
        """Only what is open; what is finished, too; what is archived, too."""
        look = self._boarding.look
        over = OVERS[(OVERS.index(look.over) + 1) % len(OVERS)]
        self._choose(look.model_copy(update={"over": over}), _TOLD[over])

    def action_columns(self) -> None:
        """Choose which columns show."""
        from tui.screens.board_columns import BoardColumns

        def chosen(hidden: frozenset[str] | None) -> None:
            look = self._boarding.look
            if hidden is not None:
                self._choose(look.model_copy(update={"hidden": tuple(name for name in COLUMNS if name in hidden)}))

        self.app.push_screen(BoardColumns(self._boarding.look), chosen)

    def action_dependencies(self) -> None:
        """What the selected task waits for and what waits for it; on that task itself back to the board."""
        kind, _, number = self.ref.partition(":")
        if self.in_detail:
            self.table.list.focus()
        if kind != "task":
            self.say("Only tasks wait for one another: choose one.", "warn")
            return
        self.table.turn_to(0 if int(number) == self.table.root else int(number))
        self.room.look_again()
