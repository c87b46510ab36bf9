"""Ways round a gate that stay shut: coverage, approvals and reviews that would count for something else (F10, F13)."""

from typing import Any

import pytest

from core.commands.reporting import light_outputs
from core.domain.actors import Agent
from core.domain.coverage import Coverage, cover
from core.domain.entities import AgentRecord, Approval, Decision, Goal, Run, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.states import GoalStatus, Risk, RoundStatus, RunKind, TaskStatus
from core.guardrails import shipped
from tests.unit.ticking import turn_of
from tests.unit.world import World

THREE = {"goal_clear": "yes", "covered": "yes", "next_step": "go on"}


async def covered(world: World, goal_id: int) -> Coverage:
    goal = await world.goal(goal_id)
    tasks = await world.all(Task, "goal_id = :g", g=goal_id)
    outputs = await world.read(lambda tx: light_outputs(tx, goal_id))
    return cover(goal, tasks, outputs, await world.all(Decision, "goal_id = :g", g=goal_id))


async def ended(world: World) -> None:
    """Every live run ends well."""
    for run in await world.all(Run, "status = 'running' ORDER BY id"):
        agent = await world.find(AgentRecord, run.agent_id)
        await world.finish(Agent(agent.id, agent.slug, run.id, run.fence))


async def changed(world: World, goal: Goal, cora: Agent, *must_haves: object) -> Goal:
    """The goal after a change that the operator approved at the end of its round."""
    change = {"must_haves": must_haves, "why": "it turned out so"}
    round_ = await world.round_of(goal.id)
    await world.do(cora, "ReviewRound", round=round_.id, decision="adjust_goal", goal_change=change, **THREE)
    (asked,) = await world.pending(f"goal:{goal.id}")
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    return await world.goal(goal.id)


async def test_the_id_of_a_dropped_must_have_that_was_delivered_is_never_used_again(world: World) -> None:
    goal = await world.an_active_goal(
        must_haves=("count", "sizes"), tasks=({"title": "Count", "must_haves": ("M1", "M2")},)
    )
    await world.brought_to((await world.all(Task, "goal_id = :g", g=goal.id))[0].id, "done")
    cora = await world.run("cora", RunKind.ROUND_REVIEW, goal_id=goal.id)
    goal = await changed(world, goal, cora, {"id": "M1", "text": "count"})
    again = {"title": "Once more", "end_state": "counted again", "must_haves": ("M1",)}
    await world.do(cora, "OpenRound", goal=goal.id, tasks=(again,))
    await world.brought_to((await world.all(Task, "title = 'Once more'"))[0].id, "done")
    goal = await changed(world, goal, cora, {"id": "M1", "text": "count"}, "a list of the links")
    assert [must["text"] for must in goal.must_haves] == ["count", "a list of the links"]
    assert [must.text for must in (await covered(world, goal.id)).open_must_haves] == ["a list of the links"]


