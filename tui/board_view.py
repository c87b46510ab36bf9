"""The whole board by a person's wish: which columns, sorted by which, grouped how, with what is over or without.

Pure: from the room's memory to lines. `board_view_cells` tells what stands in them, `board_view_deps` draws what waits
for what.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

from core.domain.entities import Entity, Goal, Round, Task
from core.domain.states import TASK_FINAL, GoalStatus, RoundStatus, TaskStatus
from tui.board_look import BoardLook, Group, Name
from tui.filtering import Filter
from tui.projection import Projection
from tui.tree import ENDED, Node, Way, kept_of, nodes, shows_goal


class Used(NamedTuple):
    """What a task or a goal has used: runs of any kind, and what the ended ones cost in micros of a dollar."""

    runs: int = 0
    cost_micros: int = 0


UNUSED = Used()
T = TypeVar("T", Goal, Task)
_STATUS = (
    TaskStatus.WAITING_HUMAN, TaskStatus.BLOCKED, TaskStatus.REVIEW, TaskStatus.WORKING, TaskStatus.CLAIMED,
    TaskStatus.PENDING, TaskStatus.DRAFT, TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED,
)  # fmt: skip
_GOAL = (
    GoalStatus.DRAFT, GoalStatus.REPORTING, GoalStatus.ACTIVE, GoalStatus.PLANNING, GoalStatus.DONE,
    GoalStatus.FAILED, GoalStatus.CANCELLED, GoalStatus.ARCHIVED,
)  # fmt: skip
_STATUS_ORDER: dict[str, int] = {status: place for place, status in enumerate(_STATUS)}
_GOAL_ORDER: dict[str, int] = {status: place for place, status in enumerate(_GOAL)}
_OF_TASKS_ALONE: tuple[Name, ...] = ("round", "priority", "waits")
_ID, _FIRST = attrgetter("id"), itemgetter(0)
Key = tuple[int, str]
"""What is compared: a number, or a word at the number 0."""


def value_of(view: Projection, thing: Goal | Task, name: Name, used: Used = UNUSED) -> Key | None:
    """What a thing is sorted by in a column; None where it has nothing there."""
    return (_GOAL_KEYS if isinstance(thing, Goal) else _TASK_KEYS)[name](view, thing, used)


def _none(_view: Projection, _thing: Any, _used: Used) -> None:
    return None


def _of_agent(view: Projection, task: Task, _used: Used) -> Key | None:
    slug = view.slug(task.assignee_id)
    return (0, slug) if slug else None


def _of_round(view: Projection, task: Task, _used: Used) -> Key | None:
    round_ = view.tables.get(Round, task.round_id)
    return (round_.number, "") if round_ else None


_Keys = dict[Name, Callable[[Projection, Any, Used], Key | None]]
_BOTH: _Keys = {
    "number": lambda _view, thing, _used: (thing.id, ""),
    "title": lambda _view, thing, _used: (0, thing.title.casefold()),
    "since": lambda _view, thing, _used: (-thing.updated_at, ""),  # the longest time is the greatest
    "age": lambda _view, thing, _used: (-thing.created_at, ""),
    "runs": lambda _view, _thing, used: (used.runs, "") if used.runs else None,
    "cost": lambda _view, _thing, used: (used.cost_micros, "") if used.cost_micros else None,
}
_TASK_KEYS: _Keys = {
    **_BOTH,
    "status": lambda _view, task, _used: (_STATUS_ORDER[task.status], ""),
    "who": _of_agent,
    "goal": lambda _view, task, _used: (task.goal_id, ""),
    "round": _of_round,
    "priority": lambda _view, task, _used: (task.priority, ""),
    "waits": lambda _view, task, _used: (task.open_deps, "") if task.open_deps else None,
}
_GOAL_KEYS: _Keys = {
    **_BOTH,
    "status": lambda _view, goal, _used: (_GOAL_ORDER[goal.status], ""),
    "who": lambda _view, goal, _used: (0, goal.created_by),
    "goal": lambda _view, goal, _used: (goal.id, ""),
    **dict.fromkeys(_OF_TASKS_ALONE, _none),
}


def in_order(view: Projection, things: Iterable[T], look: BoardLook, used: Mapping[str, Used]) -> list[T]:
    """By the column of the look: what has nothing in it comes last both ways, equals stand by their numbers."""
    ordered = sorted(things, key=_ID)
    if not ordered or look.sort == "number":
        return ordered[::-1] if look.descending else ordered
    key_of = (_GOAL_KEYS if isinstance(ordered[0], Goal) else _TASK_KEYS)[look.sort]
    if look.sort in ("runs", "cost"):
        told = [(key_of(view, thing, used.get(ref_of(thing), UNUSED)), thing) for thing in ordered]
    else:
        told = [(key_of(view, thing, UNUSED), thing) for thing in ordered]
    named = [pair for pair in told if pair[0] is not None]
    named.sort(key=_FIRST, reverse=look.descending)  # equals keep their order, also in reverse
    found = [thing for _, thing in named]
    return found + [thing for key, thing in told if key is None] if len(found) < len(told) else found


def ref_of(thing: Goal | Task) -> str:
    """`goal:3` or `task:12`."""
    return f"{'goal' if isinstance(thing, Goal) else 'task'}:{thing.id}"


@dataclass(frozen=True, slots=True)
class Lines:
    """Every line that shows, and by group or goal how many tasks are below it."""

    nodes: Sequence[Node]
    counts: Mapping[str, int] = field(default_factory=dict)
    tasks: int = 0


_GROUP_OF: dict[Group, Callable[[Task], str]] = {
    "": lambda _task: "",
    "status": lambda task: f"status:{task.status}",
    "who": lambda task: f"agent:{task.assignee_id}" if task.assignee_id else "nobody:",
    "round": lambda task: f"round:{task.round_id}" if task.round_id else "no-round:",
    "goal": lambda task: f"goal:{task.goal_id}",
}


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
        group_of = _GROUP_OF[self.look.group]
        for task in tasks:
            groups.setdefault(group_of(task), []).append(task)
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
        return _GROUP_OF[self.look.group](task)

    def _group_order(self, ref: str) -> tuple[bool, int, int, str]:
        kind, _, name = ref.partition(":")
        match kind:
            case "status":
                return False, _STATUS_ORDER[name], 0, ""
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
