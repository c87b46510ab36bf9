"""Two looks at high risk, rebuttals, and what the coordinator rules (S2-20, S2-31, S2-42, S3-16, S3-17, C-07)."""

from typing import Any

import pytest

from core.domain.actors import Agent
from core.domain.entities import Comment, Mention, Review, Task
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid
from core.domain.states import ReviewStep, RunKind, TaskStatus
from core.gathering import gather
from tests.unit.world import FINDING, HANDOFF, World

NEW = {**FINDING, "what": "the fonts differ"}
FACTS = {"answer": "REJECT", "facts": "ls counts 42 as well; the 43rd is a link."}


async def handed_in(world: World, risk: str = "standard", by: str = "ada") -> Task:
    task, author = await world.a_task("review", by, tasks=({"title": "Count the files", "risk": risk},))
    assert author is not None
    await world.finish(author)
    return task


async def refused(world: World, verdict: str = "needs_revision", risk: str = "standard") -> Task:
    """Ada's task after a first refusal."""
    task = await handed_in(world, risk)
    await world.reviewed(task.id, verdict)
    if risk == "high":
        await world.reviewed(task.id, verdict, by="chad")
    return await world.task(task.id)


async def rebutted(world: World, **answer: Any) -> Task:
    """Ada's task in review again, after her rebuttal of a needed revision."""
    task = await refused(world)
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    await world.do(ada, "RebutReview", task=task.id, **{**FACTS, **answer})
    await world.finish(ada)
    return await world.task(task.id)


async def ruled(world: World, task_id: int, verdict: str, by: str = "cora") -> Agent:
    cora = await world.run(by, RunKind.RULE, task_id=task_id)
    await world.do(cora, "RuleTask", task=task_id, verdict=verdict, because="Both counted; the link is no file.")
    await world.finish(cora)
    return cora


async def disputed(world: World) -> Task:
    """A task of high risk on which the two reviewers do not agree."""
    task = await handed_in(world, "high")
    await world.reviewed(task.id, "approved")
    await world.reviewed(task.id, "needs_revision", by="chad")
    return await world.task(task.id)


# Two looks ----------------------------------------------------------------------------------------------------------


async def test_of_high_risk_two_reviewers_approve(world: World) -> None:
    task = await handed_in(world, "high")
    await world.reviewed(task.id)
    waiting = await world.task(task.id)
    assert (waiting.status, waiting.review_step, waiting.review_attempts) == (TaskStatus.REVIEW, ReviewStep.SECOND, 0)
    again = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Forbidden, match="first verdict"):
        await world.verdict(again, task.id)
    await world.finish(again)
    await world.reviewed(task.id, by="chad")
    done = await world.task(task.id)
    assert (done.status, done.review_step) == (TaskStatus.DONE, ReviewStep.REVIEW)
    assert [(r.reviewer, r.stage, r.settled) for r in await world.all(Review)] == [
        ("rita", "review", True), ("chad", "second", True)
    ]  # fmt: skip


@pytest.mark.parametrize("verdict", ["approved", "needs_revision", "rejected"])
async def test_a_first_verdict_shows_nowhere_before_the_second(world: World, verdict: str) -> None:
    task = await handed_in(world, "high")
    before = await world.task(task.id)
    rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    words: dict[str, Any] = {"summary": "SECRET", "findings": ({**FINDING, "what": "SECRET"},)}
    await world.verdict(rita, task.id, verdict, **words)
    after = await world.task(task.id)
    assert (after.reason, after.status, after.review_attempts) == (before.reason, before.status, 0)
    assert "SECRET" not in str(after)
    assert await world.all(Task, "parent_id = :t", t=task.id) == []
    assert "SECRET" not in str(await world.all(Comment))
    assert await world.all(Mention) == []
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Invalid) as refusal:
        await world.verdict(chad, task.id, findings=({**FINDING, "earlier": 1},))
    assert "SECRET" not in f"{refusal.value.message} {refusal.value.hint}"
    await world.verdict(chad, task.id, verdict)
    follow_ups = await world.all(Task, "parent_id = :t", t=task.id)
    assert len(follow_ups) == (1 if verdict == "approved" else 0)


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("needs_revision", "needs_revision", TaskStatus.WORKING),
        ("needs_revision", "rejected", TaskStatus.PENDING),
        ("rejected", "needs_revision", TaskStatus.PENDING),
        ("rejected", "rejected", TaskStatus.PENDING),
    ],
)
async def test_two_refusals_count_as_one_and_the_stricter_moves(
    world: World, first: str, second: str, status: TaskStatus
) -> None:
    task = await handed_in(world, "high")
    rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    await world.verdict(rita, task.id, first, summary=f"first: {first}")
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    await world.verdict(chad, task.id, second, summary=f"second: {second}")
    after = await world.task(task.id)
    assert (after.status, after.review_attempts, after.review_step) == (status, 1, ReviewStep.REVIEW)
    assert after.reason.endswith("rejected" if status == TaskStatus.PENDING else "needs_revision")