async def test_what_a_task_no_longer_has_to_deliver_is_not_covered_by_its_refused_output(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count", "sizes"), tasks=({"title": "Count", "must_haves": ("M1",)},))
    task = (await world.all(Task, "goal_id = :g", g=goal.id))[0]
    await world.brought_to(task.id, "review")
    await ended(world)
    await world.reviewed(task.id, "rejected")
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.do(cora, "EditTask", task=task.id, must_haves=("M2",))
    await world.brought_to(task.id, "done", by="bob")
    assert (await world.task(task.id)).status == TaskStatus.DONE
    assert [must.id for must in (await covered(world, goal.id)).open_must_haves] == ["M1"]


async def test_a_goal_is_not_reported_before_its_round_is_reviewed(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
    await world.brought_to((await world.all(Task, "goal_id = :g", g=goal.id))[0].id, "done")
    assert (await world.round_of(goal.id)).status == RoundStatus.REVIEWING
    cora = await world.run("cora", RunKind.MENTION, goal_id=goal.id)
    with pytest.raises(Conflict, match="round 1 is reviewing"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="All there.")
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


async def test_parts_of_a_task_keep_its_red_line_and_its_risk(world: World) -> None:
    goal = await world.an_active_goal()
    made = await world.operator(
        "CreateTask", goal=goal.id, title="Roll it out", end_state="out", tags=("deploy",), risk="high"
    )
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    halves = tuple({"title": f"Half {n}", "end_state": "half of it is out", "risk": "low"} for n in (1, 2))
    parts = (await world.do(cora, "SplitTask", task=made["id"], parts=halves, reason="too large"))["parts"]
    for part in [await world.task(number) for number in parts]:
        assert (part.risk, part.tags) == (Risk.HIGH, ("deploy",))


async def test_a_follow_up_keeps_the_red_line_of_its_task(world: World) -> None:
    goal = await world.an_active_goal()
    made = await world.operator("CreateTask", goal=goal.id, title="Write it", end_state="written", tags=("docs",))
    await world.brought_to(made["id"], "review")
    rita = await world.run("rita", RunKind.REVIEW, task_id=made["id"])
    more = {"what": "no index", "where": "end", "change": "an index", "because": "long", "criterion": "end_state"}
    await world.verdict(rita, made["id"], "approved", findings=(more,))
    (follow_up,) = await world.all(Task, "parent_id = :t", t=made["id"])
    assert follow_up.tags == ("docs",)


async def test_an_approved_start_is_one_of_exactly_what_the_person_read(world: World) -> None:
    world.door.book.current = shipped()
    goal = await world.an_active_goal()
    made = await world.operator(
        "CreateTask", goal=goal.id, title="Roll version 2 out", intent="To the test machine.", tags=("deploy",)
    )
    ada = await world.brought_to(made["id"], "claimed")
    assert ada is not None
    waits = (await world.do(ada, "StartTask", task=made["id"]))["waits"]
    await world.finish(ada)
    await world.operator("DecideApproval", approval=waits, decision="approved")
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.do(cora, "EditTask", task=made["id"], intent="To every customer.")
    ada = await world.brought_to(made["id"], "claimed")
    assert ada is not None
    answer = await world.do(ada, "StartTask", task=made["id"])
    assert answer["allowed"] is False
    assert (await world.find(Approval, waits)).status == "approved"
    assert (await world.task(made["id"])).status == TaskStatus.WAITING_HUMAN


async def test_between_two_turns_nobody_cuts_the_discussion_short_either(world: World) -> None:
    goal = await world.a_goal(must_haves=("count",))
    await world.operator("DispatchGoal", goal=goal.id)
    await turn_of(world, ada=[("AddComment", {"goal": goal.id, "kind": "question", "body": "Links?"})])
    cora = await world.run("cora", goal_id=goal.id)
    with pytest.raises(Conflict, match="discussion goes on"):
        await world.do(cora, "ActivateGoal", goal=goal.id)
    assert (await world.goal(goal.id)).status == GoalStatus.PLANNING


async def test_a_coordinator_that_rules_does_not_begin_without_a_task_of_its_own(world: World) -> None:
    goal = await world.a_goal(must_haves=("count",))
    await world.operator("DispatchGoal", goal=goal.id)
    await world.operator("EndDiscussion", goal=goal.id)
    cora = await world.run("cora", RunKind.PLAN, goal_id=goal.id)
    with pytest.raises(Conflict, match="M1"):
        await world.do(cora, "ActivateGoal", goal=goal.id)
    assert (await world.goal(goal.id)).status == GoalStatus.PLANNING


async def test_what_a_person_is_asked_no_agent_withdraws_by_cancelling_the_task(world: World) -> None:
    await world.an_active_goal()
    for _ in range(3):
        await world.brought_to(1, "review")
        await ended(world)
        await world.reviewed(1, "rejected")
    assert (await world.task(1)).status == TaskStatus.WAITING_HUMAN
    cora = await world.run("cora", RunKind.STALL, goal_id=1)
    with pytest.raises(Forbidden, match="CancelTask"):
        await world.do(cora, "CancelTask", task=1, reason="I make another one")
    assert len(await world.pending("task:1")) == 1
    await world.operator("CancelTask", task=1, reason="a person may")


async def test_a_task_made_again_keeps_its_red_line_its_risk_and_its_refusals(world: World) -> None:
    goal = await world.an_active_goal()
    made = await world.operator("CreateTask", goal=goal.id, title="Sort", tags=("docs",), risk="high")
    await world.brought_to(made["id"], "review")
    await ended(world)
    for by in ("chad", "rita"):
        await world.reviewed(made["id"], "rejected", by=by)
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.do(cora, "CancelTask", task=made["id"], reason="once more from the beginning")
    new = {"goal": goal.id, "title": "Sort", "end_state": "sorted", "retry_of": made["id"]}
    again = await world.task((await world.do(cora, "CreateTask", **new))["id"])
    assert (again.tags, again.risk, again.review_attempts) == (("docs",), Risk.HIGH, 1)
    by_hand = await world.task((await world.operator("CreateTask", **new))["id"])
    assert (by_hand.tags, by_hand.risk, by_hand.review_attempts) == (("docs",), Risk.HIGH, 0)


async def test_other_must_haves_of_a_task_are_other_criteria(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count", "sizes"), tasks=({"title": "Count", "must_haves": ("M1",)},))
    await world.brought_to(1, "review")
    await ended(world)
    await world.reviewed(1, "rejected")
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    with pytest.raises(Invalid, match="lacks"):
        await world.do(cora, "EditTask", task=1, must_haves=())
    await world.do(cora, "EditTask", task=1, must_haves=("M2",), end_state="all sizes are known")
    await world.brought_to(1, "review", by="bob")
    await ended(world)
    rita = await world.run("rita", RunKind.REVIEW, task_id=1)
    finding = {"what": "no sizes", "where": "O2", "change": "sizes", "because": "asked for", "criterion": "M2"}
    await world.verdict(rita, 1, "rejected", findings=(finding,))
    assert (await world.task(1)).review_attempts == 2


async def test_a_letter_outlasts_the_answer_to_another_question_about_its_task(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "AddComment", task=task.id, kind="question", body="@operator, links as well?")
    await world.do(ada, "AskOperator", task=task.id, kind="question", title="Which folder?", payload={})
    await world.operator("ResumeTask", task=task.id)
    assert [approval.kind for approval in await world.pending(f"task:{task.id}")] == ["mail"]


async def test_nobody_approves_unseen_what_is_said_to_deliver_a_must_have(world: World) -> None:
    await world.an_active_goal(must_haves=("count", "sizes"), tasks=({"title": "Count", "must_haves": ("M1", "M2")},))
    ada = await world.brought_to(1, "working")
    assert ada is not None
    await world.do(ada, "AddOutput", task=1, type="data", title="Sizes", content="see there", must_haves=("M2",))
    shown = await world.delivered(ada, 1)
    await world.finish(ada)
    rita = await world.run("rita", RunKind.REVIEW, task_id=1)
    with pytest.raises(Invalid, match="was not opened"):
        await world.verdict(rita, 1, "approved", opened_outputs=(shown,))
    await world.verdict(rita, 1, "needs_revision", opened_outputs=(shown,))


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        ({"title": "  count THE files", "end_state": "other"}, 2),
        ({"title": "Once more", "end_state": "all are counted", "must_haves": ("M1",)}, 2),
        ({"title": "Once more", "end_state": "all are counted", "must_haves": ("M2",)}, 0),
        ({"title": "Once more", "end_state": "all are listed", "must_haves": ("M1",)}, 0),
    ],
)  # fmt: skip
async def test_a_task_like_one_that_was_refused_and_cancelled_keeps_its_refusals(
    world: World, new: dict[str, Any], kept: int
) -> None:
    whole = {"title": "Count the files", "end_state": "all are counted", "must_haves": ("M1",)}
    goal = await world.an_active_goal(must_haves=("count", "sizes"), tasks=(whole,))
    for by in ("rita", "chad"):
        await world.brought_to(1, "review", by="ada" if by == "rita" else "bob")
        await ended(world)
        await world.reviewed(1, "rejected", by=by)
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    other = await world.do(cora, "CreateTask", goal=goal.id, **{"must_haves": ("M1",), **new})
    assert (await world.task(other["id"])).review_attempts == 0  # the refused one is still there to be mended
    await world.do(cora, "CancelTask", task=1, reason="I make another one")
    again = {"must_haves": ("M1",), **new}
    assert (await world.task((await world.do(cora, "CreateTask", goal=goal.id, **again))["id"])).review_attempts == kept
    by_hand = await world.operator("CreateTask", goal=goal.id, **again)
    assert (await world.task(by_hand["id"])).review_attempts == 0
