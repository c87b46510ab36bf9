"""A company that proposes its next goal: gates, one draft, the mode that is told, and tasks of a person's draft."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.board import Board
from core.commands.door import LocalDoor
from core.commands.registry import Answer
from core.config import Config, board_path
from core.domain.ceo_mode import CeoMode
from core.domain.entities import AgentRecord, Goal, Run, Task
from core.domain.errors import Conflict
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus, Origin, Role, RunKind
from core.simulation.clock import Clock
from tests import founding
from tests.command_line import opsroom
from tests.unit.ticking import begun, queued, tick
from tests.unit.world import OWNER, World, a_company


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


# S1-29: never unseen --------------------------------------------------------------------------------------------


async def draft_of_the_ceo(world: World) -> Goal:
    return await world.a_goal(by="vera", reviewed=False)


async def test_unreviewed_it_is_a_conflict_that_names_the_goal_before_its_tasks_are_looked_at(world: World) -> None:
    goal = await draft_of_the_ceo(world)
    for task in await world.all(Task, "goal_id = :g", g=goal.id):
        await world.operator("CancelTask", task=task.id, reason="no")
    with pytest.raises(Conflict, match=f"G{goal.id} .*no person has reviewed") as refusal:
        await world.operator("DispatchGoal", goal=goal.id)
    assert refusal.value.code == "conflict"
    assert "ReviewGoal" in refusal.value.hint


@pytest.mark.parametrize("act", ["review", "edit"])
async def test_a_persons_review_or_edit_opens_the_gate(world: World, act: str) -> None:
    goal = await draft_of_the_ceo(world)
    if act == "review":
        await world.operator("ReviewGoal", goal=goal.id)
    else:
        await world.operator("EditGoal", goal=goal.id, title="Audit two folders")
    assert (await world.operator("DispatchGoal", goal=goal.id))["status"] == "planning"


async def test_an_edit_with_equal_values_opens_nothing(world: World) -> None:
    goal = await draft_of_the_ceo(world)
    await world.operator("EditGoal", goal=goal.id, title=goal.title, description=goal.description)
    with pytest.raises(Conflict):
        await world.operator("DispatchGoal", goal=goal.id)


async def test_what_the_ceo_does_to_its_own_reviewed_draft_closes_the_gate_again(world: World) -> None:
    goal = await world.a_goal(by="vera")
    vera = await world.run("vera", RunKind.MENTION, goal_id=goal.id)
    await world.do(vera, "EditGoal", goal=goal.id, description="And everything else.")
    with pytest.raises(Conflict):
        await world.operator("DispatchGoal", goal=goal.id)
    await world.operator("ReviewGoal", goal=goal.id)
    await world.do(vera, "CreateTask", goal=goal.id, title="More", end_state="It is there.")
    with pytest.raises(Conflict):
        await world.operator("DispatchGoal", goal=goal.id)


async def a_company_with_a_draft(folder: Path) -> None:
    """A company in a folder, with a draft of its CEO and one of its operator."""
    await founding.a_company(folder, Config(name="Test", mission="Know every folder"))
    board = await Board.open(board_path(folder), clock=Clock(), role="owner")
    assert board.writer is not None
    try:
        world = World(board, LocalDoor(board.writer, OWNER), Clock(), folder)
        await world.hire("vera", Role.CEO)
        await world.operator("StartCompany")
        await world.a_goal(by="vera", reviewed=False)
        await world.operator("CreateGoal", title="Mine", split=False)
    finally:
        await board.close()


@pytest.mark.soak
async def test_the_command_line_meets_the_same_gate(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    await a_company_with_a_draft(folder)

    async def said(*words: object) -> Any:
        return await asyncio.to_thread(opsroom, tmp_path, *words)

    refused = await said("goal", "dispatch", folder, "G1")
    assert refused.returncode == 1
    assert "G1" in refused.stderr
    assert "no person has reviewed" in refused.stderr
    assert (await said("goal", "dispatch", folder, "G2")).returncode == 0
    assert (await said("goal", "review", folder, "G1")).returncode == 0
    assert (await said("goal", "dispatch", folder, "G1")).returncode == 0


# One draft ------------------------------------------------------------------------------------------------------


async def test_two_proposals_at_once_make_one_draft(world: World) -> None:
    await world.operator("EditAgent", agent="vera", max_runs=2)
    first, second = await world.run("vera", RunKind.PROPOSE), await world.run("vera", RunKind.PROPOSE)
    draft = {"title": "Audit", "split": False}
    answers = await asyncio.gather(
        *(world.do(actor, "CreateGoal", **draft) for actor in (first, second)), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [dict, Conflict]
    goals = await world.all(Goal)
    assert [(goal.status, goal.origin, goal.created_by, goal.split) for goal in goals] == [
        (GoalStatus.DRAFT, Origin.CEO, "vera", False)
    ]
    assert len(await world.all(Task)) == 1


async def test_a_proposal_that_comes_too_late_is_not_begun(world: World) -> None:
    await tick(world)
    run = (await queued(world, RunKind.PROPOSE))[0]
    await world.operator("CreateGoal", title="Mine", split=False)
    answer = await world.system("StartRun", run=run.id, owner=OWNER)
    assert answer == {"id": run.id, "started": False, "why": "a goal is alive by now"}


@pytest.mark.parametrize("explore", [True, False])
async def test_a_goal_that_the_operator_begins_meanwhile_is_the_only_one(world: World, explore: bool) -> None:
    vera = await world.run("vera", RunKind.PROPOSE)
    await world.operator("CreateGoal", title="Mine", explore=explore, split=False)
    with pytest.raises(Conflict, match="G1 is alive by now; nothing was drafted"):
        await world.do(vera, "CreateGoal", title="Audit", split=False)
    await world.finish(vera)
    asked = await world.run("vera", RunKind.MENTION)
    await world.do(asked, "CreateGoal", title="Audit, as you asked", split=False)
    assert [goal.created_by for goal in await world.all(Goal)] == ["human", "vera"]


@pytest.mark.parametrize("mission", ["", "待定义", "ＴＢＤ"])
async def test_without_a_mission_no_draft_is_taken_from_a_ceo(world: World, mission: str) -> None:
    await world.operator("EditCompany", mission=mission)
    vera = await world.run("vera", RunKind.MENTION)
    with pytest.raises(Conflict, match="no mission"):
        await world.do(vera, "CreateGoal", title="Anything", split=False)


# The mode that a run is told (S0-16, C-13) -----------------------------------------------------------------------


async def started(world: World, kind: RunKind = RunKind.MENTION) -> tuple[str, Run]:
    """The mode that the start of a CEO's run tells, and the run, which has then ended."""
    actor = await world.run("vera", kind)
    rows = await world.read(
        lambda tx: tx.all("SELECT changed FROM events WHERE kind = 'RunStarted' AND entity_id = :r", r=actor.run_id)
    )
    run = await world.find(Run, actor.run_id)
    await world.finish(actor)
    return str(json.loads(rows[0]["changed"])["mode"]), run


