"""A mixed company (rehearsal, chat, program, ACP) takes one goal from the first talk to the accepted report."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from core.domain.entities import Approval, Comment, Goal, Output, Review, Run, Task, Turn
from core.domain.states import GoalStatus, RunStatus, TaskStatus
from tests.agents.mixed_world import ANSWER, KEYS, QUESTION, VARIABLES, ChatScript, a_mixed_company
from tests.agents.rehearsal_support import FILES, Play
from tests.agents.test_audit_world import a_folder
from tests.models.server import ModelServer
from tests.programs.processes import marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
TAKES = {"sanna": ("M1", "inventory"), "ada": ("M2", "marks"), "cyd": ("M3", "documentation"),
         "bob": ("M4", "duplicates")}  # fmt: skip
TOKEN = re.compile(rb"run-\d+-[A-Za-z0-9_-]{30,}")


async def heard(play: Play, words: str) -> None:
    """The coordinator's newest word in the talk, once it is this."""

    async def look() -> list[Comment]:
        newest = await play.all(Comment, "goal_id = 1 AND kind = 'dialogue' ORDER BY id DESC LIMIT 1")
        return [word for word in newest if word.author == "orlo" and words in word.body]

    await play.until(look)


async def explored(play: Play) -> None:
    """Phase one: the operator's wish becomes a goal."""
    await play.do("CreateGoal", title="Tidy up", explore=True)
    await play.start()
    for words, answer in (
        ("What should be known", "the inventory, the marks, the documentation and the duplicates"),
        ("What may not be done or quoted", "no"),
        ("What is out of scope", "no"),
    ):
        await heard(play, words)
        await play.do("AddComment", goal=1, kind="dialogue", body=answer)
    await heard(play, "Is it ready")
    await play.do("ReadyGoal", goal=1)


async def permitted(play: Play) -> Approval:
    """The ACP agent's question, allowed once."""
    question = await play.one(Approval, "kind = 'permission' AND status = 'pending'")
    await play.do("AnswerPermission", approval=question.id, permit="once", payload_hash=question.payload_hash)
    return question


async def test_four_kinds_of_agents_take_one_goal_through_the_four_phases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLES["chat"], KEYS["chat"])
    audited, folder = a_folder(tmp_path / "audited", FILES), tmp_path / "company"
    with ModelServer(key=KEYS["chat"]) as server:
        server.script = ChatScript(audited)
        async with a_mixed_company(folder, audited, server) as play:
            await explored(play)
            await play.do("DispatchGoal", goal=1)
            question = await permitted(play)
            await play.one(Goal, "id = 1 AND status = 'reporting'")
            await play.do("AcceptGoal", goal=1)
            await play.quiet()
            await everybody_did_their_part(play)
            await it_was_planned_together_and_judged(play)
            assert question.payload["command"] == "count the links"
            assert (await play.all(Goal))[0].status == GoalStatus.DONE
            assert marked(str(folder)) == []
        report = (folder / "reports" / "G1-v1.md").read_text()
        assert all(f"| {must} |" in report for must, _ in TAKES.values())
    assert await asyncio.to_thread(secrets_in, folder) == []


async def everybody_did_their_part(play: Play) -> None:
    """Each made its own task in the discussion, claimed it, and delivered what covers its must-have."""
    agents = {row["id"]: row["slug"] for row in await play.company.board.readers.all("SELECT id, slug FROM agents")}
    tasks = {agents[task.assignee_id or 0]: task for task in await play.all(Task, "status <> 'cancelled'")}
    assert set(tasks) == set(TAKES)
    for slug, (must, kind) in TAKES.items():
        task = tasks[slug]
        assert (task.created_by, task.status, task.must_haves) == (slug, TaskStatus.DONE, (must,))
        (output,) = await play.all(Output, "task_id = :task", task=task.id)
        (run,) = await play.all(Run, "task_id = :task AND kind = 'execute'", task=task.id)
        assert (output.run_id, output.must_haves) == (run.id, (must,))
        assert (agents[run.agent_id], run.status, run.exit_kind) == (slug, RunStatus.SUCCEEDED, "done")
        assert task.arguments["audit"] == kind
    # What was on offer and taken meanwhile is no failure.
    at_work = await play.all(Run, "goal_id = 1 AND kind <> 'broadcast'")
    assert {run.status for run in at_work} == {RunStatus.SUCCEEDED}
    assert {str(run.kind) for run in at_work} == {
        "explore", "discuss", "mention", "execute", "review", "round_review", "report"
    }  # fmt: skip


async def it_was_planned_together_and_judged(play: Play) -> None:
    """The discussion converged, a question went from one kind to another, and all figures were computed again."""
    assert [turn.outcome for turn in await play.all(Turn)][-1] == "converged"
    (asked,) = await play.all(Comment, "kind = 'question'")
    (answer,) = await play.all(Comment, "reply_to = :id", id=asked.id)
    assert (asked.author, asked.body, answer.author, answer.body) == ("ada", QUESTION, "bob", ANSWER)
    for task in await play.all(Task, "status = 'done'"):
        (review,) = await play.all(Review, "subject = 'task' AND subject_id = :task", task=task.id)
        assert (review.reviewer, review.verdict) == ("vera", "approved")


def secrets_in(folder: Path) -> list[str]:
    """The files that hold a key of an agent or a token of a run."""
    keys = [key.encode() for key in KEYS.values()]
    files = [(path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".jsonl" for path, _ in files)
    return [path.name for path, data in files if TOKEN.search(data) or any(key in data for key in keys)]
