"""Which files are read, with git and without, among links, pipes, odd names and refusals."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from core.agents.rehearsal.audit import git as audit_git
from core.agents.rehearsal.audit.files import iter_files
from core.agents.rehearsal.audit.survey import Survey
from tests.agents.test_audit_world import a_folder, a_repository, git, paths, skipped


def test_without_git_every_file_counts_but_those_of_git(tmp_path: Path) -> None:
    a_folder(tmp_path, {"b": b"", "a/c": b"", "a.txt": b"", ".git": b"gitdir: nowhere", ".hidden": b""})
    (tmp_path / ".git").unlink()
    assert paths(tmp_path) == [".hidden", "a.txt", "a/c", "b"]


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert paths(tmp_path) == []


def test_with_git_ignored_and_deleted_files_are_left_out(tmp_path: Path) -> None:
    a_repository(tmp_path, {".gitignore": b"build/\n*.log\n", "kept": b"", "deleted": b"", "forced.log": b""})
    git(tmp_path, "add", "-f", "forced.log")
    a_folder(tmp_path, {"build/out": b"", "new/one": b"", "x.log": b""})
    (tmp_path / "deleted").unlink()
    assert paths(tmp_path) == [".gitignore", "forced.log", "kept", "new/one"]


def test_git_and_the_walk_agree_on_order(tmp_path: Path) -> None:
    names: dict[str | bytes, bytes] = dict.fromkeys(("a/b", "a.c", "a-b", "b", "B", "a/a/z", "é"), b"")
    repository = a_repository(tmp_path / "r", names)
    assert paths(repository) == paths(a_folder(tmp_path / "f", names))


def test_a_folder_in_a_repository_is_read_by_itself(tmp_path: Path) -> None:
    a_repository(tmp_path, {".gitignore": b"*.log\n", "sub/a": b"", "other": b""})
    a_folder(tmp_path, {"sub/b.log": b"", "sub/c": b""})
    assert paths(tmp_path / "sub") == ["a", "c"]


def test_a_named_folder_is_read_though_its_repository_ignores_it(tmp_path: Path) -> None:
    a_repository(tmp_path, {".gitignore": b"build\n", "build/a": b""})
    survey = Survey.of(tmp_path / "build")
    assert [entry.path for entry in iter_files(survey)] == [b"a"]
    assert not survey.git


def test_an_unmerged_file_counts_once(tmp_path: Path) -> None:
    a_repository(tmp_path, {"a": b"0\n"})
    git(tmp_path, "checkout", "-q", "-b", "side")
    a_repository(tmp_path, {"a": b"1\n"})
    git(tmp_path, "checkout", "-q", "main")
    a_repository(tmp_path, {"a": b"2\n"})
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "side")
    assert paths(tmp_path) == ["a"]


@pytest.mark.parametrize("tracked", [True, False])
def test_a_nested_repository_is_read_by_its_own_rules(tmp_path: Path, tracked: bool) -> None:
    a_repository(tmp_path, {"a": b""})
    a_repository(tmp_path / "sub", {"b": b"", ".gitignore": b"junk\n"})
    a_folder(tmp_path, {"sub/junk": b"", "sub.txt": b""})
    if tracked:
        git(tmp_path, "add", "sub")
    assert sorted(paths(tmp_path)) == ["a", "sub.txt", "sub/.gitignore", "sub/b"]


def test_a_repository_in_a_plain_folder_is_read_by_its_own_rules(tmp_path: Path) -> None:
    a_repository(tmp_path / "sub", {"b": b"", ".gitignore": b"junk\n", "junk": b""})
    assert paths(a_folder(tmp_path, {"a": b""})) == ["a", "sub/.gitignore", "sub/b"]


def test_what_a_link_has_replaced_is_not_read_twice(tmp_path: Path) -> None:
    a_repository(tmp_path, {"old/x": b"", "new/x": b""})
    (tmp_path / "old/x").unlink()
    (tmp_path / "old").rmdir()
    (tmp_path / "old").symlink_to("new")
    assert paths(tmp_path) == ["new/x"]


def test_a_folder_in_the_place_of_a_tracked_file_is_not_read_twice(tmp_path: Path) -> None:
    a_repository(tmp_path, {"a": b""})
    (tmp_path / "a").unlink()
    a_folder(tmp_path, {"a/b": b""})
    assert paths(tmp_path) == ["a/b"]


@pytest.mark.parametrize("by_git", [True, False])
def test_links_are_not_followed_and_broken_ones_are_told(tmp_path: Path, by_git: bool) -> None:
    a_folder(tmp_path, {"real": b"x"})
    for name, target in {"good": "real", "broken": "nowhere", "self": "self", "up": ".", "away": ".."}.items():
        (tmp_path / name).symlink_to(target)
    if by_git:
        a_repository(tmp_path, {})
    survey = Survey.of(tmp_path)
    assert [entry.path for entry in iter_files(survey)] == [b"real"]
    assert skipped(survey) == {"broken": "broken symbolic link", "self": "symbolic link loop"}


def test_pipes_and_sockets_are_told_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    try:
        os.chdir(tmp_path)  # a socket's address is short
        listener.bind("socket")
    finally:
        os.chdir(here)
        listener.close()
    survey = Survey.of(tmp_path)
    assert list(iter_files(survey)) == []
    assert skipped(survey) == {"pipe": "not a regular file", "socket": "not a regular file"}


ODD = [b"-rf", b"--help", b"new\nline", b"caf\xe9", b'"quoted"', b" ", b"\x1b[31m", b":(top)x", b"a\\xff", b"*"]


@pytest.mark.parametrize("by_git", [True, False])
def test_odd_names_survive(tmp_path: Path, by_git: bool) -> None:
    a_folder(tmp_path, dict.fromkeys(ODD, b"x"))
    if by_git:
        a_repository(tmp_path, {})
    assert [entry.path for entry in iter_files(Survey.of(tmp_path))] == sorted(ODD)


def test_a_folder_without_permission_is_told_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_folder(tmp_path, {"locked/a": b"", "open/b": b""})
    real = os.scandir

    def refuse(place: bytes) -> object:
        if place.rstrip(b"/").endswith(b"locked"):
            raise PermissionError(13, "Permission denied")
        return real(place)

    monkeypatch.setattr(os, "scandir", refuse)
    survey = Survey.of(tmp_path)
    assert [entry.path for entry in iter_files(survey)] == [b"open/b"]
    assert skipped(survey) == {"locked/": "no permission to read"}


def test_a_file_whose_state_may_not_be_asked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_repository(tmp_path, {"a": b"", "b": b""})
    real = os.lstat

    def refuse(place: bytes, **further: object) -> os.stat_result:
        if isinstance(place, bytes) and place.endswith(b"/a"):
            raise PermissionError(13, "Permission denied")
        return real(place, **further)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "lstat", refuse)
    survey = Survey.of(tmp_path)
    assert [entry.path for entry in iter_files(survey)] == [b"b"]
    assert skipped(survey) == {"a": "no permission to read"}


def test_a_repository_without_the_git_program_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_repository(tmp_path, {".gitignore": b"x\n", "x": b""})
    monkeypatch.setenv("PATH", "")
    survey = Survey.of(tmp_path)
    assert [entry.path for entry in iter_files(survey)] == [b".gitignore", b"x"]
    assert not survey.git


def test_a_damaged_repository_is_walked_and_told(tmp_path: Path) -> None:
    a_repository(tmp_path, {".gitignore": b"x\n", "x": b""})
    (tmp_path / ".git/index").write_bytes(b"damaged")
    survey = Survey.of(tmp_path)
    assert [entry.path for entry in iter_files(survey)] == [b".gitignore", b"x"]
    assert not survey.git
    assert "ignored ones are counted too" in survey.notes[0]


def test_a_repository_cannot_start_a_program(tmp_path: Path) -> None:
    repository = a_repository(tmp_path / "r", {"a": b"x"})
    trap = f"touch {tmp_path}/sprung"
    for setting in ("core.fsmonitor", "diff.external", "core.pager", "gpg.program", "log.showSignature"):
        git(repository, "config", setting, "true" if setting.startswith("log") else trap)
    assert paths(repository) == ["a"]
    assert list(audit_git.last_touched(os.fsencode(repository)))
    assert not (tmp_path / "sprung").exists()


def test_a_setting_in_the_environment_does_not_lead_git_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = a_repository(tmp_path / "elsewhere", {"wrong": b""})
    repository = a_repository(tmp_path / "r", {"right": b""})
    monkeypatch.setenv("GIT_DIR", str(elsewhere / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(elsewhere))
    assert paths(repository) == ["right"]


def test_folders_nested_deeper_than_recursion_goes_are_read(tmp_path: Path) -> None:
    a_folder(tmp_path, {"z": b""})
    folder = str(tmp_path)
    for _ in range(1200):
        folder += "/d"
        os.mkdir(folder)
    try:
        assert paths(tmp_path) == ["z"]
    finally:
        os.removedirs(folder)  # what clears up after tests does recurse
