"""The board as a tree: goals, below them their rounds, below these the tasks, children below their parents."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.domain.entities import Goal, Round, Task
from core.domain.states import GOAL_FINAL, TASK_FINAL, GoalStatus, RoundStatus
from tui.filtering import Filter
from tui.projection import Projection

ENDED = GOAL_FINAL | {GoalStatus.ARCHIVED}


class Node(NamedTuple):
    """One line: the thing's reference, how deep it is, whether anything is below it, and whether that shows."""

    ref: str
    depth: int
    branch: bool
    open: bool


def _as_they_came(tasks: Sequence[Task]) -> Sequence[Task]:
    return tasks


def _alive_first(goals: Sequence[Goal]) -> Sequence[Goal]:
    return sorted(goals, key=lambda goal: (goal.status in ENDED, goal.id))


@dataclass(frozen=True, slots=True)
class Way:
    """How the tree is made: the order of brothers and sisters, and whether what is over or archived shows."""

    tasks: Callable[[Sequence[Task]], Sequence[Task]] = _as_they_came
    goals: Callable[[Sequence[Goal]], Sequence[Goal]] = _alive_first
    over: bool = True
    archived: bool = False


USUAL = Way()


def nodes(view: Projection, wanted: Filter, folds: Mapping[str, bool], way: Way = USUAL) -> list[Node]:
    """Every line that shows. `folds` is what the operator opened or closed; without a word, what is over is closed."""
    found: list[Node] = []
    for goal in way.goals(view.tables.all(Goal)):
        if shows_goal(goal, wanted, way):
            found += _goal(view, goal, wanted, folds, way)
    return found


def shows_goal(goal: Goal, wanted: Filter, way: Way) -> bool:
    """Whether a goal is hidden by nothing but perhaps the filter."""
    if wanted.names_status:
        return True
    return way.archived if goal.status == GoalStatus.ARCHIVED else way.over or goal.status not in ENDED


def kept_of(view: Projection, goal: Goal, wanted: Filter, way: Way) -> Sequence[Task]:
    """The tasks of a goal that the filter and the way show."""
    tasks: Sequence[Task] = view.tasks(goal.id)
    if not way.over and not wanted.names_status:
        tasks = [task for task in tasks if task.status not in TASK_FINAL]
    if wanted.parts:
        numbers = {round_.id: round_.number for round_ in view.rounds(goal.id)}
        tasks = [
            task for task in tasks
            if wanted.task(task, view.slug(task.assignee_id), numbers.get(task.round_id or 0))
        ]  # fmt: skip
    return tasks


def _goal(view: Projection, goal: Goal, wanted: Filter, folds: Mapping[str, bool], way: Way) -> Iterator[Node]:
    shown = kept_of(view, goal, wanted, way)
    if wanted.parts and not shown and not wanted.goal(goal):
        return
    ref = f"goal:{goal.id}"
    is_open = folds.get(ref, goal.status not in ENDED or bool(wanted.parts))
    yield Node(ref, 0, bool(shown), is_open)
    if not is_open:
        return
    kept = {task.id for task in shown}
    in_rounds: dict[int | None, list[Task]] = {}
    for task in way.tasks(view.tasks(goal.id)):
        in_rounds.setdefault(task.round_id, []).append(task)
    rounds = view.rounds(goal.id)
    for round_ in rounds:
        any_kept = any(task.id in kept for task in in_rounds.get(round_.id, []))
        is_past = round_.status == RoundStatus.CLOSED and not any_kept
        if any_kept or not (wanted.parts or (is_past and not way.over)):
            yield from _round(round_, in_rounds.get(round_.id, []), kept, round_ is rounds[-1], wanted, folds)
    yield from _tasks(in_rounds.get(None, []), kept, 1, folds)


def _round(
    round_: Round, tasks: Sequence[Task], kept: set[int], is_last: bool, wanted: Filter, folds: Mapping[str, bool]
) -> Iterator[Node]:
    any_kept = any(task.id in kept for task in tasks)
    ref = f"round:{round_.id}"
    alive = is_last or round_.status != RoundStatus.CLOSED or bool(wanted.parts)
    is_open = folds.get(ref, alive)
    yield Node(ref, 1, any_kept, is_open)
    if is_open:
        yield from _tasks(tasks, kept, 2, folds)


def _tasks(tasks: Sequence[Task], kept: set[int], depth: int, folds: Mapping[str, bool]) -> Iterator[Node]:
    here = {task.id for task in tasks}
    below: dict[int, list[Task]] = {}
    tops = []
    for task in tasks:
        if task.parent_id is not None and task.parent_id in here:
            below.setdefault(task.parent_id, []).append(task)
        else:
            tops.append(task)
    for task in tops:
        if below:
            yield from _branch(task, below, kept, depth, folds)
        elif task.id in kept:
            yield Node(f"task:{task.id}", depth, False, False)


def _branch(
    task: Task, below: Mapping[int, list[Task]], kept: set[int], depth: int, folds: Mapping[str, bool]
) -> Iterator[Node]:
    # `parent` may only name an older task, so this ends
    children = [node for child in below.get(task.id, ()) for node in _branch(child, below, kept, depth + 1, folds)]
    if task.id in kept or children:
        ref = f"task:{task.id}"
        is_open = folds.get(ref, True)
        yield Node(ref, depth, bool(children), is_open)
        if is_open:
            yield from children
