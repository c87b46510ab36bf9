"""While rounds run agents talk, decide and make tasks, and the coordinator re-orders them (S2-13, S2-17, S2-43)."""

import pytest

from core.domain.entities import Comment, Decision, Mention, Offer, Task
from core.domain.errors import Conflict
from core.domain.states import GoalStatus, RunKind, TaskStatus
from tests.unit.ticking import queued, tick
from tests.unit.world import World

SHAPED = {"end_state": "It can be counted again.", "must_haves": ("M1",)}


async def test_agents_discuss_a_goal_at_work_and_wake_each_other(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count",))
    ada = await world.run("ada", goal_id=goal.id)
    for kind in ("question", "objection", "observation"):
        await world.do(ada, "AddComment", goal=goal.id, kind=kind, body="@bob do links count?")
    assert [str(comment.kind) for comment in await world.all(Comment)] == ["question", "objection", "observation"]
    assert len(await world.all(Mention, "status = 'pending'")) == 1
    await tick(world)
    assert len(await queued(world, RunKind.MENTION, "bob")) == 1
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


async def test_what_is_decided_while_rounds_run_must_land_in_an_output_too(world: World) -> None:
    goal = await world.an_active_goal()
    cora = await world.run("cora", goal_id=goal.id)
    await world.do(cora, "AddComment", goal=goal.id, kind="decision", body="Count links once.")
    await world.finish(cora)
    assert [decision.text for decision in await world.all(Decision)] == ["Count links once."]
    await world.brought_to(1, "done")
    round_ = await world.round_of(goal.id)
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    answers = {"goal_clear": "yes", "covered": "yes", "next_step": "so"}
    await world.do(cora, "ReviewRound", round=round_.id, decision="report", **answers)
    await world.finish(cora)
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    with pytest.raises(Conflict, match=r"decisions that land in no output.*Count links once"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="All counted.")


async def test_a_task_that_an_agent_makes_in_a_round_is_offered_in_it(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count",))
    ada = await world.run("ada", goal_id=goal.id)
    made = await world.do(ada, "CreateTask", goal=goal.id, title="Links", **SHAPED)
    await world.finish(ada)
    task = await world.task(made["id"])
    assert (task.status, task.round_id) == (TaskStatus.PENDING, (await world.round_of(goal.id)).id)
    await tick(world)
    assert made["id"] in {offer.task_id for offer in await world.all(Offer)}


async def test_what_the_coordinator_makes_urgent_is_shown_first(world: World) -> None:
    goal = await world.an_active_goal("one", "two", "three", must_haves=("count",))
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.do(cora, "EditTask", task=3, priority=0)
    await world.finish(cora)
    ready = await world.all(Task, "status = 'pending' AND open_deps = 0 ORDER BY priority, id")
    assert [task.id for task in ready] == [3, 1, 2]
    await tick(world)
    bob = (await queued(world, RunKind.BROADCAST, "bob"))[0]
    shown = await world.all(Offer, "run_id = :run ORDER BY id", run=bob.id)
    assert [offer.task_id for offer in shown] == [3, 1, 2]
