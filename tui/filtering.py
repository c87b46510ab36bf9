"""The board's filter: words, `status:blocked`, `agent:slug`, `goal:G1`; a minus in front turns a part around."""

from dataclasses import dataclass

from core.domain.actors import HUMAN
from core.domain.entities import Goal, Task
from core.domain.errors import Invalid
from core.domain.states import GoalStatus, TaskStatus
from tui import signs

KEYS = ("status", "agent", "goal")
EXAMPLES = "Write words, status:blocked, agent:slug, goal:G1; a minus in front turns it around."
_STATUSES = {str(status) for status in (*TaskStatus, *GoalStatus)}
_SPOKEN = {word: str(status) for status, (_, word, _) in (*signs.GOAL.items(), *signs.TASK.items())}


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

    def task(self, task: Task, slug: str) -> bool:
        """Whether a task is meant; `slug` is its agent's."""
        return all(_task_has(task, slug, part) != part.negated for part in self.parts)

    @property
    def names_status(self) -> bool:
        """Whether it asks for a status: then what is out of sight otherwise shows too."""
        return any(part.key == "status" for part in self.parts)


def parse_filter(text: str) -> Filter:
    """A filter from what a person typed. Raises Invalid for a key or a status that there is not."""
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
        if value:
            parts.append(Part(key, _status(value) if key == "status" else value, negated))
    return Filter(tuple(parts))


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
        case _:
            return part.value in f"g{goal.id} {signs.of_goal(goal)[1]} {goal.title.casefold()}"


def _task_has(task: Task, slug: str, part: Part) -> bool:
    match part.key:
        case "status":
            return task.status == part.value
        case "agent":
            return slug.startswith(part.value)
        case "goal":
            return part.value.removeprefix("g") == str(task.goal_id)
        case _:
            return part.value in f"t{task.id} {signs.of_task(task)[1]} {slug} {task.title.casefold()}"
