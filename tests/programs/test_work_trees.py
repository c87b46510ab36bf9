"""Programs at work in work trees: each agent on a branch of its own, taken up again, and told why there is none."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from core.domain.entities import Run, WorkTree
from core.domain.states import RunStatus, TaskStatus
from core.worktrees.changes import read_changes
from tests.programs.company import BEGIN, CLAIM, DELIVER, an_office
from tests.repositories import a_repository, git
from tests.stepped import Stepped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
COMMIT = """
import subprocess
WHERE = os.getcwd()
with open("hours.txt", "a") as file:
    file.write("Mondays, 9 to 16.\\n")
def git(*words):
    subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words], check=True)
git("add", "-A")
git("commit", "-q", "-m", "Say when it is open")
print("I work in", WHERE, "as told:", WHERE in PROMPT, "on", "opsroom/T1" in PROMPT)
"""


JUDGE = (
    BEGIN
    + """
found = read("ReadChanges", task=1)
(file,) = found["files"]
line = found["diff"].splitlines()[-1]
print(json.dumps([file["path"], file["added"], file["committed"], line]), found["branch"] in PROMPT)
whole = read("ReadTask", task=1, expand=True)
finding = {"what": "Tuesdays lack", "where": "hours.txt", "change": "add them", "because": "it is open then",
           "criterion": "end_state"}
call("ReviewTask", task=1, verdict="needs_revision", summary="Half of it.", findings=[finding],
     opened_outputs=[one["id"] for one in whole["outputs"]["outputs"]],
     dimensions=dict.fromkeys(whole["dimensions"], "looked at"))
"""
)


async def with_a_judge(office: Stepped, folder: Path) -> None:
    """The reviewer is a program that reads the difference and refuses."""
    (folder / "judge.py").write_text(JUDGE)
    command = [sys.executable, str(folder / "judge.py")]
    await office.do("EditAgent", agent="rita", runner={"kind": "command", "command": command, "grace_s": 0.2})


async def on(office: Stepped, repository: str) -> None:
    """The task is worked on in this repository."""
    await office.do("EditTask", task=1, repository=repository)


async def test_a_program_works_in_a_tree_of_its_own_and_finds_it_again_after_a_refusal(tmp_path: Path) -> None:
    site = a_repository(tmp_path / "site")
    head = git(site, "rev-parse", "HEAD")
    async with an_office(tmp_path / "c", CLAIM + COMMIT + DELIVER) as office:
        await on(office, "../site")
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.detail) == (RunStatus.SUCCEEDED, "")
        (tree,) = await office.all(WorkTree)
        folder = tmp_path / "c" / tree.path
        assert f"/{tree.path} as told: True on True" in await office.transcript(run)
        assert (folder / "hours.txt").exists()
        assert (tree.branch, tree.base, tree.begins_from) == ("opsroom/T1", head, "HEAD")
        assert git(site, "log", "--format=%s", "opsroom/T1", "-1") == "Say when it is open"
        assert git(site, "status", "--porcelain") == ""
        assert git(site, "rev-parse", "HEAD") == head
        assert (await office.task()).status == TaskStatus.REVIEW
        await with_a_judge(office, tmp_path / "c")
        review = await office.ended("review")
        assert review.status == RunStatus.SUCCEEDED, review.detail
        assert '"hours.txt", 1, true, "+Mondays, 9 to 16."' in (await office.transcript(review)).replace('\\"', '"')
        while len(await office.all(Run, "kind = 'execute' AND status = 'succeeded'")) < 2:
            await office.step()
        assert await office.all(WorkTree) == [tree]
        found = read_changes(tmp_path / "c", tree)
        assert (found.added, found.commits_total) == (2, 2)


async def test_another_agent_begins_anew_and_the_old_branch_is_kept(tmp_path: Path) -> None:
    site = a_repository(tmp_path / "site")
    async with an_office(tmp_path / "c", CLAIM + COMMIT + "sys.exit(3)") as office:
        await on(office, "../site#main")
        await office.ended("broadcast")
        assert (await office.ended("execute")).status == RunStatus.FAILED
        ada = (await office.all(Run, "kind = 'execute'"))[0]
        (tmp_path / "c/agent.py").write_text(CLAIM + COMMIT + DELIVER)
        await office.do("PauseAgent", agent="ada")
        settings = {"kind": "command", "command": [sys.executable, str(tmp_path / "c/agent.py")], "grace_s": 0.2}
        await office.do(
            "HireAgent", slug="bob", name="Bob", role="executor", manager="vera", capabilities=["writing"],
            runner=settings,
        )  # fmt: skip
        while not (done := await office.all(Run, "kind = 'execute' AND agent_id <> :ada", ada=ada.agent_id)):
            await office.step()
        assert done[0].status == RunStatus.SUCCEEDED, done[0].detail
        first, second = await office.all(WorkTree)
        assert (first.branch, second.branch) == ("opsroom/T1", "opsroom/T1-2")
        assert second.base == git(site, "rev-parse", "main")
        assert git(site, "rev-list", "--count", "main..opsroom/T1") == "1"
        assert (tmp_path / "c" / first.path / "hours.txt").read_text() == "Mondays, 9 to 16.\n"


@pytest.mark.parametrize(
    ("repository", "why"),
    [
        ("../gone", "The repository {top}/gone is not there."),
        (".", "The folder {top}/c is no git repository"),
        ("../site#late", "has no branch, tag or commit 'late'"),
    ],
)
async def test_without_a_tree_the_run_fails_in_words_before_anything_is_started(
    tmp_path: Path, repository: str, why: str
) -> None:
    a_repository(tmp_path / "site")
    async with an_office(tmp_path / "c", CLAIM + DELIVER) as office:
        await on(office, repository)
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert run.status == RunStatus.FAILED
        assert why.format(top=tmp_path) in run.detail
        assert run.pid is None
        told = [json.loads(line) for line in (await office.transcript(run)).splitlines()]
        assert [line["kind"] for line in told] == ["outcome"]
        assert await office.all(WorkTree) == []


async def test_an_agent_without_files_gets_no_tree_and_is_told_so(tmp_path: Path) -> None:
    a_repository(tmp_path / "site")
    async with an_office(tmp_path / "c", CLAIM) as office:
        await on(office, "../site")
        await office.ended("broadcast")
        await office.do("EditAgent", agent="ada", runner={"kind": "silent"})
        run = await office.ended("execute")
        assert await office.all(WorkTree) == []
        kept = json.loads((tmp_path / "c" / "runs" / f"{run.id}.prompt.json").read_text())
        assert "you have calls on the board and no files" in json.dumps(kept)


async def test_a_tree_that_cannot_be_taken_up_costs_nobody_their_work(tmp_path: Path) -> None:
    a_repository(tmp_path / "site")
    async with an_office(tmp_path / "c", CLAIM + "open('half.txt', 'w').write('half')\nsys.exit(3)") as office:
        await on(office, "../site")
        await office.ended("broadcast")
        await office.ended("execute")
        (tree,) = await office.all(WorkTree)
        shutil.move(tmp_path / "site", tmp_path / "moved")
        while len(failed := await office.all(Run, "kind = 'execute' AND status = 'failed' ORDER BY id")) < 2:
            await office.step()
        assert "is not there" in failed[1].detail
        assert (tmp_path / "c" / tree.path / "half.txt").read_text() == "half"
        shutil.move(tmp_path / "moved", tmp_path / "site")
