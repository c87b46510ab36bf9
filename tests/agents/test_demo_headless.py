"""The headless demo as a person meets it: real processes on a real folder, figures counted again by other programs."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.command_line import ARGV, a_finished_demo, a_folder, environment, opsroom, run_git, started


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """One demo that came to its end: the audited folder and what the command said."""
    return a_finished_demo(tmp_path_factory)


def result_of(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def shell(folder: Path, script: str) -> list[str]:
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    ).stdout.splitlines()


class TestTheFigures:
    def test_stdout_is_exactly_one_json_object_and_the_goal_is_accepted(self, finished: Any) -> None:
        found = result_of(finished[1])
        assert found["goal"]["status"] == "done"
        assert found["rounds"] == 2
        assert {task["status"] for task in found["tasks"]} == {"done", "cancelled"}
        assert {task["round"] for task in found["tasks"] if task["status"] == "done"} == {1, 2}
        assert all(task["assignee"] for task in found["tasks"] if task["status"] == "done")
        assert found["model_calls"] == 0
        assert found["waits"] == []
        assert Path(found["report"]).read_text(encoding="utf-8").startswith("# Report on G1, version 1")
        assert "## TODO and FIXME marks" in Path(found["audit"]).read_text(encoding="utf-8")

    def test_languages_are_what_git_and_wc_say(self, finished: Any) -> None:
        audited, done = finished
        for language, pattern in (("Python", "*.py"), ("Markdown", "*.md"), ("JavaScript", "*.js")):
            files = run_git(audited, "ls-files", pattern).splitlines()
            size = int(shell(audited, f"git ls-files -z '{pattern}' | xargs -0 cat | wc -c")[0])
            # awk also counts a last line without a newline.
            lines = int(shell(audited, f"git ls-files -z '{pattern}' | xargs -0 awk 'END {{print NR}}'")[0])
            assert result_of(done)["languages"][language] == {"files": len(files), "lines": lines, "bytes": size}

    def test_marks_are_what_grep_counts(self, finished: Any) -> None:
        audited, done = finished
        assert result_of(done)["todos"] == len(shell(audited, "git grep -Iwn -E 'TODO|FIXME'"))

    def test_duplicates_are_what_sha256sum_groups(self, finished: Any) -> None:
        audited, done = finished
        groups: dict[str, list[str]] = {}
        for line in shell(audited, "git ls-files -z | xargs -0 -I{} find {} -size +0c | xargs sha256sum"):
            digest, _, name = line.partition("  ")
            groups.setdefault(digest, []).append(name)
        expected = sorted(sorted(group) for group in groups.values() if len(group) > 1)
        assert sorted(sorted(group) for group in result_of(done)["duplicates"]) == expected == [
            ["src/copy.py", "src/twin.py"]
        ]  # fmt: skip

    def test_dead_links_are_named_with_their_file(self, finished: Any) -> None:
        assert result_of(finished[1])["dead_links"] == [{"file": "README.md", "target": "docs/none.md"}]

    def test_the_company_is_private_and_outside_the_audited_folder(self, finished: Any) -> None:
        audited, done = finished
        company = Path(result_of(done)["company"])
        assert not company.is_relative_to(audited)
        assert company.stat().st_mode & 0o077 == 0
        assert run_git(audited, "status", "--porcelain") == ""

    def test_it_says_that_it_is_free_and_what_it_decided(self, finished: Any) -> None:
        told = finished[1].stderr
        assert "no cost" in told
        assert "approve G1 (draft)" in told
        assert "turn 1 of the discussion of G1 begins" in told
        assert "the discussion of G1 has converged" in told
        assert "accept G1 (report)" in told
        assert "Traceback" not in told
        assert not (Path(result_of(finished[1])["company"]) / "opsroom.log").exists()

    def test_a_finished_demo_tells_its_result_again(self, finished: Any, tmp_path: Path) -> None:
        before = result_of(finished[1])
        again = result_of(
            opsroom(tmp_path, "demo", "--company", before["company"], "--headless", "--approve-all", "--json")
        )
        assert {**again, "seconds": 0} == {**before, "seconds": 0}


@pytest.fixture(scope="module")
def undecided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """A demo's company that waits for the first decision, and what was said when it stopped."""
    place = tmp_path_factory.mktemp("undecided")
    audited, company = a_folder(place / "src", git=False), place / "company"
    return company, opsroom(place, "demo", audited, "--company", company, "--headless", "--json")


