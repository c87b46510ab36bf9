"""Questions to the operator: one pending, decided once, consumed once in the act's own transaction (F13)."""

import asyncio

import pytest

from core.domain.actors import Agent
from core.domain.entities import Approval, Goal, Output, Task
from core.domain.errors import Conflict, Forbidden, Invalid, NotFound
from core.domain.states import ApprovalStatus, GoalStatus, RunKind, TaskStatus
from core.simulation.laws import kept_counts
from tests.unit.world import World

DELETION = {"path": "old.csv", "bytes": 120}


async def a_question(world: World, kind: str = "red_line") -> tuple[Task, Approval]:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "AskOperator", task=task.id, kind=kind, title="Delete old.csv?", payload=DELETION)
    await world.finish(ada)
    return await world.task(task.id), (await world.pending(f"task:{task.id}"))[0]


async def decide(world: World, approval: Approval, decision: str = "approved", **more: object) -> dict[str, object]:
    note = {} if decision == "approved" else {"note": "because"}
    return await world.operator("DecideApproval", approval=approval.id, decision=decision, **{**note, **more})


async def at_work_again(world: World, task: Task) -> Agent:
    actor = await world.brought_to(task.id, "working")
    assert actor is not None
    return actor


async def test_a_question_puts_the_task_before_the_operator_and_ends_the_work(world: World) -> None:
    task, approval = await a_question(world)
    assert task.status == TaskStatus.WAITING_HUMAN
    assert task.current_run is None
    assert (approval.requested_by, approval.status) == ("ada", ApprovalStatus.PENDING)


async def test_the_first_decision_wins(world: World) -> None:
    _, approval = await a_question(world)
    answers = await asyncio.gather(decide(world, approval), decide(world, approval, "rejected"), return_exceptions=True)
    assert [isinstance(answer, Conflict) for answer in answers] == [False, True]
    assert "already decided" in str(answers[1])


async def test_only_the_operator_decides(world: World) -> None:
    _, approval = await a_question(world)
    for actor in (await world.run("cora"), await world.run("vera")):
        with pytest.raises(Forbidden):
            await world.do(actor, "DecideApproval", approval=approval.id, decision="approved")


@pytest.mark.parametrize("decision", ["rejected", "revision_requested"])
async def test_a_refusal_needs_a_reason(world: World, decision: str) -> None:
    _, approval = await a_question(world)
    with pytest.raises(Invalid, match="reason"):
        await world.operator("DecideApproval", approval=approval.id, decision=decision, note="  ")


async def test_a_decision_about_something_else_than_what_was_read_is_refused(world: World) -> None:
    _, approval = await a_question(world)
    with pytest.raises(Conflict, match="changed since you read it"):
        await decide(world, approval, payload_hash="0" * 64)
    await decide(world, approval, payload_hash=approval.payload_hash)


@pytest.mark.parametrize("decision", ["approved", "rejected", "revision_requested"])
async def test_any_answer_wakes_the_task_with_the_reason(world: World, decision: str) -> None:
    task, approval = await a_question(world, "question")
    await decide(world, approval, decision, note="the small one")
    task = await world.task(task.id)
    assert (task.status, task.reason) == (TaskStatus.PENDING, "the small one")
    assert task.assignee_id is not None


async def test_an_approval_is_consumed_once_in_the_transaction_of_its_act(world: World) -> None:
    task, approval = await a_question(world)
    await decide(world, approval)
    ada = await at_work_again(world, task)
    act = {"task": task.id, "type": "other", "title": "Deleted", "approval": approval.id, "approved_payload": DELETION}
    with pytest.raises(Invalid, match="empty"):
        await world.do(ada, "AddOutput", content=" ", **act)
    assert (await world.find(Approval, approval.id)).status == ApprovalStatus.APPROVED
    await world.do(ada, "AddOutput", content="old.csv is gone", **act)
    used = await world.find(Approval, approval.id)
    assert (used.status, used.consumed_at) == (ApprovalStatus.CONSUMED, world.clock.now)
    with pytest.raises(Conflict, match="is consumed"):
        await world.do(ada, "AddOutput", content="again", **act)
    assert len(await world.all(Output)) == 1


async def test_only_exactly_what_was_approved_may_be_done(world: World) -> None:
    task, approval = await a_question(world)
    await decide(world, approval)
    ada = await at_work_again(world, task)
    act = {"task": task.id, "type": "other", "title": "Deleted", "content": "x", "approval": approval.id}
    for payload in ({}, {**DELETION, "bytes": 121}, {**DELETION, "more": 1}):
        with pytest.raises(Conflict, match="something else"):
            await world.do(ada, "AddOutput", approved_payload=payload, **act)


