"""Groups of equal files, against sha256sum."""

import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from core.agents.rehearsal.audit.duplicates import duplicates
from tests.agents.test_audit_world import a_folder, a_repository

LONG = b"x" * 100_000


def test_equal_files_are_grouped_and_sorted(tmp_path: Path) -> None:
    files: dict[str | bytes, bytes] = {"z": b"one", "a/b": b"one", "c": b"two", "d": b"", "e": b"", "b": b"two"}
    a_folder(tmp_path, {**files, b"\xff": b"one", "alone": b"six", "long": LONG + b"1", "longer": LONG + b"2"})
    found = duplicates(tmp_path)
    assert found["groups"] == [["\\xff", "a/b", "z"], ["b", "c"]]
    assert (found["files"], found["spare_bytes"]) == (5, 9)


def test_groups_are_those_of_sha256sum(tmp_path: Path) -> None:
    files: dict[str | bytes, bytes] = {f"f{n}": LONG + bytes([n % 7]) * (n % 5 + 1) for n in range(60)}
    a_folder(tmp_path, files)
    summed = subprocess.run(["sha256sum", *map(str, files)], cwd=tmp_path, capture_output=True, text=True, check=True)
    groups = defaultdict(list)
    for line in summed.stdout.splitlines():
        digest, name = line.split()
        groups[digest].append(name)
    assert duplicates(tmp_path)["groups"] == sorted(sorted(group) for group in groups.values() if len(group) > 1)


def test_two_names_of_one_file_are_duplicates_and_links_are_not(tmp_path: Path) -> None:
    a_repository(tmp_path, {"a": b"x"})
    os.link(tmp_path / "a", tmp_path / "b")
    (tmp_path / "c").symlink_to("a")
    assert duplicates(tmp_path)["groups"] == [["a", "b"]]


def test_a_file_that_changes_or_vanishes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_folder(tmp_path, {"a": b"xx", "b": b"xx", "c": b"xx", "d": b"xx"})
    real = os.open

    def opening(place: bytes, *further: int) -> int:
        if os.fsencode(place).endswith(b"/a"):
            a_folder(tmp_path, {"b": b"xx more"})
            (tmp_path / "c").unlink(missing_ok=True)
        return real(place, *further)

    monkeypatch.setattr(os, "open", opening)
    found = duplicates(tmp_path)
    assert found["groups"] == [["a", "d"]]
    assert [one["reason"] for one in found["skipped"]["first"]] == [
        "changed during the audit",
        "vanished during the audit",
    ]
