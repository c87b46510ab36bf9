"""What the inbox pane shows: what waits, without what is put off, and what somebody decided under the cursor.

Beside `Decisions`, which answers one item, `Batching`, which answers those that are marked, and `Snoozing`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from core.commands.registry import Command
from core.domain.inbox import InboxItem
from tui.actions import Hint
from tui.letters import Past
from tui.meanwhile import told
from tui.panes.inbox import GONE, Around
from tui.panes.words import said
from tui.screens.batching import Batching
from tui.screens.snoozing import Snoozing
from tui.text import capital, counted

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen

OWN_S = 10.0  # so long what leaves the inbox after a decision of this room is its own doing
_SUBJECTS = ("approval", "goal", "task", "round")


class Waiting:
    """Brings the inbox pane up to date; the acts by name, as the table of actions calls them."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self.batching = Batching(room)
        self.snoozing = Snoozing(room)
        self._gone: InboxItem | None = None
        self._order: Sequence[str] = ()
        self._own: dict[str, float] = {}
        self._numbered = False

    # ------------------------------------------------------------- bringing up to date

    def show(self, now: int) -> None:
        """The inbox as it is now."""
        view, pane = self._room.view, self._room.inbox
        items = view.inbox()
        sorted_ = self.snoozing.sort(items, now)
        shown = [*sorted_.awake, *(sorted_.asleep if self.snoozing.shows else ())]
        shown = self._with_what_went(shown, items)
        self.batching.follow(items)
        view.meanwhile.watch(items)
        asleep = {item.id: self.snoozing.until(item.id) for item in sorted_.asleep}
        on_their_way = {held.subject for held in self._room.decisions.holding.all()}
        pane.show(
            shown, now,
            Around(on_their_way=on_their_way, version=view.version_of, asleep=asleep, numbered=self._numbered,
                   reveal=self._room.view.keymap.shown("snoozed")),
        )  # fmt: skip
        self._order = [item.id for item in shown]

    def _with_what_went(self, shown: list[InboxItem], items: Sequence[InboxItem]) -> list[InboxItem]:
        """The item under the cursor stays as what became of it, until the cursor leaves it."""
        under, there = self._room.inbox.item, {item.id for item in items}
        if self._gone is not None and (under is None or under.id != self._gone.id or self._gone.id in there):
            self._gone = None
        if self._gone is None and under is not None and under.id not in there and self._room.at_inbox:
            self._went(under, items)
        if self._gone is None:
            return shown
        place = self._order.index(self._gone.id) if self._gone.id in self._order else 0
        return [*shown[:place], self._gone, *shown[place:]]

    def _went(self, item: InboxItem, items: Sequence[InboxItem]) -> None:
        if item.kind == GONE or self._is_own(item):
            return
        became = self._room.view.meanwhile.became(item, self._room.view.tables)
        has_heir = any(each.entity == item.entity for each in items)
        if not has_heir:
            self._gone = replace(
                item, kind=GONE, title=told(item, became), why=became, choices=(), until=None, urgent=False
            )
            self._room.say(f"{self._room.situation.tag}: {became}; nothing is left to decide.", "warn")

    def moved(self) -> None:
        """The cursor moved: what became of an item was read."""
        if self._gone is not None and (self._room.inbox.list.cursor_id != self._gone.id):
            self.show(self._room.now())

    def decides(self, command: Command) -> None:
        """This room sends a decision: what leaves the inbox by it is no news."""
        until = self._room.decisions.monotonic() + OWN_S
        named = [f"{word}:{getattr(command, word)}" for word in _SUBJECTS if hasattr(command, word)]
        self._own |= dict.fromkeys([*named, "company:1"], until)

    def _is_own(self, item: InboxItem) -> bool:
        now = self._room.decisions.monotonic()
        return any(self._own.get(name, 0.0) > now for name in (item.id, item.entity))

    def became(self, item: InboxItem) -> str:
        """What became of an item that a person was reading; empty while it waits."""
        if any(each.id == item.id for each in self._room.view.inbox()):
            return ""
        return capital(self._room.view.meanwhile.became(item, self._room.view.tables))

    # ------------------------------------------------------------- the acts

    def snooze(self) -> None:
        """Put off what is marked, or what is under the cursor; or wake it."""
        marked = [item for item in self._room.view.inbox() if item.id in self.batching.marks]
        item = self._room.inbox.item if self._room.at_inbox else self._room.situation.item
        self.snoozing.ask(marked or ([item] if item is not None and item.kind != GONE else []))

    def snoozed(self) -> None:
        """Show what is put off, or hide it again."""
        self.snoozing.toggle()
        self.show(self._room.now())

    def number(self) -> None:
        """Go to an item by its number, which is shown while it is asked for."""
        if not self._room.inbox.items:
            self._room.say("Nothing waits for you.", "warn")
            return
        self._room.arranging.body.reveal("inbox")
        self._numbered = True
        self.show(self._room.now())
        self._room.ask("to item:", self._to_number, Numbers(self._room.inbox.items))

    def _to_number(self, text: str) -> None:
        item = self._room.inbox.items[int(text) - 1]
        self._room.set_focus(self._room.inbox.list)
        self._room.inbox.list.move_to(item.id)

    def focused(self, widget: Widget | None) -> None:
        """The numbers go when their question does."""
        if self._numbered and widget is not self._room.composer.field:
            self._numbered = False
            self.show(self._room.now())


class Numbers:
    """Helps whoever types the number of an item; a number means what it meant when it was asked for."""

    placeholder = "its number; enter goes there, esc goes back"
    hints = (Hint("enter", "go there", 1), Hint("esc", "back", 0))

    def __init__(self, items: Sequence[InboxItem]) -> None:
        self._items = list(items)
        self.past = Past()

    def preview(self, text: str) -> Content:
        """Which one that is."""
        if self.refusal(text):
            return said(f"{counted(len(self._items), 'item')}", "dim")
        return said(self._items[int(text) - 1].title, "info")

    def refusal(self, text: str) -> str:
        """Why there is no such item."""
        text = text.strip()
        if text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= len(self._items):
            return ""
        return f"There is no item {text!r}: they are 1 to {len(self._items)}."

    def complete(self, text: str, at: int) -> tuple[str, int, Content | None]:
        """Nothing to complete."""
        return text, at, None