async def test_the_first_reviewer_may_be_paused_before_the_second_look(world: World) -> None:
    task = await handed_in(world, "high")
    await world.reviewed(task.id, by="chad")
    await world.operator("PauseAgent", agent="chad")
    await world.reviewed(task.id, by="rita")
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_the_tick_knows_who_judged(world: World) -> None:
    task = await handed_in(world, "high")
    await world.reviewed(task.id)
    rita, ada = await world.agent("rita"), await world.agent("ada")
    found = await world.read(lambda tx: gather(tx, 1, lambda runs: {}))
    assert (found.judges[task.id], found.authors[task.id]) == ({rita.id}, {ada.id})
    await world.reviewed(task.id, "approved", by="chad")
    again = await rebutted(world)
    found = await world.read(lambda tx: gather(tx, 2, lambda runs: {}))
    assert found.judges == {again.id: {rita.id}}


# The rebuttal -----------------------------------------------------------------------------------------------------


async def test_accepting_a_verdict_is_noted_and_the_work_goes_on(world: World) -> None:
    task = await refused(world)
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    await world.do(ada, "RebutReview", task=task.id, answer="ACCEPT")
    after = await world.task(task.id)
    assert (after.status, after.current_run, after.version) == (TaskStatus.WORKING, ada.run_id, task.version + 1)
    [review] = await world.all(Review)
    assert (review.rebuttal_answer, review.rebutted_by) == ("ACCEPT", "ada")
    assert [c.body for c in await world.all(Comment, "kind = 'rebuttal'")] == ["ACCEPT to the verdict of rita"]
    with pytest.raises(Conflict, match="answered already"):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)
    await world.delivered(ada, task.id, "43 files")


@pytest.mark.parametrize("answer", ["REJECT", "PARTIAL"])
async def test_a_rebuttal_with_facts_brings_the_work_back_to_the_reviewer(world: World, answer: str) -> None:
    task = await refused(world)
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    for facts in ("", "  "):
        with pytest.raises(Invalid, match="needs facts"):
            await world.do(ada, "RebutReview", task=task.id, answer=answer, facts=facts)
    await world.do(ada, "RebutReview", task=task.id, answer=answer, facts=FACTS["facts"])
    after = await world.task(task.id)
    assert (after.status, after.review_step, after.review_attempts) == (TaskStatus.REVIEW, ReviewStep.REPLY, 1)
    with pytest.raises((Fenced, Forbidden)):
        await world.do(ada, "AddOutput", task=task.id, type="data", title="Late", content="1")
    [said] = await world.all(Comment, "kind = 'rebuttal'")
    assert (said.author, said.body) == ("ada", f"{answer} to the verdict of rita: {FACTS['facts']}")
    [review] = await world.all(Review)
    assert (review.rebuttal, review.rebuttal_answer) == (FACTS["facts"], answer)


async def test_the_reviewer_may_be_convinced(world: World) -> None:
    task = await rebutted(world)
    await world.reviewed(task.id)
    done = await world.task(task.id)
    assert (done.status, done.review_step, done.review_attempts) == (TaskStatus.DONE, ReviewStep.REVIEW, 1)
    assert [(r.stage, r.attempt) for r in await world.all(Review)] == [("review", 1), ("reply", 1)]


