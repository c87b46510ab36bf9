"""Work trees from the command line: listed, read, and removed only when nothing would be lost (F5)."""

import asyncio
import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.process import process_started
from core.agents.workplaces import workplace_of
from core.commands.registry import parse
from core.company import OpenCompany
from core.config import Config
from core.domain.actors import System
from core.domain.entities import AgentRecord, Run, Task
from core.worktrees import removing
from tests import founding
from tests.repositories import a_repository, committed, git, written
from tests.unit.test_cli_docs import agree
from tui.cli import main
from tui.cli.exits import Exit


class Place:
    """A company with one task in a repository, whose agent has begun in a work tree; its run has ended."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.company = folder / "c"
        self.site = folder / "site"
        self.tree = self.company / "work/trees/T1-write-the-sign"
        self._capsys = capsys

    def say(self, *words: str, code: Exit = Exit.OK) -> str:
        """What a command line tells, on both streams."""
        self._capsys.readouterr()
        assert main([*words]) == code
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return str(out + err)

    def removed(self, *more: str, code: Exit = Exit.REFUSED) -> str:
        return self.say("worktrees", "remove", str(self.company), "T1", *more, code=code)

    def act(self, *commands: tuple[str, dict[str, Any]]) -> None:
        """Commands of the system."""
        asyncio.run(acted(self.company, *commands))


async def acted(folder: Path, *commands: tuple[str, dict[str, Any]]) -> None:
    company = await OpenCompany.open(folder, role="owner")
    try:
        for name, arguments in commands:
            await company.execute(parse(name, arguments), actor=System())
    finally:
        await company.close()


async def begun(folder: Path) -> None:
    await founding.a_company(folder, Config(name="Archive", mission="Be visited"))
    company = await OpenCompany.open(folder, role="owner")
    try:
        for slug, role in (("vera", "ceo"), ("ada", "executor")):
            boss = {} if role == "ceo" else {"manager": "vera"}
            await company.execute(parse("HireAgent", {"slug": slug, "name": slug, "role": role, **boss}))
        await company.execute(parse("StartCompany", {}))
        task = {"title": "Write the sign", "repository": "../site"}
        await company.execute(parse("CreateGoal", {"title": "Greet", "tasks": [task]}))
        await company.execute(parse("DispatchGoal", {"goal": 1, "discussion": False}))
        await company.execute(parse("AssignTask", {"task": 1, "agent": "ada"}))
        ada = (await company.board.readers.entities(AgentRecord, "slug = 'ada'"))[0]
        about = {"kind": "execute", "agent_id": ada.id, "task_id": 1, "key": "execute:1"}
        await company.execute(parse("QueueRun", about), actor=System())
        start = {"run": 1, "owner": company.token, "runs_at_once": 9}
        assert (await company.execute(parse("StartRun", start), actor=System()))["started"]
        readers = company.board.readers
        run, task_row = (await readers.entities(Run, "true"))[0], (await readers.entities(Task, "true"))[0]
        assert company.local_door is not None
        told: list[str] = []
        await workplace_of(readers, company.local_door, folder, run, task_row, "command", told.append)
    finally:
        await company.close()


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    found = Place(tmp_path, capsys)
    a_repository(found.site)
    asyncio.run(begun(found.company))
    found.act(("FinishRun", {"run": 1, "status": "failed"}))
    return found


def test_where_no_tree_is_the_list_says_how_one_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = Place(tmp_path, capsys)
    asyncio.run(founding.a_company(empty.company, Config(name="Archive")))
    assert f"opsroom task edit {empty.company} T1 --repository PATH" in empty.say(
        "worktrees", "list", str(empty.company)
    )
    assert json.loads(empty.say("worktrees", "list", str(empty.company), "--json")) == {"worktrees": []}


def test_a_tree_without_work_is_removed_and_its_branch_stays(place: Place) -> None:
    told = place.removed(code=Exit.OK)
    assert f"its branch opsroom/T1 stays in {place.site}" in told
    assert not place.tree.exists()
    assert git(place.site, "branch", "--list", "opsroom/T1").strip() == "opsroom/T1"
    assert "is not there" in place.removed()
    assert "branch only" in place.say("worktrees", str(place.company))


def test_nothing_that_is_not_committed_merged_or_pushed_is_removed(place: Place) -> None:
    written(place.tree, {"new.txt": "n\n"})
    assert "1 files in it are not committed: new.txt" in place.removed()
    committed(place.tree, {"new.txt": "n\n"})
    written(place.tree, {"README.md": "# Changed\n"})
    assert "not committed: README.md" in place.removed()
    git(place.tree, "update-index", "--assume-unchanged", "README.md")
    assert "changes of README.md are hidden from git" in place.removed()
    git(place.tree, "update-index", "--no-assume-unchanged", "README.md")
    git(place.tree, "checkout", "-q", "README.md")
    assert "1 commits of it are neither merged nor pushed" in place.removed()
    git(place.tree, "switch", "-q", "--detach")
    loose = committed(place.tree, {"loose.txt": "l\n"})
    git(place.site, "merge", "-q", "opsroom/T1")
    assert "1 commits of it are neither" in place.removed()
    git(place.site, "branch", "kept", loose)
    place.removed(code=Exit.OK)
    assert (place.site / "new.txt").exists()


@pytest.mark.parametrize("begun", ["rebase", "merge", "cherry-pick", "revert", "bisect"])
def test_a_tree_where_something_is_half_done_stays(place: Place, begun: str) -> None:
    first = committed(place.tree, {"a.txt": "1\n"})
    committed(place.tree, {"a.txt": "2\n"})
    git(place.site, "merge", "-q", "opsroom/T1")
    if begun == "rebase":
        # What it puts aside is in no commit of a branch, and git sees a clean tree.
        written(place.tree, {"README.md": "precious\n"})
        git(place.tree, "-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-q", "-i", "--autostash", "HEAD~2")
    elif begun == "bisect":
        git(place.tree, "bisect", "start")
    else:
        (admin,) = (place.site / ".git/worktrees").iterdir()
        name = begun.upper().replace("-", "_")
        (admin / f"{name}_HEAD").write_text(f"{first}\n")
    assert git(place.tree, "status", "--porcelain") == ""
    assert f"a {begun} is begun in it" in place.removed()
    if begun == "rebase":
        git(place.tree, "rebase", "--abort")
        assert "not committed: README.md" in place.removed()
        git(place.tree, "checkout", "-q", ".")
        place.removed(code=Exit.OK)


def test_commits_that_the_tree_alone_knows_keep_it(place: Place) -> None:
    git(place.tree, "switch", "-q", "--detach")
    loose = committed(place.tree, {"loose.txt": "l\n"})
    git(place.tree, "switch", "-q", "opsroom/T1")
    assert f"in no branch: {loose[:10]}" in place.removed()
    git(place.site, "branch", "kept", loose)
    git(place.tree, "update-ref", "refs/worktree/mine", loose)
    assert "refs/worktree/mine would go with it" in place.removed()
    git(place.tree, "update-ref", "-d", "refs/worktree/mine")
    # What its branch was at before stays in the branch's own log.
    committed(place.tree, {"new.txt": "n\n"})
    git(place.tree, "commit", "-q", "--amend", "-m", "Better words")
    git(place.site, "merge", "-q", "opsroom/T1")
    place.removed(code=Exit.OK)


def test_what_the_head_was_at_is_let_go_as_the_hint_says(place: Place) -> None:
    git(place.tree, "switch", "-q", "--detach")
    committed(place.tree, {"loose.txt": "l\n"})
    git(place.tree, "switch", "-q", "opsroom/T1")
    (place.site / ".git/logs/refs/heads/opsroom/T1").unlink()
    where, *words = shlex.split(place.removed().partition("let them go: git -C ")[2])
    git(Path(where), *words)
    place.removed(code=Exit.OK)


def test_a_hidden_change_among_more_files_than_git_is_heard_of_is_no_reason_to_remove(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = committed(place.site, {**{f"{'d' * 100}/{number}": "" for number in range(20)}, "zzz.txt": "old\n"})
    git(place.tree, "merge", "-q", grown)
    git(place.tree, "update-index", "--assume-unchanged", "zzz.txt")
    written(place.tree, {"zzz.txt": "precious\n"})
    assert "changes of zzz.txt are hidden from git" in place.removed()
    monkeypatch.setattr(removing, "LIST_MAX", 1000)
    assert "The tree was not removed: its files cannot be listed: git answers with more than" in place.removed()
    assert (place.tree / "zzz.txt").read_text() == "precious\n"


def test_what_was_pushed_may_go(place: Place, tmp_path: Path) -> None:
    committed(place.tree, {"new.txt": "n\n"})
    git(tmp_path, "init", "-q", "--bare", "away.git")
    git(place.site, "remote", "add", "away", str(tmp_path / "away.git"))
    git(place.tree, "push", "-q", "away", "opsroom/T1")
    place.removed(code=Exit.OK)


def test_ignored_files_go_only_when_it_is_said(place: Place) -> None:
    ignored = committed(place.site, {".gitignore": "*.env\n"})
    git(place.tree, "merge", "-q", ignored)
    written(place.tree, {"keys.env": "k\n"})
    assert "git ignores keys.env in it" in place.removed()
    assert (place.tree / "keys.env").exists()
    place.removed("--with-ignored", code=Exit.OK)


@pytest.fixture
def family(place: Place) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A process that leads a group somewhere else, and its child in that group."""
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, start_new_session=True, cwd=place.site
    )
    assert leader.stdout is not None
    yield leader, int(leader.stdout.readline())
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    leader.wait()
    leader.stdout.close()


