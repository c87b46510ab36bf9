"""What a tick decides for the CEO: its heartbeat, stage B, and drafts that wait for their tasks (S1, D-01)."""

from typing import Any

import pytest

from core.domain.agenda import Living, agenda
from core.domain.entities import Company, Goal, Run, Task
from core.domain.limits import AUTO_IN_A_ROW, HEARTBEAT_MS
from core.domain.plan import Action, Step
from core.domain.states import Autonomy, GoalStatus, Origin, Role, RunKind, TaskStatus
from tests.unit.facts import CORA, NOW, VERA, a, agent, facts, planned, why_held

BLOCKED = a(Task, id=5, status=TaskStatus.BLOCKED, reason="no network")
LIVING = Living(goals=(a(Goal),), tasks=(BLOCKED,))
KEYS = frozenset(item.key for item in agenda(LIVING))


def beat(**values: Any) -> list[Action]:
    """What the CEO's part of a tick does when its heartbeat is due."""
    found = facts(**{"agents": (VERA,), "goals": (a(Goal),), "rounds": (), "heartbeat_at": None, **values})
    return [action for action in planned(found) if action.step == Step.HEARTBEAT]


def told(actions: list[Action]) -> list[tuple[str, str]]:
    return [(action.act, str(action.arguments.get("kind", ""))) for action in actions]


RUN = [("NoteTick", "HeartbeatAgenda"), ("QueueRun", "heartbeat")]
NORMAL = [("NoteTick", "HeartbeatNormal")]


def test_something_new_on_the_agenda_is_one_run_with_exactly_that_agenda() -> None:
    actions = beat(living=LIVING)
    assert told(actions) == RUN
    assert [item["entity"] for item in actions[1].arguments["brief"]["agenda"]] == ["task:5"]


def test_nothing_on_the_agenda_is_no_run() -> None:
    assert told(beat(living=Living(goals=(a(Goal),)))) == NORMAL


def test_an_agenda_that_the_ceo_has_seen_is_no_run() -> None:
    seen = Living(goals=LIVING.goals, tasks=LIVING.tasks, told=KEYS)
    assert told(beat(living=seen)) == NORMAL


def test_who_calls_the_ceo_has_it_look_again_and_at_once() -> None:
    seen = Living(goals=LIVING.goals, tasks=LIVING.tasks, told=KEYS)
    assert told(beat(living=seen, heartbeat_at=NOW, heartbeat_called=True)) == RUN
    assert told(beat(living=Living(), heartbeat_at=NOW, heartbeat_called=True)) == NORMAL


@pytest.mark.parametrize(("ago", "is_due"), [(HEARTBEAT_MS, True), (HEARTBEAT_MS - 1, False)])
def test_an_agenda_waits_for_the_heartbeat(ago: int, is_due: bool) -> None:
    assert told(beat(living=LIVING, heartbeat_at=NOW - ago)) == (RUN if is_due else [])


def test_a_stopped_company_has_no_heartbeat_also_when_it_is_called() -> None:
    assert beat(company=a(Company, dispatching=False), living=LIVING, heartbeat_called=True) == []


def test_a_ceo_at_work_is_not_called_a_second_time() -> None:
    assert beat(living=LIVING, runs=(a(Run, agent_id=VERA.id),)) == []


def test_that_there_is_no_mission_is_told_once() -> None:
    company = a(Company, mission=" ")
    assert told(beat(company=company, goals=())) == [("NoteTick", "MissionMissing")]
    assert told(beat(company=company, goals=(), mission_told=True)) == NORMAL


def test_a_ceo_that_had_nothing_to_propose_is_not_asked_again_before_something_changes() -> None:
    proposes = [("NoteTick", "HeartbeatIdle"), ("QueueRun", "propose")]
    assert told(beat(goals=(), nothing_to_propose=True)) == NORMAL
    assert told(beat(goals=(), nothing_to_propose=True, heartbeat_called=True)) == proposes
    assert told(beat(goals=())) == proposes


# Stage B ----------------------------------------------------------------------------------------------------------

