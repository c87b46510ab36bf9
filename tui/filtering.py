"""The board's filter: words, `status:blocked`, `agent:slug`, `goal:G1`, `round:2`, `must:M3`, `is:ready`.

All parts must hold; a minus in front turns a part around.
"""

from collections.abc import Callable
from dataclasses import dataclass

from core.domain.actors import HUMAN
from core.domain.entities import Goal, Task
from core.domain.errors import Invalid
from core.domain.states import GOAL_FINAL, TASK_FINAL, GoalStatus, TaskStatus
from tui import signs

KEYS = ("status", "agent", "goal", "round", "must", "is")
EXAMPLES = "Write words, status:blocked, agent:slug, goal:G1, round:2, must:M3, is:ready; a minus turns one around."
_STATUSES = {str(status) for status in (*TaskStatus, *GoalStatus)}
_SPOKEN = {word: str(status) for status, (_, word, _) in (*signs.GOAL.items(), *signs.TASK.items())}
_AT_WORK = (TaskStatus.CLAIMED, TaskStatus.WORKING, TaskStatus.REVIEW)
_GOAL_OVER = GOAL_FINAL | {GoalStatus.ARCHIVED}

IS_TASK: dict[str, Callable[[Task], bool]] = {
    "blocked": lambda task: task.status == TaskStatus.BLOCKED,
    "ready": lambda task: task.status == TaskStatus.PENDING and not task.open_deps,
    "waiting": lambda task: task.status == TaskStatus.PENDING and task.open_deps > 0,
    "working": lambda task: task.status in _AT_WORK,
    "yours": lambda task: task.status == TaskStatus.WAITING_HUMAN or task.plan_until is not None,
    "retried": lambda task: task.attempts > 0 or task.review_attempts > 0,
    "urgent": lambda task: task.priority < 2,
    "risky": lambda task: task.risk == "high",
    "open": lambda task: task.status not in TASK_FINAL,
    "over": lambda task: task.status in TASK_FINAL,
    "task": lambda _task: True,
}
"""What `is:` can ask of a task. Of a goal only yours, working, open and over can be true, and goal."""
_IS_GOAL: dict[str, Callable[[Goal], bool]] = {
    "yours": lambda goal: goal.status in (GoalStatus.DRAFT, GoalStatus.REPORTING),
    "working": lambda goal: goal.status in (GoalStatus.PLANNING, GoalStatus.ACTIVE),
    "open": lambda goal: goal.status not in _GOAL_OVER,
    "over": lambda goal: goal.status in _GOAL_OVER,
    "goal": lambda _goal: True,
}
_STATES = sorted({*IS_TASK, *_IS_GOAL})


@dataclass(frozen=True, slots=True)
class Part:
    """One condition: `key` is empty for a word."""

    key: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """All parts must hold."""

    parts: tuple[Part, ...] = ()

    def goal(self, goal: Goal) -> bool:
        """Whether a goal itself is meant."""
        return all(_goal_has(goal, part) != part.negated for part in self.parts)

    def task(self, task: Task, slug: str, round_number: int | None = None) -> bool:
        """Whether a task is meant; `slug` is its agent's, `round_number` that of its round in its goal."""
        return all(_task_has(task, slug, round_number, part) != part.negated for part in self.parts)

    @property
    def names_status(self) -> bool:
        """Whether it asks for a status, or for what is over: then what is out of sight otherwise shows too."""
        return any(part.key == "status" or (part.key, part.value) == ("is", "over") for part in self.parts)


def parse_filter(text: str) -> Filter:
    """A filter from what a person typed. Raises Invalid for a key, a status or a state that there is not."""
    parts = []
    for word in text.casefold().split():
        negated = len(word) > 1 and word[0] in "-!"
        word = word[1:] if negated else word
        key, colon, value = word.partition(":")
        if not colon:
            parts.append(Part("", word, negated))
            continue
        if key not in KEYS:
            raise Invalid(f"There is no filter {key!r}.", EXAMPLES)
        if value and (meant := _meant(key, value)):
            parts.append(Part(key, meant, negated))
    return Filter(tuple(parts))


def _meant(key: str, value: str) -> str:
    match key:
        case "status":
            return _status(value)
        case "is":
            # while it is being typed, the beginning of a word means that word
            found = [state for state in _STATES if state.startswith(value)]
            if not found:
                raise Invalid(f"There is no state {value!r}.", f"Known: {', '.join(_STATES)}.")
            return found[0]
        case "round":
            number = value.removeprefix("r")
            if number and not number.isdecimal():
                raise Invalid(f"{value!r} is no number of a round.", "Write e.g. round:2.")
            return number
        case _:
            return value


def _status(value: str) -> str:
    spoken = value.replace("_", " ")
    if value in _STATUSES:
        return value
    if spoken in _SPOKEN:
        return _SPOKEN[spoken]
    # while it is being typed, the beginning of a status means that status
    found = sorted(status for status in _STATUSES if status.startswith(value))
    if not found:
        raise Invalid(f"There is no status {value!r}.", f"Known: {', '.join(sorted(_STATUSES))}.")
    return found[0]


def _goal_has(goal: Goal, part: Part) -> bool:
    match part.key:
        case "status":
            return goal.status == part.value
        case "agent":
            name = "you" if goal.created_by == HUMAN else goal.created_by  # as its row says
            return name.startswith(part.value) or goal.created_by.startswith(part.value)
        case "goal":
            return part.value.removeprefix("g") == str(goal.id)
        case "must":
            return any(must["id"].casefold() == _must(part.value) for must in goal.must_haves)
        case "is":
            return part.value in _IS_GOAL and _IS_GOAL[part.value](goal)
        case "round":
            return False
        case _:
            return part.value in f"g{goal.id} {signs.of_goal(goal)[1]} {goal.title.casefold()}"


def _task_has(task: Task, slug: str, round_number: int | None, part: Part) -> bool:
    match part.key:
        case "status":
            return task.status == part.value
        case "agent":
            return slug.startswith(part.value)
        case "goal":
            return part.value.removeprefix("g") == str(task.goal_id)
        case "must":
            return any(must.casefold() == _must(part.value) for must in task.must_haves)
        case "is":
            return part.value in IS_TASK and IS_TASK[part.value](task)
        case "round":
            return str(round_number) == part.value
        case _:
            return part.value in f"t{task.id} {signs.of_task(task)[1]} {slug} {task.title.casefold()}"


def _must(value: str) -> str:
    """`3` means `M3`."""
    return f"m{value}" if value.isdecimal() else value
