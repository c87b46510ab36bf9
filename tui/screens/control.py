"""The control room: status, round and CEO above; inbox and board at the left; the selected thing at the right.

It knows what is selected and which panes to bring up to date. It never waits for the board in a handler.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from core.company import OpenCompany
from core.domain.errors import OpsroomError
from core.domain.inbox import Choice, InboxItem
from tui.actions import ARRANGING, DECISION_KEYS, LEADING, WAITING, WAYS, WRITING, Action, Hint, Situation, footer
from tui.filter_line import FilterLine
from tui.modes import room_bindings
from tui.panes.board import BoardPane
from tui.panes.ceo import CeoPane
from tui.panes.composer import Aid, Composer
from tui.panes.detail import DetailPane
from tui.panes.footer import KeyLine
from tui.panes.inbox import InboxPane
from tui.panes.inbox_filter import inbox_facts
from tui.panes.message import MessageLine
from tui.panes.round import RoundPane
from tui.panes.status import Standing, StatusBar
from tui.projection import Projection
from tui.screens.arranging import Arranging
from tui.screens.attaching import Attaching
from tui.screens.board_opening import Boarding
from tui.screens.decisions import Decisions
from tui.screens.disturbing import Disturbing
from tui.screens.jumping import Jumping
from tui.screens.leading import Leading
from tui.screens.looking_back import LookingBack
from tui.screens.prompting import Prompting
from tui.screens.room_acts import RoomActs
from tui.screens.waiting import Waiting
from tui.screens.writing import Writing
from tui.told_commands import hint_for
from tui.widgets.prose import Prose
from tui.widgets.row import Tone
from tui.widgets.row_messages import CursorMoved, MarksChanged, Selected
from tui.widgets.rows import Rows

if TYPE_CHECKING:
    from tui.app import OpsroomApp

HOLD_LOOK_S = 0.2
BACK = "esc goes back to what waits"
ANSWERED = f"it is answered, or over; {BACK}"
OTHER_HINTS = (Hint("enter", "choose", 1), Hint("esc", "back", 0))
FILTER_HINTS = (Hint("enter", "to the board", 1), Hint("esc", "clear", 0))
PANES = ("status", "inbox", "board", "strip", "detail", "lines")


class ControlScreen(Screen[None]):
    """The one screen at which the operator sits."""

    app: "OpsroomApp"
    MODE = "home"
    AUTO_FOCUS = "#inbox-rows"
    CSS_PATH: ClassVar = ["control.tcss", *(f"../panes/{name}.tcss" for name in PANES)]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-home"), (170, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *room_bindings(),
        Binding("tab", "pane(1)", show=False),
        Binding("shift+tab", "pane(-1)", show=False),
    ]

    def __init__(
        self,
        company: OpenCompany,
        clock: Callable[[], int],
        monotonic: Callable[[], float],
        runner_kinds: Collection[str] | None = None,
    ) -> None:
        super().__init__()
        self.company = company
        self.view = Projection()
        self.view.runner_kinds = runner_kinds
        self.view.outputs_folder = str(company.folder / "outputs")
        self.situation = Situation()
        self.decisions = Decisions(self, monotonic)
        self.now = clock
        self.writing = Writing(self)
        self.leading = Leading(self)
        self.prompting = Prompting(self)
        self.attaching = Attaching(self)
        self.looking_back = LookingBack(self)
        self.arranging = Arranging(self)
        self.boarding = Boarding(self)
        self.waiting = Waiting(self)
        self.disturbing = Disturbing(self)
        self.jumping = Jumping(self)
        self.acts = RoomActs(self)
        self._from_board = False
        self._page = Situation()  # what was selected when the page was opened
        self._asked: frozenset[str] | None = None
        self._seen: tuple[object, ...] = ()
        self.status = StatusBar()
        self.round = RoundPane()
        self.ceo = CeoPane()
        self.inbox = InboxPane(lambda item: inbox_facts(self.view, item))
        self.board = BoardPane()
        self._detail = DetailPane(company)
        self._message = MessageLine()
        self._composer = Composer()
        self.keys = KeyLine()

    def compose(self) -> ComposeResult:
        """All panes are there from the beginning; the size of the terminal decides how they stand."""
        yield self.status
        with self.arranging.body:
            with Horizontal(id="strip"):
                yield self.round
                yield self.ceo
            with Vertical(id="left"):
                yield self.inbox
                yield self.board
            yield self.detail
        yield self.composer
        yield self.message
        yield self.keys

    def on_mount(self) -> None:
        """Something to see before the board is read."""
        self.inbox.list.empty = self.board.list.empty = "loading the board…"
        self.status.show(self.view, Standing())
        self.show_keys()
        self.arranging.restore()
        self.set_interval(1.0, self.grow_older)
        self._hold_timer = self.set_interval(HOLD_LOOK_S, self.decisions.look_at_the_clock, pause=True)

    @property
    def detail(self) -> DetailPane:
        """Where the selected thing is read: in the board mode while it is open, as are the lines below."""
        return self.boarding.screen.detail if self.boarding.screen is not None else self._detail

    @property
    def message(self) -> MessageLine:
        """The line that tells what came of a key."""
        return self.boarding.screen.message if self.boarding.screen is not None else self._message

    @property
    def composer(self) -> Composer:
        """The line that asks."""
        return self.boarding.screen.composer if self.boarding.screen is not None else self._composer

    # ------------------------------------------------------------- bringing up to date

    def board_loaded(self) -> None:
        """The first look at the board."""
        self.inbox.list.empty = "Nothing waits for you."
        self.flush()
        if self.inbox.item is None and self.focused is self.inbox.list:
            self.board.list.focus()
        self._warn([*self.company.warnings, *self.app.problems])
        self.app.modes.restore()

    def flush(self) -> None:
        """Show what happened since the last time."""
        if not self.view.loaded or not self.is_mounted:
            return
        dirty = self.view.flush()
        if dirty:
            self._note_waits()
            now = self.now()
            self.waiting.show(now)
            self._tell_what_came()
            self.board.show(self.view, dirty, now)
            self.boarding.touch(dirty, now)
            self._select(by_hand=False)
            self.detail.touch(dirty)
            self.disturbing.look()
            self._show_frame(now)
            self.writing.touch(dirty)
            self.leading.touch(dirty)
            self.prompting.touch(dirty)
            self.attaching.touch(dirty)
            self._warn(self.view.take_warnings())

    def grow_older(self) -> None:
        """Once a second: what tells time moves on."""
        if not self.view.loaded:
            return
        now = self.now()
        self._note_waits()
        self.waiting.show(now)
        self.board.grow_older(now)
        self.boarding.grow_older(now)
        self.detail.show(self.view, self.situation, now)
        self.detail.grow_older()
        self.writing.grow_older()
        self.leading.grow_older()
        self.prompting.grow_older()
        self.attaching.grow_older()
        self.looking_back.grow_older()
        self.disturbing.look()
        self._warn(self.company.take_warnings())
        self._show_frame(now)

    def _note_waits(self) -> None:
        ticked, dispatcher = self.company.last_tick, self.company.dispatcher
        held = {held.entity: held.why for held in ticked.plan.held} if ticked else {}
        self.view.note_waits(held, dispatcher.held if dispatcher else {})

    def _show_frame(self, now: int) -> None:
        ticker = self.company.ticker
        due = ticker.due_in_ms() if ticker is not None and self.company.is_owner else None
        standing = Standing(now, due, self.app.owner_pid, self.disturbing.words)
        self.status.show(self.view, standing)
        self.boarding.stand(standing)
        self.round.show(self.view, self._goal_id())
        self.ceo.show(self.view, now)

    def _tell_what_came(self) -> None:
        """A decision came and the operator looks elsewhere: tell it, and leave the focus where it is."""
        asked = {item.id: item for item in self.view.inbox() if item.choices}
        came = [item for each, item in asked.items() if self._asked is not None and each not in self._asked]
        had_none = not self._asked
        self._asked = frozenset(asked)
        if came and had_none and not isinstance(self.focused, Input) and self.focused is not self.inbox.list:
            thing = self.view.find(came[0].entity)
            kind, _, number = came[0].entity.partition(":")
            tag = f"R{number}" if kind == "run" else "The company" if kind == "company" or not thing else thing.name_tag
            self.say(f"★ {tag} waits for your decision: {self.view.keymap.shown('inbox')} goes to the inbox", "warn")

    def _goal_id(self) -> int | None:
        thing = self.situation.thing
        kind, _, number = self.situation.ref.partition(":")
        return int(number) if kind == "goal" else getattr(thing, "goal_id", None)

    # ------------------------------------------------------------- what is selected

    @on(CursorMoved)
    def _moved(self) -> None:
        self._select(by_hand=True)
        self.waiting.moved()

    @on(MarksChanged, "#inbox-rows")
    def _marked(self) -> None:
        self.waiting.batching.changed()
        self._select(by_hand=True)

    @property
    def at_inbox(self) -> bool:
        """Whether the keys act on what is selected in the inbox, and not on the board."""
        return not self._from_board

    def watch_focused(self, _before: Widget | None, now: Widget | None) -> None:
        """At once, with the focus itself: messages about it come later, and not always in their order."""
        self.arranging.focused(now)
        self.waiting.focused(now)
        if isinstance(now, Rows):
            self.jumping.unpin()
            self._from_board = now is self.board.list
            self.set_class(self._from_board, "-board-first")
        in_detail = isinstance(now, Prose)
        if in_detail or isinstance(now, Rows):
            if not self.has_class("-in-detail"):
                self._page = self.situation
            self.set_class(in_detail, "-in-detail")
        if self.view.loaded:
            self._select(by_hand=True)

    def look_again(self) -> None:
        """Another thing was selected by hand, here or in the board mode."""
        if self.view.loaded:
            self._select(by_hand=True)

    def _select(self, *, by_hand: bool) -> None:
        ref, item = self._under_the_eyes()
        thing = self.view.find(ref)
        choices = _choices([item] if item else self.view.items_of(ref))
        self.situation = Situation(
            self.view.company, ref, thing, item, self.company.is_owner, len(self.decisions.holding),
            *self.boarding.standing, self.writing.discussed(thing), choices,
            len(self.waiting.batching.marks),
        )  # fmt: skip
        seen = (ref, item.id if item else "", *choices.values())
        if seen != self._seen:
            if not by_hand:
                self.decisions.deafen()
            self._seen = seen
        self.detail.show(self.view, self.situation, self.now())
        self.waiting.batching.saw(item)
        self.show_keys()

    def _under_the_eyes(self) -> tuple[str, InboxItem | None]:
        """What the keys act on. Who reads a page stays on it when its item leaves the inbox: the next one in the
        list must not move in under the same keys, be it the next question of the same run.
        """
        if self.boarding.screen is not None:
            return self.boarding.screen.ref, None
        if self.jumping.pinned:
            return self.jumping.pinned, None
        item = None if self._from_board else self.inbox.item
        read, asked = self._page.ref, self._page.item
        if self.has_class("-in-detail") and not self._from_board and read:
            if asked is not None and asked.id.startswith("approval:"):
                if item is None or item.id != asked.id:
                    became = self.waiting.became(asked)
                    why = f"{became}; {BACK}" if became else ANSWERED
                    return read, dataclasses.replace(asked, why=why, choices=(), until=None)
            elif item is None or item.entity != read:
                return read, None
        return (item.entity if item else "") or self.board.list.cursor_id or "", item

    def show_keys(self) -> None:
        """The keys of what is on top: of the room only when nothing asks or tells above it."""
        top = self.app.screen
        if top is not self:
            if self.boarding.screen is not None:
                self.boarding.screen.show_keys()
            self.keys.show(getattr(top, "HINTS", OTHER_HINTS))
        elif self.composer.asks:
            self.keys.show(self.composer.hints)
        elif self.focused is self.board.field:
            self.keys.show(FILTER_HINTS)
        elif self.focused is self.inbox.filter:
            self.keys.show(self.inbox.filter.HINTS)
        else:
            self.keys.show(footer(self.situation, shown=self._shown_key))

    def _shown_key(self, action: Action) -> str:
        return self.view.keymap.shown(action.name)

    def on_screen_suspend(self) -> None:
        """Something opened above the room."""
        self.show_keys()

    def on_screen_resume(self) -> None:
        """It closed."""
        if self.view.loaded:
            self.show_keys()

    @on(Selected)
    def _open(self) -> None:
        self.leading.looked(self.situation)
        if not self.writing.opens(self.situation):
            self.detail.prose.focus()

    # ------------------------------------------------------------- saying

    def say(self, text: str, tone: Tone | None = None) -> None:
        """Tell the operator in the line above the keys; it stays until the next key."""
        self.message.say(text, tone)

    def _warn(self, warnings: Sequence[str]) -> None:
        """Tell all at once: the line holds what was said last."""
        if warnings:
            self.say(f"⚠ {'; '.join(warnings)}", "warn")

    def refuse(self, problem: OpsroomError) -> None:
        """Tell why something was not done, and what can be done."""
        # the line stays until the next key: a hint passes with the toast
        hint = hint_for("room", problem.hint)
        self.message.say(problem.message, "bad")
        self.app.notify(hint or problem.message, title=problem.message if hint else "",
                        severity="error", markup=False)  # fmt: skip

    def ask(self, question: str, then: Callable[[str], None], aid: Aid | None = None) -> None:
        """Ask for a line of text; `aid` helps to write it."""
        self.composer.ask(question, then, aid)

    def decisions_changed(self) -> None:
        """Show what is held, and look at the clock for as long as something is."""
        holding = self.decisions.holding
        held = dict.fromkeys((held.all_words, holding.seconds_left(held)) for held in holding.all())
        self.message.count_down(list(held), self.view.keymap.shown("undo"))
        (self._hold_timer.resume if len(holding) else self._hold_timer.pause)()
        self.situation = dataclasses.replace(self.situation, held=len(holding))
        self.show_keys()
        self.waiting.show(self.now())

    @on(BoardPane.Refused)
    @on(FilterLine.Refused)
    def _wrong_filter(self, event: BoardPane.Refused | FilterLine.Refused) -> None:
        self.message.say(str(event.problem), "warn")

    def before_key(self) -> None:
        """A key comes: it must meet the board as it is, and what was said is read."""
        self.message.clear()
        self.flush()

    # ------------------------------------------------------------- keys

    def action_pane(self, by: int) -> None:
        """The next pane, or the one before."""
        self.arranging.step(by)

    def action_act(self, name: str) -> None:
        """Do one of the actions of the table."""
        if self.boarding.screen is not None and self.boarding.screen.takes(name):
            return
        if name in DECISION_KEYS:
            self._select(by_hand=True)
            self.decisions.decide(DECISION_KEYS[name])
        elif name.startswith("tab("):
            self.detail.open_tab(int(name[4]))
        elif name in LEADING:
            getattr(self.leading, name)()
        elif name in ARRANGING:
            getattr(self.arranging, name)()
        elif name in WAITING:
            getattr(self.waiting, name)()
        elif name in WRITING:
            getattr(self.writing, name)()
        elif name in WAYS:
            self.app.ways.go(name)
        else:
            getattr(self.acts, name)()


def _choices(items: list[InboxItem]) -> dict[str, Choice]:
    """What the keys do, the first item's word first."""
    found: dict[str, Choice] = {}
    for item in items:
        for choice in item.choices:
            found.setdefault(choice.key, choice)
    return found
