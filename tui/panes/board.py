"""The board: goals, rounds and tasks as one tree, with a filter."""

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from core.domain.entities import Company, Goal, Round, Task
from core.domain.errors import Invalid
from core.domain.goals import mission_is_defined
from core.domain.states import GOAL_FINAL, TASK_FINAL, AgentStatus, GoalStatus
from tui import signs
from tui.filtering import EXAMPLES, Filter, parse_filter
from tui.panes.coverage import person
from tui.panes.words import entitle
from tui.projection import Projection
from tui.text import ago, counted, in_words, plain
from tui.tree import Node, nodes
from tui.widgets.row_messages import Collapse, Expand
from tui.widgets.rows import Cell, Column, Row, Rows

COLUMNS = (
    Column("", width=1),
    Column("task", tree=True, min_width=14),
    Column("state", width=9, drop_below=34),
    Column("who", width=10, drop_below=46),
    Column("since", width=4, align="right", drop_below=40),
)
EMPTY = "No goal yet.\nThe CEO proposes one at its next heartbeat."
STOPPED = "No goal yet.\nPress s to start the company: then the CEO proposes one."
NO_CEO = "No goal yet.\nn begins one. No CEO is at work to propose any.\nA shows who works here."
NO_MISSION = "No goal yet.\nn begins one.\nThe CEO proposes none without a mission: M sets it."


