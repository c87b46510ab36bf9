"""A company that refills itself, in virtual time with the real ticker: under the operator's hand, and at stage B."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.domain.entities import Company, Goal, Run
from core.domain.goals import is_reviewed
from core.domain.states import Autonomy, GoalStatus, Origin, RunKind, TaskStatus
from core.simulation.agents import GOOD
from core.simulation.simulator import Simulation, a_simulation

MISSION = "Know every folder"


@pytest.fixture
async def simulation(tmp_path: Path) -> AsyncIterator[Simulation]:
    async with a_simulation(tmp_path, mission=MISSION) as made:
        yield made
        assert await made.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def goals(simulation: Simulation) -> list[Goal]:
    return await simulation.board.readers.entities(Goal, "true ORDER BY id")


async def runs(simulation: Simulation, kind: RunKind) -> list[Run]:
    return await simulation.board.readers.entities(Run, "kind = :kind ORDER BY id", kind=kind)


async def company(simulation: Simulation) -> Company:
    return (await simulation.board.readers.entities(Company, "id = 1"))[0]


async def kinds(simulation: Simulation) -> list[str]:
    rows: list[dict[str, Any]] = await simulation.board.readers.all("SELECT kind FROM events ORDER BY id")
    return [row["kind"] for row in rows]


async def test_under_the_operators_hand_one_goal_follows_the_other_and_none_begins_unseen(
    simulation: Simulation,
) -> None:
    for number in range(400):
        await simulation.step()
        for goal in await goals(simulation):
            assert goal.status in (GoalStatus.DRAFT, GoalStatus.CANCELLED) or is_reviewed(goal)
        if number % 2:
            await simulation.decide_all(kindly=True)
        if [goal.status for goal in await goals(simulation)].count(GoalStatus.DONE) >= 2:
            break
    made = await goals(simulation)
    assert [goal.status for goal in made][:2] == [GoalStatus.DONE, GoalStatus.DONE]
    assert {goal.origin for goal in made} == {Origin.CEO}
    proposals = await runs(simulation, RunKind.PROPOSE)
    assert proposals[0].brief["refill"]["finished"] == []
    assert [goal["goal"] for goal in proposals[1].brief["refill"]["finished"]] == ["G1"]


async def test_the_next_draft_is_made_knowing_why_the_last_was_refused(simulation: Simulation) -> None:
    await simulation.step()
    await simulation.operator("CancelGoal", goal=1, reason="nobody needs that")
    for _ in range(31):
        await simulation.step()
    proposals = await runs(simulation, RunKind.PROPOSE)
    assert len(proposals) == 2
    assert [goal["reason"] for goal in proposals[1].brief["refill"]["rejected"]] == ["nobody needs that"]


@pytest.mark.parametrize("ticks", [300, pytest.param(1000, marks=pytest.mark.soak)])
async def test_a_company_without_a_mission_gets_one_notice_and_no_run(tmp_path: Path, ticks: int) -> None:
    async with a_simulation(tmp_path) as simulation:
        for _ in range(ticks):
            await simulation.step()
        told = await kinds(simulation)
        assert told.count("MissionMissing") == 1
        assert await simulation.board.readers.entities(Run, "true") == []
        assert await goals(simulation) == []
        await simulation.operator("EditCompany", mission=MISSION)
        await simulation.step(900_000)
        assert len(await goals(simulation)) == 1
        await simulation.operator("CancelGoal", goal=1, reason="no")
        await simulation.operator("EditCompany", mission="tbd")
        await simulation.step(900_000)
        assert (await kinds(simulation)).count("MissionMissing") == 2


async def test_a_ceo_that_proposes_nothing_is_not_asked_every_quarter_of_an_hour(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, mission=MISSION, habits=GOOD.but(silent=1)) as simulation:
        for _ in range(200):
            await simulation.step()
        assert len(await runs(simulation, RunKind.PROPOSE)) == 1
        await simulation.operator("CallHeartbeat")
        await simulation.step()
        assert len(await runs(simulation, RunKind.PROPOSE)) == 2
        await simulation.operator("EditCompany", mission="Know every file")
        await simulation.step(900_000)
        assert len(await runs(simulation, RunKind.PROPOSE)) == 3


# Stage B --------------------------------------------------------------------------------------------------------


async def test_unattended_it_begins_three_goals_and_then_waits_for_a_person(simulation: Simulation) -> None:
    await simulation.operator("SetAutonomy", stage="B")
    for _ in range(500):
        await simulation.step()
        if (await company(simulation)).autonomy == Autonomy.A:
            break
    for _ in range(200):
        await simulation.step()
    told = await kinds(simulation)
    assert told.count("GoalAutoDispatched") == 3
    assert told.count("AutonomyReturned") == 1
    assert "GoalDispatched" not in told
    made = await goals(simulation)
    assert all(goal.auto_dispatched_at is not None for goal in made[:3])
    assert all(goal.status == GoalStatus.DRAFT for goal in made[3:])
    assert "autonomy" in {item.kind for item in await simulation.inbox()}


@pytest.mark.soak
async def test_an_accepted_report_is_a_look_so_that_stage_b_goes_on(simulation: Simulation) -> None:
    await simulation.operator("SetAutonomy", stage="B")
    for number in range(600):
        await simulation.step()
        if number % 4 == 0:
            await simulation.decide_all(kindly=True)
        if (await kinds(simulation)).count("GoalAutoDispatched") == 4:
            break
    assert (await kinds(simulation)).count("GoalAutoDispatched") == 4
    assert (await company(simulation)).autonomy == Autonomy.B


async def test_a_stop_ends_what_stage_b_began_at_once(simulation: Simulation) -> None:
    await simulation.operator("SetAutonomy", stage="B")
    await simulation.step()
    await simulation.step()
    simulation.clock.advance(30_000)
    await simulation.ticker.tick()
    await simulation.operator("StopCompany")
    assert await simulation.live_runs() == []
    count = len(simulation.agents.begun)
    for _ in range(40):
        await simulation.step()
    assert len(simulation.agents.begun) == count


async def test_a_recall_in_the_middle_of_the_work_leaves_nothing_at_work(simulation: Simulation) -> None:
    simulation.agents.habits, simulation.agents.troubled = GOOD.but(hang=1), frozenset({RunKind.EXECUTE})
    await simulation.operator("SetAutonomy", stage="B")
    for _ in range(20):
        await simulation.step()
    assert [run.kind for run in await simulation.live_runs()].count(RunKind.EXECUTE) >= 1
    await simulation.operator("RecallGoal", goal=1)
    for _ in range(60):
        await simulation.step()
    made = await goals(simulation)
    assert [goal.status for goal in made] == [GoalStatus.DRAFT]
    open_ = await simulation.read(
        lambda tx: [
            row["status"] for row in tx.all("SELECT status FROM tasks WHERE status NOT IN ('done', 'cancelled')")
        ]
    )
    assert open_ == [TaskStatus.DRAFT]


# The heartbeat --------------------------------------------------------------------------------------------------


async def test_what_stands_still_is_on_one_heartbeats_agenda(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(block=1)) as simulation:
        simulation.agents.troubled = frozenset({RunKind.EXECUTE})
        for _ in range(25):
            await simulation.step()
        made = await simulation.operator("CreateGoal", title="Audit", tasks=[{"title": "Count"}])
        await simulation.operator("DispatchGoal", goal=made["id"], discussion=False)
        for _ in range(8):
            await simulation.step()
        heartbeats = await runs(simulation, RunKind.HEARTBEAT)
        assert [[item["kind"] for item in run.brief["agenda"]] for run in heartbeats] == [["blocked"]]
        assert (await kinds(simulation)).count("HeartbeatAgenda") == 1
