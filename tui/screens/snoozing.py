"""What of the inbox is put off: for how long is asked, it is remembered over a restart, and it comes back by itself."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from core.domain.inbox import InboxItem
from core.domain.inbox_marks import fingerprint
from core.domain.inbox_snooze import HowLong, Snooze, Sorted, end_of, refusal, sort
from tui.actions import Hint
from tui.panes.words import clock_time, said
from tui.remembered import Snoozed
from tui.screens.batching import few, tag_of
from tui.screens.confirm import DEAF_S
from tui.text import counted
from tui.widgets.row_messages import Selected
from tui.widgets.rows import Cell, Column, Row, Rows

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen

MORNING_H = 8  # of the person's own day


class Snoozing:
    """Who sleeps, and the acts on it."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self._snoozes: dict[str, Snooze] | None = None
        self.shows = False

    @property
    def _folder(self) -> str:
        return str(self._room.company.folder)

    @property
    def snoozes(self) -> Mapping[str, Snooze]:
        """What is put off, by the item's id; read from what is remembered the first time."""
        if self._snoozes is None:
            known = self._room.app.personal.memory.now.snoozed.get(self._folder, ())
            self._snoozes = {each.item: Snooze(each.item, each.shown, each.until) for each in known}
        return self._snoozes

    def until(self, item_id: str) -> int | None:
        """When it comes back (ms); None when it changes."""
        snooze = self.snoozes.get(item_id)
        return snooze.until if snooze else None

    def sort(self, items: Sequence[InboxItem], now: int) -> Sorted:
        """Who is awake; what came back is told once, and what is over is forgotten."""
        found = sort(items, self.snoozes, now)
        there = {item.id for item in items}
        ended = {item.id for item, _why in found.back} | {name for name in self.snoozes if name not in there}
        if ended and self._room.view.loaded:
            self._keep({name: each for name, each in self.snoozes.items() if name not in ended})
            if found.back:
                parts = [f"{tag_of(item.id)} is back: {why}" for item, why in found.back]
                self._room.say(f"★ {few(parts)}", "warn")
        self.shows = self.shows and bool(found.asleep)
        return found

    def ask(self, items: Sequence[InboxItem]) -> None:
        """For how long these are put off; one that sleeps is woken."""
        if not items:
            self._room.say("Nothing is selected that could be put off.", "warn")
        elif len(items) == 1 and items[0].id in self.snoozes:
            self._keep({name: each for name, each in self.snoozes.items() if name != items[0].id})
            self._room.say(f"{tag_of(items[0].id)} waits for you again.", "good")
            self._room.waiting.show(self._room.now())
        else:
            now = self._room.now()
            ends = {each: end_of(each, now, next_morning(now)) for each in HowLong}
            whys = {each: _refused(items, until) for each, until in ends.items()}
            title = f"Put off {few([tag_of(item.id) for item in items])}?"
            screen = HowLongScreen(title, ends, whys, self._room.decisions.monotonic)
            self._room.app.push_screen(screen, lambda chosen: self._chosen(items, ends, chosen))

    def _chosen(self, items: Sequence[InboxItem], ends: Mapping[HowLong, int | None], chosen: HowLong | None) -> None:
        if chosen is None:
            self._room.say("Nothing is put off.", "dim")
            return
        there = {item.id: item for item in self._room.view.inbox()}
        new: dict[str, Snooze] = {}
        for item in items:
            # as it was before the question: what changed under it comes back at once
            if item.id in there and not refusal(item, ends[chosen]):
                new[item.id] = Snooze(item.id, fingerprint(item), ends[chosen])
        left_out = [f"{tag_of(item.id)}: {refusal(item, ends[chosen])}" for item in items if item.id not in new]
        self._keep({**self.snoozes, **new})
        reveal = self._room.view.keymap.shown("snoozed")
        words = f"{few([tag_of(name) for name in new]) or 'Nothing'} put off {_until(chosen, ends[chosen])}"
        self._room.say(f"{words}; {reveal} shows it." + (f" Not {'; '.join(left_out)}." if left_out else ""), "good")
        self._room.waiting.batching.clear()

    def toggle(self) -> None:
        """Show what sleeps among the rest, or hide it."""
        asleep = len(self.snoozes)
        self.shows = not self.shows and asleep > 0
        if not asleep:
            self._room.say("Nothing is put off.", "dim")
        elif self.shows:
            key = self._room.view.keymap.shown("snooze")
            self._room.say(f"{counted(asleep, 'item')} put off, below the others; {key} on one wakes it.", "good")

    def _keep(self, snoozes: dict[str, Snooze]) -> None:
        self._snoozes = snoozes
        kept = [Snoozed(item=each.item, shown=each.shown, until=each.until) for each in snoozes.values()]
        self._room.app.personal.memory.keep(snoozed={self._folder: kept})


