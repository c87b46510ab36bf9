"""What a tick may decide: steps, actions, what is held back; and who has room for another run."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from core.domain.entities import AgentRecord
from core.domain.facts import Facts
from core.domain.states import (
    AgentStatus,
    Role,
    RunKind,
    RunStatus,
)


class Step(IntEnum):
    """The order of a tick. Dependencies need no step of their own: counters are kept with each move."""

    RECOVER = 1
    EXPIRE = 2
    MENTIONS = 4
    ROUNDS = 5
    REVIEWS = 6
    OBJECTIONS = 7
    BROADCAST = 8
    ROUTE = 9
    HEARTBEAT = 10


@dataclass(frozen=True, slots=True)
class Action:
    """One command that the tick sends as the system: its name, its arguments, and why."""

    step: Step
    act: str
    arguments: Mapping[str, Any]
    why: str


@dataclass(frozen=True, slots=True)
class Held:
    """Something that waits, and for what."""

    entity: str
    why: str


Item = Action | Held


@dataclass(frozen=True, slots=True)
class Plan:
    """All of one tick. `broken` are rules that failed, with their error: the others still count."""

    actions: tuple[Action, ...]
    held: tuple[Held, ...]
    broken: tuple[tuple[Step, str], ...] = ()

    def of(self, step: Step) -> tuple[Action, ...]:
        """The actions of one step, in order."""
        return tuple(action for action in self.actions if action.step == step)


def queue(step: Step, kind: RunKind, agent: AgentRecord, key: str, why: str, **about: Any) -> Action:
    """The action that asks for a run."""
    arguments = {"kind": kind, "agent_id": agent.id, "key": key}
    arguments |= {name: value for name, value in about.items() if value is not None}
    return Action(step, "QueueRun", arguments, why)


def pick(facts: Facts, roles: tuple[Role, ...], barred: frozenset[int] = frozenset()) -> AgentRecord | None:
    """The active agent of the first role that has one, with the fewest live runs; ties by id."""
    load = load_of(facts)
    for role in roles:
        able = [
            agent
            for agent in facts.agents
            if agent.role == role and agent.status == AgentStatus.ACTIVE and agent.id not in barred
        ]
        if able:
            return min(able, key=lambda agent: (load.get(agent.id, 0), agent.id))
    return None


def load_of(facts: Facts) -> dict[int, int]:
    """Live runs an agent; what waits for a paused goal keeps nobody from other work."""
    paused = {goal.id for goal in facts.goals if goal.paused_at is not None}
    load: dict[int, int] = {}
    for run in facts.runs:
        if run.status == RunStatus.QUEUED and run.goal_id in paused:
            continue
        load[run.agent_id] = load.get(run.agent_id, 0) + 1
    return load
