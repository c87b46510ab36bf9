"""Verdicts on tasks and on rounds (S2-10, S2-11, S3-14, S3-18, S3-19, F8, F9, F13)."""

import pytest

from core.domain.entities import Approval, Goal, Round, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.states import GoalStatus, RoundStatus, RunKind, TaskStatus
from tests.unit.world import World

THREE = {"goal_clear": "yes", "covered": "yes", "next_step": "so"}


async def handed_in(world: World) -> tuple[Task, int]:
    task, ada = await world.a_task("review")
    assert ada is not None
    await world.finish(ada)
    rows = await world.read(lambda tx: tx.all("SELECT id FROM outputs WHERE task_id = :t", t=task.id))
    return task, rows[0]["id"]


async def test_approved_work_is_done_and_its_reviewer_named(world: World) -> None:
    task, _ = await handed_in(world)
    await world.reviewed(task.id)
    assert (await world.task(task.id)).status == TaskStatus.DONE
    rows = await world.read(lambda tx: tx.all("SELECT reviewer, verdict FROM reviews"))
    assert rows == [{"reviewer": "rita", "verdict": "approved"}]


async def test_needed_revision_goes_back_to_the_same_agent_with_a_new_fence(world: World) -> None:
    task, _ = await handed_in(world)
    await world.reviewed(task.id, "needs_revision")
    after = await world.task(task.id)
    assert (after.status, after.assignee_id, after.review_attempts) == (TaskStatus.WORKING, task.assignee_id, 1)
    assert (after.current_run, after.fence) == (None, task.fence + 1)


async def test_rejected_work_is_pending_and_its_agent_the_last_choice(world: World) -> None:
    task, _ = await handed_in(world)
    await world.reviewed(task.id, "rejected")
    after = await world.task(task.id)
    assert (after.status, after.assignee_id, after.last_assignee_id) == (TaskStatus.PENDING, None, task.assignee_id)
    assert after.offer == task.offer + 1


async def test_the_third_refusal_goes_to_the_operator_whose_no_ends_the_task(world: World) -> None:
    task, _ = await handed_in(world)
    for verdict in ("rejected", "rejected"):
        await world.reviewed(task.id, verdict)
        bob = await world.brought_to(task.id, "review", "bob")
        assert bob is not None
        await world.finish(bob)
    await world.reviewed(task.id, "needs_revision")
    assert (await world.task(task.id)).status == TaskStatus.WAITING_HUMAN
    question = (await world.pending(f"task:{task.id}"))[0]
    assert "refused 3 times" in question.title
    await world.operator("DecideApproval", approval=question.id, decision="rejected", note="leave it")
    assert (await world.task(task.id)).status == TaskStatus.CANCELLED


async def test_an_older_question_does_not_hinder_the_third_refusal(world: World) -> None:
    task, _ = await handed_in(world)
    cora = await world.run("cora")
    await world.do(cora, "RequestApproval", kind="question", entity=f"task:{task.id}", title="Is it needed?")
    for verdict in ("rejected", "rejected"):
        await world.reviewed(task.id, verdict)
        bob = await world.brought_to(task.id, "review", "bob")
        assert bob is not None
        await world.finish(bob)
    await world.reviewed(task.id, "rejected")
    assert len(await world.pending(f"task:{task.id}")) == 1
    assert {question.status for question in await world.all(Approval)} == {"pending", "cancelled"}


@pytest.mark.parametrize("by", ["ada", "rita"])
async def test_nobody_judges_what_they_worked_on(world: World, by: str) -> None:
    goal = await world.an_active_goal()
    task = (await world.all(Task, "goal_id = :g", g=goal.id))[0]
    await world.operator("AssignTask", task=task.id, agent="rita")
    rita = await world.run("rita", RunKind.EXECUTE, task_id=task.id)
    await world.do(rita, "StartTask", task=task.id)
    await world.delivered(rita, task.id)
    await world.finish(rita)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Forbidden, match="cannot judge it"):
        await world.verdict(judge, task.id)
    with pytest.raises(Forbidden, match="not for ada"):
        await world.verdict(await world.run("ada", RunKind.REVIEW, task_id=task.id), task.id)


async def test_an_author_stays_an_author_after_a_reassignment(world: World) -> None:
    task, _ = await world.a_task()
    await world.operator("AssignTask", task=task.id, agent="rita")
    rita = await world.run("rita", RunKind.EXECUTE, task_id=task.id)
    await world.operator("KillRun", run=rita.run_id)
    ada = await world.brought_to(task.id, "review")
    assert ada is not None
    with pytest.raises(Forbidden, match="cannot judge it"):
        await world.verdict(await world.run("rita", RunKind.REVIEW, task_id=task.id), task.id)
    await world.reviewed(task.id, by="chad")


async def test_a_review_run_judges_its_own_task_only(world: World) -> None:
    one, _ = await handed_in(world)
    two, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=one.id)
    with pytest.raises(Forbidden, match="not started to review"):
        await world.verdict(judge, two.id)
    with pytest.raises(Forbidden, match="not started to review"):
        await world.verdict(await world.run("chad"), two.id)


