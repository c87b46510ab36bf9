"""The whole board as a table or a tree, or what one task waits for as a drawn tree; with the line of its filter."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from core.domain.entities import Goal, Task
from core.domain.errors import Invalid
from tui.board_look import BoardLook
from tui.board_view import BoardView, Lines, Used
from tui.board_view_cells import DOWN, TITLES, UP, cells_of, columns_of
from tui.board_view_deps import Links, Twig, twigs
from tui.filtering import EXAMPLES, parse_filter
from tui.panes.words import entitle, line, said
from tui.projection import Projection
from tui.screens.board_rows import BoardRows
from tui.text import counted
from tui.tree import Node
from tui.widgets.row import Row
from tui.widgets.row_messages import Collapse, Expand
from tui.widgets.rows import Rows

MANY = 1_500  # lines from which on events no longer sort the list anew at once
SORT_AGAIN_S = 0.25
THINGS = ("goal", "task", "round", "agent")
"""Kinds of lines that can be acted on; others are headings."""
_WHAT = {"open": "only what is open", "finished": "", "archived": "with what is archived"}
_NOT_AS_TWIGS = ("priority", "runs", "cost", "waits", "age")
_BY = {"status": "status", "who": "agent", "round": "round", "goal": "goal"}


class Kept(Protocol):
    """What outlives the screen while the room is open."""

    look: BoardLook
    folds: dict[str, bool]
    words: str
    links: Links

    @property
    def used(self) -> Mapping[str, Used]:
        """Runs and cost by reference."""


class BoardTable(Vertical):
    """Shows what `kept.look` asks for."""

    class Refused(Message):
        """The filter means nothing."""

        def __init__(self, problem: Invalid) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self, kept: Kept) -> None:
        super().__init__(id="whole", classes="pane")
        self._kept = kept
        self._view = Projection()
        self._now = 0
        self._wanted = parse_filter(kept.words)
        self._lines = Lines(())
        self._shown: dict[str, Node] = {}
        self._twigs: dict[str, Twig] = {}
        self._drawn: dict[str, Row] = {}
        self._structure = -1
        self._tasks: dict[int, Task] = {}
        self._goals: dict[int, Goal] = {}
        self._later: Timer | None = None
        self.root = 0
        """The task whose dependencies show, or 0."""
        self.list = BoardRows(self._fill, *columns_of(kept.look), id="whole-rows")
        self.field = Input(
            kept.words, placeholder="words  status:blocked  agent:slug  goal:G1  must:M3  is:ready", id="whole-filter"
        )

    def compose(self) -> ComposeResult:
        """The field shows only while a filter is typed or at work."""
        yield self.list
        yield self.field

    def on_mount(self) -> None:
        """A filter that was left at work is still there."""
        self.set_class(self.filtered, "-filtering")

    @property
    def filtered(self) -> bool:
        """Whether less than everything shows."""
        return bool(self._wanted.parts)

    @property
    def ref(self) -> str:
        """The thing under the cursor; empty on a heading that is no thing."""
        row_id = self.list.cursor_id or ""
        if self.root:
            twig = self._twigs.get(row_id)
            return f"task:{twig.task}" if twig and twig.task else ""
        return row_id if row_id.partition(":")[0] in THINGS else ""

    # ------------------------------------------------------------- bringing up to date

    def show(self, view: Projection, dirty: Iterable[str], now: int) -> None:
        """Take over what changed: lines that stand where they stood are drawn anew, else all are sorted again."""
        self._view, self._now = view, now
        for ref in dirty:
            self._drawn.pop(ref, None)
        if self.root:
            self._show_twigs()
        elif view.structure != self._structure or (self.filtered and dirty) or any(map(self._has_moved, dirty)):
            self._sort_soon()
        self._update(dirty)

    def _has_moved(self, ref: str) -> bool:
        kind, _, number = ref.partition(":")
        if kind not in ("goal", "task"):
            return False
        before = (self._tasks if kind == "task" else self._goals).get(int(number))
        now = self._view.find(ref)
        board = self._board()
        return before is not now and (before is None or board.place(before) != board.place(now))

    def _update(self, refs: Iterable[str]) -> None:
        if self.root:
            return
        for ref in refs:
            if (node := self._shown.get(ref)) is not None:
                self.list.update_row(self._row(node))

    def grow_older(self, now: int) -> None:
        """Bring the ages on the screen up to date, and only those."""
        self._now = now
        seen = self.list.on_screen()
        for row_id in seen:
            self._drawn.pop(row_id, None)
        if self.root:
            self._show_twigs()
        self._update(seen)

    def use(self, changed: Mapping[str, Used]) -> None:
        """Runs and costs were read."""
        for ref in changed:
            self._drawn.pop(ref, None)
        if changed and self._kept.look.sort in ("runs", "cost") and not self.root:
            self._sort_soon()
        self._update(changed)

    def _sort_soon(self) -> None:
        if len(self._shown) < MANY or self._structure < 0:
            self.rebuild()
        elif self._later is None:
            self._later = self.set_timer(SORT_AGAIN_S, self.rebuild)

    def rebuild(self) -> None:
        """Every line anew, by the look and the filter."""
        if self._later is not None:
            self._later.stop()
            self._later = None
        if self.root:
            self._show_twigs()
            return
        view, look = self._view, self._kept.look
        self._structure = view.structure
        self._tasks, self._goals = dict(view.tables[Task]), dict(view.tables[Goal])
        before = self._shown
        self._lines = self._board().lines()
        self._shown = {node.ref: node for node in self._lines.nodes}
        self._forget_changed(before)
        self.list.empty = self._nothing()
        self.list.set_columns(columns_of(look))
        self.list.set_rows([self._row(node) for node in self._lines.nodes])
        entitle(self, self._title())

    def _forget_changed(self, before: Mapping[str, Node]) -> None:
        for ref, node in self._shown.items():
            if node.branch or before.get(ref) != node:
                self._drawn.pop(ref, None)

    def _board(self) -> BoardView:
        return BoardView(self._view, self._kept.look, self._wanted, self._kept.folds, self._kept.used)

    def look_differs(self) -> None:
        """The look is another one."""
        self._drawn.clear()
        self.rebuild()

    # ------------------------------------------------------------- rows

    def _row(self, node: Node) -> Row:
        """As it was drawn, or without cells until it is seen."""
        drawn = self._drawn.get(node.ref)
        return drawn if drawn is not None else Row(node.ref, (), node.depth, self._foldable(node), node.open)

    def _foldable(self, node: Node) -> bool | None:
        if self._kept.look.view == "table":
            return node.branch if self._kept.look.group and node.depth == 0 else None
        return node.branch or not node.ref.startswith("task") or None

    def _fill(self, row: Row) -> Row:
        if self.root:
            return row
        below = self._lines.counts.get(row.id, 0)
        cells, muted = cells_of(self._view, row.id, self._kept.look, self._now, self._kept.used, below)
        full = self._drawn[row.id] = Row(row.id, cells, row.depth, row.expandable, row.expanded, muted)
        return full

    # ------------------------------------------------------------- what waits for what

    def turn_to(self, task: int) -> None:
        """Show what this task waits for and what waits for it; 0 goes back to the board."""
        chosen = self.ref
        self.root = task
        self._drawn.clear()
        self.rebuild()
        self.list.move_to(f"task:{task}" if task else chosen)

    def _show_twigs(self) -> None:
        look = self._kept.look.model_copy(update={"view": "tree", "sort": "number", "hidden": _NOT_AS_TWIGS})
        found = twigs(self._view, self._kept.links, self.root)
        rows = []
        self._twigs = {}
        for place, twig in enumerate(found):
            row_id = f"task:{twig.task}" if twig.task and not twig.again else f"line:{place}"
            row_id = row_id if row_id not in self._twigs else f"line:{place}"
            self._twigs[row_id] = twig
            if not twig.task:
                rows.append(Row(row_id, ("", (twig.drawn + twig.words, "info"))))
                continue
            cells, over = cells_of(self._view, f"task:{twig.task}", look, self._now, self._kept.used)
            title = cells[1] if isinstance(cells[1], str) else cells[1][0]
            title = f"{twig.drawn}{'↑ ' if twig.again else ''}{title}"
            rows.append(Row(row_id, (cells[0], title, *cells[2:]), muted=over or twig.again))
        self.list.set_columns(columns_of(look))
        self.list.set_rows(rows)
        entitle(self, said(f"What T{self.root} waits for, and what waits for it"))

    # ------------------------------------------------------------- words above

    def _title(self) -> Content:
        look = self._kept.look
        by = f" by {_BY[look.group]}" if look.view == "table" and look.group else ""
        parts = [
            f"Board  {counted(self._lines.tasks, 'task')}",
            f"{look.view}{by}",
            f"{TITLES[look.sort]} {DOWN if look.descending else UP}",  # its column may have no room
            _WHAT[look.over],
            f"/ {self._kept.words.strip()}" if self.filtered else "",
        ]
        return line(*(said(part) for part in parts if part), gap=" · ")

    def _nothing(self) -> str:
        if self.filtered:
            return f"Nothing on the board fits the filter.\n{EXAMPLES}"
        if self._kept.look.over == "open":
            return "Nothing is open.\nX shows what is finished, too."
        return "No goal yet."

    # ------------------------------------------------------------- the filter, and folding

    def ask_filter(self) -> None:
        """Let the operator type a filter."""
        if self.root:
            self.turn_to(0)
        self.add_class("-filtering")
        self.screen.set_focus(self.field)

    def clear_filter(self) -> None:
        """Show everything again."""
        self.field.value = ""
        self.remove_class("-filtering")
        self.list.focus()

    @on(Input.Changed, "#whole-filter")
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        try:
            wanted = parse_filter(event.value)
        except Invalid as problem:
            # what showed before still shows, and the field says that it is wrong
            self.set_class(True, "-wrong")
            self.post_message(self.Refused(problem))
            return
        self.remove_class("-wrong")
        self._kept.words = event.value
        if wanted != self._wanted:
            self._wanted = wanted
            self.rebuild()

    @on(Input.Submitted, "#whole-filter")
    def _narrowed(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip():
            self.remove_class("-filtering")
        self.list.focus()

    @on(Rows.Expand)
    def _unfold(self, event: Expand) -> None:
        self._kept.folds[event.row_id] = True
        self.rebuild()

    @on(Rows.Collapse)
    def _fold(self, event: Collapse) -> None:
        self._kept.folds[event.row_id] = False
        self.rebuild()
