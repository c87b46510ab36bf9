"""Lines of the person's file are quoted only with their word: once, and exactly those."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from core.domain.entities import Approval, Comment, Goal, Output, Run, Task
from core.domain.states import ApprovalKind, ApprovalStatus, TaskStatus
from tests.agents.rehearsal_support import FILES, SECRETS, Play, a_rehearsal
from tests.agents.test_audit_world import a_folder


def quoted(text: str) -> bool:
    return any(secret in text for secret in SECRETS)


Asked = Callable[[], AbstractAsyncContextManager[tuple[Play, Goal]]]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder, and a company that has audited it up to the question: nothing is at work any more."""
    place = tmp_path_factory.mktemp("asked")
    audited, company = a_folder(place / "audited", FILES), place / "company"

    async def play_up_to_the_question() -> None:
        async with a_rehearsal(company, audited) as play:
            await play.start()
            await play.dispatched()
            await play.question()
            await play.quiet()

    asyncio.run(play_up_to_the_question())
    return audited, company


@pytest.fixture
def asked(waiting: tuple[Path, Path], tmp_path: Path) -> Asked:
    """A copy of that company, at work, and its goal."""
    audited, company = waiting

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[Play, Goal]]:
        copy = await asyncio.to_thread(shutil.copytree, company, tmp_path / "company")
        async with a_rehearsal(copy, audited) as play:
            yield play, await play.one(Goal, "true")

    return opened


async def test_the_operator_is_asked_about_exactly_these_lines(asked: Asked) -> None:
    async with asked() as (play, _):
        question = await play.question()
        assert question.kind == ApprovalKind.RED_LINE
        assert question.title.endswith(
            "red line outside_publication: Quote 2 marked lines of src/main.py in the report"
        )
        assert question.payload["publish"] is True
        assert json.loads(question.payload["content"]) == {
            "kind": "quote",
            "path": "src/main.py",
            "lines": [{"line": 3, "text": "# TODO: one-secret"}, {"line": 5, "text": "# FIXME: two-secret"}],
        }
        task = await play.one(Task, "status = 'waiting_human'")
        assert question.entity == f"task:{task.id}"
        run = await play.one(Run, "exit_kind = 'waiting' AND status = 'succeeded'")
        assert run.task_id == task.id
        assert not quoted(await play.everything_written())


async def test_an_approved_quote_is_delivered_once(asked: Asked) -> None:
    async with asked() as (play, goal):
        await play.decide("approved")
        report = await play.reported(goal)
        (approval,) = await play.all(Approval)
        assert approval.status == ApprovalStatus.CONSUMED
        quotes = [one for one in await play.deliveries() if one.kind == "quote"]
        assert [one.content["lines"] for one in quotes] == [
            [{"line": 3, "text": "# TODO: one-secret"}, {"line": 5, "text": "# FIXME: two-secret"}]
        ]
        assert report.count("one-secret") == report.count("two-secret") == 1
        others = [one.output.content or "" for one in await play.deliveries() if one.kind != "quote"]
        assert not quoted("".join(others))


@pytest.mark.parametrize("decision", ["rejected", pytest.param("revision_requested", marks=pytest.mark.soak)])
async def test_without_the_operators_word_nothing_is_quoted(asked: Asked, decision: str) -> None:
    async with asked() as (play, goal):
        await play.decide(decision, "keep my lines")
        report = await play.reported(goal)
        assert not quoted(await play.everything_written())
        assert "| Marked lines | 2 |" in report
        (handoff,) = await play.all(Comment, "kind = 'handoff' AND body LIKE '%did not approve%'")
        assert "keep my lines" in handoff.body
        assert len(await play.all(Approval)) == 1


async def test_a_secret_among_the_lines_is_blocked_and_nobody_is_asked(tmp_path: Path) -> None:
    files = {"src/main.py": b"x = 1\n# TODO: password = hunter2-0815-xyz\n"}
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", files)) as play:
        await play.start()
        report = await play.reported(await play.dispatched())
        assert not await play.all(Approval)
        assert "hunter2" not in report + await play.everything_written()
        (handoff,) = await play.all(Comment, "kind = 'handoff' AND body LIKE '%blocked the quote%'")
        assert "secret_exposure" in handoff.body


@pytest.mark.soak
async def test_where_there_is_nothing_to_quote_nobody_is_asked(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", {"a.py": b"x = 1\n"})) as play:
        await play.start()
        await play.reported(await play.dispatched())
        assert not await play.all(Approval)


@pytest.mark.parametrize("decision", ["approved", pytest.param("rejected", marks=pytest.mark.soak)])
@pytest.mark.soak
async def test_a_report_that_comes_back_asks_nothing_twice(asked: Asked, decision: str) -> None:
    async with asked() as (play, goal):
        await play.decide(decision, "as I said")
        await play.reported(goal)
        await play.do("SendBackGoal", goal=goal.id, note="Count it all again, please")
        await play.one(Output, "task_id IS NULL AND path = 'audit-G1-2.md'")
        report = await play.reported(goal)
        assert len(await play.all(Approval)) == 1
        assert report.count("one-secret") == (decision == "approved")


@pytest.mark.soak
async def test_a_file_that_changed_meanwhile_is_asked_about_anew(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", FILES)
    async with a_rehearsal(tmp_path / "company", audited) as play:
        await play.start()
        goal = await play.dispatched()
        first = await play.question()
        (audited / "src/main.py").write_bytes(b"\n" + FILES["src/main.py"])
        await play.do("DecideApproval", approval=first.id, decision="approved")
        second = await play.one(Approval, "status = 'pending'")
        assert [row["line"] for row in json.loads(second.payload["content"])["lines"]] == [4, 6]
        await play.do("DecideApproval", approval=second.id, decision="rejected", note="no")
        await play.reported(goal)
        assert not quoted(await play.everything_written())
        assert [one.status for one in await play.all(Approval)] == [ApprovalStatus.APPROVED, ApprovalStatus.REJECTED]


async def test_a_task_that_waits_can_be_let_go_on_without_an_answer(asked: Asked) -> None:
    async with asked() as (play, goal):
        await play.question()
        task = await play.one(Task, "status = 'waiting_human'")
        await play.do("ResumeTask", task=task.id)
        await play.reported(goal)
        assert (await play.one(Task, "id = :id", id=task.id)).status == TaskStatus.DONE
        assert not quoted(await play.everything_written())
