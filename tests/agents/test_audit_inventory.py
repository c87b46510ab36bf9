"""Files, lines and bytes by language, against wc and a naive count."""

import io
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pygments.lexers  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.rehearsal.audit.inventory import inventory
from core.agents.rehearsal.audit.languages import _INTERPRETERS, _TIES, language_of
from core.agents.rehearsal.audit.reading import count_lines
from tests.agents.test_audit_world import a_folder, a_repository


def in_chunks(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "Python"),
        ("a.c", "C"),
        ("a.h", "C"),
        ("a.md", "Markdown"),
        ("a.js", "JavaScript"),
        ("a.ts", "TypeScript"),
        ("a.html", "HTML"),
        ("a.css", "CSS"),
        ("a.json", "JSON"),
        ("a.yaml", "YAML"),
        ("a.yml", "YAML"),
        ("a.toml", "TOML"),
        ("a.sh", "Bash"),
        ("a.txt", "Text only"),
        ("Makefile", "Makefile"),
        ("a.rs", "Rust"),
        ("a.go", "Go"),
        ("a.java", "Java"),
        ("a.sql", "SQL"),
        ("a.cpp", "C++"),
        ("a.pl", "Perl"),
        ("A.PY", "Python"),
        ("CMakeLists.txt", "CMake"),
        ("page.html.j2", "HTML+Django/Jinja"),
        ("LICENSE", None),
        (".gitignore", None),
        ("py", None),
    ],
)
def test_a_name_tells_the_language(name: str, language: str | None) -> None:
    assert language_of(b"folder.py/" + os.fsencode(name), b"") == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/usr/bin/python3.11 -u\n", "Python"),
        (b"#!/usr/bin/env python3\n", "Python"),
        (b"#!/usr/bin/env -S A=b node --x\n", "JavaScript"),
        (b"#! /bin/sh\n", "Bash"),
        (b"#!/bin/perl", "Perl"),
        (b"#!/usr/bin/ruby\n", "Ruby"),
        (b"#!/opt/unheard\n", None),
        (b"#!\n", None),
        (b"#!/usr/bin/env\n", None),
    ],
)
def test_else_the_first_line_does(head: bytes, language: str | None) -> None:
    assert language_of(b"script", head) == language


def test_our_names_are_those_of_pygments() -> None:
    theirs = {name for name, _, _, _ in pygments.lexers.get_all_lexers(plugins=False)}
    assert {*_TIES.values(), *_INTERPRETERS.values()} <= theirs


@given(st.binary(max_size=60).map(lambda raw: raw.replace(b"\1", b"\n")), st.integers(1, 9))
def test_lines_are_counted_as_a_naive_count_does(text: bytes, size: int) -> None:
    assert count_lines(in_chunks(text, size)) == (len(io.BytesIO(text).readlines()), len(text))


def test_figures_are_those_of_wc(tmp_path: Path) -> None:
    files: dict[str | bytes, bytes] = {f"{n}.py": b"x\n" * n + b"y" * (n % 2) for n in range(20)}
    files["big.py"] = b"line\n" * 500_000
    a_folder(tmp_path, files)
    counted = subprocess.run(["wc", "-lc", *map(str, files)], cwd=tmp_path, capture_output=True, text=True, check=True)
    newlines, size, _ = counted.stdout.splitlines()[-1].split()
    unended = sum(not content.endswith(b"\n") for content in files.values() if content)
    assert inventory(tmp_path)["languages"] == {
        "Python": {"files": 21, "lines": int(newlines) + unended, "bytes": int(size)}
    }


def test_unknown_text_and_binary_files_stand_apart(tmp_path: Path) -> None:
    a_folder(tmp_path, {"LICENSE": b"a\nb", "x.py": b"a\0\n", "late.py": b"a" * 8192 + b"\0\n", "empty.go": b""})
    found = inventory(tmp_path)
    assert found["other"]["text"] == {"files": 1, "lines": 2, "bytes": 3}
    assert found["other"]["binary"] == {"files": 1, "lines": 0, "bytes": 3}
    assert found["languages"] == {
        "Go": {"files": 1, "lines": 0, "bytes": 0},
        "Python": {"files": 1, "lines": 1, "bytes": 8194},
    }
    assert found["total"] == {"files": 4, "lines": 3, "bytes": 8200}


def test_an_empty_folder_has_empty_figures(tmp_path: Path) -> None:
    found = inventory(tmp_path)
    assert found["languages"] == {}
    assert found["total"] == {"files": 0, "lines": 0, "bytes": 0}


def test_git_is_named_as_the_source(tmp_path: Path) -> None:
    assert inventory(a_repository(tmp_path, {"a.py": b""}))["git"]


def meddle(monkeypatch: pytest.MonkeyPatch, ending: bytes, act: object) -> None:
    """Something happens when a file with this ending is opened."""
    real = os.open

    def opening(place: bytes, *further: int) -> int:
        if isinstance(place, bytes) and place.endswith(ending):
            act(place)  # type: ignore[operator]
        return real(place, *further)

    monkeypatch.setattr(os, "open", opening)


def test_a_file_without_permission_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(place: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    a_folder(tmp_path, {"a.py": b"x\n", "b.py": b"x\n"})
    meddle(monkeypatch, b"a.py", refuse)
    found = inventory(tmp_path)
    assert found["languages"]["Python"]["files"] == 1
    assert found["skipped"] == {"count": 1, "first": [{"path": "a.py", "reason": "no permission to read"}]}


def test_a_file_that_vanishes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_folder(tmp_path, {"a.py": b"x\n", "b.py": b"x\n"})
    meddle(monkeypatch, b"a.py", os.unlink)
    found = inventory(tmp_path)
    assert found["total"]["files"] == 1
    assert found["skipped"]["first"] == [{"path": "a.py", "reason": "vanished during the audit"}]


def test_a_file_that_becomes_a_pipe_does_not_hold_the_audit_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(place: bytes) -> None:
        os.unlink(place)
        os.mkfifo(place)

    a_folder(tmp_path, {"a.py": b"x\n"})
    meddle(monkeypatch, b"a.py", replace)
    assert inventory(tmp_path)["skipped"]["first"] == [{"path": "a.py", "reason": "not a regular file"}]


def test_a_file_that_grows_while_read_is_read_to_its_first_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_folder(tmp_path, {"a.py": b"x\n" * 1_000_000})
    real = os.read

    def growing(descriptor: int, size: int) -> bytes:
        if os.path.samestat(os.fstat(descriptor), os.stat(tmp_path / "a.py")):
            with open(tmp_path / "a.py", "ab") as file:
                file.write(b"x\n" * 1_000_000)
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", growing)
    assert inventory(tmp_path)["total"] == {"files": 1, "lines": 1_000_000, "bytes": 2_000_000}
