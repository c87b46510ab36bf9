"""Loops that only agents keep going end at a person: splits of splits, blocks, rounds above the cap (F7, F23)."""

import pytest

from core.domain.entities import Mention, Review, Round, Task
from core.domain.errors import Conflict
from core.domain.limits import EXCHANGE_MESSAGES, RUN_ATTEMPTS
from core.domain.states import ReviewStep, RunKind, TaskStatus
from tests.unit.world import FINDING, World

TWO = tuple({"title": title, "end_state": "It is counted."} for title in ("one", "two"))
THREE = {"goal_clear": "yes", "covered": "no", "next_step": "on"}


async def test_an_agent_splits_parts_of_parts_a_few_times_then_a_person_may(world: World) -> None:
    task, _ = await world.a_task()
    number = task.id
    for _ in range(3):
        cora = await world.run("cora", RunKind.STALL, goal_id=task.goal_id)
        number = (await world.do(cora, "SplitTask", task=number, parts=TWO, reason="too large"))["parts"][0]
        await world.finish(cora)
    cora = await world.run("cora", RunKind.STALL, goal_id=task.goal_id)
    with pytest.raises(Conflict, match="came of 3 splits"):
        await world.do(cora, "SplitTask", task=number, parts=TWO, reason="too large")
    await world.operator("SplitTask", task=number, parts=TWO, reason="still too large")


async def test_agents_unblock_a_task_as_often_as_anything_is_tried(world: World) -> None:
    task, worker = await world.a_task("blocked")
    for times in range(RUN_ATTEMPTS):
        assert worker is not None
        await world.finish(worker)
        cora = await world.run("cora", RunKind.STALL, goal_id=task.goal_id)
        await world.do(cora, "UnblockTask", task=task.id)
        await world.finish(cora)
        worker = await world.brought_to(task.id, "blocked", by=("bob", "ada")[times % 2])
    cora = await world.run("cora", RunKind.STALL, goal_id=task.goal_id)
    with pytest.raises(Conflict, match="blocked again, after 3"):
        await world.do(cora, "UnblockTask", task=task.id)
    assert worker is not None
    await world.finish(worker)
    await world.operator("UnblockTask", task=task.id)
    await world.brought_to(task.id, "blocked", by="ada")
    await world.do(cora, "UnblockTask", task=task.id)


async def test_a_round_above_the_cap_needs_a_word_of_the_operator(world: World) -> None:
    goal = await world.an_active_goal(round_cap=1)
    [task] = await world.read(lambda tx: tx.all("SELECT id FROM tasks"))
    await world.operator("CancelTask", task=task["id"], reason="no")
    round_ = await world.round_of(goal.id)
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    await world.do(cora, "ReviewRound", round=round_.id, decision="stop", **THREE)
    await world.operator("DecideApproval", approval=1, decision="rejected", note="go on")
    world.clock.advance(1)
    await world.do(cora, "OpenRound", goal=goal.id, tasks=TWO)
    for task in await world.read(lambda tx: tx.all("SELECT id FROM tasks WHERE status = 'pending'")):
        await world.operator("CancelTask", task=task["id"], reason="no")
    await world.do(cora, "ReviewRound", round=2, decision="report", **THREE)
    with pytest.raises(Conflict, match="used its 1 rounds"):
        await world.do(cora, "OpenRound", goal=goal.id, tasks=TWO)
    await world.do(cora, "ReportGoal", goal=goal.id, summary="All that there is.")
    await world.operator("SendBackGoal", goal=goal.id, note="more")
    await world.do(cora, "OpenRound", goal=goal.id, tasks=TWO)
    assert [each.number for each in await world.all(Round, "true ORDER BY id")] == [1, 2, 3]


async def test_of_high_risk_one_reviewer_who_is_convinced_is_not_enough(world: World) -> None:
    task, ada = await world.a_task("review", tasks=({"title": "Count", "risk": "high"},))
    assert ada is not None
    await world.finish(ada)
    for slug in ("rita", "chad"):
        await world.reviewed(task.id, "needs_revision", by=slug)
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    await world.do(ada, "RebutReview", task=task.id, answer="REJECT", facts="The 43rd is a link.")
    await world.finish(ada)
    await world.reviewed(task.id, by="chad")
    disputed = await world.task(task.id)
    assert (disputed.status, disputed.review_step) == (TaskStatus.REVIEW, ReviewStep.RULING)
    cora = await world.run("cora", RunKind.RULE, task_id=task.id)
    await world.do(cora, "RuleTask", task=task.id, verdict="approved", because="A link is no file.")
    done = await world.task(task.id)
    assert (done.status, done.review_attempts) == (TaskStatus.DONE, 1)
    assert len(await world.all(Review)) == 4


async def test_who_is_held_is_let_go_when_what_they_spoke_about_has_ended(world: World) -> None:
    task, _ = await world.a_task()
    for number in range(EXCHANGE_MESSAGES):
        by, to = ("ada", "bob") if number % 2 else ("bob", "ada")
        waits = await world.all(Mention, "status = 'pending'")
        about = {"mention_id": waits[0].id} if waits else {}
        run = await world.run(by, RunKind.MENTION, task_id=task.id, **about)
        await world.do(run, "AddComment", task=task.id, kind="dialogue", body=f"Thanks, @{to}.")
        await world.finish(run)
    assert [str(each.status) for each in await world.all(Mention, "status = 'held'")] == ["held"]
    await world.operator("CancelTask", task=task.id, reason="no")
    assert await world.all(Mention, "status = 'held'") == []
    assert await world.pending(f"task:{task.id}") == []


async def test_no_run_of_work_is_queued_while_a_plan_stands_open(world: World) -> None:
    task, ada = await world.a_task("claimed")
    assert ada is not None
    await world.do(ada, "StartTask", task=task.id)
    await world.do(ada, "PostPlan", task=task.id, body="Count, then compare.")
    await world.finish(ada)
    with pytest.raises(Conflict, match="stands open for objection"):
        await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    await world.operator("AcceptPlan", task=task.id)
    await world.run("ada", RunKind.EXECUTE, task_id=task.id)


async def test_the_follow_ups_of_follow_ups_breed_no_more_tasks(world: World) -> None:
    await world.an_active_goal("Count", "Search")
    made = [1]
    for _ in range(4):
        author = await world.brought_to(made[-1], "review")
        assert author is not None
        await world.finish(author)
        more = {**FINDING, "what": "the links too"}
        run = await world.run("rita", RunKind.REVIEW, task_id=made[-1])
        await world.verdict(run, made[-1], findings=(more,))
        await world.finish(run)
        follow_ups = await world.all(Task, "parent_id = :t", t=made[-1])
        if not follow_ups:
            break
        await world.operator("EnqueueTask", task=follow_ups[0].id)
        made.append(follow_ups[0].id)
    assert len(made) == 3
    reviews = await world.all(Review, "subject_id = :t", t=made[-1])
    assert reviews[0].findings[0]["what"] == "the links too"
