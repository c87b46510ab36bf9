"""Whatever lies in the place of a transcript or is said: the writing goes on, and nothing is written elsewhere."""

import json
import logging
import os
from pathlib import Path

import pytest

from core.agents.transcript import Transcripts


def test_a_link_and_a_pipe_in_the_place_of_a_transcript_are_told_once_and_the_next_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("kept")
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "1.jsonl").symlink_to(secret)
    os.mkfifo(runs / "2.jsonl")
    reader = os.open(runs / "2.jsonl", os.O_RDONLY | os.O_NONBLOCK)
    transcripts = Transcripts(runs, lambda: 1)
    with caplog.at_level(logging.WARNING):
        for run in (1, 2, 3):
            transcripts.opened(run)("text", {"text": "hello"})
        transcripts.stop()
    os.close(reader)
    assert secret.read_text() == "kept"
    assert json.loads((runs / "3.jsonl").read_text())["text"] == "hello"
    (record,) = caplog.records
    assert "runs/1.jsonl cannot be written" in record.getMessage()


def test_half_a_character_is_kept_as_what_it_was(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    transcripts = Transcripts(tmp_path, lambda: 1)
    transcripts.keep_prompt(1, {"text": "a\ud800b"})
    transcripts.opened(1)("text", {"text": "a\ud800b"})
    transcripts.stop()
    assert json.loads(transcripts.prompt_path(1).read_text(encoding="utf-8")) == {"text": "a\ud800b"}
    assert json.loads(transcripts.path(1).read_text(encoding="utf-8"))["text"] == "a\ud800b"
    assert not caplog.records
