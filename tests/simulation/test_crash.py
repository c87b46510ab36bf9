"""kill -9 at random points of the headless demo: after a restart it finishes, nothing is doubled, nothing is lost."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from core.blackboard.fold import rebuild_and_compare
from tests.command_line import started

KILLS = 6


def a_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "audited"
    (folder / "docs").mkdir(parents=True)
    (folder / "README.md").write_text("# Sample\n\n[gone](docs/gone.md)\n")
    (folder / "a.py").write_text("print(1)\n# TODO one\n# FIXME two\n")
    (folder / "docs" / "b.txt").write_text("same bytes\n")
    (folder / "docs" / "c.txt").write_text("same bytes\n")
    return folder


def demo(home: Path, folder: Path, company: Path) -> "subprocess.Popen[str]":
    return started(home, "demo", folder, "--company", company, "--headless", "--approve-all", "--json")


def events_of(company: Path) -> list[tuple[int, str, str, int]]:
    """What was acknowledged so far: id, kind, entity, entity id."""
    with closing(sqlite3.connect(f"file:{company / 'board.db'}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT id, kind, entity, entity_id FROM events ORDER BY id").fetchall()


def children_of_audits(company: Path) -> list[int]:
    """Processes that the board remembers and that still live."""
    with closing(sqlite3.connect(f"file:{company / 'board.db'}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT pid, pid_started FROM runs WHERE pid IS NOT NULL").fetchall()
    alive = []
    for pid, begun in rows:
        try:
            process = psutil.Process(pid)
            if abs(process.create_time() * 1000 - begun) < 50 and process.status() != psutil.STATUS_ZOMBIE:
                alive.append(pid)
        except psutil.NoSuchProcess:
            continue
    return alive


def check_whole(company: Path) -> None:
    with closing(sqlite3.connect(company / "board.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rebuild_and_compare(connection) == []
        live = connection.execute(
            "SELECT task_id, count(*) FROM runs WHERE kind = 'execute' AND status IN ('queued', 'starting', 'running')"
            " GROUP BY task_id HAVING count(*) > 1"
        ).fetchall()
        assert live == []
        consumed = Counter(kind_id[3] for kind_id in events_of(company) if kind_id[1] == "ApprovalConsumed")
        assert all(count == 1 for count in consumed.values())


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.soak)])
def test_killed_at_random_points_the_demo_finishes_after_a_restart(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder, company = a_folder(tmp_path), tmp_path / "company"
    board = company / "board.db"
    kept: list[tuple[int, str, str, int]] = []
    kills = 0
    for _ in range(KILLS):
        process = demo(tmp_path, folder, company)
        while not board.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0.05, 1.2))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.communicate()
        if board.exists():
            try:
                now = events_of(company)
            except sqlite3.OperationalError:  # killed before the first schema was there
                continue
            assert now[: len(kept)] == kept, "an acknowledged event is gone"
            kept = now
            check_whole(company)
    assert kills, "every run was over before it could be killed"

    process = demo(tmp_path, folder, company)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    result = json.loads(out)

    assert events_of(company)[: len(kept)] == kept
    check_whole(company)
    assert result["goal"]["status"] == "done", result
    assert result["todos"] == 2
    assert result["duplicates"] == [["docs/b.txt", "docs/c.txt"]]
    assert result["dead_links"] == [{"file": "README.md", "target": "docs/gone.md"}]
    titles = Counter(task["title"] for task in result["tasks"] if task["status"] != "cancelled")
    assert all(count == 1 for count in titles.values()), "a task was made twice"
    with closing(sqlite3.connect(board)) as connection:
        assert connection.execute("SELECT count(*) FROM goals").fetchone() == (1,)
        done_without_review = connection.execute(
            "SELECT id FROM tasks WHERE status = 'done' AND id NOT IN"
            " (SELECT subject_id FROM reviews WHERE subject = 'task' AND verdict = 'approved')"
        ).fetchall()
        assert done_without_review == []
        assert connection.execute("SELECT count(*) FROM goals WHERE status = 'done'").fetchone() == (1,)
        accepted = [event for event in events_of(company) if event[1] == "GoalAccepted"]
        assert len(accepted) == 1
    assert children_of_audits(company) == [], "a child process outlived its run (F17)"
