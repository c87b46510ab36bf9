"""Planning by discussion: who has a seat, what is still missing, how a turn ends (S2-08, S2-30, C-16)."""

from collections.abc import Iterable

from core.domain.entities import AgentRecord, Goal, Task, Turn
from core.domain.limits import DISCUSSION_SEATS, DISCUSSION_TURNS
from core.domain.shape import missing_of
from core.domain.states import TASK_FINAL, AgentStatus, Role, TurnOutcome

PLACEHOLDER = "whole:"


def placeholder_key(goal_id: int) -> str:
    """The key of the draft task that stands for the whole goal until there are others."""
    return f"{PLACEHOLDER}G{goal_id}"


def is_placeholder(task: Task) -> bool:
    """Whether a task only stands for the whole goal."""
    return task.idempotency_key == placeholder_key(task.goal_id)


def seats(agents: Iterable[AgentRecord]) -> list[AgentRecord]:
    """Who is woken in a turn: active executors, those first that can do what nobody before them can."""
    able = [agent for agent in agents if agent.role == Role.EXECUTOR and agent.status == AgentStatus.ACTIVE]
    chosen: list[AgentRecord] = []
    covered: set[str] = set()
    for agent in able:
        if set(agent.capabilities) - covered:
            chosen.append(agent)
            covered |= set(agent.capabilities)
    chosen += [agent for agent in able if agent not in chosen]
    return chosen[:DISCUSSION_SEATS]


def goes_on(turn: Turn | None, agents: Iterable[AgentRecord]) -> bool:
    """Whether a goal in planning is still discussed; else the coordinator plans it."""
    if turn is not None and turn.ended_at is None:
        return True
    if turn is not None and turn.outcome != TurnOutcome.GOES_ON:
        return False
    return bool(seats(agents))


def missing(goal: Goal, tasks: Iterable[Task]) -> list[str]:
    """What the tasks of a goal lack before work can begin, in words; empty when they cover everything.

    A must-have needs a well-formed task that names it; a goal without any needs a task, be it the placeholder.
    """
    alive = [task for task in tasks if task.status not in TASK_FINAL]
    wanted = [must["id"] for must in goal.must_haves if not must["waived_by"]]
    if not wanted:
        return [] if alive else ["a task"]
    named = {
        must_id
        for task in alive
        if not is_placeholder(task) and not missing_of(task, goal)
        for must_id in task.must_haves
    }
    return [f"a task for {must_id}" for must_id in wanted if must_id not in named]


def outcome_of(number: int, heard: int, brought: int, lacks: int) -> TurnOutcome:
    """How a turn ends. `heard` had their say, `brought` new tasks, questions and objections; `lacks` things miss.

    A turn in which nobody could speak converges to nothing: the coordinator rules.
    """
    if not heard:
        return TurnOutcome.NOT_CONVERGED
    if not brought and not lacks:
        return TurnOutcome.CONVERGED
    return TurnOutcome.NOT_CONVERGED if number >= DISCUSSION_TURNS else TurnOutcome.GOES_ON