async def by_the_ceo(world: World, command: str, **arguments: Any) -> Answer:
    vera = await world.run("vera")
    answer = await world.do(vera, command, **arguments)
    await world.finish(vera)
    return answer


HIRE = {"slug": "dora", "name": "Dora", "role": "executor", "why": "Nobody can count."}


async def test_the_mode_follows_a_hire_from_the_first_to_the_last_word(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"vera": Role.CEO}) as world:
        assert (await started(world))[0] == CeoMode.TEAM_BUILDING
        asked = await by_the_ceo(world, "ProposeHire", **HIRE)
        assert (await started(world))[0] == CeoMode.AWAITING_HIRE
        await world.operator("DecideApproval", approval=asked["id"], decision="rejected", note="too early")
        assert (await started(world))[0] == CeoMode.TEAM_BUILDING
        asked = await by_the_ceo(world, "ProposeHire", **HIRE)
        await world.operator("DecideApproval", approval=asked["id"], decision="approved")
        assert (await started(world))[0] == CeoMode.OPERATING


async def test_the_mode_follows_a_review_of_the_organisation(world: World) -> None:
    assert (await started(world))[0] == CeoMode.OPERATING
    change = {"agent": "bob", "duties": "counts"}
    asked = await by_the_ceo(world, "ProposeOrganisation", changes=(change,), why="clearer")
    assert (await started(world))[0] == CeoMode.AWAITING_ORG
    await world.operator("DecideApproval", approval=asked["id"], decision="approved")
    assert (await started(world))[0] == CeoMode.OPERATING


