"""The catalogue's programs, played by scripts that speak each one's format and take its arguments."""

import json
import sys
from pathlib import Path

import pytest

from core.agents.access import Access
from core.agents.programs.catalogue import program_of
from core.agents.programs.parsers import ClaudeParser, CodexParser, GeminiParser, OpencodeParser
from core.agents.programs.pieces import Finished, Parser, Piece
from core.agents.programs.settings import settings_of
from core.domain.entities import Run
from core.domain.states import RunStatus, TaskStatus
from tests.programs.company import CLAIM, DELIVER, an_office

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

# Each says something, uses a tool, and tells what it used; `ITS_END` stands for how it ends.
CLAUDE = """
tell(type="system", subtype="init", session_id="s-1")
tell(type="assistant", message={"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": WORDS}]})
tell(type="assistant", message={"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": "ls"}]})
tell(type="user", message={"content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"text": "agent.py"}]}]})
usage = {"input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 10}
tell(type="result", subtype="success", is_error=False, result="ok", total_cost_usd=0.01, usage=usage)
"""
CODEX = """
tell(type="thread.started", thread_id="s-1")
tell(type="turn.started")
tell(type="item.completed", item={"id": "1", "type": "agent_message", "text": WORDS})
tell(type="item.completed", item={"id": "2", "type": "command_execution", "command": "Bash ls", "status": "completed"})
total = 300 if RESUMED else 150
tell(type="turn.completed", usage={"input_tokens": total, "output_tokens": total // 15})
"""
OPENCODE = """
tell(type="step_start", sessionID="s-1", part={})
tell(type="text", part={"text": WORDS})
tell(type="tool_use", part={"tool": "Bash", "callID": "1", "state": {"status": "completed", "output": "x"}})
tell(type="step_finish", part={"reason": "tool-calls", "cost": 0.004, "tokens": {"input": 100, "output": 4}})
tell(type="step_finish", part={"reason": "stop", "cost": 0.006, "tokens": {"input": 50, "output": 6}})
"""
TELLING = """
RESUMED = "s-1" in sys.argv
WORDS = "resumed" if RESUMED else "it is done, surely"
def tell(**facts):
    print(json.dumps(facts), flush=True)
tell(type="unknown", argv=sys.argv)
with open("argv.json", "w") as file:
    json.dump([sys.argv, os.environ.get("OPENCODE_CONFIG_CONTENT", "")], file)
"""


@pytest.mark.parametrize(
    ("program", "speech", "cost"), [("claude", CLAUDE, 20_000), ("codex", CODEX, 0), ("opencode", OPENCODE, 20_000)]
)
async def test_it_is_reminded_in_its_own_session_and_its_usage_is_counted(
    tmp_path: Path, program: str, speech: str, cost: int
) -> None:
    work = "if RESUMED:\n" + "\n".join(f"    {line}" for line in DELIVER.strip().splitlines())
    code = CLAIM.replace("if CLAIMS:", TELLING + "if CLAIMS:").replace(
        "    sys.exit()", "\n".join(f"    {line}" for line in speech.strip().splitlines()) + "\n    sys.exit()"
    )  # fmt: skip
    async with an_office(tmp_path, code + work + speech, program=program, model="best") as office:
        claimed = await office.ended("broadcast")
        assert (claimed.status, claimed.exit_kind) == (RunStatus.SUCCEEDED, "done")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind, run.session) == (RunStatus.SUCCEEDED, "done", "s-1")
        assert (run.tokens_in, run.tokens_out, run.cost_micros) == (300, 20, cost)
        assert (await office.task()).status == TaskStatus.REVIEW
        told = await office.transcript(run)
        assert told.count("reminded (") == 1
        assert all(text in told for text in ("it is done, surely", "resumed", '"kind": "tool"'))
        argv, content = json.loads((tmp_path / "work" / "ada" / "argv.json").read_text())
        assert {"--model", "best", "s-1"} <= set(argv)
        assert "/mcp" in " ".join(argv) + content
        assert "run-" not in " ".join(argv) + content  # the token of the run


async def ended(folder: Path, program: str, code: str) -> Run:
    async with an_office(folder, "import json, os, sys\n" + TELLING + code, program=program) as office:
        return await office.ended("broadcast")


async def test_a_success_that_is_an_error_failed(tmp_path: Path) -> None:
    told = 'tell(type="result", subtype="success", is_error=True, result="Invalid API key")'
    run = await ended(tmp_path, "claude", told)
    assert (run.status, run.detail) == (RunStatus.FAILED, "Invalid API key")


async def test_exit_code_0_without_a_result_is_no_success(tmp_path: Path) -> None:
    run = await ended(tmp_path, "codex", 'tell(type="thread.started", thread_id="s-1")')
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "no_result")