def test_the_process_group_of_its_run_must_be_dead_first(
    place: Place, family: tuple["subprocess.Popen[bytes]", int]
) -> None:
    leader, child = family
    place.act(
        ("AssignTask", {"task": 1, "agent": "ada"}),
        ("QueueRun", {"kind": "execute", "agent_id": 2, "task_id": 1, "key": "execute:2"}),
        ("StartRun", {"run": 2, "owner": "another", "runs_at_once": 9}),
        ("RecordProcess", {"run": 2, "pid": leader.pid, "pid_started": process_started(leader.pid)}),
    )
    assert f"a process of R2 ({leader.pid}) still lives" in place.removed()
    leader.kill()
    leader.wait()
    place.act(("FinishRun", {"run": 2, "status": "failed"}))
    # Its row is final and its leader is dead; what it started is not.
    assert "still lives" in place.removed()
    assert place.tree.exists()
    os.kill(child, signal.SIGKILL)
    for _ in range(500):
        if process_started(child) is None:
            break
        time.sleep(0.01)
    place.removed(code=Exit.OK)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a process's folder is read from /proc")
def test_a_process_that_works_in_the_tree_must_be_dead_first(place: Place) -> None:
    with subprocess.Popen(["/bin/sleep", "600"], cwd=place.tree) as process:
        try:
            assert f"process {process.pid} works in it" in place.removed()
        finally:
            process.kill()
    place.removed(code=Exit.OK)