async def test_a_ceos_run_knows_its_mode_and_its_first_words(world: World) -> None:
    mode, run = await started(world, RunKind.HEARTBEAT)
    assert run.brief["mode"] == mode
    assert run.brief["cue"].startswith("This is your heartbeat")


async def test_who_is_no_ceo_is_told_no_mode(world: World) -> None:
    actor = await world.run("cora")
    assert (await world.find(Run, actor.run_id)).brief == {}


@pytest.mark.parametrize(("by", "words"), [("human", "The operator called you."), ("cora", "Somebody named you")])
async def test_a_word_of_the_operator_is_a_call_of_the_operator(world: World, by: str, words: str) -> None:
    goal = await world.a_goal(split=False)
    if by == "human":
        await world.operator("AddComment", goal=goal.id, kind="question", body="@vera?")
    else:
        await world.do(
            await world.run("cora", goal_id=goal.id), "AddComment", goal=goal.id, kind="question", body="@vera?"
        )
    await tick(world)
    vera = await begun(world, RunKind.MENTION, "vera")
    assert (await world.find(Run, vera.run_id)).brief["cue"].startswith(words)


# A person's own draft (S1-11) ------------------------------------------------------------------------------------


async def test_a_persons_draft_gets_draft_tasks_by_one_run_and_stays_reviewed(world: World) -> None:
    made = await world.operator("CreateGoal", title="Audit", must_haves=("count",))
    await tick(world)
    cora = await begun(world, RunKind.SPLIT, "cora")
    await world.do(cora, "CreateTask", goal=made["id"], title="Count", end_state="A figure.", must_haves=("M1",))
    await world.finish(cora)
    goal = await world.goal(made["id"])
    assert (goal.status, is_reviewed(goal)) == (GoalStatus.DRAFT, True)
    assert await queued(world, RunKind.SPLIT) == []
    await tick(world)
    assert await queued(world, RunKind.SPLIT) == []
    await world.operator("DispatchGoal", goal=goal.id, discussion=False)
    tasks = await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id)
    assert [(task.title, task.status) for task in tasks] == [("Audit", "cancelled"), ("Count", "pending")]


async def test_a_planner_is_asked_before_the_coordinator(world: World) -> None:
    await world.hire("peter", Role.PLANNER)
    made = await world.operator("CreateGoal", title="Audit")
    await tick(world)
    peter = await begun(world, RunKind.SPLIT, "peter")
    await world.do(peter, "CreateTask", goal=made["id"], title="Count", end_state="A figure.")
    assert is_reviewed(await world.goal(made["id"]))


@pytest.mark.parametrize(
    "more", [{"split": False}, {"explore": True}, {"tasks": ({"title": "Count"},)}], ids=["not split", "talk", "tasks"]
)
async def test_no_other_draft_is_split(world: World, more: dict[str, Any]) -> None:
    await world.operator("CreateGoal", title="Audit", **more)
    await tick(world)
    assert await queued(world, RunKind.SPLIT) == []


async def test_a_ceos_draft_costs_nothing_before_a_person_has_seen_it(world: World) -> None:
    await draft_of_the_ceo(world)
    await tick(world)
    assert await world.all(Run, "status = 'queued'") == []


async def test_a_stopped_company_splits_nothing(world: World) -> None:
    await world.operator("StopCompany")
    await world.operator("CreateGoal", title="Audit")
    await tick(world)
    assert await world.all(Run) == []


async def test_a_dispatch_ends_the_splitting(world: World) -> None:
    made = await world.operator("CreateGoal", title="Audit")
    await tick(world)
    cora = await begun(world, RunKind.SPLIT, "cora")
    await world.operator("DispatchGoal", goal=made["id"])
    assert (await world.find(Run, cora.run_id)).status == "killed"


async def test_a_splitting_that_fails_is_tried_three_times(world: World) -> None:
    await world.operator("CreateGoal", title="Audit")
    for _ in range(3):
        await tick(world)
        await world.finish(await begun(world, RunKind.SPLIT, "cora"), "failed")
        world.clock.advance(60_000)
    await tick(world)
    assert await queued(world, RunKind.SPLIT) == []
    assert (await world.all(AgentRecord, "slug = 'cora'"))[0].cooldown_until is not None
