"""What a CEO's heartbeat is about, found in code (S1-04, S1-25). Pure; nothing on it, or nothing new: no run (F6)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.domain.entities import Goal, Round, Task, TaskDep
from core.domain.goals import is_reviewed
from core.domain.states import TASK_FINAL, GoalStatus, RoundStatus, TaskStatus

HEARTBEAT = "heartbeat"
"""The entity under which a call of the CEO by the operator is recorded."""
CALLED = "HeartbeatCalled"
NORMAL = "HeartbeatNormal"
AGENDA = "HeartbeatAgenda"
IDLE = "HeartbeatIdle"
MISSION_MISSING = "MissionMissing"
BEATS = (NORMAL, AGENDA, IDLE, MISSION_MISSING)
"""The events of which one tells of each heartbeat; the ticker records them."""
AGENDA_MAX = 50  # items; a run that gets more looks at none of them well
_WHY_MAX = 300  # code points
_URGENT = 2  # what is as urgent as usual hinders nobody by being so


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on the agenda. `entity` is e.g. `task:12`; `version` changes when there is something new about it."""

    kind: str
    entity: str
    title: str
    why: str
    version: str

    @property
    def key(self) -> str:
        """By which a heartbeat is known to have been about exactly this."""
        return f"{self.kind}:{self.entity}@{self.version}"

    def told(self) -> dict[str, Any]:
        """As it stands in a run's brief."""
        return {"kind": self.kind, "entity": self.entity, "title": self.title, "why": self.why, "key": self.key}


@dataclass(frozen=True, slots=True)
class Living:
    """What the agenda is found in: the living goals with their tasks and rounds. Gathered when a heartbeat is due.

    `tasks` are open or failed; `single` the goals whose planning ended with one task; `asked` the entities about which
    a question waits for the operator; `only_people` rounds in which everything waits for a person.
    """

    goals: tuple[Goal, ...] = ()
    tasks: tuple[Task, ...] = ()
    edges: tuple[TaskDep, ...] = ()
    rounds: tuple[Round, ...] = ()
    single: frozenset[int] = frozenset()
    asked: frozenset[str] = frozenset()
    only_people: frozenset[int] = frozenset()
    told: Collection[str] = field(default=frozenset())


def agenda(living: Living) -> tuple[Item, ...]:
    """Everything that needs the CEO, the same order each time. What waits for the operator is in the inbox instead."""
    goals = {goal.id: goal for goal in living.goals if goal.paused_at is None}
    tasks = {task.id: task for task in living.tasks if task.goal_id in goals}
    retried = {task.retry_of for task in tasks.values()}
    found = [
        *(item for task in tasks.values() if (item := _of_task(task, retried)) is not None),
        *_conflicts(tasks, living.edges),
        *_drafts(goals, tasks.values(), living.rounds),
        *_stalled(goals, living),
        *(_single(goals[number]) for number in sorted(living.single) if number in goals and _is_more(goals[number])),
    ]
    return tuple(item for item in found if item.entity not in living.asked)


def chosen(items: Iterable[Item], told: Collection[str]) -> tuple[Item, ...]:
    """What one run looks at: first what is new, then what it was told of before, up to `AGENDA_MAX`."""
    return tuple(sorted(items, key=lambda item: item.key in told)[:AGENDA_MAX])


def news(items: Iterable[Item], told: Collection[str]) -> bool:
    """Whether anything on the agenda was not on that of an earlier heartbeat's run."""
    return any(item.key not in told for item in items)


def _of_task(task: Task, retried: Collection[int | None]) -> Item | None:
    if task.status == TaskStatus.BLOCKED:
        why = f"blocked ({task.block_kind}): {task.reason}"
    elif task.status == TaskStatus.FAILED and task.id not in retried:
        why = f"failed: {task.reason}"
    else:
        return None
    return Item(str(task.status), f"task:{task.id}", task.title, why[:_WHY_MAX], str(task.version))


def _conflicts(tasks: Mapping[int, Task], edges: Iterable[TaskDep]) -> list[Item]:
    """An urgent task that waits for one of its goal that is less urgent (0 is most urgent)."""
    found = []
    for edge in edges:
        task, first = tasks.get(edge.task_id), tasks.get(edge.depends_on)
        if task is None or first is None or edge.met or task.priority >= min(first.priority, _URGENT):
            continue
        if task.status in TASK_FINAL or first.status not in (TaskStatus.DRAFT, TaskStatus.PENDING):
            continue
        why = f"priority {task.priority}, and it waits for {first.name_tag} with priority {first.priority}"
        version = f"{first.id}:{task.priority}:{first.priority}"
        found.append(Item("priorities", f"task:{task.id}", task.title, why, version))
    return found


def _drafts(goals: Mapping[int, Goal], tasks: Iterable[Task], rounds: Iterable[Round]) -> list[Item]:
    """Drafts that could join the open round; only below a goal that a person has reviewed (S1-21)."""
    open_ = {round_.goal_id for round_ in rounds if round_.status in (RoundStatus.OPEN, RoundStatus.STALLED)}
    return [
        Item("draft", f"task:{task.id}", task.title, f"a draft by {task.created_by} that waits", str(task.version))
        for task in tasks
        if task.status == TaskStatus.DRAFT and task.round_id is None and task.goal_id in open_
        and goals[task.goal_id].status == GoalStatus.ACTIVE and is_reviewed(goals[task.goal_id])
    ]  # fmt: skip


def _stalled(goals: Mapping[int, Goal], living: Living) -> list[Item]:
    return [
        Item(
            "stalled", f"round:{round_.id}", f"Round {round_.number} of {goals[round_.goal_id].name_tag}",
            round_.answers.get("stalled", "nothing in it can run")[:_WHY_MAX], str(round_.version),
        )
        for round_ in living.rounds
        if round_.status == RoundStatus.STALLED and round_.goal_id in goals and round_.id not in living.only_people
    ]  # fmt: skip


def _is_more(goal: Goal) -> bool:
    """Whether one task is less than was to be expected: what must be there only once is one task."""
    return sum(not must["waived_by"] for must in goal.must_haves) != 1


def _single(goal: Goal) -> Item:
    return Item("one_task", f"goal:{goal.id}", goal.title, "its planning ended with one task only", "1")
