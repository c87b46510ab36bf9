"""The inbox: everything that waits for a person, one line each. It tells; it never asks over what is being typed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from core.domain.inbox import InboxItem
from core.domain.states import ApprovalKind
from tui import signs
from tui.filter_line import FilterLine
from tui.filter_words import Values
from tui.panes.inbox_filter import INBOX_KEYS
from tui.panes.words import clock_time, entitle
from tui.signs import Look
from tui.text import ago, left, one_line
from tui.widgets.rows import Cell, Column, Row, Rows

COLUMNS = (
    Column("kind", width=11),
    Column("what", min_width=8),
    Column("on", width=5, drop_below=30),
    Column("since", width=4, align="right", drop_below=44),
)
LETTERS = {"goal": "G", "task": "T", "round": "N", "agent": "A", "run": "R"}
EMPTY = "Nothing waits for you."
GONE = "over"
"""The kind of an item that somebody decided while it was under the cursor."""
_OVER: Look = ("✓", "over", "dim")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What else is known of the items.

    `on_their_way` names the subjects on which a decision is held; `version` tells of a draft that came back as which
    one it did; `asleep` tells of what is put off until when (ms UTC), or None until it changes; `numbered` numbers
    the lines; `reveal` is the key that shows what is put off.
    """

    on_their_way: Collection[str] = ()
    version: Callable[[InboxItem], int] = lambda _item: 0
    asleep: Mapping[str, int | None] = field(default_factory=dict)
    numbered: bool = False
    reveal: str = "I"


class InboxPane(Vertical):
    """A list of items under a title that counts them."""

    def __init__(self, facts: Callable[[InboxItem], tuple[str, Values]]) -> None:
        """`facts` tells of an item by what it can be filtered."""
        super().__init__(id="inbox", classes="pane")
        entitle(self, Content("Inbox"))
        self._facts = facts
        self._stands: tuple[int, Around] | None = None
        self._drawn: dict[str, tuple[InboxItem, int, Row]] = {}
        self._shown: tuple[Sequence[InboxItem], int, Around] = ((), 0, Around())
        self._items: dict[str, InboxItem] = {}
        self._entities: dict[str, str] = {}
        self.list = Rows(*COLUMNS, empty=EMPTY, id="inbox-rows")
        self.filter = FilterLine(INBOX_KEYS, lambda: self.list, lambda: self.show(*self._shown), id="inbox-filter")

    def compose(self) -> ComposeResult:
        """The list; below it the line of the filter while there is one."""
        yield self.list
        yield self.filter

    @property
    def item(self) -> InboxItem | None:
        """The item under the cursor."""
        return self._items.get(self.list.cursor_id or "")

    @property
    def items(self) -> list[InboxItem]:
        """The items in the order of their lines."""
        return list(self._items.values())

    def show(self, items: Sequence[InboxItem], now: int, around: Around) -> None:
        """Show these items; the cursor stays on its item, or on what became of it."""
        self._shown = (items, now, around)
        everything = items
        if self.filter.is_narrow:
            items = [item for item in items if item.kind == GONE or self.filter.fits(*self._facts(item))]
            self.list.empty = self.filter.nothing
        elif everything or self.list.empty == self.filter.nothing:
            self.list.empty = EMPTY
        before = self.list.cursor_id
        was_about = self._entities.get(before or "")
        self._items = {item.id: item for item in items}
        self._entities = {item.id: item.entity for item in items}
        self.list.set_rows(self._rows(items, now, around))
        if before is not None and before not in self._items:
            heir = next((item.id for item in items if item.entity == was_about), None)
            if heir is not None:
                self.list.move_to(heir)
        self._entitle(everything, around)

    def _rows(self, items: Sequence[InboxItem], now: int, around: Around) -> list[Row]:
        """Their rows; within a second those of the same items are the same: many of them took longer than a frame."""
        if (stands := (now // 1000, around)) != self._stands:
            self._stands, self._drawn = stands, {}
        drawn, self._drawn = self._drawn, {}
        rows = []
        for place, item in enumerate(items, 1):
            same = drawn.get(item.id)
            row = same[2] if same and same[0] is item and same[1] == place else _row(item, place, now, around)
            self._drawn[item.id] = (item, place, row)
            rows.append(row)
        return rows

    def reveal(self, item_id: str) -> bool:
        """Put the cursor on an item, past a filter that hides it; False when it is not in the list."""
        if self.filter.is_narrow and item_id not in self._items:
            self.filter.clear()
        return self.list.move_to(item_id)

    def _entitle(self, items: Sequence[InboxItem], around: Around) -> None:
        waiting = [item for item in items if item.kind != GONE and item.id not in around.asleep]
        urgent = any(item.urgent for item in waiting)
        count = (f" {len(waiting)} ", "reverse bold $text-error" if urgent else "reverse bold $text-warning")
        parts: list[str | tuple[str, str]] = ["Inbox ", count] if waiting else ["Inbox"]
        if self.filter.is_narrow:
            told = f" · {len(self._items)} shown  / {one_line(self.filter.value.strip())}"
            parts.append((told, "$text-primary"))
        if self.list.marked:
            parts.append((f" {len(self.list.marked)} marked", "bold $text-accent"))
        if around.asleep:
            seen = any(item.id in around.asleep for item in items)
            parts.append((f" {len(around.asleep)} put off ({around.reveal} {'hides' if seen else 'shows'})", "dim"))
        entitle(self, Content.assemble(*parts))
        self.set_class(bool(waiting), "-waiting")


def _is_held(item: InboxItem, on_their_way: Collection[str]) -> bool:
    return (item.id if item.id.startswith("approval:") else item.entity) in on_their_way


def _row(item: InboxItem, place: int, now: int, around: Around) -> Row:
    held, is_asleep = _is_held(item, around.on_their_way), item.id in around.asleep
    sign, word, tone = _look(item, now, around, held=held)
    kind, _, number = item.entity.partition(":")
    tag = f"{LETTERS[kind]}{number}" if kind in LETTERS else ""
    # the first words of each budget's question would leave no room for its figure
    title = item.title.removeprefix("The budget of ") if item.kind == ApprovalKind.BUDGET else item.title
    title = f"{place:>2}  {title}" if around.numbered else title
    cells: tuple[Cell, ...] = ((f"{sign} {word}", tone), title, (tag, "dim"), (ago(now, item.since), "dim"))
    return Row(item.id, cells, muted=held or is_asleep or item.kind == GONE)


def _look(item: InboxItem, now: int, around: Around, *, held: bool) -> Look:
    if item.kind == GONE:
        return _OVER
    if held:
        return signs.HELD
    if item.id in around.asleep:
        until = around.asleep[item.id]
        return "z", "changes" if until is None else clock_time(until)[:5], "dim"
    sign, word, tone = signs.of_item(item)
    if item.until is not None:
        word = f"{word} {left(now, item.until)}"
    if nth := around.version(item):
        word = f"back, v{nth}"
    return sign, word, tone
