"""The board as it was after one event, marked as the past: the tree, what happened, and why things stood there.

It is folded by a worker, off the loop. Nothing can be changed here: keys that would are answered with that.
"""

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from core.blackboard.event_log import EventLog, facts_before
from core.blackboard.past import Folding, Stopped
from core.domain.entities import Event
from core.domain.event_filter import EventFilter
from tui.actions import ACTIONS, LOOK, Hint
from tui.panes.board import BoardPane
from tui.panes.event_log import day_and_time, event_blocks, tag_of, thing_of
from tui.panes.footer import KeyLine
from tui.panes.message import MessageLine
from tui.panes.words import entitle, line, put, said
from tui.projection import Projection
from tui.text import ago, amount, counted
from tui.widgets.prose import Block, Prose
from tui.widgets.row import Tone
from tui.widgets.row_messages import CursorMoved, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.screens.looking_back import LookingBack

LOOK_S = 0.2  # how often the progress of a fold is told
HINTS = (
    Hint("[ ]", "event before, after", 2), Hint("{ }", "decision", 3), Hint("n", "to now", 1),
    Hint("t", "its thing", 5), Hint("enter", "read", 4), Hint("esc", "to the log", 0),
)  # fmt: skip
_OURS = frozenset({"escape", "q", "left_square_bracket", "right_square_bracket", "left_curly_bracket",
                   "right_curly_bracket", "n", "t"})  # fmt: skip
_CHANGING = sorted({key for action in ACTIONS if action.group != LOOK for key in action.keys} - _OURS)
PAST = "This is the past: nothing can be changed here. n goes back to now."