def next_morning(now: int) -> int:
    """Eight in the morning of the next day where the person is (ms UTC)."""
    day = time.localtime(now / 1000)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + 1, MORNING_H, 0, 0, 0, 0, -1)) * 1000)


def _refused(items: Iterable[InboxItem], until: int | None) -> str:
    """Why none of these can be put off so long; empty if one can."""
    whys = [refusal(item, until) for item in items]
    return whys[0] if all(whys) else ""


def _until(how_long: HowLong, until: int | None) -> str:
    return "until it changes" if until is None else f"until {clock_time(until)[:5]}{_DAYS.get(how_long, '')}"


_DAYS = {HowLong.TOMORROW: " tomorrow"}


class HowLongScreen(ModalScreen[HowLong | None]):
    """Three answers; keys are deaf until the eye had time to see them."""

    CSS_PATH = "dialogs.tcss"
    CSS = """
    HowLongScreen { align: center middle; background: $background 60%; }
    HowLongScreen .dialog { height: 9; }
    """
    HINTS: ClassVar = (Hint("1 2 3", "choose", 1), Hint("enter", "choose", 2), Hint("esc", "back", 0))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        *(Binding(str(number), f"choose({number})", show=False) for number in range(1, len(HowLong) + 1)),
    ]

    def __init__(
        self,
        title: str,
        ends: Mapping[HowLong, int | None],
        whys: Mapping[HowLong, str],
        monotonic: Callable[[], float],
    ) -> None:
        super().__init__()
        self._question = title
        self._whys = whys
        self._monotonic = monotonic
        self._asked_at = monotonic()
        columns = (Column("", width=1), Column("", width=16), Column("", min_width=8))
        self.list = Rows(*columns, markable=False, id="how-long")
        rows = []
        for number, each in enumerate(HowLong, 1):
            when = "however long that takes" if ends[each] is None else _until(each, ends[each])
            means: Cell = (whys[each], "warn") if whys[each] else (when, "dim")
            rows.append(Row(each, ((str(number), "info"), str(each), means), muted=bool(whys[each])))
        self.list.set_rows(rows)

    def compose(self) -> ComposeResult:
        """The three of them, and what cannot be, with its reason."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = said(self._question)
            dialog.border_subtitle = said("it comes back early when it changes")
            yield self.list

    def on_mount(self) -> None:
        """The first one has the cursor."""
        self._asked_at = self._monotonic()
        self.list.focus()

    @on(Selected)
    def _selected(self, event: Selected) -> None:
        event.stop()
        self._answer(HowLong(event.row_id))

    def action_choose(self, number: int) -> None:
        """One by its number."""
        self._answer(list(HowLong)[number - 1])

    def _answer(self, how_long: HowLong) -> None:
        if self._monotonic() - self._asked_at < DEAF_S:
            return
        if self._whys[how_long]:
            self.app.bell()
            return
        self.dismiss(how_long)

    def action_leave(self) -> None:
        """Nothing is put off."""
        self.dismiss(None)
