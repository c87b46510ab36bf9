"""What goes wrong ends at a person or goes on: empty folders, gone folders, killed runs, missing agents."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from core.agents.process import same_process
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.shift import AuditFailed, Shift
from core.commands.registry import parse
from core.domain.entities import Approval, Comment, Goal, Output, Round, Run, Task
from core.domain.states import ApprovalKind, ApprovalStatus, BlockKind, RoundDecision, RunKind, RunStatus, TaskStatus
from tests.agents.rehearsal_support import FILES, Killed, Play, a_rehearsal
from tests.agents.test_audit_world import a_folder

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

QUIET = {"a.py": b"x = 1\n", "b/c.md": b"words\n"}


async def test_an_empty_folder_has_a_true_report(tmp_path: Path) -> None:
    (tmp_path / "audited").mkdir()
    async with a_rehearsal(tmp_path / "company", tmp_path / "audited") as play:
        await play.start()
        goal = await play.dispatched()
        report = await play.reported(goal)
        assert "The folder holds no file to look at." in report
        assert "There is no README." in report
        assert (await play.figures("closer_look"))["total"]["files"] == 0
        assert all(task.status == TaskStatus.DONE for task in (await play.all(Task))[1:])
        assert not await play.all(Approval)


class Vanishing(RehearsalRunner):
    """The folder is gone, once, when the marks are to be collected."""

    gone = False

    async def audit(self, at_work: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
        if kind == "marks" and not self.gone:
            self.gone = True
            shutil.move(at_work.audited, at_work.audited.with_name("elsewhere"))
        return await super().audit(at_work, kind, further)


async def test_a_folder_that_vanishes_is_told_and_the_work_goes_on_when_it_is_back(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    async with a_rehearsal(tmp_path / "company", audited, Vanishing) as play:
        await play.start()
        goal = await play.dispatched()
        task = await play.one(Task, "status = 'blocked' AND title LIKE 'Collect%'")
        assert task.block_kind == BlockKind.NEEDS_INPUT
        assert "gone" in task.reason
        await play.quiet()
        shutil.move(tmp_path / "elsewhere", audited)
        for blocked in await play.all(Task, "status = 'blocked'"):
            await play.do("UnblockTask", task=blocked.id)
        for approval in await play.all(Approval, "status = 'pending'"):
            await play.do("DecideApproval", approval=approval.id, decision="approved")
        await play.reported(goal)


async def test_a_stalled_round_asks_the_operator_and_goes_on_by_the_answer(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    async with a_rehearsal(tmp_path / "company", audited, Vanishing) as play:
        await play.start()
        goal = await play.dispatched()
        await play.one(Task, "status = 'blocked' AND title LIKE 'Collect%'")
        await play.quiet()
        shutil.move(tmp_path / "elsewhere", audited)
        for approval in await play.all(Approval, "status = 'pending'"):
            await play.do("DecideApproval", approval=approval.id, decision="approved")
        await play.until(lambda: only_blocked(play))
        await play.quiet()
        await play.pass_time(11 * 60_000)
        asked = await play.one(Approval, "status = 'pending' AND entity LIKE 'round:%'")
        assert "stands still" in asked.title
        await play.quiet()
        await play.do("DecideApproval", approval=asked.id, decision="approved")
        await play.reported(goal)


async def only_blocked(play: Play) -> bool:
    left = await play.all(Task, "status NOT IN ('done', 'failed', 'cancelled')")
    return bool(left) and all(task.status == TaskStatus.BLOCKED or task.open_deps for task in left)


class Hopeless(RehearsalRunner):
    """Can never tell duplicates."""

    async def audit(self, at_work: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
        if kind == "duplicates":
            raise AuditFailed("The disk hums too loud.")
        return await super().audit(at_work, kind, further)


async def test_work_that_fails_is_retried_and_then_only_a_person_gives_it_up(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET), Hopeless) as play:
        await play.start()
        goal = await play.dispatched()
        asked = await play.question()
        assert (asked.kind, asked.entity) == (ApprovalKind.GOAL_CHANGE, f"goal:{goal.id}")
        failed = await play.all(Task, "status = 'failed' ORDER BY id")
        assert [task.retry_of for task in failed] == [None, failed[0].id, failed[1].id]
        assert "hums too loud" in failed[1].intent
        assert (await play.all(Round))[-1].decision == RoundDecision.ADJUST_GOAL
        await play.quiet()
        await play.do("DecideApproval", approval=asked.id, decision="rejected", note="I want them")
        asked = await play.question()
        assert (asked.kind, asked.entity) == (ApprovalKind.GOAL_FAILURE, f"goal:{goal.id}")
        failed = await play.all(Task, "status = 'failed' ORDER BY id")
        assert "I want them" in failed[-1].intent
        assert (await play.all(Round))[-1].decision == RoundDecision.STOP
        await play.quiet()
        # Refused: the coordinator plans on, with the reason.
        await play.do("DecideApproval", approval=asked.id, decision="rejected", note="try at night")
        again = await play.one(Task, "status = 'failed' AND id > :last", last=failed[-1].id)
        assert "try at night" in again.intent
        again_asked = await play.question()
        await play.do("DecideApproval", approval=again_asked.id, decision="approved")
        assert (await play.one(Goal, "status = 'failed'")).id == goal.id


async def test_a_goal_that_may_do_without_is_reported_without(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET), Hopeless) as play:
        await play.start()
        goal = await play.dispatched()
        asked = await play.question()
        musts = {side: [must["id"] for must in asked.payload[side]["must_haves"]] for side in ("before", "after")}
        assert musts == {"before": ["M1", "M2", "M3", "M4", "M5", "M6"], "after": ["M1", "M2", "M3", "M4", "M6"]}
        await play.do("DecideApproval", approval=asked.id, decision="approved")
        assert "hums too loud" in await play.composed(goal)
        # What became of the goal since it was dispatched is told at the end of the next round.
        await play.do("SendBackGoal", goal=goal.id, note="once more")
        last = await play.one(Round, "status = 'closed' AND number > 4 LIMIT 1")
        assert "it was changed by human after it was dispatched" in last.answers["goal_clear"]
        assert [must["id"] for must in (await play.one(Goal, "id = :id", id=goal.id)).must_haves] == musts["after"]


async def test_a_waived_must_have_lets_the_report_come(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET), Hopeless) as play:
        await play.start()
        goal = await play.dispatched()
        asked = await play.question()
        await play.do("WaiveMustHave", goal=goal.id, must_have="M5")
        await play.do("DecideApproval", approval=asked.id, decision="rejected", note="go on without M5")
        assert "waived by the operator" in await play.reported(goal)


EXECUTORS = ("surveyor", "scout", "archivist", "librarian", "twin-finder")
WORKS = ["choice", "documentation", "duplicates", "history", "inventory", "marks"]


@pytest.mark.parametrize("after", [3, *(pytest.param(after, marks=pytest.mark.soak) for after in (1, 6, 7))])
async def test_planning_that_is_killed_makes_each_task_once(tmp_path: Path, after: int) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    runner = Killed(audited, RunKind.PLAN, after)
    async with a_rehearsal(tmp_path / "company", audited, lambda _: runner) as play:
        killing(play, runner)
        # Without anybody to discuss it, the coordinator plans.
        for slug in EXECUTORS:
            await play.do("PauseAgent", agent=slug)
        await play.start()
        goal = await play.dispatched()
        await play.one(Goal, "id = :id AND status = 'active'", id=goal.id)
        assert await play.all(Run, "kind = 'plan' AND status = 'killed'")
        tasks = await play.all(Task)
        assert [task.status for task in tasks].count(TaskStatus.CANCELLED) == 1
        assert sorted(str(task.arguments.get("audit")) for task in tasks[1:]) == WORKS
        assert len(await play.all(Comment, "kind = 'plan'")) == 1


@pytest.mark.parametrize("after", [1, pytest.param(2, marks=pytest.mark.soak)])
async def test_a_seat_that_is_killed_says_and_makes_nothing_twice(tmp_path: Path, after: int) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    runner = Killed(audited, RunKind.DISCUSS, after)
    async with a_rehearsal(tmp_path / "company", audited, lambda _: runner) as play:
        killing(play, runner)
        await play.start()
        goal = await play.dispatched()
        await play.one(Goal, "id = :id AND status = 'active'", id=goal.id)
        assert await play.all(Run, "kind = 'discuss' AND status = 'killed'")
        assert not await play.all(Run, "kind = 'plan'")
        assert sorted(str(task.arguments.get("audit")) for task in (await play.all(Task))[1:]) == WORKS
        said = [(comment.author, comment.body) for comment in await play.all(Comment)]
        assert len(said) == len(set(said))
        assert len([body for _, body in said if body.startswith("I take ")]) == 6


def killing(play: Play, runner: Killed) -> None:
    async def kill(run_id: int) -> None:
        await play.company.execute(parse("KillRun", {"run": run_id, "reason": "a test"}))

    runner.kill = kill


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        pytest.param(RunKind.PROPOSE, 1, marks=pytest.mark.soak),
        pytest.param(RunKind.BROADCAST, 1, marks=pytest.mark.soak),
        pytest.param(RunKind.EXECUTE, 1, marks=pytest.mark.soak),
        (RunKind.EXECUTE, 2),
        pytest.param(RunKind.EXECUTE, 3, marks=pytest.mark.soak),
        (RunKind.REVIEW, 1),
        pytest.param(RunKind.ROUND_REVIEW, 1, marks=pytest.mark.soak),
        (RunKind.REPORT, 1),
    ],
)
async def test_a_run_that_is_killed_anywhere_doubles_nothing(tmp_path: Path, kind: RunKind, after: int) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    runner = Killed(audited, kind, after)
    async with a_rehearsal(tmp_path / "company", audited, lambda _: runner) as play:
        killing(play, runner)
        await play.start()
        goal = await play.dispatched()
        await play.reported(goal)
        assert runner.kill is None
        assert len(await play.all(Goal)) == 1
        done = [task.arguments["audit"] for task in await play.all(Task, "status = 'done'")]
        assert len(done) == len(set(done)) == 7
        assert [output.path for output in await play.all(Output, "task_id IS NULL")] == ["audit-G1.md", None]
        assert [round_.number for round_ in await play.all(Round)] == [1, 2]


async def test_a_killed_quote_uses_its_approval_once(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", FILES)
    runner = Killed(audited, RunKind.EXECUTE, 2)
    async with a_rehearsal(tmp_path / "company", audited, lambda _: runner) as play:
        await play.start()
        goal = await play.dispatched()
        asked = await play.question()
        await play.quiet()
        killing(play, runner)  # after StartTask and the quote
        await play.do("DecideApproval", approval=asked.id, decision="approved")
        report = await play.reported(goal)
        assert runner.kill is None
        assert [approval.status for approval in await play.all(Approval)] == [ApprovalStatus.CONSUMED]
        assert report.count("one-secret") == 1


async def test_a_company_that_was_closed_in_the_middle_goes_on(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", QUIET)
    async with a_rehearsal(tmp_path / "company", audited) as play:
        await play.start()
        await play.dispatched()
        await play.one(Task, "status = 'working'")
    async with a_rehearsal(tmp_path / "company", audited) as play:
        (goal,) = await play.all(Goal)
        await play.reported(goal)
        done = [task.arguments["audit"] for task in await play.all(Task, "status = 'done'")]
        assert len(done) == len(set(done)) == 7


class Slow(RehearsalRunner):
    """Works with a pause, so that its child can be seen."""

    def __init__(self, audited: Path) -> None:
        super().__init__(audited, 50)


async def test_a_stop_ends_the_child_processes(tmp_path: Path) -> None:
    # A pipe that nobody writes to would hold up a careless reader; many files keep the child at work.
    audited = a_folder(tmp_path / "audited", {f"{n}.py": b"x = 1  # TODO\n" * 200 for n in range(2_000)})
    async with a_rehearsal(tmp_path / "company", audited, Slow) as play:
        await play.start()
        await play.dispatched()
        run = await play.one(Run, "pid IS NOT NULL AND kind = 'execute' AND status = 'running'")
        await play.do("StopCompany", reason="enough")
        assert play.company.dispatcher is not None
        await play.company.dispatcher.idle()
        assert not same_process(run.pid, run.pid_started)
        assert (await play.one(Run, "id = :id", id=run.id)).status == RunStatus.KILLED


async def test_work_of_a_paused_agent_is_open_to_the_others(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        await play.do("PauseAgent", agent="archivist")
        await play.start()
        goal = await play.dispatched()
        report = await play.reported(goal)
        assert "Hedda" not in report
        (task,) = await play.all(Task, "title LIKE 'Find the largest%'")
        assert task.capabilities == ()
        (question,) = await play.all(Comment, "kind = 'question' AND author = 'surveyor'")
        assert "@orlo M3 (history)" in question.body
        (answer,) = await play.all(Comment, "reply_to = :id", id=question.id)
        assert (answer.author, task.name_tag in answer.body, task.created_by) == ("orlo", True, "orlo")


async def test_a_task_that_nobody_knows_is_ended_with_a_reason(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", QUIET)) as play:
        await play.start()
        goal = await play.one(Goal, "status = 'draft'")
        await play.do("ReviewGoal", goal=goal.id)
        # Without a discussion the goal's one task, which says nothing, is round 1.
        await play.do("DispatchGoal", goal=goal.id, discussion=False)
        await play.one(Task, "id = 1 AND status = 'pending'")
        for _ in range(4):
            await play.pass_time(31_000)
            await play.quiet()
        task = await play.one(Task, "id = 1 AND status = 'failed'")
        assert "name no audit" in task.reason
        # Nobody claimed it in three broadcasts; then the router gave it to somebody who was free (C-09, R3).
        assigned = [event.actor for event in play.events if event.kind == "TaskAssigned" and event.entity_id == task.id]
        assert (task.broadcasts, assigned) == (3, ["system"])
        await play.reported(goal)