class PastScreen(Screen[None]):
    """One moment of the board; steps go to the moments beside it."""

    app: "OpsroomApp"
    MODE = "past"
    AUTO_FOCUS = "#board-rows"
    CSS_PATH: ClassVar = ["history.tcss", "../panes/board.tcss", "../panes/lines.tcss"]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,L", "leave", "To the log", show=False),
        Binding("left_square_bracket", "step('older', False)", "The event before", show=False),
        Binding("right_square_bracket", "step('newer', False)", "The event after", show=False),
        Binding("left_curly_bracket", "step('older', True)", "The decision before", show=False),
        Binding("right_curly_bracket", "step('newer', True)", "The decision after", show=False),
        Binding("n", "now", "To now", show=False),
        Binding("question_mark", "help", "Help", show=False),
        Binding("t", "thing", "To its thing", show=False),
        Binding(",".join(_CHANGING), "refuse", "Nothing can be changed here", show=False),
    ]

    def __init__(self, back: "LookingBack", event: Event, wanted: EventFilter) -> None:
        super().__init__()
        self.back = back
        self.event = event
        # Steps go on to both sides of where the log was bounded.
        self._wanted = dataclasses.replace(wanted, since=None, until=None, first=None, last=None)
        self._view = Projection()
        self._facts: list[Block] = []
        self._folding: Folding | None = None
        self.head = Static(id="past-head")
        self.board = BoardPane()
        self.prose = Prose(empty="reading…", id="past-prose")
        self._then = Vertical(self.prose, id="then", classes="pane")
        self.message = MessageLine()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """The tree as in the room, and beside it what happened."""
        yield self.head
        with Horizontal(id="past-body"):
            yield self.board
            yield self._then
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """The frame at once; the board when it is folded."""
        self.board.list.empty = "working out the board as it was…"
        self.keys.show(HINTS)
        entitle(self._then, said("Then"))
        entitle(self.board, said("The board as it was"))
        self._timer = self.set_interval(LOOK_S, self.show_head, pause=True)
        self.show_head()
        self._fold(self.event)

    # ------------------------------------------------------------- working it out

    @work(name="work out the past", group="past", exclusive=True, exit_on_error=False)
    async def _fold(self, event: Event) -> None:
        self._folding = folding = Folding()
        self._timer.resume()
        try:
            view = await self.back.board_at(event.id, folding)
            before = await facts_before(self.back.company.board.readers, event)
        except Stopped:
            return
        finally:
            # A search that gave way to another one must not go on in its thread.
            folding.stopped = True
            if self._folding is folding:
                self._folding = None
                self._timer.pause()
        self._show(event, view, event_blocks(event, before, view, self.back.now()))

    def _show(self, event: Event, view: Projection, facts: list[Block]) -> None:
        self.event, self._view, self._facts = event, view, facts
        self.board.show(view, (), event.at)
        if (ref := thing_of(event, view)) and self.board.reveal(ref):
            self.board.list.move_to(ref)
        entitle(self.board, said("The board as it was"))
        self._show_then()
        self.show_head()

    def show_head(self) -> None:
        """Which moment it is, and that it is over; or how far the fold is."""
        if not self.is_mounted:
            return
        event, last = self.event, self.back.view.last_event
        folding = self._folding
        if folding is not None and folding.total:
            told = f"working it out: {amount(folding.done)} of {amount(folding.total)} · esc stops"
        else:
            told = f"{day_and_time(event.at)} · {ago(self.back.now(), event.at)} ago"
        put(
            self.head,
            line(said(f"◀ THE PAST · read only  after #{amount(event.id)} of {amount(last)}"), said(told), gap="  "),
        )

    def _show_then(self) -> None:
        view, ref = self._view, self.board.list.cursor_id or ""
        if not view.loaded:
            return
        *blocks, facts = self._facts
        thing = view.find(ref)
        if thing is not None:
            title = getattr(thing, "title", "")
            name = f"{tag_of(ref)} {title}".strip()
            blocks.append(Block(((name, "strong"), ("then", "dim")), view.why(ref, self.event.at).why, "info"))
        waiting = view.inbox()
        if waiting:
            lines = "\n".join(f"{item.kind.replace('_', ' ')}: {item.title}" for item in waiting[:20])
            blocks.append(Block(((f"{counted(len(waiting), 'thing')} waited for you", "strong"),), lines, "warn"))
        self.prose.set_blocks([*blocks, facts], thread=f"past {self.event.id}")

    @on(CursorMoved)
    def _moved(self) -> None:
        self._show_then()

    @on(Selected)
    def _read_it(self) -> None:
        self.prose.focus()

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """Where there is room for one pane only, it is the one that is in use."""
        if isinstance(now, (Rows, Prose)):
            self.set_class(now is self.prose, "-reads")

    # ------------------------------------------------------------- saying

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator above the keys."""
        self.message.say(text, tone)

    def before_key(self) -> None:
        """A key comes: what was said is read."""
        self.message.clear()
        self.back.bring_up_to_date()

    # ------------------------------------------------------------- keys

    def action_step(self, way: str, decisions: bool) -> None:
        """To the event, or the decision, before or after this one, among those that fit the log's filter."""
        self._look_for(way, decisions)

    @work(name="look for the next event", group="step", exclusive=True, exit_on_error=False)
    async def _look_for(self, way: str, decisions: bool) -> None:
        wanted = self._wanted.only_decisions() if decisions else self._wanted
        log = EventLog(self.back.company.board.readers, wanted)
        page = await (log.older(self.event.id, 1) if way == "older" else log.newer(self.event.id, 1))
        if page.events:
            self._fold(page.events[0])
            return
        what = "decision" if decisions else "event"
        self.say(f"There is no {what} {'before' if way == 'older' else 'after'} this one{self._of_filter()}.", "warn")

    def _of_filter(self) -> str:
        return " that fits the log's filter" if self._wanted.parts else ""

    def action_refuse(self) -> None:
        """A key that changes something in the room."""
        self.say(PAST, "warn")

    def action_help(self) -> None:
        """Every key, those of the past first."""
        from tui.screens.reading import help_screen

        self.app.push_screen(help_screen(self.app.room.situation, keymap=self.app.personal.keymap, here="history"))

    def action_now(self) -> None:
        """Back to the room."""
        self._stop()
        self.back.to_now()

    def action_thing(self) -> None:
        """To the thing of the event as it is now."""
        ref = thing_of(self.event, self._view)
        if why_not := self.back.to_thing(ref):
            self.say(f"{tag_of(ref)} {why_not}".strip(), "warn")

    def action_leave(self) -> None:
        """Out of the fold, then out of the text, then to the log."""
        if self._folding is not None:
            self._stop()
            self.say("stopped: what shows is the moment before; a step goes on from there", "dim")
            if not self._view.loaded:
                self.back.left(self)
        elif self.focused is self.prose and self.has_class("-narrow"):
            self.set_focus(self.board.list)
        else:
            self.back.left(self)

    def _stop(self) -> None:
        if self._folding is not None:
            self._folding.stopped = True
        self.workers.cancel_group(self, "past")

    def on_unmount(self) -> None:
        """Nobody waits for it any more."""
        self.back.gone(self)
        if self._folding is not None:
            self._folding.stopped = True
