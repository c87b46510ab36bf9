"""Verdicts on tasks and on rounds (S2-10, S2-11, S3-14, S3-18, S3-19, F8, F9, F13)."""

from typing import Any

import pytest

from core.domain.entities import Approval, Goal, Review, Round, Run, Task
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid
from core.domain.limits import FOLLOW_UPS_A_REVIEW
from core.domain.states import Dimension, GoalStatus, RoundStatus, RunKind, RunStatus, TaskStatus
from tests.unit.world import FINDING, FIVE, HANDOFF, World

THREE = {"goal_clear": "yes", "covered": "yes", "next_step": "so"}


async def handed_in(world: World, risk: str = "standard", **more: Any) -> tuple[Task, int]:
    tasks = ({"title": "Count the files", "end_state": "a table", "risk": risk, **more.pop("task", {})},)
    task, ada = await world.a_task("review", tasks=tasks, **more)
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


async def test_a_run_whose_work_is_approved_before_its_program_has_ended_comes_to_its_own_end(world: World) -> None:
    task, ada = await world.a_task("review")
    assert ada is not None
    await world.reviewed(task.id)
    assert (await world.task(task.id)).status == TaskStatus.DONE
    with pytest.raises(Fenced):
        await world.do(ada, "AddOutput", task=task.id, type="document", title="More", content="too late")
    await world.finish(ada)
    assert (await world.find(Run, ada.run_id)).status == RunStatus.SUCCEEDED


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
async def test_a_refusal_says_what_where_what_to_change_because_and_by_which_criterion(
    world: World, verdict: str
) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    lacking = [{**FINDING, name: ""} for name in FINDING] + [
        {key: value for key, value in FINDING.items() if key != name} for name in FINDING
    ]
    for findings in ((), *((finding,) for finding in lacking), ({**FINDING, "criterion": "beauty"},)):
        with pytest.raises(Invalid):
            await world.verdict(judge, task.id, verdict, findings=findings)
    assert (await world.task(task.id)).criteria == ()


async def test_a_verdict_speaks_of_the_dimensions_that_its_risk_asks(world: World) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    for left_out in Dimension:
        few = {name: text for name, text in FIVE.items() if name != left_out}
        for dimensions in (few, {**few, left_out: " "}):
            with pytest.raises(Invalid, match=left_out):
                await world.verdict(judge, task.id, dimensions=dimensions)
    with pytest.raises(Invalid, match="beauty"):
        await world.verdict(judge, task.id, dimensions={**FIVE, "beauty": "yes"})
    await world.verdict(judge, task.id)
    await world.finish(judge)
    low, _ = await handed_in(world, risk="low")
    judge = await world.run("rita", RunKind.REVIEW, task_id=low.id)
    await world.verdict(
        judge, low.id, dimensions={"requirement_coverage": "all there", "artefact_authenticity": "opened it"}
    )
    assert (await world.task(low.id)).status == TaskStatus.DONE


async def test_a_run_gives_one_verdict(world: World) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    await world.verdict(judge, task.id, "needs_revision")
    await revised(world, task.id)
    with pytest.raises(Conflict, match="given its verdict"):
        await world.verdict(judge, task.id)


# Criteria and follow-ups (F8) ---------------------------------------------------------------------------------


async def revised(world: World, task_id: int, by: str = "ada") -> None:
    """The same agent hands its work in again."""
    actor = await world.run(by, RunKind.EXECUTE, task_id=task_id)
    await world.delivered(actor, task_id, "43 files")
    await world.finish(actor)


async def test_the_criteria_are_frozen_at_the_first_verdict_until_the_task_asks_for_something_else(
    world: World,
) -> None:
    task, _ = await handed_in(world, must_haves=("counted",), task={"must_haves": ("M1",), "constraints": ("by hand",)})
    await world.reviewed(task.id, "rejected")
    frozen = (await world.task(task.id)).criteria
    assert [criterion["id"] for criterion in frozen][:5] == [
        "M1", "end_state", "constraint:1", "handoff", "authenticity"
    ]  # fmt: skip
    await world.operator("EditTask", task=task.id, priority=0)
    assert (await world.task(task.id)).criteria == frozen
    await world.operator("EditTask", task=task.id, constraints=("by hand", "twice"))
    edited = await world.task(task.id)
    assert (edited.criteria, edited.constraints) == ((), ("by hand", "twice"))
    bob = await world.brought_to(task.id, "review", "bob")
    assert bob is not None
    await world.finish(bob)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    await world.verdict(judge, task.id, "rejected", findings=({**FINDING, "criterion": "constraint:2"},))
    assert "constraint:2" in [criterion["id"] for criterion in (await world.task(task.id)).criteria]


