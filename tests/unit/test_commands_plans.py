"""Plans of complex tasks: silence lets them run, an objection makes the author adjust first (S3-13)."""

import pytest

from core.domain.actors import Agent
from core.domain.entities import Comment, Offer, Run, Task
from core.domain.errors import Conflict, Fenced, Forbidden
from core.domain.limits import OBJECTION_WINDOW_MS, PLANS_A_TASK
from core.domain.states import RunKind, RunStatus, TaskStatus
from tests.unit.world import HANDOFF, World

PLAN = "First the large files, since they decide; then the rest."


async def planned(world: World, body: str = PLAN) -> tuple[Task, Agent]:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "PostPlan", task=task.id, body=body)
    return await world.task(task.id), ada


async def next_run(world: World, task_id: int, by: str = "ada") -> Agent:
    return await world.run(by, RunKind.EXECUTE, task_id=task_id)


async def objected(world: World, task_id: int, body: str = "That leaves out the links.") -> None:
    bob = await world.run("bob", goal_id=(await world.task(task_id)).goal_id)
    await world.do(bob, "AddComment", task=task_id, kind="objection", body=body)
    await world.finish(bob)


async def test_a_plan_opens_a_window_and_ends_what_its_run_may_write(world: World) -> None:
    task, ada = await planned(world)
    plan = await world.find(Comment, task.plan_comment or 0)
    assert (plan.kind, plan.body, plan.author) == ("plan", PLAN, "ada")
    assert (task.status, task.plan_until, task.plans) == (
        TaskStatus.WORKING, world.clock.now + OBJECTION_WINDOW_MS, 1
    )  # fmt: skip
    assert task.current_run is None
    for act, more in (
        ("AddOutput", {"type": "data", "title": "Late", "content": "42"}),
        ("SubmitTask", {}),
        ("PostPlan", {"body": PLAN}),
        ("FailTask", {"reason": "x"}),
    ):
        with pytest.raises((Fenced, Forbidden)):
            await world.do(ada, act, task=task.id, **more)
    await world.finish(ada)
    assert (await world.task(task.id)).attempts == 0
    assert (await world.find(Run, ada.run_id)).status == RunStatus.SUCCEEDED


async def test_silence_lets_the_plan_run_when_its_window_is_over(world: World) -> None:
    task, ada = await planned(world)
    await world.finish(ada)
    world.clock.advance(OBJECTION_WINDOW_MS - 1)
    with pytest.raises(Conflict, match="still stands open"):
        await world.system("ClosePlan", task=task.id)
    world.clock.advance(1)
    await world.system("ClosePlan", task=task.id)
    assert (await world.task(task.id)).plan_until is None
    assert await world.events("PlanStands") == ["PlanStands"]
    again = await next_run(world, task.id)
    with pytest.raises(Conflict, match="stands"):
        await world.do(again, "PostPlan", task=task.id, body="And another one.")
    await world.delivered(again, task.id)
    assert (await world.task(task.id)).status == TaskStatus.REVIEW


async def test_the_operator_lets_a_plan_run_at_once(world: World) -> None:
    task, ada = await planned(world)
    with pytest.raises(Forbidden):
        await world.do(ada, "AcceptPlan", task=task.id)
    await world.operator("AcceptPlan", task=task.id)
    assert (await world.task(task.id)).plan_until is None
    for who, act in ((world.operator, "AcceptPlan"), (world.system, "ClosePlan")):
        with pytest.raises(Conflict, match="No plan"):
            await who(act, task=task.id)


@pytest.mark.parametrize("by", ["bob", "operator"])
async def test_an_objection_makes_the_author_adjust_first(world: World, by: str) -> None:
    task, ada = await planned(world)
    await world.finish(ada)
    if by == "bob":
        await objected(world, task.id)
    else:
        await world.operator("AddComment", task=task.id, kind="objection", body="That leaves out the links.")
    after = await world.task(task.id)
    assert (after.status, after.plan_until, after.assignee_id) == (TaskStatus.WORKING, None, task.assignee_id)
    assert f"{by if by == 'bob' else 'human'} objects" in after.reason
    assert "leaves out the links" in after.reason
    assert await world.events("PlanStands", "PlanObjected") == ["PlanObjected"]
    again = await next_run(world, task.id)
    await world.do(again, "PostPlan", task=task.id, body="The links as well.")
    adjusted = await world.task(task.id)
    assert (adjusted.plans, adjusted.reason) == (2, "")
    assert adjusted.plan_comment != task.plan_comment