async def test_a_program_that_only_talks_is_reminded_twice(tmp_path: Path) -> None:
    code = CLAIM.replace("if CLAIMS:", TELLING + "if CLAIMS:").replace(
        "    sys.exit()", '    tell(type="turn.completed", usage={})\n    sys.exit()'
    )  # fmt: skip
    async with an_office(tmp_path, code + CODEX, program="codex") as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == (RunStatus.PROTOCOL_VIOLATION, "no_board_call")
        assert "after 2 reminders" in run.detail
        told = await office.transcript(run)
        assert [f"reminded ({count} of 2)" in told for count in (1, 2, 3)] == [True, True, False]


GARBAGE = [
    "", "{", "null", "[]", "7", "{}", '{"type": null}', '{"type": ["x"]}', "[" * 100_000, '{"type": ' * 2000,
    *(
        json.dumps({"type": kind, **dict.fromkeys(("message", "item", "part", "usage", "error", "result"), value)})
        for kind in (
            "system", "assistant", "user", "result", "thread.started", "item.completed", "turn.completed",
            "turn.failed", "step_start", "text", "tool_use", "step_finish", "error", "init", "message", "tool_result",
        )
        for value in (None, 7, "x", [], [7], {"content": [7, {"type": "text"}]}, {"type": 7, "usage": "x", "cost": -1})
    ),
]  # fmt: skip


@pytest.mark.parametrize("parser", [ClaudeParser(), CodexParser(), OpencodeParser(), GeminiParser()])
def test_whatever_a_line_holds_it_is_read(parser: Parser) -> None:
    for line in GARBAGE:
        pieces: list[Piece] = parser.take(line)
        assert isinstance(pieces, list)


def end_of(parser: Parser, *told: dict[str, object]) -> Finished:
    """How a process ends that tells these events."""
    ends = [piece for each in told for piece in parser.take(json.dumps(each)) if isinstance(piece, Finished)]
    assert len(ends) == 1
    return ends[0]


def claude(why: str, **more: object) -> dict[str, object]:
    return {"type": "result", "subtype": "success", "is_error": True, "result": why, **more}


def failing(program: str, why: str) -> Finished:
    """The end of this program that failed in these words, and told nothing more."""
    match program:
        case "claude":
            return end_of(ClaudeParser(), claude(why))
        case "codex":
            return end_of(CodexParser(), {"type": "turn.failed", "error": {"message": why}})
        case "opencode":
            return end_of(OpencodeParser(), {"type": "error", "error": {"name": "APIError", "data": {"message": why}}})
        case _:
            return end_of(GeminiParser(), {"type": "result", "status": "error", "error": {"message": why}})


@pytest.mark.parametrize("program", ["claude", "codex", "opencode", "gemini"])
@pytest.mark.parametrize("why", [
    "Claude usage limit reached. Your limit will reset at 3pm.", "5-hour limit reached", "You've hit your usage limit.",
    "exceeded retry limit, last status: 429 Too Many Requests", "unexpected status 429 Too Many Requests: wait",
    "API Error: Request rejected (429) · You are too fast.", 'API Error: 429 {"type":"error"}', "Rate limit",
    "API Error: Repeated 529 Overloaded errors", "Rate limit reached for gpt-5 in organization x", "Overloaded",
    '{"error":{"type":"overloaded_error"}}', "The model is overloaded. Please try again later.",
    "[API Error: Not now.]\nPlease wait and try again later. To increase your limits, request a quota increase",
    "Rate limit exceeded. Try again later.", "Request failed with status code 429", "HTTP 429", "Too Many Requests",
])  # fmt: skip
def test_a_limit_of_its_provider_is_known(program: str, why: str) -> None:
    assert failing(program, why) == Finished(False, "rate_limited", why)


@pytest.mark.parametrize("program", ["claude", "codex", "opencode", "gemini"])
@pytest.mark.parametrize("why", [
    "tests/test_a.py line 429: assertion failed", "tests/a.py line 429 failed", "The function is overloaded",
    "test_rate_limit_of_the_client failed", "the rate limit of the API is not described", "error in line 429",
    "expected status code 429, got 200", "the usage limit has no test", "wrote 429 files, then failed",
    "operator overloaded twice: error", "too many requests in the test made it fail", "Invalid API key",
])  # fmt: skip
def test_an_ordinary_failure_that_speaks_of_limits_is_none(program: str, why: str) -> None:
    """F14: an end by a limit costs no attempt, so a failure that is taken for one would be tried for ever."""
    assert failing(program, why) == Finished(False, "failed", why)


def opencode(status: int, why: str) -> dict[str, object]:
    return {"type": "error", "error": {"name": "APIError", "data": {"message": why, "statusCode": status}}}


def gemini(code: object, why: str, kind: str = "Error") -> dict[str, object]:
    return {"type": "result", "status": "error", "error": {"type": kind, "message": why, "code": code}}