async def test_a_later_review_refuses_only_for_what_still_stands_and_new_findings_become_tasks(world: World) -> None:
    task, _ = await handed_in(world)
    await world.reviewed(task.id, "needs_revision")
    await revised(world, task.id)
    judge = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    new = {**FINDING, "what": "the fonts differ", "change": "One font in all tables"}
    with pytest.raises(Invalid, match="only for what an earlier one found"):
        await world.verdict(judge, task.id, "rejected", findings=(new,))
    with pytest.raises(Invalid, match="no earlier finding 2"):
        await world.verdict(judge, task.id, "rejected", findings=({**FINDING, "earlier": 2},))
    with pytest.raises(Invalid, match="no approval"):
        await world.verdict(judge, task.id, "approved", findings=({**FINDING, "earlier": 1},))
    with pytest.raises(Invalid, match="At most 5"):
        await world.verdict(judge, task.id, "approved", findings=(new,) * (FOLLOW_UPS_A_REVIEW + 1))
    await world.verdict(judge, task.id, "needs_revision", findings=(new, {**FINDING, "earlier": 1}))
    after = await world.task(task.id)
    assert (after.status, after.review_attempts) == (TaskStatus.WORKING, 2)
    [made] = await world.all(Task, "parent_id = :t", t=task.id)
    assert (made.status, made.end_state, made.created_by) == (TaskStatus.DRAFT, "One font in all tables", "chad")
    assert made.title == f"After {task.name_tag}: the fonts differ"
    last = (await world.all(Review))[-1]
    assert [finding.get("follow_up") for finding in last.findings] == [made.id, None]


async def test_an_approval_may_leave_tasks_behind(world: World) -> None:
    task, _ = await handed_in(world, must_haves=("counted", "sized"), task={"must_haves": ("M1", "M2")})
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    await world.verdict(judge, task.id, findings=({**FINDING, "criterion": "M2"}, FINDING))
    assert (await world.task(task.id)).status == TaskStatus.DONE
    assert [made.must_haves for made in await world.all(Task, "parent_id = :t", t=task.id)] == [("M2",), ("M1", "M2")]


async def test_review_without_end_ends_at_the_operator_who_sees_every_finding_and_may_begin_anew(world: World) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    await world.verdict(judge, task.id, "needs_revision", findings=(FINDING, {**FINDING, "what": "no links"}))
    await world.finish(judge)
    for _time in range(2):
        await revised(world, task.id)
        await world.reviewed(task.id, "needs_revision")
    assert (await world.task(task.id)).status == TaskStatus.WAITING_HUMAN
    [question] = await world.pending(f"task:{task.id}")
    assert [(one["number"], one["what"], one["by"]) for one in question.payload["findings"]] == [
        (1, "42 is wrong", "rita"), (2, "no links", "rita")
    ]  # fmt: skip
    await world.operator("DecideApproval", approval=question.id, decision="approved")
    for _time in range(2):
        ada = await world.brought_to(task.id, "review")
        assert ada is not None
        await world.finish(ada)
        await world.reviewed(task.id, "rejected")
        assert (await world.task(task.id)).status == TaskStatus.PENDING
    ada = await world.brought_to(task.id, "review")
    assert ada is not None
    await world.finish(ada)
    await world.reviewed(task.id, "rejected")
    assert "refused 6 times" in (await world.pending(f"task:{task.id}"))[0].title


# The mechanical stage (S2-20, S2-21, F9) ----------------------------------------------------------------------