async def test_a_reply_refuses_only_for_what_was_disputed(world: World) -> None:
    task = await rebutted(world)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Invalid, match="only for what an earlier one found"):
        await world.verdict(chad, task.id, "rejected", findings=(NEW,))
    await world.verdict(chad, task.id, "rejected", findings=(NEW, {**FINDING, "earlier": 1}))
    after = await world.task(task.id)
    assert (after.status, after.review_step, after.review_attempts) == (TaskStatus.REVIEW, ReviewStep.RULING, 1)
    assert len(await world.all(Task, "parent_id = :t", t=task.id)) == 1
    rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Conflict, match="waits for the coordinator's ruling"):
        await world.verdict(rita, task.id)


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        ("approved", TaskStatus.DONE),
        ("needs_revision", TaskStatus.WORKING),
        ("rejected", TaskStatus.PENDING),
    ],
)
async def test_the_coordinator_rules_and_the_refusal_counts_once(
    world: World, verdict: str, status: TaskStatus
) -> None:
    task = await rebutted(world)
    await world.reviewed(task.id, "needs_revision")
    await ruled(world, task.id, verdict)
    after = await world.task(task.id)
    assert (after.status, after.review_attempts, after.review_step) == (status, 1, ReviewStep.REVIEW)
    if status == TaskStatus.WORKING:
        ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
        with pytest.raises(Conflict, match="has ruled"):
            await world.do(ada, "RebutReview", task=task.id, **FACTS)
        await world.delivered(ada, task.id, "43 files")
        assert (await world.task(task.id)).review_step == ReviewStep.REVIEW
    if status == TaskStatus.PENDING:
        assert (after.assignee_id, after.last_assignee_id) == (None, task.assignee_id)


async def test_after_a_rejection_the_judged_side_answers_from_any_run_while_nobody_claimed_it(world: World) -> None:
    task = await refused(world, "rejected")
    bob = await world.run("bob")
    with pytest.raises(Forbidden, match="not the last"):
        await world.do(bob, "RebutReview", task=task.id, **FACTS)
    await world.finish(bob)
    ada = await world.run("ada", RunKind.BROADCAST)
    await world.do(ada, "RebutReview", task=task.id, **FACTS)
    after = await world.task(task.id)
    assert (after.status, after.review_step, after.assignee_id) == (
        TaskStatus.REVIEW, ReviewStep.REPLY, (await world.agent("ada")).id
    )  # fmt: skip
    await world.reviewed(task.id, "needs_revision")
    await ruled(world, task.id, "needs_revision")
    assert (await world.task(task.id)).assignee_id == after.assignee_id


async def test_once_another_claimed_it_the_rejection_stands(world: World) -> None:
    task = await refused(world, "rejected")
    bob = await world.brought_to(task.id, "working", "bob")
    assert bob is not None
    ada = await world.run("ada")
    with pytest.raises((Fenced, Conflict)):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)
    with pytest.raises(Forbidden, match="somebody else's work"):
        await world.do(bob, "RebutReview", task=task.id, **FACTS)
    await world.operator("KillRun", run=bob.run_id)
    with pytest.raises(Forbidden, match="not the last"):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)


async def test_what_was_changed_since_the_verdict_is_handed_in_and_not_argued_about(world: World) -> None:
    task = await refused(world)
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", content="43 files")
    with pytest.raises(Conflict, match="changed since the verdict"):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    await world.do(ada, "SubmitTask", task=task.id)
    assert (await world.task(task.id)).review_step == ReviewStep.REVIEW


async def test_nothing_is_argued_about_before_a_verdict_or_without_a_current_run(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    with pytest.raises(Conflict, match="no verdict refused it"):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)
    await world.delivered(ada, task.id)
    with pytest.raises(Conflict, match="review"):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)
    await world.finish(ada)
    await world.reviewed(task.id, "needs_revision")
    stray = await world.run("ada")
    with pytest.raises(Fenced):
        await world.do(stray, "RebutReview", task=task.id, **FACTS)


async def test_an_author_who_cannot_work_before_the_rebuttal_leaves_the_task_to_others(world: World) -> None:
    task = await refused(world)
    await world.operator("PauseAgent", agent="ada")
    await world.system("ReleaseTask", task=task.id, why="its agent is paused or gone")
    bob = await world.brought_to(task.id, "review", "bob")
    assert bob is not None
    await world.finish(bob)
    await world.reviewed(task.id)
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_an_author_who_cannot_work_during_the_reply_does_not_hinder_it(world: World) -> None:
    task = await rebutted(world)
    await world.operator("PauseAgent", agent="ada")
    await world.reviewed(task.id, "needs_revision")
    await ruled(world, task.id, "needs_revision")
    await world.system("ReleaseTask", task=task.id, why="its agent is paused or gone")
    assert (await world.task(task.id)).status == TaskStatus.PENDING


# The ruling -------------------------------------------------------------------------------------------------------