class BoardPane(Vertical):
    """Shows the tree; rows that did not change are not made anew."""

    class Refused(Message):
        """The filter means nothing."""

        def __init__(self, problem: Invalid) -> None:
            super().__init__()
            self.problem = problem

    def __init__(self) -> None:
        super().__init__(id="board", classes="pane")
        entitle(self, Content("Board"))
        self.list = Rows(*COLUMNS, empty=EMPTY, markable=False, id="board-rows")
        self.field = Input(placeholder="words  status:blocked  agent:slug  goal:G1", id="filter")
        self._view = Projection()
        self._shown: dict[str, Node] = {}
        self._drawn: dict[str, tuple[Node, Row]] = {}
        self._folds: dict[str, bool] = {}
        self._wanted = Filter()
        self._structure = -1
        self._shown_at = 0

    def compose(self) -> ComposeResult:
        """The field shows only while a filter is typed or at work."""
        yield self.list
        yield self.field

    @property
    def filtered(self) -> bool:
        """Whether less than everything shows."""
        return bool(self._wanted.parts)

    def show(self, view: Projection, dirty: Iterable[str], now: int) -> None:
        """Take over what changed."""
        if view is not self._view:
            self._drawn, self._structure = {}, -1
        self._view = view
        self._shown_at = now
        for ref in dirty:
            self._drawn.pop(ref, None)
        if view.structure != self._structure or self.filtered:
            self._rebuild()
            return
        self._say_what_is_missing()
        for ref in dirty:
            if (node := self._shown.get(ref)) is not None:
                self.list.update_row(self._row(node))

    def grow_older(self, now: int) -> None:
        """Bring the ages on the screen up to date, and only those."""
        self._shown_at = now
        top = self.list.scroll_offset.y
        for row in self.list.rows[top : top + self.list.size.height]:
            self._drawn.pop(row.id, None)
            if (node := self._shown.get(row.id)) is not None:
                self.list.update_row(self._row(node))

    def reveal(self, ref: str) -> bool:
        """Open what hides a thing, so that its row can be chosen; False when it has none."""
        thing = self._view.find(ref)
        if ref not in self._shown and isinstance(thing, (Goal, Round, Task)):
            if self.filtered:
                self.field.value, self._wanted = "", Filter()
                self.remove_class("-filtering")
            self._folds[f"goal:{getattr(thing, 'goal_id', thing.id)}"] = True
            while isinstance(thing, Task):
                self._folds[f"round:{thing.round_id}"] = True
                thing = self._view.find(f"task:{thing.parent_id}")
                if thing is not None:
                    self._folds[f"task:{thing.id}"] = True
            self._rebuild()
        return ref in self._shown

    def ask_filter(self) -> None:
        """Let the operator type a filter."""
        self.add_class("-filtering")
        self.screen.set_focus(self.field)

    def clear_filter(self) -> None:
        """Show everything again."""
        self.field.value = ""
        self.remove_class("-filtering")
        self.list.focus()

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        try:
            self._wanted = parse_filter(event.value)
            self.remove_class("-wrong")
        except Invalid as problem:
            # what showed before still shows, and the field says that it is wrong
            self.set_class(True, "-wrong")
            self.post_message(self.Refused(problem))
            return
        self._rebuild()

    @on(Input.Submitted, "#filter")
    def _narrowed(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip():
            self.remove_class("-filtering")
        self.list.focus()

    @on(Rows.Expand)
    def _unfold(self, event: Expand) -> None:
        self._folds[event.row_id] = True
        self._rebuild()

    @on(Rows.Collapse)
    def _fold(self, event: Collapse) -> None:
        self._folds[event.row_id] = False
        self._rebuild()

    def _rebuild(self) -> None:
        self._structure = self._view.structure
        found = nodes(self._view, self._wanted, self._folds)
        self._shown = {node.ref: node for node in found}
        self._say_what_is_missing()
        self.list.set_rows([self._row(node) for node in found])
        tasks = sum(node.ref.startswith("task") for node in found)
        if self.filtered:
            entitle(self, Content(f"Board  filter: {counted(tasks, 'task')}"))
        else:
            entitle(self, Content("Board"))

    def _say_what_is_missing(self) -> None:
        company = self._view.company
        if self.filtered:
            self.list.empty = f"Nothing on the board fits the filter.\n{EXAMPLES}"
        else:
            self.list.empty = _nothing_yet(self._view, company)

    def _row(self, node: Node) -> Row:
        drawn = self._drawn.get(node.ref)
        if drawn is None or drawn[0] != node:
            drawn = self._drawn[node.ref] = (node, self._draw_row(node))
        return drawn[1]

    def _draw_row(self, node: Node) -> Row:
        cells, muted = _cells(self._view, node.ref, self._shown_at)
        # a task without children needs no room for a fold sign
        foldable = node.branch or not node.ref.startswith("task") or None
        return Row(node.ref, cells, node.depth, foldable, node.open, muted)


def _nothing_yet(view: Projection, company: Company | None) -> str:
    """What an empty board waits for."""
    answer = view.ceo()
    if company is None:
        return STOPPED
    if answer is None or answer[0].status != AgentStatus.ACTIVE:
        return NO_CEO
    if not mission_is_defined(company.mission):
        return NO_MISSION
    return EMPTY if company.dispatching else STOPPED


def _cells(view: Projection, ref: str, now: int) -> tuple[tuple[Cell, ...], bool]:
    match view.find(ref):
        case Goal() as goal:
            sign, word, tone = signs.of_goal(goal)
            over = goal.status in GOAL_FINAL or goal.status == GoalStatus.ARCHIVED
            title: Cell = (f"{goal.name_tag} {goal.title}", "strong")
            who = person(goal.created_by)
            return ((sign, tone), title, (word, tone), who, (ago(now, goal.updated_at), "dim")), over
        case Round() as round_:
            sign, word, tone = signs.ROUND[round_.status]
            done = round_.total_tasks - round_.open_tasks
            spoken = f" → {in_words(round_.decision)}" if round_.decision else ""
            title = (f"Round {round_.number}  {done}/{round_.total_tasks}{spoken}", "info")
            return ((sign, tone), title, (word, tone), "", (ago(now, round_.updated_at), "dim")), False
        case Task() as task:
            sign, word, tone = signs.of_task(task)
            who = view.slug(task.assignee_id)
            title = plain(f"{task.name_tag} {task.title}")
            over = task.status in TASK_FINAL
            return ((sign, tone), title, (word, tone), who, (ago(now, task.updated_at), "dim")), over
        case _:
            return (("", ref, "", "", "")), True
