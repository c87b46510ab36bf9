"""The history: every event of the board, newest first, by a filter in words; the selected one in full beside.

The log is read page by page as the reader goes down, never as a whole; what happens meanwhile comes in above.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from core.blackboard.event_log import EventLog, facts_before
from core.domain.entities import Event
from core.domain.errors import Invalid
from core.domain.event_filter import EXAMPLES, EventFilter, about, parse_events
from tui.actions import Hint
from tui.keymap import named
from tui.panes.event_log import LOG, event_blocks, event_row, number_of, row_id, tag_of, thing_of
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.words import entitle, line, put, said
from tui.text import amount
from tui.widgets.prose import Block, Prose
from tui.widgets.row import Row, Tone
from tui.widgets.row_messages import CursorMoved, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.screens.looking_back import LookingBack

PAGE = 200
AHEAD = 60  # rows below the cursor from which on the next page is read
MOST = 10_000  # rows that are kept; the rest is a filter away
PLACEHOLDER = "actor:slug kind:TaskSubmitted goal:G3 T12 is:decision since:2h words"
DECISIONS = "is:decision"
FILTER_HINTS = (Hint("enter", "to the log", 1), Hint("esc", "clear", 0))
HINTS = (
    Hint("/", "filter", 2), Hint("d", "decisions", 3), Hint("b", "board then", 2), Hint("t", "its thing", 4),
    Hint("y", "its history", 5), Hint("?", "help", 6), Hint("esc", "back", 0),
)  # fmt: skip


class HistoryScreen(Screen[None]):
    """The log and one event of it. Nothing is changed from here."""

    app: "OpsroomApp"
    MODE = "history"
    AUTO_FOCUS = "#log-rows"
    CSS_PATH: ClassVar = ["history.tcss", "../panes/lines.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = named("history", [
        Binding("escape,q,L", "leave", "Back", show=False),
        Binding("slash", "filter", "Filter", show=False),
        Binding("d", "decisions", "Only decisions, or everything", show=False),
        Binding("b", "board", "The board as it was after it", show=False),
        Binding("t", "thing", "To its thing", show=False),
        Binding("y", "its_history", "All about its thing", show=False),
        Binding("question_mark", "help", "Help", show=False),
    ])  # fmt: skip

    def __init__(self, back: "LookingBack", typed: str = "") -> None:
        super().__init__()
        self.back = back
        self.wanted = EventFilter()
        self._events: dict[int, Event] = {}  # newest first
        self._rows: dict[int, Row] = {}  # as they were drawn: thousands are not drawn anew for each page
        self._next: int | None = None  # where the next page begins; None at the end of the log
        self._newest = 0
        self._is_reading = False
        self._down_to = 0
        self._shown: tuple[int, str] = (0, "")
        self.head = Static(id="history-head")
        self.field = Input(typed, placeholder=PLACEHOLDER, id="history-filter")
        self.log_rows = Rows(*LOG, header=True, markable=False, empty="reading the log…", id="log-rows")
        self.prose = Prose(empty="reading…", id="event-prose")
        self._log = Vertical(self.log_rows, id="log", classes="pane")
        self._event = Vertical(self.prose, id="event", classes="pane")
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """The field shows only while a filter is typed or at work."""
        yield self.head
        yield self.field
        with Horizontal(id="history-body"):
            yield self._log
            yield self._event
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """The newest page at once, whatever the log holds."""
        entitle(self._event, said("Event"))
        self.set_class(bool(self.field.value), "-filters")
        self._narrow()
        self.show_keys()

    def on_unmount(self) -> None:
        """Also when another screen took its place."""
        self.back.gone(self)

    # ------------------------------------------------------------- reading

    def _narrow(self) -> None:
        """Begin anew with the filter as it is typed; a wrong one leaves what shows."""
        try:
            self.wanted = parse_events(self.field.value, self.back.now())
        except Invalid as problem:
            self.add_class("-wrong")
            self.say(f"{problem.message} {problem.hint}", "warn")
            return
        self.remove_class("-wrong")
        self.message.clear()
        self._events, self._shown = {}, (0, "")
        self._newest = self.back.view.last_event
        self._next = self._newest + 1
        self.log_rows.empty = "looking…"
        self.log_rows.set_rows(())
        self._read_page()

    @work(name="read the log", group="log", exclusive=True, exit_on_error=False)
    async def _read_page(self) -> None:
        """The next page, further back. Exclusive: another filter ends the search of the one before."""
        self._is_reading = True
        try:
            log = EventLog(self.back.company.board.readers, self.wanted)
            page = await log.older(self._next or 0, PAGE, self._hear_progress)
            self._events.update({event.id: event for event in page.events})
            self._next = page.next if len(self._events) < MOST else None
            self._down_to = 0
        finally:
            self._is_reading = False
        self._show_log()

    def _hear_progress(self, down_to: int) -> None:
        self._down_to = down_to
        self.show_head()

    @work(name="read what is new", group="new events", exit_on_error=False)
    async def _read_new(self) -> None:
        last, wanted = self.back.view.last_event, self.wanted
        page = await EventLog(self.back.company.board.readers, wanted).newer(self._newest, PAGE)
        if wanted is not self.wanted:
            return
        self._newest = page.next or last
        if page.events:
            fresh = {event.id: event for event in reversed(page.events)}
            self._events = dict(list({**fresh, **self._events}.items())[:MOST])
            self._show_log()

    @work(name="read an event", group="event", exclusive=True, exit_on_error=False)
    async def _read_event(self, event: Event) -> None:
        before = await facts_before(self.back.company.board.readers, event)
        self.prose.set_blocks(self._blocks(event, before), thread=f"event {event.id}")

    def grow_older(self) -> None:
        """Once a second: what happened meanwhile comes in above; who reads further down keeps the place."""
        is_busy = self._is_reading or any(each.group == "new events" and each.is_running for each in self.workers)
        if self.is_mounted and self.back.view.last_event > self._newest and not is_busy:
            self._read_new()

    # ------------------------------------------------------------- showing

    def _show_log(self) -> None:
        view, now = self.back.view, self.back.now()
        if not self._events:
            self.log_rows.empty = (
                f"Nothing fits the filter.\n{EXAMPLES}" if self.field.value else "Nothing happened yet."
            )
        drawn = self._rows
        self._rows = {each: drawn.get(each) or event_row(event, view, now) for each, event in self._events.items()}
        self.log_rows.set_rows(list(self._rows.values()))
        self.show_head()
        self._show_event()

    def show_head(self) -> None:
        """What is looked at, and how far a search is."""
        if not self.is_mounted:
            return
        last = max(self.back.view.last_event, self._newest)
        told = f"{amount(last)} events on the board"
        if self._is_reading and self._down_to:
            told += f" · looking, {amount(last - self._down_to)} looked through · esc stops"
        what = f"what fits {self.field.value.strip()!r}" if self.field.value.strip() else "everything, newest first"
        put(self.head, line(said("History", "strong"), said(what, "info"), said(told, "dim"), gap="  "))
        shown = f"{amount(len(self._events))} shown"
        if len(self._events) >= MOST:
            shown += "; until:#… or until:2h shows what is older"
        elif self._next is not None:
            shown += ", more below"
        entitle(self._log, said(f"Log · {shown}"))

    def _show_event(self) -> None:
        event = self.event
        if event is None:
            self.prose.empty = "Nothing is selected."
            self.prose.set_blocks((), thread="")
        elif self._shown != (event.id, self.field.value):
            self._shown = (event.id, self.field.value)
            self.prose.set_blocks(self._blocks(event, None), thread=f"event {event.id}")
            self._read_event(event)

    def _blocks(self, event: Event, before: dict[str, Any] | None) -> list[Block]:
        return event_blocks(event, before, self.back.view, self.back.now())

    @property
    def event(self) -> Event | None:
        """The event under the cursor."""
        return self._events.get(number_of(self.log_rows.cursor_id))

    @on(CursorMoved)
    def _moved(self) -> None:
        self._show_event()
        rows = self.log_rows.rows
        if self._next is not None and not self._is_reading and rows:
            left = rows[max(0, len(rows) - AHEAD) :]
            if any(row.id == self.log_rows.cursor_id for row in left):
                self._read_page()

    @on(Selected)
    def _read_it(self) -> None:
        self.prose.focus()

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """Where there is room for one pane only, it is the one that is in use."""
        if isinstance(now, (Rows, Prose)):
            self.set_class(now is self.prose, "-reads")
        self.show_keys()

    # ------------------------------------------------------------- saying

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)

    def before_key(self) -> None:
        """A key comes: what was said is read."""
        if not self.has_class("-wrong"):
            self.message.clear()
        self.back.bring_up_to_date()

    def show_keys(self) -> None:
        """The keys of the field, or of the log."""
        keymap = self.app.personal.keymap
        self.keys.show(FILTER_HINTS if self.field.has_focus else keymap.hints(HINTS, "history"))

    # ------------------------------------------------------------- keys

    def action_filter(self) -> None:
        """Ask for words."""
        self.add_class("-filters")
        self.set_focus(self.field)

    @on(Input.Changed, "#history-filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_mounted:
            self._narrow()

    @on(Input.Submitted, "#history-filter")
    def _to_log(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_class(bool(self.field.value.strip()), "-filters")
        self.set_focus(self.log_rows)

    def _filter_by(self, typed: str) -> None:
        """Another filter, by a key: the field shows it."""
        self.set_class(bool(typed), "-filters")
        self.field.value = typed

    def action_decisions(self) -> None:
        """Only what somebody decided, or everything again."""
        words = self.field.value.split()
        rest = [word for word in words if word != DECISIONS]
        self._filter_by(" ".join(rest if DECISIONS in words else [*rest, DECISIONS]))

    def action_its_history(self) -> None:
        """All that is about the thing of the event."""
        ref = thing_of(self.event, self.back.view) if self.event is not None else ""
        if not about(ref):
            self.say("The event is about nothing that has a history of its own.", "warn")
            return
        self._filter_by(about(ref))

    def action_board(self) -> None:
        """The board as it was after the event."""
        if self.event is not None:
            self.back.look_at(self.event, self.wanted)

    def action_thing(self) -> None:
        """To the thing as it is now."""
        ref = thing_of(self.event, self.back.view) if self.event is not None else ""
        if why_not := self.back.to_thing(ref):
            self.say(f"{tag_of(ref)} {why_not}".strip(), "warn")

    def show_event(self, number: int) -> None:
        """Put the cursor on an event, if the log shows it."""
        self.log_rows.move_to(row_id(self._events[number])) if number in self._events else None

    def action_help(self) -> None:
        """Every key."""
        from tui.screens.reading import help_screen

        self.app.push_screen(help_screen(self.app.room.situation, keymap=self.app.personal.keymap, here="history"))

    def action_leave(self) -> None:
        """Out of the search, the field, the event, the filter, then the screen."""
        if self._is_reading and self._down_to:
            self.workers.cancel_group(self, "log")
            self._is_reading, self._down_to = False, 0
            self._show_log()
            self.say("stopped; going down in the log goes on", "dim")
        elif self.field.has_focus or (self.field.value and self.focused is not self.prose):
            self._filter_by("")
            self.set_focus(self.log_rows)
        elif self.focused is self.prose and self.has_class("-narrow"):
            self.set_focus(self.log_rows)
        else:
            self.back.left(self)