def test_no_tree_goes_while_a_run_is_about_to_begin(place: Place) -> None:
    place.act(
        ("AssignTask", {"task": 1, "agent": "ada"}),
        ("QueueRun", {"kind": "execute", "agent_id": 2, "task_id": 1, "key": "execute:2"}),
    )
    assert "R2 of T1 is queued: nothing was closed or removed" in place.removed()
    assert place.tree.exists()


def test_the_json_is_as_documented(place: Place) -> None:
    company = str(place.company)
    committed(place.tree, {"hours.txt": "9 to 16\n"}, "Say when")
    for name, words in (
        ("task edit", ["task", "edit", company, "T1", "--repository", "../site#main"]),
        ("task diff", ["task", "diff", company, "T1"]),
        ("worktrees list", ["worktrees", company]),
    ):
        agree(name, place.say(*words, "--json"))
    git(place.site, "merge", "-q", "opsroom/T1")
    agree("worktrees remove", place.removed("--json", code=Exit.OK))
    found = json.loads(place.say("worktrees", "list", company, "--json"))["worktrees"][0]
    assert (found["name"], found["agent"], found["state"], found["ahead"]) == ("T1", "ada", "branch only", 1)


def test_the_doctor_looks_at_repositories_that_open_tasks_name(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    company = str(place.company)
    assert f"ok    repository   {place.site} at" in place.say("doctor", company)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "warn  repository   1 open tasks name ../site: git is not found" in place.say("doctor", company)
    monkeypatch.undo()
    place.site.rename(tmp_path / "moved")
    assert "site is not there" in place.say("doctor", company)
    place.say("task", "edit", company, "T1", "--repository", "")
    assert "repository" not in place.say("doctor", company)


def test_the_difference_is_told_with_what_is_not_committed(place: Place) -> None:
    committed(place.tree, {"hours.txt": "9 to 16\x1b[2J\n"}, "Say when")
    written(place.tree, {"late.txt": "till 20\n"})
    told = place.say("task", "diff", str(place.company), "T1")
    assert "2 files, +2 -0" in told
    assert "late.txt  +1 -0  not committed" in told
    assert "+till 20" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["goal", "add", "DIR", "Next", "--repository", "../nowhere"], "nowhere is not there"),
        (["goal", "edit", "DIR", "G1", "--repository", "../site#gone"], "no branch, tag or commit 'gone'"),
        (["task", "edit", "DIR", "T1", "--repository", "."], "is no git repository"),
        (["task", "diff", "DIR", "T9"], "There is no T9"),
        (["task", "diff", "DIR", "T1-7"], "T1 has no work tree T1-7"),
        (["worktrees", "remove", "DIR", "G1"], "'G1' is no work tree's name"),
    ],
)
def test_what_is_typed_wrongly_is_told_and_nothing_is_written(place: Place, words: list[str], why: str) -> None:
    events = place.say("events", str(place.company))
    code = main([word.replace("DIR", str(place.company)) for word in words])
    assert code != Exit.OK
    assert why in place._capsys.readouterr().err
    assert place.say("events", str(place.company)) == events