@pytest.mark.parametrize("decision", [None, "rejected", "revision_requested"])
async def test_what_is_not_approved_cannot_be_used(world: World, decision: str | None) -> None:
    task, approval = await a_question(world)
    if decision is None:
        await world.operator("ResumeTask", task=task.id)
    else:
        await decide(world, approval, decision)
    ada = await at_work_again(world, task)
    act = {"task": task.id, "type": "other", "title": "Deleted", "content": "x", "approval": approval.id}
    with pytest.raises(Conflict, match=approval.name_tag):
        await world.do(ada, "AddOutput", approved_payload=DELETION, **act)


async def test_an_approval_of_one_task_is_no_use_to_another(world: World) -> None:
    _, approval = await a_question(world)
    await decide(world, approval)
    other, bob = await world.a_task("working", "bob")
    assert bob is not None
    act = {"task": other.id, "type": "other", "title": "Deleted", "content": "x", "approval": approval.id}
    with pytest.raises(Conflict, match="not about this"):
        await world.do(bob, "AddOutput", approved_payload=DELETION, **act)


async def test_the_same_question_is_not_asked_twice(world: World) -> None:
    goal = await world.an_active_goal()
    cora = await world.run("cora", RunKind.PLAN, goal_id=goal.id)
    asked = {"kind": "goal_failure", "entity": f"goal:{goal.id}", "title": "Give up?"}
    await world.do(cora, "RequestApproval", **asked)
    with pytest.raises(Conflict, match="already asks this"):
        await world.do(cora, "RequestApproval", **asked)


async def test_a_goal_fails_by_the_operators_word_only(world: World) -> None:
    goal = await world.an_active_goal()
    cora = await world.run("cora", RunKind.PLAN, goal_id=goal.id)
    asked = {"kind": "goal_failure", "entity": f"goal:{goal.id}", "title": "Give up?"}
    first = await world.do(cora, "RequestApproval", **asked)
    await world.operator("DecideApproval", approval=first["id"], decision="rejected", note="try on")
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE
    second = await world.do(cora, "RequestApproval", **asked)
    await world.operator("DecideApproval", approval=second["id"], decision="approved")
    assert (await world.goal(goal.id)).status == GoalStatus.FAILED
    assert (await world.find(Approval, second["id"])).status == ApprovalStatus.CONSUMED
    assert await world.read(kept_counts) == {}


async def test_what_nobody_could_decide_is_not_asked(world: World) -> None:
    task, _ = await world.a_task("failed")
    await world.a_goal()
    cora = await world.run("cora")
    wrong = [
        ("question", "goal:77", NotFound),
        ("question", "agent:77", NotFound),
        ("question", f"task:{task.id}", Conflict),
        ("goal_failure", "agent:1", Invalid),
        ("goal_failure", "company:1", Invalid),
        ("goal_failure", f"task:{task.id}", Invalid),
        ("goal_failure", "goal:2", Conflict),
        ("question", "house:1", Invalid),
    ]
    for kind, entity, error in wrong:
        with pytest.raises(error):
            await world.do(cora, "RequestApproval", kind=kind, entity=entity, title="?")
    assert {goal.status for goal in await world.all(Goal)} == {GoalStatus.ACTIVE, GoalStatus.DRAFT}


async def test_questions_are_withdrawn_when_their_subject_ends(world: World) -> None:
    task, approval = await a_question(world)
    await world.operator("CancelTask", task=task.id, reason="not needed")
    assert (await world.find(Approval, approval.id)).status == ApprovalStatus.CANCELLED
    with pytest.raises(Conflict, match="already decided: cancelled"):
        await decide(world, approval)


async def test_a_no_to_trying_again_ends_what_was_asked_about(world: World) -> None:
    goal = await world.an_active_goal("one", "two")
    round_ = await world.round_of(goal.id)
    await world.system("StallRound", round=round_.id, why="nothing runs")
    payload = {"what": "try_again", "on_reject": "cancel"}
    asked = {"kind": "question", "entity": f"round:{round_.id}", "title": "Again?", "payload": payload}
    answer = await world.system("RequestApproval", **asked)
    await world.operator("DecideApproval", approval=answer["id"], decision="rejected", note="enough")
    assert (await world.round_of(goal.id)).status == "reviewing"
    asked |= {"entity": f"goal:{goal.id}"}
    answer = await world.system("RequestApproval", **asked)
    await world.operator("DecideApproval", approval=answer["id"], decision="rejected", note="enough")
    assert (await world.goal(goal.id)).status == GoalStatus.CANCELLED
