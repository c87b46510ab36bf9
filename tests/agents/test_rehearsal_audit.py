"""The whole audit of a small folder, from the CEO's draft to the accepted report."""

import hashlib
import os
from pathlib import Path

import pytest

from core.agents.rehearsal.deliveries import figures_of, report_path
from core.agents.rehearsal.staff import STAFF
from core.domain.entities import AgentRecord, Approval, Comment, Experience, Goal, Output, Review, Round, Run, Task
from core.domain.limits import HANDOFF_MAX, HANDOFF_MIN, OBSERVATION_MAX
from core.domain.states import CommentKind, GoalStatus, RunStatus, TaskStatus
from tests.agents.rehearsal_support import FILES, Play, a_rehearsal
from tests.agents.test_audit_world import a_folder, a_repository

# Long: only by `make soak`.
pytestmark = pytest.mark.soak


def counted_by_hand(suffix: str) -> dict[str, int]:
    contents = [content for name, content in FILES.items() if name.endswith(suffix)]
    return {
        "files": len(contents),
        "lines": sum(len(content.splitlines()) for content in contents),
        "bytes": sum(map(len, contents)),
    }


async def check_figures(play: Play, goal: Goal) -> None:
    figures = await figures_of(play.company.board.readers, play.company.folder, goal.id)
    assert figures["inventory"]["languages"]["Python"] == counted_by_hand(".py")
    assert figures["inventory"]["languages"]["Markdown"] == counted_by_hand(".md")
    assert figures["inventory"]["total"]["bytes"] == sum(map(len, FILES.values()))
    assert figures["marks"]["lines"] == 3
    assert figures["duplicates"]["groups"] == [["src/copy.txt", "src/twin.txt"]]
    assert figures["documentation"]["dead_links"] == [{"file": "README.md", "target": "docs/gone.md"}]
    largest = max(FILES, key=lambda name: len(FILES[name]))
    assert figures["history"]["largest"][0]["path"] == largest
    assert figures["closer_look"]["path"] == "src/main.py"
    assert figures["closer_look"]["marks"] == 2


async def check_work(play: Play) -> None:
    authors = {(run.task_id, run.agent_id) for run in await play.all(Run, "kind = 'execute' AND status = 'succeeded'")}
    agents = {agent.slug: agent.id for agent in await play.all(AgentRecord)}
    reviews = await play.all(Review)
    assert {review.subject_id for review in reviews} == {task for task, _ in authors}
    assert not {(review.subject_id, agents[review.reviewer]) for review in reviews} & authors
    assert all(review.opened_outputs for review in reviews)
    for comment in await play.all(Comment):
        if comment.kind == CommentKind.HANDOFF:
            assert HANDOFF_MIN <= len(comment.body) <= HANDOFF_MAX
        if comment.kind == CommentKind.OBSERVATION:
            assert 0 < len(comment.body) <= OBSERVATION_MAX
    assert await play.all(Experience)


async def test_from_the_draft_to_the_accepted_report(tmp_path: Path) -> None:
    audited = a_repository(tmp_path / "audited", FILES)
    before = {name: os.stat(audited / name).st_mtime_ns for name in FILES}
    async with a_rehearsal(tmp_path / "company", audited) as play:
        goal, report = await play.audited()
        await check_figures(play, goal)
        await check_work(play)
        tasks = await play.all(Task)
        assert [task.status for task in tasks] == [TaskStatus.CANCELLED] + [TaskStatus.DONE] * 7
        assert [round_.decision for round_ in await play.all(Round)] == ["next_round", "report"]
        assert "one-secret" in report
        for name in ("src/main.py", "docs/gone.md", "src/twin.txt", "data.bin"):
            assert name in report
        await play.do("AcceptGoal", goal=goal.id)
        assert (await play.one(Goal, "status = 'done'")).id == goal.id
        runs = await play.all(Run)
        assert {run.status for run in runs} <= {RunStatus.SUCCEEDED, RunStatus.KILLED, RunStatus.RUNNING}
        assert sum(run.tokens_in + run.tokens_out + run.cost_micros for run in runs) == 0
        assert await report_path(play.company.board.readers, play.company.folder, goal.id) is not None
    assert {name: os.stat(audited / name).st_mtime_ns for name in FILES} == before


async def test_what_is_delivered_is_what_lies_there(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "audited", {f"{'long' * 40}/{n}.py": b"x  # TODO\n" for n in range(500)})
    async with a_rehearsal(tmp_path / "company", audited) as play:
        await play.audited("rejected", "no lines of mine")
        outputs = await play.all(Output)
        assert any(output.path and output.task_id for output in outputs)
        for output in outputs:
            data = (
                output.content.encode()
                if output.path is None
                else (play.company.folder / "outputs" / output.path).read_bytes()
            )
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (output.sha256, output.size)


async def test_nothing_happens_before_the_operator_starts_it(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", FILES)) as play:
        assert play.company.ticker is not None
        await play.company.ticker.tick()
        assert not await play.all(Run)
        assert [(agent.slug, agent.role) for agent in await play.all(AgentRecord)] == [
            (member.slug, member.role) for member in STAFF
        ]


async def test_a_quiet_company_proposes_nothing_twice(tmp_path: Path) -> None:
    async with a_rehearsal(tmp_path / "company", a_folder(tmp_path / "audited", {"a.py": b"x = 1\n"})) as play:
        await play.start()
        goal = await play.dispatched()
        await play.reported(goal)
        await play.do("AcceptGoal", goal=goal.id)
        await play.quiet()
        await play.pass_time(20 * 60_000)
        run = await play.one(Run, "kind = 'propose' AND status = 'succeeded' AND id > 1")
        assert run.exit_kind == "no_reply"
        assert [one.status for one in await play.all(Goal)] == [GoalStatus.DONE]


@pytest.mark.parametrize("where", ["repository", "folder"])
async def test_who_is_near_observes_once(tmp_path: Path, where: str) -> None:
    make = a_repository if where == "repository" else a_folder
    async with a_rehearsal(tmp_path / "company", make(tmp_path / "audited", FILES)) as play:
        await play.audited("rejected", "no")
        said = [comment for comment in await play.all(Comment) if comment.kind == CommentKind.OBSERVATION]
        assert len({(comment.author, comment.task_id) for comment in said}) == len(said)
        librarian = [comment.body for comment in said if comment.author == "librarian"]
        expected = ["Git lists 2 Markdown files here; marks in documentation count too."]
        assert librarian == (expected if where == "repository" else [])


async def test_the_figures_of_this_repository_are_those_of_git(tmp_path: Path) -> None:
    files = {f"p{n}/m.py": b"".join(b"line %d\n" % at for at in range(n)) for n in range(1, 30)}
    audited = a_repository(tmp_path / "audited", files)
    async with a_rehearsal(tmp_path / "company", audited) as play:
        await play.start()
        goal = await play.dispatched()
        await play.reported(goal)
        assert not await play.all(Approval)
        assert (await play.figures("inventory"))["languages"]["Python"]["lines"] == sum(range(1, 30))
        assert (await play.figures("closer_look"))["path"] == "p29/m.py"