@pytest.mark.soak
def test_without_approvals_it_stops_at_each_decision_and_goes_on_after_it(undecided: Any, tmp_path: Path) -> None:
    kept, first = undecided
    assert first.returncode == 3, first.stderr
    assert [item["id"] for item in json.loads(first.stdout)["waits"]] == ["G1"]
    assert f"opsroom approve {kept} G1" in first.stderr
    company = shutil.copytree(kept, tmp_path / "company")
    assert opsroom(tmp_path, "approve", company, "G1").returncode == 0
    assert opsroom(tmp_path, "goal", "dispatch", company, "G1").returncode == 0
    done = opsroom(tmp_path, "run", company, "--headless", "--approve-all", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["goals"] == [{"id": 1, "title": "Audit of src", "status": "done"}]


@pytest.mark.soak
def test_another_process_decides_through_the_socket_of_the_owner(undecided: Any, tmp_path: Path) -> None:
    company = shutil.copytree(undecided[0], tmp_path / "company")
    owner = started(tmp_path, "run", company, "--headless", "--wait", "--json")
    try:
        wait_until(lambda: (company / "board.sock").exists())
        assert (company / "board.sock").stat().st_mode & 0o777 == 0o600
        refused = opsroom(tmp_path, "run", company, "--headless")
        assert refused.returncode == 1
        assert f"process {owner.pid}" in refused.stderr
        assert opsroom(tmp_path, "approve", company, "G1").returncode == 0
        late = opsroom(tmp_path, "goal", "review", company, "G1")
        assert late.returncode == 1
        assert "reviewed already" in late.stderr
        assert opsroom(tmp_path, "reject", company, "G1", "--note", "enough").returncode == 0
        out, err = owner.communicate(timeout=30)
    finally:
        owner.kill()
    assert owner.returncode == 4, err
    assert json.loads(out)["ended"] == "unsuccessful"
    assert "is cancelled (enough)" in err
    assert not (company / "board.sock").exists()


@pytest.mark.soak
def test_an_interrupt_ends_it_whole_and_a_restart_goes_on(tmp_path: Path) -> None:
    audited, company = a_folder(tmp_path / "src", git=False), tmp_path / "company"
    words = ("--company", company, "--headless", "--approve-all", "--json")
    running = started(tmp_path, "demo", audited, *words, "--pace", "100")
    wait_until(lambda: (company / "runs").is_dir() and any((company / "runs").iterdir()))
    time.sleep(1.5)
    children = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert out == ""
    assert f"opsroom demo --company {company} --headless --approve-all" in err
    assert "Traceback" not in err
    assert not [child for child in children if child.is_running()]
    assert not [
        process for process in psutil.process_iter(["cmdline"]) if str(audited) in (process.info["cmdline"] or [])
    ]
    done = opsroom(tmp_path, "demo", *words)
    assert result_of(done)["goal"]["status"] == "done"


@pytest.mark.soak
def test_a_terminal_sees_a_progress_bar_on_stderr_and_only_json_on_stdout(tmp_path: Path) -> None:
    audited = a_folder(tmp_path / "[b] src", git=False)
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [*ARGV, "demo", str(audited), "--headless", "--approve-all", "--json"],
        env=environment(tmp_path, COLUMNS="100"), stdin=slave, stdout=subprocess.PIPE, stderr=slave, cwd=tmp_path,
    )  # fmt: skip
    os.close(slave)
    assert running.stdout is not None
    told = read_terminal(master)
    out = running.stdout.read()
    assert running.wait(10) == 0, told
    assert json.loads(out)["goal"]["status"] == "done"
    assert "━" in told
    assert re.search(r"round 1 .*[0-6]/6", told)


@pytest.mark.soak
def test_a_demo_in_a_pipe_says_so_and_ends_with_the_summary(tmp_path: Path) -> None:
    done = opsroom(tmp_path, "demo", a_folder(tmp_path / "src"))
    assert done.returncode == 0
    assert "no terminal" in done.stderr
    assert "TODO or FIXME marks" in done.stdout
    assert "Report: " in done.stdout.splitlines()[-1]


def read_terminal(master: int) -> str:
    """All that was written until the other end was closed."""
    told = b""
    while select.select([master], [], [], 60)[0]:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        told += chunk
    os.close(master)
    return told.decode(errors="replace")


def wait_until(true: Any, seconds: float = 45) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
