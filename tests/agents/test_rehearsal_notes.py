"""The operator's notes: on a draft, on a report, and to an agent by its name."""

from pathlib import Path

import pytest

from core.domain.entities import Comment, Goal, Output, Round, Run, Task, Turn
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus, TurnOutcome
from tests.agents.rehearsal_support import FILES, a_rehearsal
from tests.agents.test_audit_world import a_folder

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

QUIET = {"a.py": b"x = 1\n", "README.md": b"# A\n"}


async def test_a_note_on_a_draft_becomes_a_constraint_and_clears_the_review(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        await play.start()
        goal = await play.one(Goal, "status = 'draft'")
        await play.do("ReviewGoal", goal=goal.id)
        await play.do("ReviseGoal", goal=goal.id, note="Mind the @scout and the licences")
        edited = await play.one(Goal, "content_hash <> :old", old=goal.content_hash)
        assert "Mind the @scout and the licences" in edited.constraints[-1]
        assert not is_reviewed(edited)
        (said,) = await play.until(lambda: play.all(Comment, "author = 'carla'"))
        assert said.reply_to is not None
        await play.quiet()
        assert not await play.all(Run, "kind = 'mention' AND agent_id <> 1")


async def test_a_report_that_comes_back_is_computed_again_with_the_note(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    async with a_rehearsal(tmp_path / "company", audited) as play:
        await play.start()
        goal = await play.dispatched()
        first = await play.reported(goal)
        a_folder(audited, {"b.py": b"y = 2\n" * 7})
        await play.do("SendBackGoal", goal=goal.id, note="Look at | the new file\n# at once")
        await play.one(Output, "path = 'audit-G1-2.md'")
        report = await play.reported(goal)
        assert "Look at \\| the new file\\\\n\\# at once" in report
        assert "Look at" not in first
        assert "| Python | 2 | 8 |" in report
        again = await play.all(Task, "intent LIKE '%sent the report back%'")
        assert [task.arguments["version"] for task in again] == [2] * 5
        assert [round_.number for round_ in await play.all(Round)] == [1, 2, 3, 4]
        assert len(set(await play.titles(3))) == 5
        assert (await play.figures("closer_look"))["path"] == "b.py"
        await play.do("AcceptGoal", goal=goal.id)
        assert (await play.one(Goal, "id = :id", id=goal.id)).status == GoalStatus.DONE
        assert (play.company.folder / "outputs" / "audit-G1.md").read_text(encoding="utf-8") == first


async def test_an_agent_that_the_operator_names_answers_once(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FILES)) as play:
        await play.start()
        goal = await play.one(Goal, "status = 'draft'")
        await play.do("AddComment", goal=goal.id, kind="dialogue", body="What can you do, @scout?")
        (answer,) = await play.until(lambda: play.all(Comment, "author = 'scout'"))
        assert "marks, closer-look" in answer.body
        await play.quiet()
        assert len(await play.all(Comment, "author <> 'human'")) == 1


async def test_must_haves_that_nobody_here_can_deliver_are_the_operators_to_waive(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        await play.start()
        goal = await play.one(Goal, "status = 'draft'")
        await play.do("EditGoal", goal=goal.id, must_haves=("Exact copies of files", "World peace"))
        await play.do("DispatchGoal", goal=goal.id)
        asked = await play.question()
        peace = (await play.one(Goal, "id = :id", id=goal.id)).must_haves[1]
        assert f"lacks {peace['id']}:" in asked.title
        assert [task.arguments.get("audit") for task in await play.all(Task)] == [None, "duplicates"]
        # In the discussion one agent asked for all, and the coordinator said whose it is.
        (question,) = await play.all(Comment, "kind = 'question'")
        assert "World peace" in question.body
        (answer,) = await play.all(Comment, "author = 'orlo' AND reply_to = :id", id=question.id)
        assert "only the operator can waive it" in answer.body
        assert [turn.outcome for turn in await play.all(Turn)][-1] == TurnOutcome.NOT_CONVERGED
        await play.do("WaiveMustHave", goal=goal.id, must_have=peace["id"])
        await play.do("DecideApproval", approval=asked.id, decision="approved")
        assert "waived by the operator" in await play.reported(goal)


async def test_a_goal_that_is_no_audit_is_offered_to_be_given_up(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        await play.do("CreateGoal", title="Peace", must_haves=("World peace",))
        await play.do("DispatchGoal", goal=1)
        await play.start()
        await play.decide("approved")
        assert (await play.one(Goal, "status = 'failed'")).id == 1
