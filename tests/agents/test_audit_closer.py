"""A closer look at one file."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.rehearsal.audit.closer import _Lines, closer_look
from core.agents.rehearsal.audit.survey import AuditError
from tests.agents.test_audit_world import a_folder, a_repository


def test_a_file_is_told_in_full(tmp_path: Path) -> None:
    text = b"# TODO one\n\nsame\nsame\n   \nlongest line\n" + b"# FIXME\n" * 6
    a_repository(tmp_path, {"a.py": b"first"}, date="2001-01-01T00:00:00+00:00")
    a_repository(tmp_path, {"a.py": text}, date="2002-01-01T00:00:00+00:00")
    look = closer_look(tmp_path, "a.py")
    assert look["commits"] == {
        "count": 2,
        "first": "2001-01-01T00:00:00+00:00",
        "last": "2002-01-01T00:00:00+00:00",
    }
    assert (look["language"], look["binary"], look["bytes"]) == ("Python", False, len(text))
    assert (look["lines"], look["blank_lines"], look["marks"]) == (12, 2, 7)
    assert look["longest_line"] == {"line": 6, "bytes": 12}
    assert [mark["line"] for mark in look["first_marks"]] == [1, 7, 8, 9, 10]
    assert (look["repeated_share"], look["compared_lines"]) == (0.8, 10)


@given(st.binary(max_size=40).map(lambda raw: raw.translate(b"\n a" * 85 + b"\n")), st.integers(1, 9))
def test_line_figures_do_not_depend_on_the_chunks(text: bytes, size: int) -> None:
    lines = _Lines()
    list(lines.watching(text[at : at + size] for at in range(0, len(text), size)))
    naive = text.split(b"\n")[: None if text[-1:] not in (b"", b"\n") else -1]
    written = [line for line in naive if line.strip()]
    repeated = [line for line in written if written.count(line) > 1]
    assert (lines.bytes, lines.count, lines.blank) == (len(text), len(naive), len(naive) - len(written))
    assert lines.repeated_share() == (round(len(repeated) / len(written), 4) if written else 0)
    assert (lines.longest or {"bytes": 0})["bytes"] == max(map(len, naive), default=0)


def test_binary_and_empty_files_have_no_lines(tmp_path: Path) -> None:
    a_folder(tmp_path, {"b": b"\0\n\n", "e": b""})
    binary, empty = closer_look(tmp_path, "b"), closer_look(tmp_path, "e")
    assert (binary["binary"], binary["bytes"], binary["lines"], binary["longest_line"]) == (True, 3, 0, None)
    assert (empty["binary"], empty["bytes"], empty["lines"], empty["commits"]) == (False, 0, 0, None)


def test_odd_names_are_found_as_shown(tmp_path: Path) -> None:
    a_repository(tmp_path, {b":(top)\xff*": b"x"})
    look = closer_look(tmp_path, ":(top)\\xff*")
    assert look["path"] == ":(top)\\xff*"
    assert look["commits"] is not None


@pytest.mark.parametrize("path", ["../beside", "/etc/hostname", "away/beside", "a\0b", "sub/../../beside"])
def test_a_path_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    a_folder(tmp_path, {"beside": b"x", "folder/sub/x": b""})
    (tmp_path / "folder/away").symlink_to("..")
    with pytest.raises(AuditError, match="is not in the folder"):
        closer_look(tmp_path / "folder", path)


@pytest.mark.parametrize("path", ["gone", "sub", "", ".", "link", "pipe"])
def test_what_is_no_readable_file_is_refused(tmp_path: Path, path: str) -> None:
    a_folder(tmp_path, {"sub/x": b""})
    (tmp_path / "link").symlink_to("sub/x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AuditError, match="cannot be read"):
        closer_look(tmp_path, path)
