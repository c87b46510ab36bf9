"""What the real programs printed in one run each (`samples/`), read by their parsers: the same work, told four ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.agents.programs.parsers import ClaudeParser, CodexParser, GeminiParser, OpencodeParser
from core.agents.programs.pieces import (
    Called,
    Finished,
    Noted,
    Parser,
    Piece,
    Resulted,
    Said,
    Scope,
    SessionIs,
    Turned,
    Used,
)

SAMPLES = Path(__file__).parent / "samples"
# With how its usage counts, and how many answers of its model it tells: codex tells one a process.
ALL = [
    pytest.param("claude", ClaudeParser, Scope.PROCESS, 6, id="claude"),
    pytest.param("codex", CodexParser, Scope.SESSION, 1, id="codex"),
    pytest.param("opencode", OpencodeParser, Scope.STEP, 6, id="opencode"),
    pytest.param("gemini", GeminiParser, Scope.PROCESS, 6, id="gemini"),
]


@pytest.mark.parametrize(("name", "parser", "scope", "answers"), ALL)
def test_a_real_run_is_read(name: str, parser: Callable[[], Parser], scope: Scope, answers: int) -> None:
    reads = parser()
    lines = (SAMPLES / f"{name}.jsonl").read_text().splitlines()
    pieces: list[Piece] = [piece for line in lines for piece in reads.take(line)]
    said = [piece.text for piece in pieces if isinstance(piece, Said)]
    assert said == ["To work.", *(f"I do {step}." for step in STEPS), "It is handed in."]
    calls = [piece for piece in pieces if isinstance(piece, Called)]
    assert "sign.txt" in calls[0].arguments
    assert [call.name.rpartition("_")[2].rpartition(".")[2] for call in calls[1:]] == list(STEPS)
    results = [piece for piece in pieces if isinstance(piece, Resulted)]
    assert [result.id for result in results] == [call.id for call in calls]
    assert results[0].text == "Mondays, 9 to 16."
    assert not any(result.failed for result in results)
    assert sum(isinstance(piece, Turned) for piece in pieces) == answers
    used = [piece for piece in pieces if isinstance(piece, Used)]
    assert {piece.scope for piece in used} == {scope}
    assert (sum(piece.tokens_in for piece in used), sum(piece.tokens_out for piece in used)) == (600, 60)
    assert len({piece.id for piece in pieces if isinstance(piece, SessionIs)}) == 1
    assert pieces[-1] == Finished(True)


STEPS = ("StartTask", "AddOutput", "AddComment", "SubmitTask")


def test_money_that_is_told_as_nothing_is_unknown() -> None:
    line = next(line for line in (SAMPLES / "opencode.jsonl").read_text().splitlines() if "step_finish" in line)
    assert [piece.cost_micros for piece in OpencodeParser().take(line) if isinstance(piece, Used)] == [None]


def test_a_warning_is_none_of_its_words() -> None:
    lines = (SAMPLES / "codex.jsonl").read_text().splitlines()
    warned = [piece for line in lines for piece in CodexParser().take(line) if isinstance(piece, Noted)]
    assert [piece.text.startswith("Model metadata for") for piece in warned] == [True]


def test_a_refusal_that_is_tried_again_is_told() -> None:
    line = (
        '{"type":"system","subtype":"api_retry","attempt":7,"max_retries":10,"retry_delay_ms":32673,'
        '"error_status":429,"error":"rate_limit","session_id":"s"}'
    )
    told = ClaudeParser().take(line)
    assert told == [Noted("its provider refused (429 rate_limit); it asks again in 33 s (7 of 10)")]
