"""The whole board by a person's wish: which columns, sorted by which, grouped how, with what is over or without.

Pure: from the room's memory to lines. `board_view_cells` tells what stands in them, `board_view_deps` draws what waits
for what.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from core.domain.entities import Entity, Goal, Round, Task
from core.domain.states import TASK_FINAL, GoalStatus, RoundStatus, TaskStatus
from tui.board_look import BoardLook, Name
from tui.filtering import Filter
from tui.projection import Projection
from tui.tree import ENDED, Node, Way, kept_of, nodes, shows_goal


class Used(NamedTuple):
    """What a task or a goal has used: runs of any kind, and what the ended ones cost in micros of a dollar."""

    runs: int = 0
    cost_micros: int = 0


UNUSED = Used()
T = TypeVar("T", Goal, Task)
_STATUS_ORDER = (
    TaskStatus.WAITING_HUMAN, TaskStatus.BLOCKED, TaskStatus.REVIEW, TaskStatus.WORKING, TaskStatus.CLAIMED,
    TaskStatus.PENDING, TaskStatus.DRAFT, TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED,
)  # fmt: skip
_GOAL_ORDER = (
    GoalStatus.DRAFT, GoalStatus.REPORTING, GoalStatus.ACTIVE, GoalStatus.PLANNING, GoalStatus.DONE,
    GoalStatus.FAILED, GoalStatus.CANCELLED, GoalStatus.ARCHIVED,
)  # fmt: skip
Key = tuple[int, str]
"""What is compared: a number, or a word at the number 0."""


def value_of(view: Projection, thing: Goal | Task, name: Name, used: Used = UNUSED) -> Key | None:
    """What a thing is sorted by in a column; None where it has nothing there."""
    match name:
        case "number":
            return thing.id, ""
        case "title":
            return 0, thing.title.casefold()
        case "since":
            return -thing.updated_at, ""  # the longest time is the greatest
        case "age":
            return -thing.created_at, ""
        case "runs":
            return (used.runs, "") if used.runs else None
        case "cost":
            return (used.cost_micros, "") if used.cost_micros else None
        case _ if isinstance(thing, Goal):
            return _of_goal(thing, name)
        case _:
            assert isinstance(thing, Task)
            return _of_task(view, thing, name)


def _of_goal(goal: Goal, name: Name) -> Key | None:
    match name:
        case "status":
            return _GOAL_ORDER.index(goal.status), ""
        case "who":
            return 0, goal.created_by
        case "goal":
            return goal.id, ""
        case _:
            return None


def _of_task(view: Projection, task: Task, name: Name) -> Key | None:
    match name:
        case "status":
            return _STATUS_ORDER.index(task.status), ""
        case "who":
            slug = view.slug(task.assignee_id)
            return (0, slug) if slug else None
        case "goal":
            return task.goal_id, ""
        case "round":
            round_ = view.tables.get(Round, task.round_id)
            return (round_.number, "") if round_ else None
        case "priority":
            return task.priority, ""
        case "waits":
            return (task.open_deps, "") if task.open_deps else None
        case _:
            raise AssertionError(name)


def in_order(view: Projection, things: Iterable[T], look: BoardLook, used: Mapping[str, Used]) -> list[T]:
    """By the column of the look: what has nothing in it comes last both ways, equals stand by their numbers."""
    told: list[tuple[Key, T]] = []
    empty: list[T] = []
    for thing in sorted(things, key=lambda each: each.id):
        value = value_of(view, thing, look.sort, used.get(ref_of(thing), UNUSED))
        if value is None:
            empty.append(thing)
        else:
            told.append((value, thing))
    told.sort(key=lambda each: each[0], reverse=look.descending)  # equals keep their order, also in reverse
    return [thing for _, thing in told] + empty


def ref_of(thing: Goal | Task) -> str:
    """`goal:3` or `task:12`."""
    return f"{'goal' if isinstance(thing, Goal) else 'task'}:{thing.id}"


@dataclass(frozen=True, slots=True)
class Lines:
    """Every line that shows, and by group or goal how many tasks are below it."""

    nodes: Sequence[Node]
    counts: Mapping[str, int] = field(default_factory=dict)
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class BoardView:
    """One look at the board. `used` is by reference; `folds` is what the operator opened or closed."""

    view: Projection
    look: BoardLook
    wanted: Filter
    folds: Mapping[str, bool]
    used: Mapping[str, Used]

    @property
    def _way(self) -> Way:
        return Way(self._sorted, self._goals, self.look.over != "open", self.look.over == "archived")

    def _sorted(self, tasks: Sequence[Task]) -> Sequence[Task]:
        return in_order(self.view, tasks, self.look, self.used)

    def _goals(self, goals: Sequence[Goal]) -> Sequence[Goal]:
        ordered = in_order(self.view, goals, self.look, self.used)
        return sorted(ordered, key=lambda goal: goal.status in ENDED)

    def lines(self) -> Lines:
        """The lines of the tree or of the table."""
        way = self._way
        goals = [goal for goal in self._goals(self.view.tables.all(Goal)) if shows_goal(goal, self.wanted, way)]
        kept = {goal.id: kept_of(self.view, goal, self.wanted, way) for goal in goals}
        total = sum(map(len, kept.values()))
        if self.look.view == "tree":
            counts = {f"goal:{number}": len(tasks) for number, tasks in kept.items()}
            return Lines(nodes(self.view, self.wanted, self.folds, way), counts, total)
        tasks = self._sorted([task for found in kept.values() for task in found])
        if not self.look.group:
            return Lines([Node(f"task:{task.id}", 0, False, False) for task in tasks], {}, total)
        return self._grouped(tasks, [goal for goal in goals if kept[goal.id] or self._is_meant(goal)], total)

    def _is_meant(self, goal: Goal) -> bool:
        return not self.wanted.parts or self.wanted.goal(goal)

    def _grouped(self, tasks: Sequence[Task], goals: Sequence[Goal], total: int) -> Lines:
        groups: dict[str, list[Task]] = {}
        if self.look.group == "goal":
            groups = {f"goal:{goal.id}": [] for goal in goals}  # also those without a task yet
        for task in tasks:
            groups.setdefault(self.group_of(task), []).append(task)
        found: list[Node] = []
        order = groups if self.look.group == "goal" else sorted(groups, key=self._group_order)
        for ref in order:
            is_open = self.folds.get(ref, bool(self.wanted.parts) or not self._is_over(ref))
            found.append(Node(ref, 0, bool(groups[ref]), is_open))
            if is_open:
                found += [Node(f"task:{task.id}", 1, False, False) for task in groups[ref]]
        return Lines(found, {ref: len(below) for ref, below in groups.items()}, total)

    def group_of(self, task: Task) -> str:
        """The reference of the group that a task is in; things where it can be, else e.g. `status:blocked`."""
        match self.look.group:
            case "status":
                return f"status:{task.status}"
            case "who":
                return f"agent:{task.assignee_id}" if task.assignee_id else "nobody:"
            case "round":
                return f"round:{task.round_id}" if task.round_id else "no-round:"
            case "goal":
                return f"goal:{task.goal_id}"
            case _:
                return ""

    def _group_order(self, ref: str) -> tuple[bool, int, int, str]:
        kind, _, name = ref.partition(":")
        match kind:
            case "status":
                return False, _STATUS_ORDER.index(TaskStatus(name)), 0, ""
            case "agent":
                return False, 0, 0, self.view.slug(int(name))
            case "round":
                round_ = self.view.tables[Round][int(name)]
                return False, round_.goal_id, round_.number, ""
            case _:
                return True, 0, 0, ""

    def _is_over(self, ref: str) -> bool:
        kind, _, name = ref.partition(":")
        match kind:
            case "status":
                return name in TASK_FINAL
            case "goal":
                return self.view.tables[Goal][int(name)].status in ENDED
            case "round":
                return self.view.tables[Round][int(name)].status == RoundStatus.CLOSED
            case _:
                return False

    def place(self, thing: Entity | None) -> object:
        """What decides where a goal or a task stands: while it is equal, its line stays where it is."""
        if not isinstance(thing, (Goal, Task)):
            return None
        value = value_of(self.view, thing, self.look.sort, self.used.get(ref_of(thing), UNUSED))
        if isinstance(thing, Goal):
            return value, thing.status
        return value, self.group_of(thing), thing.status in TASK_FINAL, thing.round_id, thing.parent_id
