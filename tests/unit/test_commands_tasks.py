"""Tasks: claims, fences, dependencies, rounds' counters, submission (S2-03, S3-04, S3-08…12, C-12, F4)."""

import asyncio

import pytest

from core.commands.registry import parse
from core.domain.entities import Goal, Round, Run, Task
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid
from core.domain.states import RoundStatus, RunKind, RunStatus, TaskStatus
from core.simulation.laws import kept_counts
from tests.unit.world import HANDOFF, OPERATOR, World


async def three_tasks(world: World) -> list[int]:
    goal = await world.an_active_goal("one", "two", "three")
    return [task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id)]


async def waits(world: World, task: int, on: int, on_fail: str = "cancel") -> None:
    await world.operator("AddDependency", task=task, depends_on=on, on_fail=on_fail)


async def test_of_many_claims_exactly_one_wins(world: World) -> None:
    task, _ = await world.a_task()
    claimers = [await world.run(slug) for slug in ("ada", "bob", "cora", "rita", "chad")]
    answers = await asyncio.gather(
        *(world.do(claimer, "ClaimTask", task=task.id) for claimer in claimers), return_exceptions=True
    )
    assert sum(isinstance(answer, dict) for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 4


async def test_an_agent_holds_one_task_and_a_run_claims_once(world: World) -> None:
    one, two, _ = await three_tasks(world)
    ada = await world.run("ada")
    await world.do(ada, "ClaimTask", task=one)
    with pytest.raises(Conflict, match=f"claimed T{one} already"):
        await world.do(ada, "ClaimTask", task=two)
    await world.finish(ada)
    with pytest.raises(Conflict, match=f"You hold T{one} already"):
        await world.do(await world.run("ada"), "ClaimTask", task=two)


async def test_a_task_that_waits_for_another_cannot_be_claimed_or_assigned(world: World) -> None:
    one, two, _ = await three_tasks(world)
    await waits(world, two, one)
    with pytest.raises(Conflict, match="still waits for 1"):
        await world.do(await world.run("ada"), "ClaimTask", task=two)
    with pytest.raises(Conflict, match="still waits for 1"):
        await world.operator("AssignTask", task=two, agent="ada")
    await world.brought_to(one, "done", "bob")
    await world.operator("AssignTask", task=two, agent="bob")


async def test_writes_of_a_run_that_is_no_longer_current_are_refused(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.operator("KillRun", run=ada.run_id)
    assert (await world.task(task.id)).status == TaskStatus.PENDING
    for act, more in (
        ("AddOutput", {"type": "data", "title": "late", "content": "x"}),
        ("AddComment", {"body": "late"}),
        ("SubmitTask", {}),
        ("FailTask", {"reason": "late"}),
    ):
        with pytest.raises(Fenced, match="no longer current"):
            await world.do(ada, act, task=task.id, **more)


async def test_a_mistyped_number_is_told_and_ends_no_run(world: World) -> None:
    """A model that names another task than its own is told its own; only a run that is over is fenced."""
    task, ada = await world.a_task("working")
    other, _ = await world.a_task("pending")
    assert ada is not None
    with pytest.raises(Conflict, match=rf"works on T{task.id}, not on T{other.id}") as refused:
        await world.do(ada, "SubmitTask", task=other.id)
    assert str(task.id) in refused.value.hint
    assert (await world.task(other.id)).status == TaskStatus.PENDING


async def test_a_fence_of_another_number_is_refused(world: World) -> None:
    from dataclasses import replace

    _, ada = await world.a_task("working")
    assert ada is not None
    for wrong in (replace(ada, fence=ada.fence + 1), replace(ada, agent_id=ada.agent_id + 1)):
        with pytest.raises(Fenced):
            await world.do(wrong, "AddComment", goal=1, body="hello")


async def test_leaving_work_by_another_hand_ends_the_run(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.operator("CancelTask", task=task.id, reason="no")
    assert (await world.find(Run, ada.run_id)).status == RunStatus.KILLED


async def test_submitting_needs_an_output_and_a_handoff_of_this_run(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    with pytest.raises(Conflict, match="no output"):
        await world.do(ada, "SubmitTask", task=task.id)
    await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", content="42")
    with pytest.raises(Conflict, match="no handoff of this run"):
        await world.do(ada, "SubmitTask", task=task.id)
    await world.operator("KillRun", run=ada.run_id)
    await world.finish(ada)
    again = await world.brought_to(task.id, "working")
    assert again is not None
    with pytest.raises(Conflict, match="no handoff of this run"):
        await world.do(again, "SubmitTask", task=task.id)
    await world.do(again, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    await world.do(again, "SubmitTask", task=task.id)


async def test_failing_blocking_and_cancelling_need_a_reason(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    for act, more in (("FailTask", {}), ("BlockTask", {"block_kind": "transient"})):
        for reason in ("", "   "):
            with pytest.raises(Invalid, match="reason"):
                await world.do(ada, act, task=task.id, reason=reason, **more)
    with pytest.raises(Invalid, match="reason"):
        await world.operator("CancelTask", task=task.id, reason=" ")


async def test_a_circle_of_dependencies_is_refused(world: World) -> None:
    one, two, three = await three_tasks(world)
    await waits(world, two, one)
    await waits(world, three, two)
    for task, on in ((one, three), (one, two), (one, one)):
        with pytest.raises(Conflict, match="circle"):
            await waits(world, task, on)
    with pytest.raises(Conflict, match="already"):
        await waits(world, two, one)


@pytest.mark.parametrize("end", ["failed", "cancelled"])
async def test_what_a_dependent_does_when_its_cause_fails_is_said_beforehand(world: World, end: str) -> None:
    goal = await world.an_active_goal("cause", "cancel", "proceed", "hold", "later")
    cause, cancel, proceed, hold, later = [
        task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id)
    ]
    for task, on_fail in ((cancel, "cancel"), (proceed, "proceed"), (hold, "hold")):
        await waits(world, task, cause, on_fail)
    await waits(world, later, cancel)
    await world.brought_to(cause, end)
    found = {number: await world.task(number) for number in (cancel, proceed, hold, later)}
    assert found[cancel].status == found[later].status == TaskStatus.CANCELLED
    assert found[cancel].reason == f"dependency_failed: T{cause} is {end}"
    assert (found[proceed].status, found[proceed].open_deps) == (TaskStatus.PENDING, 0)
    assert (found[hold].status, found[hold].open_deps) == (TaskStatus.PENDING, 1)
    await world.operator("WaiveDependency", task=hold, depends_on=cause)
    assert (await world.task(hold)).open_deps == 0
    assert await world.read(kept_counts) == {}


async def test_a_task_cannot_wait_for_what_will_never_be_done(world: World) -> None:
    one, two, _ = await three_tasks(world)
    await world.operator("CancelTask", task=one, reason="no")
    with pytest.raises(Conflict, match="never be done"):
        await waits(world, two, one)
    await waits(world, two, one, "proceed")
    assert (await world.task(two)).open_deps == 0


@pytest.mark.soak
async def test_a_long_chain_of_dependents_ends_with_its_head(world: World) -> None:
    goal = await world.a_goal()
    head = (await world.operator("CreateTask", goal=goal.id, title="head"))["id"]
    links = [{"goal": goal.id, "title": "link", "depends_on": ({"task": head + n},)} for n in range(350)]
    await world.door.execute_all(OPERATOR, [parse("CreateTask", link) for link in links])
    await world.operator("CancelTask", task=head, reason="no")
    assert await world.all(Task, "status = 'draft' AND id > :head", head=head) == []


async def test_a_round_is_over_exactly_once_when_its_last_task_ends(world: World) -> None:
    one, two, three = await three_tasks(world)
    await waits(world, three, two)
    await world.brought_to(one, "done")
    round_ = (await world.all(Round))[0]
    assert (round_.status, round_.open_tasks, round_.total_tasks) == (RoundStatus.OPEN, 2, 3)
    await world.brought_to(two, "failed", "bob")
    round_ = (await world.all(Round))[0]
    assert (round_.status, round_.open_tasks) == (RoundStatus.REVIEWING, 0)
    assert len(await world.events("RoundFinished")) == 1


async def test_a_task_below_an_ended_goal_is_refused(world: World) -> None:
    goal = await world.an_active_goal()
    await world.operator("CancelGoal", goal=goal.id, reason="no")
    with pytest.raises(Conflict, match="is cancelled"):
        await world.operator("CreateTask", goal=goal.id, title="late")


async def test_a_task_names_only_must_haves_and_tasks_of_its_own_goal(world: World) -> None:
    goal, other = await world.a_goal(must_haves=("count",)), await world.an_active_goal()
    foreign = (await world.all(Task, "goal_id = :g", g=other.id))[0].id
    wrong = ({"must_haves": ("M2",)}, {"parent": foreign}, {"retry_of": foreign}, {"depends_on": ({"task": foreign},)})
    for arguments in wrong:
        with pytest.raises(Invalid):
            await world.operator("CreateTask", goal=goal.id, title="x", **arguments)


async def test_drafts_made_between_two_rounds_are_taken_along_with_the_next(world: World) -> None:
    task, _ = await world.a_task("done")
    late = await world.operator("CreateTask", goal=task.goal_id, title="an idea")
    assert late["status"] == "draft"
    cora = await world.run("cora", RunKind.ROUND_REVIEW, goal_id=task.goal_id)
    answers = {"goal_clear": "y", "covered": "n", "next_step": "more", "decision": "next_round"}
    first = await world.round_of(task.goal_id)
    await world.do(cora, "ReviewRound", round=first.id, tasks=({"title": "more", "end_state": "all"},), **answers)
    second = await world.round_of(task.goal_id)
    assert second.open_tasks == 2
    assert (await world.task(late["id"])).round_id == second.id


async def test_the_ceo_enqueues_below_a_reviewed_goal(world: World) -> None:
    goal = await world.an_active_goal()
    draft = await world.operator("CreateTask", goal=goal.id, title="x", draft=True)
    vera = await world.run("vera")
    assert (await world.do(vera, "EnqueueTask", task=draft["id"]))["status"] == "pending"


async def test_the_ceo_enqueues_nothing_below_a_goal_that_nobody_reviewed(world: World) -> None:
    goal = await world.an_active_goal()
    draft = await world.operator("CreateTask", goal=goal.id, title="z", draft=True)
    await world.read(lambda tx: tx.update(tx.get(Goal, goal.id), "GoalReviewCleared", reviewed_hash=None))
    with pytest.raises(Forbidden, match="not reviewed"):
        await world.do(await world.run("vera"), "EnqueueTask", task=draft["id"])


async def test_the_text_of_a_task_at_work_is_settled(world: World) -> None:
    task, _ = await world.a_task("working")
    with pytest.raises(Conflict, match="settled"):
        await world.operator("EditTask", task=task.id, title="other")
    await world.operator("EditTask", task=task.id, priority=0)
    await world.operator("CancelTask", task=task.id, reason="no")
    with pytest.raises(Conflict, match="stays so"):
        await world.operator("EditTask", task=task.id, priority=1)


async def test_an_operators_claim_has_no_lease_that_could_run_out(world: World) -> None:
    one, two, _ = await three_tasks(world)
    await world.operator("AssignTask", task=one, agent="ada")
    await world.system("AssignTask", task=two, agent="bob")
    assert (await world.task(one)).lease_until is None
    assert (await world.task(two)).lease_until is not None