B = a(Company, autonomy=Autonomy.B, budget_micros=5_000_000)
DRAFT = a(Goal, id=4, status=GoalStatus.DRAFT, origin=Origin.CEO, created_by="vera")


def stage_b(**values: Any) -> list[tuple[str, dict[str, Any]]]:
    actions = beat(**{"company": B, "goals": (DRAFT,), "heartbeat_at": NOW, **values})
    return [(action.act, dict(action.arguments)) for action in actions]


def test_a_new_draft_of_the_ceo_is_dispatched_at_stage_b_and_only_there() -> None:
    assert stage_b() == [("DispatchGoal", {"goal": 4})]
    assert stage_b(company=a(Company)) == []


def test_a_company_that_is_stopped_dispatches_nothing() -> None:
    assert stage_b(company=a(Company, autonomy=Autonomy.B, budget_micros=1, dispatching=False)) == []


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"goals": (a(Goal, id=4, status=GoalStatus.DRAFT, origin=Origin.CEO, auto_dispatched_at=NOW),)}, "recalled"),
        ({"spoken_about": frozenset({4})}, "you spoke about it"),
        ({"runs": (a(Run, agent_id=VERA.id),)}, "its author is still at it"),
    ],
)
def test_what_is_a_persons_to_dispatch_waits_and_says_why(more: dict[str, Any], why: str) -> None:
    assert stage_b(**more) == []
    found = facts(agents=(VERA,), rounds=(), **{"company": B, "goals": (DRAFT,), **more})
    assert why in why_held(found, "goal:4")


@pytest.mark.parametrize("draft", [{"origin": Origin.OPERATOR}, {"paused_at": NOW}, {"status": GoalStatus.ACTIVE}])
def test_no_other_goal_is_dispatched_by_itself(draft: dict[str, Any]) -> None:
    goal = a(Goal, **{"id": 4, "status": GoalStatus.DRAFT, "origin": Origin.CEO, **draft})
    assert "DispatchGoal" not in [act for act, _ in stage_b(goals=(goal,))]


@pytest.mark.parametrize(
    "more",
    [
        {"company": a(Company, autonomy=Autonomy.B, budget_micros=5, auto_in_a_row=AUTO_IN_A_ROW)},
        {"stage_b_spent": 5_000_000},
        {"stage_b_spent": 5_000_001},
    ],
)
def test_at_a_limit_it_is_stage_a_again_and_nothing_is_dispatched(more: dict[str, Any]) -> None:
    assert stage_b(**more) == [("ReturnAutonomy", {})]


def test_just_below_the_limits_it_goes_on() -> None:
    company = a(Company, autonomy=Autonomy.B, budget_micros=5, auto_in_a_row=AUTO_IN_A_ROW - 1)
    assert stage_b(company=company, stage_b_spent=4) == [("DispatchGoal", {"goal": 4})]


# Drafts without tasks -------------------------------------------------------------------------------------------

PETER = agent(80, "peter", role=Role.PLANNER)
MINE = a(Goal, id=6, status=GoalStatus.DRAFT, split=True)


def split(**values: Any) -> list[tuple[int, str]]:
    found = facts(**{"agents": (CORA, PETER), "goals": (MINE,), "rounds": (), "unsplit": {6: 0}, **values})
    runs = [action.arguments for action in planned(found) if action.act == "QueueRun"]
    return [(run["agent_id"], run["key"]) for run in runs if run["kind"] == RunKind.SPLIT]


def test_a_persons_draft_without_tasks_gets_them_from_the_planner_else_from_the_coordinator() -> None:
    assert split() == [(PETER.id, "split:6#0")]
    assert split(agents=(CORA,)) == [(CORA.id, "split:6#0")]
    assert split(agents=(VERA,)) == []


def test_only_what_is_to_be_split_is() -> None:
    assert split(unsplit={}) == []
    assert split(company=a(Company, dispatching=False)) == []
    assert split(goals=(a(Goal, id=6, status=GoalStatus.DRAFT, paused_at=NOW),)) == []
    assert split(runs=(a(Run, agent_id=PETER.id, goal_id=6, kind=RunKind.SPLIT),)) == []