@pytest.mark.parametrize(("end", "kind"), [
    (end_of(ClaudeParser(), claude("You are too fast.", api_error_status=429)), "rate_limited"),
    (end_of(ClaudeParser(), claude("Rate limit", api_error_status=401)), "failed"),
    (end_of(ClaudeParser(), {"type": "assistant", "error": "rate_limit"}, claude("Not now.")), "rate_limited"),
    (end_of(ClaudeParser(), {"type": "assistant", "error": "rate_limit"}, {"type": "assistant"}, claude("It broke.")),
     "failed"),
    (end_of(OpencodeParser(), opencode(429, "You are too fast.")), "rate_limited"),
    (end_of(OpencodeParser(), opencode(400, "Rate limit")), "failed"),
    (end_of(OpencodeParser(), opencode(503, "The model is overloaded")), "rate_limited"),
    (end_of(OpencodeParser(), opencode(503, "It is down")), "failed"),
    (end_of(GeminiParser(), gemini(429, "You are too fast.")), "rate_limited"),
    (end_of(GeminiParser(), gemini(None, "Not now.", "RESOURCE_EXHAUSTED")), "rate_limited"),
    (end_of(GeminiParser(), gemini([429], "It broke.")), "failed"),
])  # fmt: skip
def test_a_field_of_its_own_tells_a_limit_before_any_word(end: Finished, kind: str) -> None:
    assert end.kind == kind


EDITS = "Read,Glob,Grep,Edit,Write,NotebookEdit"
READ_ONLY, WRITES = "--sandbox read-only", "--sandbox workspace-write"
# What each word of `allow` must put on the command line or into the environment, and what must be in neither.
ALLOWED = {
    ("claude", "board"): ("manual --tools Read,Glob,Grep --allowedTools mcp__opsroom", ["Edit", "Bash", "bypass"]),
    ("claude", "edits"): (f"acceptEdits --tools {EDITS} --allowedTools mcp__opsroom", ["Bash", "Web", "bypass"]),
    ("claude", "commands"): ("acceptEdits --allowedTools mcp__opsroom Bash WebFetch WebSearch", ["bypass", "--tools"]),
    ("codex", "board"): (READ_ONLY, ["workspace-write", "writable_roots", "danger"]),
    ("codex", "edits"): (WRITES, ["read-only", "writable_roots", "danger"]),
    ("codex", "commands"): (f'{WRITES} -c sandbox_workspace_write.writable_roots=["/c"]', ["read-only", "danger"]),
    ("opencode", "board"): ('{"edit":"deny","bash":"deny","webfetch":"deny","websearch":"deny"', ['"allow"']),
    ("opencode", "edits"): ('{"edit":"allow","bash":"deny","webfetch":"deny","websearch":"deny"', ['"bash":"allow"']),
    ("opencode", "commands"): ('{"edit":"allow","bash":"allow"', ['"external_directory":"allow"']),
    ("gemini", "board"): ("--approval-mode default", ["auto_edit", "yolo"]),
    ("gemini", "edits"): ("--approval-mode auto_edit", ["yolo", "--approval-mode default"]),
    ("gemini", "commands"): ("--approval-mode yolo", ["auto_edit", "--approval-mode default"]),
}


def start_of(program: str, **more: object) -> str:
    """The command line of a new session and what its environment is told, as one text."""
    settings = settings_of({"kind": "command", "program": program, **more})
    start = program_of(settings).start(settings, Access("http://127.0.0.1:1", "t", 1), "", [Path("/c")])
    return "\n".join([" ".join(start.argv), *(f"{name}={text}" for name, text in sorted(start.environment.items()))])


@pytest.mark.parametrize(("program", "allow"), ALLOWED)
def test_what_a_program_may_do_unasked_is_told_to_it_by_its_start(program: str, allow: str) -> None:
    told, (must, never) = start_of(program, allow=allow), ALLOWED[program, allow]
    assert must in told
    assert [each for each in never if each in told] == []
    # Whoever names nothing lets it edit files, and no more.
    assert (told == start_of(program)) == (allow == "edits")


@pytest.mark.parametrize(("settings", "own"), [({}, False), ({"own_home": False}, False), ({"own_home": True}, True)])
@pytest.mark.parametrize(("program", "variable"), [("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")])
async def test_its_settings_lie_with_the_operators_or_in_a_home_of_its_own(
    tmp_path: Path, program: str, variable: str, settings: dict[str, bool], own: bool
) -> None:
    code = f'import os\nopen("home.txt", "w").write(os.environ.get({variable!r}, ""))\n'
    async with an_office(tmp_path, code, {variable: "/of/the/operator"}, program=program, **settings) as office:
        await office.ended("broadcast")
    home = tmp_path / "homes" / "ada"
    assert (tmp_path / "work" / "ada" / "home.txt").read_text() == (str(home) if own else "/of/the/operator")
    assert home.is_dir() == own
    if own:
        assert home.stat().st_mode & 0o077 == 0
