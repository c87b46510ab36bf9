"""The folders that the audit's tests build, and the folder's own check."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.rehearsal.audit.files import iter_files
from core.agents.rehearsal.audit.survey import AuditError, Survey, checked, shown, unshown

Files = Mapping[Any, bytes]


def a_folder(folder: Path, files: Files) -> Path:
    """A folder with these files; names may be bytes."""
    for name, content in files.items():
        place = os.path.join(os.fsencode(folder), os.fsencode(name))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)
    return folder


def git(folder: Path, *arguments: str, date: str = "2024-05-06T07:08:09+00:00") -> str:
    """A git command in the folder, by nobody in particular, at a settled time."""
    who = {
        f"GIT_{role}_{part}": text
        for role in ("AUTHOR", "COMMITTER")
        for part, text in (("NAME", "n"), ("EMAIL", "e@example.org"), ("DATE", date))
    }
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(folder), *arguments]
    return subprocess.run(command, env={**os.environ, **who}, check=True, capture_output=True, text=True).stdout


def a_repository(
    folder: Path,
    files: Files,
    date: str = "2024-05-06T07:08:09+00:00",
) -> Path:
    """A git repository with these files committed at the date."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    a_folder(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "m", "--allow-empty", date=date)
    return folder


def paths(folder: Path) -> list[str]:
    """What the audit would read, in its order."""
    return [shown(entry.path) for entry in iter_files(Survey.of(folder))]


def skipped(survey: Survey) -> dict[str, str]:
    """What a finished reading left out, and why."""
    return {one["path"]: one["reason"] for one in survey.skipped_first}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="nowhere does not exist"):
        checked(tmp_path / "nowhere")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="is not a folder"):
        checked(a_folder(tmp_path, {"a": b""}) / "a")


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(AuditError, match="not a folder's name"):
        checked(name)


def test_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(AuditError, match="no permission to read"):
        checked(tmp_path)


@given(
    st.binary(max_size=12) | st.lists(st.sampled_from([b"\\", b"x", b"5c", b"\xff", b"\xc3\xa9", b"a"])).map(b"".join)
)
def test_a_shown_path_leads_back_to_its_bytes(path: bytes) -> None:
    assert unshown(shown(path)) == path
    shown(path).encode("utf-8")


def test_a_shown_path_reads_as_it_is() -> None:
    assert shown("é/中.md".encode()) == "é/中.md"
    assert shown(b"caf\xe9\n.md") == "caf\\xe9\n.md"
