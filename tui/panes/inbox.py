"""The inbox: everything that waits for a person, one line each. It tells; it never asks over what is being typed."""

from collections.abc import Callable, Collection, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from core.domain.inbox import InboxItem
from core.domain.states import ApprovalKind
from tui import signs
from tui.panes.words import entitle
from tui.text import ago, left
from tui.widgets.rows import Cell, Column, Row, Rows

COLUMNS = (
    Column("kind", width=11),
    Column("what", min_width=8),
    Column("on", width=5, drop_below=30),
    Column("since", width=4, align="right", drop_below=44),
)
LETTERS = {"goal": "G", "task": "T", "round": "N", "agent": "A", "run": "R"}


class InboxPane(Vertical):
    """A list of items under a title that counts them."""

    def __init__(self) -> None:
        super().__init__(id="inbox", classes="pane")
        entitle(self, Content("Inbox"))
        self._items: dict[str, InboxItem] = {}
        self._entities: dict[str, str] = {}
        self.list = Rows(*COLUMNS, empty="Nothing waits for you.", markable=False, id="inbox-rows")

    def compose(self) -> ComposeResult:
        """The list is all there is."""
        yield self.list

    @property
    def item(self) -> InboxItem | None:
        """The item under the cursor."""
        return self._items.get(self.list.cursor_id or "")

    def show(
        self, items: Sequence[InboxItem], now: int, on_their_way: Collection[str] = (),
        version: Callable[[InboxItem], int] = lambda _item: 0,
    ) -> None:  # fmt: skip
        """Show what waits; the cursor stays on its item, or on what became of it.

        `on_their_way` names the subjects on which a decision is held; `version` tells of a draft that
        came back as which one it did.
        """
        before = self.list.cursor_id
        was_about = self._entities.get(before or "")
        self._items = {item.id: item for item in items}
        self._entities = {item.id: item.entity for item in items}
        self.list.set_rows([_row(item, now, _is_held(item, on_their_way), version(item)) for item in items])
        if before is not None and before not in self._items:
            heir = next((item.id for item in items if item.entity == was_about), None)
            if heir is not None:
                self.list.move_to(heir)
        urgent = any(item.urgent for item in items)
        count = (f" {len(items)} ", "reverse bold $text-error" if urgent else "reverse bold $text-warning")
        entitle(self, Content.assemble("Inbox ", count) if items else Content("Inbox"))
        self.set_class(bool(items), "-waiting")


def _is_held(item: InboxItem, on_their_way: Collection[str]) -> bool:
    return (item.id if item.id.startswith("approval:") else item.entity) in on_their_way


def _row(item: InboxItem, now: int, held: bool, nth: int = 0) -> Row:
    sign, word, tone = signs.HELD if held else signs.of_item(item)
    kind, _, number = item.entity.partition(":")
    tag = f"{LETTERS[kind]}{number}" if kind in LETTERS else ""
    if item.until is not None and not held:
        word = f"{word} {left(now, item.until)}"
    if nth and not held:
        word = f"back, v{nth}"
    # the first words of each budget's question would leave no room for its figure
    title = item.title.removeprefix("The budget of ") if item.kind == ApprovalKind.BUDGET else item.title
    cells: tuple[Cell, ...] = ((f"{sign} {word}", tone), title, (tag, "dim"), (ago(now, item.since), "dim"))
    return Row(item.id, cells, muted=held)