async def test_a_verdict_names_outputs_of_the_task_that_were_opened(world: World) -> None:
    task, output = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    for opened in ((), (output, 999)):
        with pytest.raises(Invalid, match=f"O{output}"):
            await world.verdict(judge, task.id, opened_outputs=opened)
    assert (await world.task(task.id)).status == TaskStatus.REVIEW


@pytest.mark.parametrize("verdict", ["rejected", "needs_revision"])
async def test_a_refusal_says_what_is_wrong_where_and_what_to_change(world: World, verdict: str) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    for findings in ((), ({"what": "wrong", "where": "", "change": "x"},), ({"what": "improve it"},)):
        with pytest.raises(Invalid):
            await world.verdict(judge, task.id, verdict, findings=findings)


async def test_outputs_that_changed_since_they_were_opened_are_not_judged(world: World) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Conflict, match="changed since you opened them"):
        await world.verdict(judge, task.id, subject_hash="0" * 64)


# Rounds ----------------------------------------------------------------------------------------------------


async def finished_round(world: World, **more: object) -> tuple[Goal, Round]:
    goal = await world.an_active_goal(**more)
    task = (await world.all(Task, "goal_id = :g", g=goal.id))[0]
    await world.brought_to(task.id, "done")
    return goal, await world.round_of(goal.id)


async def test_a_round_review_has_three_answers_and_one_decision(world: World) -> None:
    goal, round_ = await finished_round(world)
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    for missing in THREE:
        with pytest.raises(Invalid, match=missing):
            await world.do(cora, "ReviewRound", round=round_.id, decision="report", **{**THREE, missing: ""})
    wrong = (
        {"decision": "next_round"},
        {"decision": "report", "tasks": ({"title": "x"},)},
        {"decision": "next_round", "tasks": ({"title": "x"},), "add_must_haves": ("sizes",)},
        {"decision": "perhaps"},
        {},
    )
    for arguments in wrong:
        with pytest.raises(Invalid):
            await world.do(cora, "ReviewRound", round=round_.id, **THREE, **arguments)
    await world.do(cora, "ReviewRound", round=round_.id, decision="report", **THREE)
    with pytest.raises(Conflict, match="is closed"):
        await world.do(cora, "ReviewRound", round=round_.id, decision="report", **THREE)


async def test_the_next_round_opens_with_its_tasks_and_new_must_haves(world: World) -> None:
    goal, round_ = await finished_round(world, must_haves=("count",))
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    more = {"tasks": ({"title": "sizes", "must_haves": ("M2",)},), "add_must_haves": ("sizes",)}
    answer = await world.do(cora, "ReviewRound", round=round_.id, decision="adjust_goal", **THREE, **more)
    assert answer["next_round"] == 2
    assert [must["id"] for must in (await world.goal(goal.id)).must_haves] == ["M1", "M2"]
    assert (await world.round_of(goal.id)).open_tasks == 1


async def test_the_round_cap_is_held(world: World) -> None:
    goal, round_ = await finished_round(world, round_cap=1)
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    with pytest.raises(Conflict, match="used its 1 rounds"):
        await world.do(cora, "ReviewRound", round=round_.id, decision="next_round", tasks=({"title": "x"},), **THREE)
    await world.do(cora, "ReviewRound", round=round_.id, decision="report", **THREE)


async def test_giving_up_asks_the_operator(world: World) -> None:
    goal, round_ = await finished_round(world)
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    await world.do(cora, "ReviewRound", round=round_.id, decision="stop", **THREE)
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE
    question = (await world.pending(f"goal:{goal.id}"))[0]
    await world.operator("DecideApproval", approval=question.id, decision="approved")
    assert (await world.goal(goal.id)).status == GoalStatus.FAILED


@pytest.mark.parametrize(("decision", "status"), [("report", GoalStatus.ACTIVE), ("stop", GoalStatus.CANCELLED)])
async def test_the_operator_decides_an_escalated_round(world: World, decision: str, status: GoalStatus) -> None:
    goal, round_ = await finished_round(world)
    await world.system("EscalateRound", round=round_.id, why="three reviews failed")
    await world.operator("ResolveRound", round=round_.id, decision=decision)
    assert (await world.goal(goal.id)).status == status
    assert (await world.round_of(goal.id)).status == RoundStatus.CLOSED


async def test_a_stalled_round_goes_on_when_a_task_moves(world: World) -> None:
    task, ada = await world.a_task("blocked")
    round_ = await world.round_of(task.goal_id)
    await world.system("StallRound", round=round_.id, why="nothing runs")
    asked = {"kind": "question", "entity": f"round:{round_.id}", "title": "What now?"}
    await world.system("RequestApproval", **asked)
    await world.operator("UnblockTask", task=task.id)
    assert (await world.round_of(task.goal_id)).status == RoundStatus.OPEN
    assert await world.pending(f"round:{round_.id}") == []
    assert ada is not None
