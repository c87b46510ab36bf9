"""The largest and the longest untouched files, with git, without, and with both."""

import os
import subprocess
from pathlib import Path

from core.agents.rehearsal.audit.history import history, iso
from tests.agents.test_audit_world import a_folder, a_repository, git


def test_the_largest_files_come_first_with_their_lines(tmp_path: Path) -> None:
    a_folder(tmp_path, {f"{n:02}": b"x\n" * n for n in range(1, 15)} | {"binary": b"\0\n" * 50})
    largest = history(tmp_path)["largest"]
    assert largest[0] == {"path": "binary", "bytes": 100, "lines": 0}
    assert [file["path"] for file in largest[1:]] == [f"{n:02}" for n in range(14, 5, -1)]
    assert largest[1]["lines"] == 14


def test_commits_tell_the_last_touch(tmp_path: Path) -> None:
    a_repository(tmp_path, {"old": b"1", "again": b"1", b"odd\n/1\xff": b"1"}, date="2001-01-01T00:00:00+00:00")
    a_repository(tmp_path, {"new": b"1", "again": b"2"}, date="2002-01-01T01:00:00+01:00")
    a_folder(tmp_path, {"never": b""})
    os.utime(tmp_path / "never", (0, 0))
    assert history(tmp_path)["untouched"] == [
        {"path": "never", "date": "1970-01-01T00:00:00+00:00", "by": "mtime"},
        {"path": "odd\n/1\\xff", "date": "2001-01-01T00:00:00+00:00", "by": "commit"},
        {"path": "old", "date": "2001-01-01T00:00:00+00:00", "by": "commit"},
        {"path": "again", "date": "2002-01-01T00:00:00+00:00", "by": "commit"},
        {"path": "new", "date": "2002-01-01T00:00:00+00:00", "by": "commit"},
    ]


def test_dates_are_those_of_git_log_also_in_a_folder_and_over_merges(tmp_path: Path) -> None:
    a_repository(tmp_path, {"sub/a": b"1", "sub/b": b"1"}, date="2001-01-01T00:00:00+00:00")
    git(tmp_path, "checkout", "-q", "-b", "side")
    a_repository(tmp_path, {"sub/a": b"2"}, date="2003-01-01T00:00:00+00:00")
    git(tmp_path, "checkout", "-q", "main")
    a_repository(tmp_path, {"sub/b": b"2"}, date="2002-01-01T00:00:00+00:00")
    git(tmp_path, "merge", "-q", "side", "-m", "m", date="2004-01-01T00:00:00+00:00")
    for file in history(tmp_path / "sub")["untouched"]:
        logged = subprocess.run(
            ["git", "log", "-1", "--format=%cI", "--", file["path"]],
            cwd=tmp_path / "sub",
            capture_output=True,
            text=True,
            check=True,
        )
        assert logged.stdout.strip().replace("Z", "+00:00") == file["date"]


def test_without_git_or_commits_mtimes_count(tmp_path: Path) -> None:
    a_folder(tmp_path, {"a": b"", "b": b""})
    os.utime(tmp_path / "b", (1, 1))
    plain = history(tmp_path)["untouched"]
    git(tmp_path, "init", "-q")
    assert [file["path"] for file in plain] == ["b", "a"]
    assert history(tmp_path)["untouched"] == plain


def test_an_empty_folder_has_no_history(tmp_path: Path) -> None:
    found = history(tmp_path)
    assert not found["largest"]
    assert not found["untouched"]


def test_times_beyond_the_calendar_do_not_fail() -> None:
    assert iso(1e20).startswith("9999")
    assert iso(-1e20).startswith("0001")