async def test_two_reviewers_who_disagree_are_ruled_on_and_a_refusal_then_counts(world: World) -> None:
    task = await disputed(world)
    assert (task.status, task.review_step, task.review_attempts) == (TaskStatus.REVIEW, ReviewStep.RULING, 0)
    assert task.reason == "rita says approved, chad says needs_revision"
    await ruled(world, task.id, "needs_revision")
    after = await world.task(task.id)
    assert (after.status, after.review_attempts) == (TaskStatus.WORKING, 1)
    last = (await world.all(Review))[-1]
    assert (last.stage, last.reviewer, last.verdict) == ("ruling", "cora", "needs_revision")
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    with pytest.raises(Conflict, match="has ruled"):
        await world.do(ada, "RebutReview", task=task.id, **FACTS)
    await world.delivered(ada, task.id)
    await world.finish(ada)
    await world.reviewed(task.id, "rejected")
    await world.reviewed(task.id, "rejected", by="chad")
    assert (await world.task(task.id)).review_attempts == 2


async def test_only_a_ruling_run_of_a_coordinator_who_never_ran_it_rules(world: World) -> None:
    task = await disputed(world)
    ruling = {"task": task.id, "verdict": "approved", "because": "so"}
    stray = await world.run("cora", goal_id=task.goal_id)
    with pytest.raises(Forbidden, match="not started to rule"):
        await world.do(stray, "RuleTask", **ruling)
    await world.finish(stray)
    rita = await world.run("rita", RunKind.RULE, task_id=task.id)
    with pytest.raises(Forbidden, match="not for rita"):
        await world.do(rita, "RuleTask", **ruling)
    with pytest.raises(Forbidden):
        await world.operator("RuleTask", **ruling)


async def test_a_coordinator_who_is_an_author_does_not_rule(world: World) -> None:
    task, _ = await world.a_task(tasks=({"title": "Count the files", "risk": "high"},))
    await world.operator("AssignTask", task=task.id, agent="cora")
    cora = await world.run("cora", RunKind.EXECUTE, task_id=task.id)
    await world.do(cora, "StartTask", task=task.id)
    await world.delivered(cora, task.id)
    await world.finish(cora)
    await world.reviewed(task.id, "approved")
    await world.reviewed(task.id, "rejected", by="chad")
    with pytest.raises(Forbidden, match="cannot rule"):
        await ruled(world, task.id, "approved")
    await world.operator("HireAgent", slug="carl", name="Carl", role="coordinator", manager="vera")
    await ruled(world, task.id, "approved", by="carl")
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_nothing_is_ruled_on_twice_or_without_a_dispute(world: World) -> None:
    task = await handed_in(world)
    with pytest.raises(Conflict, match="waits for no ruling"):
        await ruled(world, task.id, "approved")


async def test_a_ruling_may_be_the_third_refusal(world: World) -> None:
    task = await handed_in(world, "high")
    for _time in range(2):
        await world.reviewed(task.id, "rejected")
        await world.reviewed(task.id, "needs_revision", by="chad")
        bob = await world.brought_to(task.id, "review", "bob")
        assert bob is not None
        await world.finish(bob)
    await world.reviewed(task.id, "approved")
    await world.reviewed(task.id, "needs_revision", by="chad")
    await ruled(world, task.id, "rejected")
    assert (await world.task(task.id)).status == TaskStatus.WAITING_HUMAN
    [question] = await world.pending(f"task:{task.id}")
    assert len(question.payload["findings"]) == 2
    await world.operator("DecideApproval", approval=question.id, decision="rejected", note="enough")
    assert (await world.task(task.id)).status == TaskStatus.CANCELLED


@pytest.mark.parametrize("step", ["review", "second", "reply", "ruling"])
async def test_a_task_can_be_cancelled_in_each_step_and_its_judges_stop(world: World, step: str) -> None:
    if step == "reply":
        task = await rebutted(world)
    elif step == "ruling":
        task = await disputed(world)
    else:
        task = await handed_in(world, "high")
        if step == "second":
            await world.reviewed(task.id)
    assert (await world.task(task.id)).review_step == step
    kind, slug = (RunKind.RULE, "cora") if step == "ruling" else (RunKind.REVIEW, "chad")
    judge = await world.run(slug, kind, task_id=task.id)
    await world.operator("CancelTask", task=task.id, reason="not needed")
    late = {"task": task.id, "verdict": "approved"}
    more = {"because": "so"} if step == "ruling" else {"summary": "so", "opened_outputs": ()}
    with pytest.raises(Fenced):
        await world.do(judge, "RuleTask" if step == "ruling" else "ReviewTask", **late, **more)
    assert (await world.task(task.id)).status == TaskStatus.CANCELLED
