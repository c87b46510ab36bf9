"""Lines with marks, against grep and a naive search, also across chunk borders."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.rehearsal.audit import marks as audited
from core.agents.rehearsal.audit.marks import marked_lines, marks
from tests.agents.test_audit_world import a_folder

WORDS = [b"TODO", b"FIXME", b"TO", b"DO", b"_", b" ", b"\n", b"x", b"\xc3\xa9", b":", b"todo"]


def in_chunks(text: bytes, size: int) -> Iterator[bytes]:
    return (text[at : at + size] for at in range(0, len(text), size))


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(b"".join), st.integers(1, 40), st.integers(7, 20))
def test_marks_are_found_as_a_naive_search_does(text: bytes, size: int, longest: int) -> None:
    naive = [number for number, line in enumerate(text.split(b"\n"), 1) if re.search(rb"\b(TODO|FIXME)\b", line)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audited, "CHUNK", longest)  # lines longer than this come in pieces
        assert [found.line for found in marked_lines(in_chunks(text, size))] == naive


def test_only_whole_words_in_capitals_count(tmp_path: Path) -> None:
    a_folder(tmp_path, {"a": b"TODO TODO FIXME\nTODOS\n_TODO\ntodo\n(FIXME)\nTODO-1"})
    found = marks(tmp_path)
    assert found["lines"] == 3
    assert [place["line"] for place in found["places"]] == [1, 5, 6]


def test_figures_are_those_of_grep(tmp_path: Path) -> None:
    a_folder(tmp_path, {f"{n}.txt": b"TODO\nx\nFIXME: y\n" * n for n in range(1, 15)} | {"bin": b"\0TODO\n"})
    counted = subprocess.run(
        "grep -IrwE 'TODO|FIXME' . | wc -l", shell=True, cwd=tmp_path, capture_output=True, check=True
    )
    found = marks(tmp_path)
    assert (found["lines"], found["files"]) == (int(counted.stdout), 14)
    assert found["top_files"][:2] == [{"path": "14.txt", "lines": 28}, {"path": "13.txt", "lines": 26}]
    assert len(found["top_files"]) == 10
    assert len(found["places"]) == 200


def test_places_show_their_text_cut_and_decoded(tmp_path: Path) -> None:
    a_folder(tmp_path, {"a": b"  # TODO \xff caf\xc3\xa9 " + b"y" * 999, "b": b"z" * 5_000_000 + b" FIXME it\n"})
    first, second = marks(tmp_path)["places"]
    assert first["text"].startswith("# TODO � café yyy")
    assert len(first["text"]) == 200
    assert second == {"path": "b", "line": 1, "text": "FIXME it"}