async def test_the_author_does_not_object_to_their_own_plan(world: World) -> None:
    task, ada = await planned(world)
    with pytest.raises(Forbidden, match="your own"):
        await world.do(ada, "AddComment", task=task.id, kind="objection", body="On second thoughts")
    assert (await world.task(task.id)).plan_until == task.plan_until
    assert len(await world.all(Comment, "task_id = :t", t=task.id)) == 1


async def test_an_objection_without_an_open_plan_is_only_said(world: World) -> None:
    task, ada = await world.a_task("working")
    await objected(world, task.id)
    assert (await world.task(task.id)).version == task.version
    assert ada is not None


async def test_the_third_plan_that_meets_an_objection_goes_to_the_operator_and_the_count_starts_anew(
    world: World,
) -> None:
    task, ada = await planned(world)
    for number in range(1, PLANS_A_TASK):
        await world.finish(ada)
        await objected(world, task.id, f"No, for reason {number}.")
        ada = await next_run(world, task.id)
        await world.do(ada, "PostPlan", task=task.id, body=f"Another way, {number}.")
        assert await world.pending(f"task:{task.id}") == []
    await objected(world, task.id, "Still no.")
    waiting = await world.task(task.id)
    assert (waiting.status, waiting.plan_until) == (TaskStatus.WAITING_HUMAN, None)
    [question] = await world.pending(f"task:{task.id}")
    assert "3 plans" in question.title
    assert "Still no." in question.payload["why"]
    await world.operator("DecideApproval", approval=question.id, decision="approved", note="bob is right")
    again = await world.brought_to(task.id, "working", "ada")
    assert again is not None
    await world.do(again, "PostPlan", task=task.id, body="As bob says.")
    await world.finish(again)
    await objected(world, task.id, "One more thing.")
    assert (await world.task(task.id)).status == TaskStatus.WORKING


async def test_a_task_that_is_taken_away_has_no_open_plan_any_more(world: World) -> None:
    task, _ = await planned(world)
    await world.system("ReleaseTask", task=task.id, why="its agent is paused")
    released = await world.task(task.id)
    assert (released.status, released.plan_until) == (TaskStatus.PENDING, None)
    other = await world.brought_to(task.id, "working", "bob")
    assert other is not None
    await world.do(other, "PostPlan", task=task.id, body="My own plan.")
    assert (await world.task(task.id)).plans == 2
    await world.operator("CancelTask", task=task.id, reason="enough")
    assert (await world.task(task.id)).plan_until is None


async def test_after_refused_work_there_may_be_a_new_plan(world: World) -> None:
    task, ada = await planned(world)
    await world.operator("AcceptPlan", task=task.id)
    await world.finish(ada)
    ada = await next_run(world, task.id)
    await world.delivered(ada, task.id)
    await world.finish(ada)
    await world.reviewed(task.id, "needs_revision")
    again = await next_run(world, task.id)
    await world.do(again, "PostPlan", task=task.id, body="Otherwise, since the count was wrong.")
    assert (await world.task(task.id)).plans == 2


@pytest.mark.parametrize("status", ["claimed", "review", "blocked", "pending"])
async def test_only_work_that_goes_on_takes_a_plan(world: World, status: str) -> None:
    task, actor = await world.a_task(status)
    actor = actor or await world.run("ada")
    with pytest.raises((Conflict, Forbidden)):
        await world.do(actor, "PostPlan", task=task.id, body=PLAN)
    bob = await world.run("bob")
    with pytest.raises((Conflict, Forbidden)):
        await world.do(bob, "PostPlan", task=task.id, body=HANDOFF)
    assert (await world.task(task.id)).plans == 0


async def test_only_who_is_about_that_goal_or_was_offered_the_task_may_hold_its_plan_up(world: World) -> None:
    task, _ = await planned(world)
    other = await world.an_active_goal(title="Another")
    objection = {"task": task.id, "kind": "objection", "body": "That leaves out the links."}
    for about in ({"goal_id": other.id}, {}):
        bob = await world.run("bob", **about)
        with pytest.raises(Forbidden, match="not yours to hold up"):
            await world.do(bob, "AddComment", **objection)
        await world.do(bob, "AddComment", **{**objection, "kind": "observation"})
        assert (await world.task(task.id)).plan_until is not None
        if about:
            await world.finish(bob)
    offer = {"task_id": task.id, "agent_id": bob.agent_id, "offer": task.offer, "run_id": bob.run_id, "answer": "open"}
    await world.read(lambda tx: tx.insert(Offer, "TaskOffered", **offer))
    await world.do(bob, "AddComment", **objection)
    assert (await world.task(task.id)).plan_until is None
