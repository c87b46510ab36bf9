"""What stands open for objection, what is disputed, and who has the last word."""

import copy
from pathlib import Path
from typing import Any

import pytest

from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.shift import Shift
from core.domain.entities import Approval, Comment, Goal, Output, Review, Round, Run, Task
from core.domain.states import CommentKind, Role, RunKind
from tests.agents.rehearsal_support import Play, a_rehearsal
from tests.agents.test_audit_world import a_folder

QUIET = {"a.py": b"x = 1\n", "b/c.md": b"words\n"}


async def at_work(play: Play, *must_haves: str) -> Goal:
    """A goal of the operator's own, dispatched."""
    answer = await play.do("CreateGoal", title="Look into it", must_haves=must_haves)
    await play.do("DispatchGoal", goal=answer["id"])
    await play.start()
    return await play.one(Goal, "id = :id", id=answer["id"])


async def test_a_complex_task_lays_its_plan_open_and_adjusts_it_after_an_objection(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        goal = await at_work(play, "The exact duplicate files, with a plan first", "All TODO and FIXME marks")
        task = await play.one(Task, "plan_until IS NOT NULL")
        assert task.arguments["audit"] == "duplicates"
        await play.quiet()
        assert not await play.all(Output, "task_id = :id", id=task.id)
        await play.do("AddComment", task=task.id, kind="objection", body="Tell @scout nothing, but mind hard links")
        again = await play.one(Task, "id = :id AND plans = 2 AND plan_until IS NOT NULL", id=task.id)
        plans = await play.all(Comment, "task_id = :id AND kind = 'plan' ORDER BY id", id=task.id)
        assert "Adjusted after human objected" not in plans[0].body
        assert "Adjusted after human objected: “Tell ＠scout nothing, but mind hard links”" in plans[1].body
        assert again.plan_comment == plans[1].id
        await play.do("AcceptPlan", task=task.id)
        await play.reported(goal)
        (handoff,) = await play.all(Comment, "task_id = :id AND kind = 'handoff'", id=task.id)
        assert "mind hard links" in handoff.body
        # The simple task next to it asked nobody.
        assert [row.task_id for row in await play.all(Comment, "kind = 'plan' AND task_id IS NOT NULL")] == [
            task.id
        ] * 2


@pytest.mark.soak
async def test_silence_lets_a_plan_run_when_its_window_is_over(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        goal = await at_work(play, "The exact duplicate files, with a plan first")
        await play.one(Task, "plan_until IS NOT NULL")
        await play.quiet()
        await play.pass_time(301_000)
        await play.reported(goal)
        assert len(await play.all(Comment, "kind = 'plan' AND task_id IS NOT NULL")) == 1


class WrongJudge(RehearsalRunner):
    """Its reviewer finds a difference that is none, in the first `times` recounts of the duplicates."""

    times = 1

    async def audit(self, at_work: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
        result = copy.deepcopy(await super().audit(at_work, kind, further))
        is_review = at_work.assignment.run.kind == RunKind.REVIEW
        if kind == "recompute" and is_review and further["kind"] == "duplicates" and self.times:
            self.times -= 1
            result["checks"][0] |= {"claimed": 1, "found": 2}
        return result


class StubbornJudge(WrongJudge):
    """Sees it in its reply too."""

    times = 2


async def stages(play: Play) -> list[tuple[str, str, str]]:
    """The verdicts on the one task that was disputed: reviewer, stage, verdict."""
    disputed = await play.one(Review, "rebuttal_answer <> '' LIMIT 1")
    found = await play.all(Review, "subject_id = :id ORDER BY id", id=disputed.subject_id)
    return [(review.reviewer, str(review.stage), str(review.verdict)) for review in found]


async def test_a_finding_that_is_provably_wrong_is_answered_with_facts_and_taken_back(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET), WrongJudge) as play:
        await play.reported(await at_work(play, "The exact duplicate files"))
        assert await stages(play) == [("vera", "review", "needs_revision"), ("vera", "reply", "approved")]
        (review,) = await play.all(Review, "rebuttal_answer = 'REJECT'")
        (output,) = await play.all(Output, "task_id = :id", id=review.subject_id)
        assert output.sha256[:12] in review.rebuttal
        assert output.name_tag in review.rebuttal
        (said,) = await play.all(Comment, "kind = 'rebuttal'")
        assert said.author == "twin-finder"


async def test_where_they_do_not_agree_the_coordinator_computes_it_and_rules(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET), StubbornJudge) as play:
        await play.reported(await at_work(play, "The exact duplicate files"))
        assert await stages(play) == [
            ("vera", "review", "needs_revision"), ("vera", "reply", "needs_revision"), ("orlo", "ruling", "approved")
        ]  # fmt: skip
        (ruling,) = await play.all(Run, "kind = 'rule'")
        assert ruling.status == "succeeded"


class Challenging(RehearsalRunner):
    """Its reviewer challenges the review of round 1 when it comes to judge in round 2."""

    challenged = False

    async def run(self, assignment: Any, desk: Any) -> Any:
        rounds = await desk.readers.entities(Round, "status = 'closed' AND number = 1")
        if assignment.run.kind == RunKind.REVIEW and rounds and not self.challenged:
            self.challenged = True
            await desk.call("ChallengeRound", round=rounds[0].id, facts="M1 was not looked at twice.")
        return await super().run(assignment, desk)


@pytest.mark.soak
async def test_a_challenged_review_is_judged_again_and_the_operator_decides(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET), Challenging) as play:
        await play.start()
        goal = await play.dispatched()
        asked = await play.one(Approval, "kind = 'challenge' AND status = 'pending'")
        assert asked.requested_by == "vera"
        (answer,) = await play.until(lambda: play.all(Comment, "author = 'orlo' AND kind = 'rebuttal'"))
        assert "Judged again from the board" in answer.body
        await play.quiet()
        assert len(await play.all(Comment, "author = 'orlo' AND kind = 'rebuttal'")) == 1
        await play.do("DecideApproval", approval=asked.id, decision="rejected", note="it stands")
        await play.reported(goal)


@pytest.mark.soak
async def test_high_risk_needs_a_second_look_by_somebody_else(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        await play.do("HireAgent", slug="cato", name="Cato", role=Role.CHALLENGER, runner={"kind": "rehearsal"})
        goal = await at_work(play, "The exact duplicate files")
        task = await play.one(Task, "idempotency_key LIKE '%duplicates:1'")
        await play.do("EditTask", task=task.id, intent="Risk control: no copy of a limit may be forgotten.")
        await play.one(Task, "id = :id AND plan_until IS NOT NULL", id=task.id)
        await play.do("AcceptPlan", task=task.id)
        await play.reported(goal)
        first, second = await play.all(Review, "subject_id = :id ORDER BY id", id=task.id)
        assert {first.reviewer, second.reviewer} == {"vera", "cato"}
        assert (first.stage, second.stage) == ("review", "second")
        # Nobody read the first verdict before the second was given.
        said = await play.all(
            Comment, "task_id = :id AND kind = :kind ORDER BY id", id=task.id, kind=CommentKind.REVIEW
        )
        assert [comment.author for comment in said] == [second.reviewer]
