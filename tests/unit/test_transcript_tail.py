"""A transcript is followed while it grows and rotates; whatever lies in it is told as a line, in bounded memory."""

import json
import os
from pathlib import Path

import pytest

from core.agents import transcript_tail
from core.agents.transcript import FILES, Transcripts
from core.agents.transcript_tail import TEXT_MAX, Entry, Tail


def texts(entries: list[Entry]) -> list[str]:
    return [entry.text("text") for entry in entries]


def say(transcripts: Transcripts, *lines: str) -> None:
    for line in lines:
        transcripts.opened(1)("text", {"text": line})
    transcripts.flush()


def read_all(tail: Tail) -> list[Entry]:
    found: list[Entry] = []
    while more := tail.read():
        found += more
    return found


def test_what_is_written_is_read_once_in_its_order(tmp_path: Path) -> None:
    transcripts, tail = Transcripts(tmp_path, lambda: 7), Tail(tmp_path, 1)
    assert tail.read() == []
    say(transcripts, "a", "b")
    assert tail.read() == [Entry(7, "text", {"text": "a"}), Entry(7, "text", {"text": "b"})]
    assert tail.read() == []
    say(transcripts, "c")
    assert texts(tail.read()) == ["c"]
    transcripts.stop()
    tail.close()


@pytest.mark.parametrize("often", [1, 3, 399])
def test_a_full_file_makes_place_and_the_reader_goes_on_with_the_next(tmp_path: Path, often: int) -> None:
    transcripts, tail = Transcripts(tmp_path, lambda: 7, size=2000), Tail(tmp_path, 1)
    said, heard = [], []
    for number in range(400):
        said.append(f"line {number}")
        say(transcripts, said[-1])
        if number % often == 0:
            heard += read_all(tail)
    heard += read_all(tail)
    transcripts.stop()
    tail.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["1.1.jsonl", "1.2.jsonl", "1.jsonl"]
    assert len(names) == FILES
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    told = [text for text in texts(heard) if not text.startswith("lines between")]
    assert told == sorted(set(told), key=said.index)
    assert told[-1] == said[-1]
    if often < 399:
        assert told == said
    else:
        assert len(told) < len(said)
        assert any(entry.kind == "cut" for entry in heard)


def test_a_long_transcript_is_begun_near_its_end_and_says_so(tmp_path: Path) -> None:
    transcripts = Transcripts(tmp_path, lambda: 7)
    say(transcripts, *(f"line {number}" for number in range(1000)))
    tail = Tail(tmp_path, 1, begin=2000)
    found = read_all(tail)
    assert "earlier lines" in texts(found)[0]
    assert texts(found)[-1] == "line 999"
    assert len(found) < 60
    tail.close()
    transcripts.stop()


def test_lines_that_are_none_and_huge_ones_are_told_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_tail, "LINE_MAX", 1_500_000)
    rows = [
        b"\xff\x00 no json", b"[]", b'{"kind": "text"}', b'{"at": 1e999, "kind": "x"}', b"[" * 100_000,
        json.dumps({"at": 1, "kind": "text", "text": "x" * 1_000_000}).encode(),
        json.dumps({"at": 2, "kind": "text", "text": "y" * 3_000_000}).encode(),
        json.dumps({"at": 3, "kind": "call", "command": "A", "answer": {"id": 1}}).encode(), b'{"at": 4, "ki',
    ]  # fmt: skip
    (tmp_path / "1.jsonl").write_bytes(b"\n".join(rows))
    tail = Tail(tmp_path, 1, begin=10**9)
    found = read_all(tail)
    assert [entry.kind for entry in found] == [*["unreadable"] * 5, "text", "cut", "call"]
    assert len(found[5].text("text")) < TEXT_MAX + 100
    assert "characters more" in found[5].text("text")
    assert "too long" in found[6].text("text")
    assert found[7].facts == {"command": "A", "answer": '{"id": 1}'}
    with (tmp_path / "1.jsonl").open("ab") as file:
        file.write(b'nd": "text"}\n')
    assert [entry.kind for entry in tail.read()] == ["text"]
    tail.close()


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_what_is_no_file_is_not_read(tmp_path: Path, what: str) -> None:
    (tmp_path / "secret").write_text('{"at": 1, "kind": "text"}\n')
    place = tmp_path / "1.jsonl"
    match what:
        case "link":
            place.symlink_to(tmp_path / "secret")
        case "pipe":
            os.mkfifo(place)
        case _:
            place.mkdir()
    assert Tail(tmp_path, 1).read() == []


def test_one_that_was_emptied_is_read_from_its_begin(tmp_path: Path) -> None:
    transcripts, tail = Transcripts(tmp_path, lambda: 7), Tail(tmp_path, 1)
    say(transcripts, "a", "b")
    assert len(tail.read()) == 2
    os.truncate(tmp_path / "1.jsonl", 0)
    say(transcripts, "c")
    assert texts(tail.read()) == ["c"]
    transcripts.stop()
    tail.close()