async def test_what_is_not_complete_is_not_handed_in_and_all_of_it_is_named(world: World) -> None:
    tasks = ({"title": "Count", "must_haves": ("M1", "M2", "M3")},)
    task, ada = await world.a_task("working", tasks=tasks, must_haves=("count", "size", "age"))
    assert ada is not None
    with pytest.raises(Conflict) as refused:
        await world.do(ada, "SubmitTask", task=task.id)
    for missing in ("no output", "no handoff", "M1", "M2", "M3"):
        assert missing in refused.value.message
    file = world.folder / "outputs" / "figures.csv"
    file.write_text(" \n")
    blank = {"task": task.id, "type": "data", "title": "M3", "path": file.name}
    await world.do(ada, "AddOutput", **blank)
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=f"{HANDOFF} M2 is in it.")
    with pytest.raises(Conflict) as refused:
        await world.do(ada, "SubmitTask", task=task.id)
    assert "is empty" in refused.value.message
    assert "M1" in refused.value.message
    assert "M2" not in refused.value.message
    file.write_text("42\n")
    with pytest.raises(Conflict, match=r"changed after it was delivered.*M1"):
        await world.do(ada, "SubmitTask", task=task.id)
    with pytest.raises(Invalid, match="M4"):
        await world.do(ada, "AddOutput", **blank, must_haves=("M4",))
    file.write_text(" \n")
    file = world.folder / "outputs" / "again.csv"
    file.write_text("42\n")
    await world.finish(ada, "rate_limited")
    again = await world.brought_to(task.id, "working", "bob")
    assert again is not None
    await world.do(again, "AddOutput", **{**blank, "path": file.name}, must_haves=("M1",))
    await world.do(again, "AddComment", task=task.id, kind="handoff", body=f"{HANDOFF} M2 is in it.")
    await world.do(again, "SubmitTask", task=task.id)


async def test_what_vanished_after_it_was_handed_in_is_not_approved(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    file = world.folder / "outputs" / "figures.csv"
    file.write_text("42\n")
    await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", path=file.name)
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    await world.do(ada, "SubmitTask", task=task.id)
    await world.finish(ada)
    file.unlink()
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Conflict, match="gone"):
        await world.verdict(judge, task.id)
    await world.verdict(judge, task.id, "needs_revision")
    assert (await world.task(task.id)).status == TaskStatus.WORKING


async def test_outputs_that_changed_since_they_were_opened_are_not_judged(world: World) -> None:
    task, _ = await handed_in(world)
    judge = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Conflict, match="changed since you opened them"):
        await world.verdict(judge, task.id, subject_hash="0" * 64)


# Rounds ----------------------------------------------------------------------------------------------------


TASK = {"title": "sizes", "end_state": "the size of every file is known"}


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
        {"decision": "next_round", "tasks": (TASK,), "goal_change": {"must_haves": ("sizes",), "why": "more"}},
        {"decision": "adjust_goal"},
        {"decision": "adjust_goal", "tasks": (TASK,), "goal_change": {"must_haves": ("sizes",), "why": "more"}},
        {"decision": "perhaps"},
        {},
    )
    for arguments in wrong:
        with pytest.raises(Invalid):
            await world.do(cora, "ReviewRound", round=round_.id, **THREE, **arguments)
    await world.do(cora, "ReviewRound", round=round_.id, decision="report", **THREE)
    with pytest.raises(Conflict, match="is closed"):
        await world.do(cora, "ReviewRound", round=round_.id, decision="report", **THREE)


async def test_the_next_round_opens_with_its_tasks(world: World) -> None:
    goal, round_ = await finished_round(world, must_haves=("count",))
    cora = await world.run("cora", RunKind.ROUND_REVIEW, round_id=round_.id, goal_id=goal.id)
    tasks = ({**TASK, "must_haves": ("M1",)},)
    answer = await world.do(cora, "ReviewRound", round=round_.id, decision="next_round", tasks=tasks, **THREE)
    assert answer["next_round"] == 2
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


async def test_what_an_earlier_run_named_is_not_delivered_by_a_later_one_that_does_not(world: World) -> None:
    task, lost = await world.a_task("working", must_haves=("count",), tasks=({"title": "c", "must_haves": ("M1",)},))
    assert lost is not None
    output = {"task": task.id, "type": "data", "title": "Figures", "content": "42 files"}
    await world.do(lost, "AddOutput", must_haves=("M1",), **output)
    await world.finish(lost, "failed")
    bob = await world.brought_to(task.id, "working", "bob")
    assert bob is not None
    await world.do(bob, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    await world.do(bob, "AddOutput", **output)
    with pytest.raises(Conflict, match="M1 is named by no output of the last delivery"):
        await world.do(bob, "SubmitTask", task=task.id)
    await world.do(bob, "AddOutput", must_haves=("M1",), **output)
    assert (await world.do(bob, "SubmitTask", task=task.id))["status"] == "review"
