"""Facts for the tests of plan_tick, made without a board: only what a test says is not the default."""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar, get_type_hints

from core.domain.entities import AgentRecord, Company, Entity, Goal, Round, Run, Task
from core.domain.facts import Facts
from core.domain.plan import Action, Plan, plan_tick
from core.domain.states import (
    AgentStatus,
    Autonomy,
    GoalStatus,
    OrgStatus,
    Origin,
    ReviewStep,
    Risk,
    Role,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)
from core.simulation.clock import START

E = TypeVar("E", bound=Entity)
NOW = START
USUAL: dict[type[Entity], dict[str, Any]] = {
    Company: {"dispatching": True, "mission": "Know", "org_status": OrgStatus.SETTLED, "autonomy": Autonomy.A},
    AgentRecord: {"role": Role.EXECUTOR, "status": AgentStatus.ACTIVE, "capabilities": ("count",), "max_runs": 1},
    Goal: {"status": GoalStatus.ACTIVE, "origin": Origin.OPERATOR, "round_cap": 8},
    Round: {"status": RoundStatus.OPEN, "goal_id": 1, "number": 1, "open_tasks": 1, "progress_at": NOW},
    Task: {
        "status": TaskStatus.PENDING,
        "goal_id": 1,
        "round_id": 1,
        "offer": 1,
        "risk": Risk.STANDARD,
        "review_step": ReviewStep.REVIEW,
    },
    Run: {"status": RunStatus.RUNNING, "kind": RunKind.MENTION, "agent_id": 1, "fence": 1},
}


def a(cls: type[E], **values: Any) -> E:
    """An entity with the usual values, zeros and empty texts, but for those that are said."""
    row: dict[str, Any] = {"id": 1}
    hints = get_type_hints(cls)
    for field in dataclasses.fields(cls):
        hint = str(hints[field.name])
        if field.name in row:
            continue
        empty = {"str": "", "int": 0, "bool": False}.get(getattr(hints[field.name], "__name__", ""))
        empty = 1 if field.name == "version" else empty
        row[field.name] = () if hint.startswith("tuple") else {} if hint.startswith("dict") else empty
    return cls(**{**row, **USUAL.get(cls, {}), **values})


def agent(number: int, slug: str = "", **values: Any) -> AgentRecord:
    """An active executor that can count."""
    name = slug or f"agent-{number}"
    return a(AgentRecord, id=number, slug=name, name=name.title(), **values)


CORA = agent(90, "cora", role=Role.COORDINATOR)
RITA = agent(91, "rita", role=Role.REVIEWER)
CHAD = agent(92, "chad", role=Role.CHALLENGER)
VERA = agent(93, "vera", role=Role.CEO)


def facts(*, agents: Sequence[AgentRecord] = (), **values: Any) -> Facts:
    """A started company with an active goal that has an open round, unless said otherwise."""
    usual: dict[str, Any] = {
        "company": a(Company),
        "goals": (a(Goal),),
        "rounds": (a(Round),),
        "heartbeat_at": NOW,
        "tick": 7,
    }
    ready = values.get("ready", ())
    values.setdefault("runnable", frozenset(task.round_id for task in ready))
    return Facts(agents=(*agents,), **{**usual, **values})


def planned(found: Facts, now: int = NOW) -> list[Action]:
    """All actions of the tick."""
    return list(plan_tick(found, now).actions)


def acts(found: Facts, now: int = NOW) -> list[tuple[str, Any]]:
    """Each action as its command's name with the kind of the run, or with what it is about."""
    return [
        (action.act, action.arguments.get("kind") or action.arguments.get("task") or action.arguments.get("round"))
        for action in planned(found, now)
    ]


def run_of(found: Facts, kind: RunKind, now: int = NOW) -> list[int]:
    """Who gets a run of this kind."""
    return [
        action.arguments["agent_id"]
        for action in planned(found, now)
        if action.act == "QueueRun" and action.arguments["kind"] == kind
    ]


def why_held(found: Facts, entity: str, now: int = NOW) -> str:
    """The reasons for which something waits."""
    plan: Plan = plan_tick(found, now)
    return "; ".join(held.why for held in plan.held if held.entity == entity)
