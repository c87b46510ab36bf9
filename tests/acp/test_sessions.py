"""Programs that speak the protocol, at work through the dispatcher: what they tell, and how they end."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import AgentRecord, Remark, Run
from core.domain.states import RunStatus, TaskStatus
from tests.acp.bare import bare
from tests.programs.company import DELIVER, an_office
from tests.programs.processes import marked
from tests.stepped import Stepped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
SILENT = """
def work(prompt):
    say("NO_REPLY")
"""
WORKS = """
def work(prompt):
    if "SubmitTask" not in prompt:
        call("ClaimTask", task=1)
        return
""" + "\n".join(f"    {line}" for line in DELIVER.strip().splitlines())


def an_acp_office(
    folder: Path, code: str, ours: Mapping[str, str] | None = None, **settings: Any
) -> AbstractAsyncContextManager[Stepped]:
    """ada is a program of this text, with the mode `default` in which it asks."""
    return an_office(folder, bare(code), ours, kind="acp", **{"mode": "default", **settings})


async def ended(folder: Path, code: str, **settings: Any) -> tuple[Run, str]:
    """Its first run, and what that told; nothing of it is left then."""
    async with an_acp_office(folder, code, **settings) as office:
        run = await office.ended("broadcast")
        told = await office.transcript(run)
        assert marked(str(folder)) == []
        return run, told


async def test_silence_is_an_answer_where_it_may_be(tmp_path: Path) -> None:
    run, told = await ended(tmp_path, SILENT.replace('say("NO_REPLY")', 'say("NO_"); say("REPLY")'))
    assert (run.status, run.exit_kind, run.detail, run.session) == (RunStatus.SUCCEEDED, "no_reply", "", "s-1")
    assert "the program is bare 7" in told
    assert "supervised: in its session mode 'default' the operator is asked" in told


async def test_it_claims_delivers_and_hands_off(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, WORKS) as office:
        assert (await office.ended("broadcast")).exit_kind == "done"
        run = await office.ended("execute")
        assert (run.status, run.exit_kind, run.detail, run.session) == (RunStatus.SUCCEEDED, "done", "", "s-1")
        assert (await office.task()).status == TaskStatus.REVIEW
        calls = [each for line in (await office.transcript(run)).splitlines() if (each := json.loads(line))]
        assert [each["command"] for each in calls if each["kind"] == "call"] == [
            "StartTask", "AddOutput", "AddComment", "SubmitTask"
        ]  # fmt: skip


SESSIONS = """
def answer_session_load(params):
    if os.environ.get("LOST") == "yes":
        raise Wrong({"code": -32603, "message": "Internal error", "data": {"details": "no such session"}})
    say("told before")
    return opened()
"""
DIES_FIRST = WORKS.replace(
    '    call("StartTask"',
    '    if not os.path.exists("died"):\n        open("died", "w"); os._exit(3)\n    call("StartTask"',
)


@pytest.mark.parametrize(
    ("can", "lost", "words"),
    [
        ('{"loadSession": True}', "no", "it goes on with its session s-1"),
        ('{"loadSession": True}', "yes", "no such session"),
        ("{}", "no", "it cannot go on with its former session: a new one was begun"),
    ],
)
async def test_the_next_run_of_its_task_goes_on_with_its_session_or_says_that_it_cannot(
    tmp_path: Path, can: str, lost: str, words: str
) -> None:
    code = f"CAN = {can}\n" + SESSIONS + DIES_FIRST
    async with an_acp_office(tmp_path, code, {"LOST": lost}, env=["LOST"]) as office:
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == (RunStatus.FAILED, "exit")
        while (run := (await office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]).exit_kind == "exit":
            await office.step()
        assert run.exit_kind == "done"
        told = await office.transcript(run)
        assert words in told
        assert "told before" not in told


async def test_another_program_does_not_go_on_with_the_session_of_the_one_before_it(tmp_path: Path) -> None:
    code = """
CAN = {"loadSession": True, "mcpCapabilities": {"http": True}}
def answer_session_load(params):
    open("loaded", "w").close()
    return opened()
"""
    async with an_acp_office(tmp_path, code + DIES_FIRST) as office:
        run = await office.ended("execute")
        assert (run.exit_kind, run.session) == ("exit", "s-1")
        loaded = tmp_path / "work" / "ada" / "loaded"
        loaded.unlink(missing_ok=True)
        other = tmp_path / "other.py"
        other.write_text((tmp_path / "agent.py").read_text())
        ada = (await office.all(AgentRecord, "slug = 'ada'"))[0]
        await office.do("EditAgent", agent="ada", runner={**ada.runner, "command": [sys.executable, str(other)]})
        while (run := (await office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]).exit_kind == "exit":
            await office.step()
        assert run.exit_kind == "done"
        assert not loaded.exists()


async def test_what_it_tells_is_told_in_lines_with_its_plan_tools_changes_and_use(tmp_path: Path) -> None:
    code = """
def work(prompt):
    say("I look ", "agent_thought_chunk")
    for letter in "First I read it.":
        say(letter)
    update("plan", entries=[{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}])
    update("tool_call", toolCallId="t", title="edit x.py", kind="edit", status="pending", rawInput={})
    change = {"type": "diff", "path": "x.py", "oldText": "a = 1", "newText": "a = 2"}
    update("tool_call_update", toolCallId="t", rawInput={"path": "x.py"}, content=[change])
    update("tool_call_update", toolCallId="t", status="completed", content=[change])
    update("tool_call_update", toolCallId="unknown", status="failed", rawOutput={"error": "none"})
    update("something_new", facts=[1])
    update("usage_update", used=10, size=100, cost={"amount": 0.25, "currency": "USD"})
    say("NO_REPLY")
    return {"stopReason": "end_turn", "usage": {"totalTokens": 130, "inputTokens": 100, "outputTokens": 20,
                                                "cachedReadTokens": 10}}
"""
    run, text = await ended(tmp_path, code)
    assert (run.exit_kind, run.tokens_in, run.tokens_out, run.cost_micros) == ("no_reply", 110, 20, 250_000)
    told = [json.loads(line) for line in text.splitlines()]
    assert [each["text"] for each in told if each["kind"] == "text"] == ["First I read it.", "NO_REPLY"]
    assert [each["text"] for each in told if each["kind"] == "thought"] == ["I look"]
    tools = [each for each in told if each["kind"] in ("tool", "result")]
    assert [(each["kind"], each["id"]) for each in tools] == [
        ("tool", "t"), ("result", "t"), ("tool", "unknown"), ("result", "unknown")
    ]  # fmt: skip
    notices = [each["text"] for each in told if each["kind"] == "notice"]
    assert [each["text"] for each in told if each["kind"] == "plan"] == ["its plan:\n[x] read\n[ ] write"]
    changes = [each for each in notices if each.startswith("its change: x.py")]
    assert len(changes) == 1
    assert "-a = 1\n+a = 2" in changes[0]


async def test_the_board_reaches_it_by_http_or_else_by_a_process_of_ours(tmp_path: Path) -> None:
    code = """
def work(prompt):
    given = GIVEN["session/new"]["mcpServers"][0]
    if given.get("type") == "http":
        say(given["url"].rsplit("/", 1)[1] + " " + given["headers"][0]["name"])
    else:
        import subprocess
        env = {**os.environ, **{each["name"]: each["value"] for each in given["env"]}}
        asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) + chr(10)
        done = subprocess.run([given["command"], *given["args"]], input=asked, env=env, capture_output=True, text=True)
        say("ClaimTask" if "ClaimTask" in done.stdout else done.stderr[-500:])
    say(chr(10) + "NO_REPLY")
"""
    _, told = await ended(tmp_path / "http", code)
    assert "mcp Authorization" in told
    _, told = await ended(tmp_path / "stdio", "CAN = {}\n" + code)
    assert '"ClaimTask' in told


async def test_words_without_the_call_that_is_owed_are_reminded_twice(tmp_path: Path) -> None:
    code = WORKS.split("    call(\"StartTask\"")[0] + """
    say("I am sure that it is done.")
"""  # fmt: skip
    async with an_acp_office(tmp_path, code) as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == (RunStatus.PROTOCOL_VIOLATION, "no_board_call")
        assert "after 2 reminders: I am sure that it is done." in run.detail
        assert (await office.transcript(run)).count("reminded (") == 2


@pytest.mark.parametrize(
    ("reason", "exit_kind"),
    [("max_tokens", "max_tokens"), ("max_turn_requests", "max_turn_requests"), ("refusal", "refusal"),
     ("cancelled", "cancelled"), ("bored", "protocol")],
)  # fmt: skip
async def test_a_turn_that_did_not_come_to_its_end_is_no_success(tmp_path: Path, reason: str, exit_kind: str) -> None:
    run, _ = await ended(tmp_path, f"def work(prompt):\n    return {reason!r}\n")
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, exit_kind)


ANSWERS = [
    ({"code": -32000, "message": "Authentication required"}, RunStatus.FAILED, "auth", "login-here"),
    ({"code": -32603, "message": "429 rate limit"}, RunStatus.RATE_LIMITED, "rate_limited", "429"),
    ({"code": 429, "message": "Not now."}, RunStatus.RATE_LIMITED, "rate_limited", "Not now."),
    ({"code": -32603, "message": "Internal error", "data": {"errorKind": "overloaded"}},
     RunStatus.RATE_LIMITED, "rate_limited", "Internal error"),
    ({"code": -32603, "message": "a.py, line 429: overloaded"}, RunStatus.FAILED, "refused", "line 429"),
    ("out of order", RunStatus.FAILED, "refused", "out of order"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "status", "exit_kind", "words"), ANSWERS)
async def test_an_error_instead_of_a_session_says_what_to_do(
    tmp_path: Path, error: object, status: RunStatus, exit_kind: str, words: str
) -> None:
    code = f"""
AUTH = [{{"id": "login-here", "name": "Log in"}}]
def answer_session_new(params):
    raise Wrong({error!r})
def work(prompt): pass
"""
    run, _ = await ended(tmp_path, code)
    assert (run.status, run.exit_kind) == (status, exit_kind)
    assert words in run.detail


async def test_it_is_logged_in_by_the_way_that_was_named(tmp_path: Path) -> None:
    code = 'AUTH = [{"id": "key", "name": "By key"}]' + SILENT.replace("NO_REPLY", "NO_REPLY") + """
    say(" by " + GIVEN["authenticate"]["methodId"])
"""  # fmt: skip
    _, told = await ended(tmp_path / "named", code, auth="key")
    assert "by key" in told
    run, _ = await ended(tmp_path / "wrong", code, auth="browser")
    assert (run.exit_kind, "it offers: key" in run.detail) == ("auth", True)


async def test_a_model_is_chosen_where_the_session_lets_one_choose(tmp_path: Path) -> None:
    code = """
MODEL = "small"
def opened():
    values = [{"value": each, "name": each} for each in ("small", "best")]
    option = {"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": MODEL,
              "options": values}
    return {"modes": modes(), "configOptions": [option]}
def answer_session_set_config_option(params):
    global MODEL
    MODEL = params["value"] if params["value"] == "best" else MODEL
    return opened()
def work(prompt):
    say(MODEL + chr(10) + "NO_REPLY")
"""
    _, told = await ended(tmp_path / "best", code, model="best")
    assert "best\\nNO_REPLY" in told
    run, _ = await ended(tmp_path / "other", code, model="other")
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "model")


async def test_the_operators_words_are_the_next_prompt_and_a_pause_holds_it(tmp_path: Path) -> None:
    code = """
PROMPTS = []
def work(prompt):
    PROMPTS.append(prompt)
    if len(PROMPTS) == 1:
        open("begun", "w").close()
        while not os.path.exists("go"):
            time.sleep(0.02)
        return
    say("I heard: " + prompt + chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        await office.begin()
        work = tmp_path / "work" / "ada"
        await until(lambda: (work / "begun").exists())
        run = (await office.all(Run, "kind = 'broadcast'"))[0]
        await office.do("SpeakToRun", run=run.id, text="the hours are 9 to 17")
        await office.do("PauseRun", run=run.id)
        (work / "go").touch()
        await asyncio.sleep(0.3)
        assert "I heard" not in await office.transcript(run)
        await office.do("ResumeRun", run=run.id)
        await office.idle()
        assert "I heard: The operator says to you" in await office.transcript(run)
        assert "9 to 17" in await office.transcript(run)


async def test_words_said_in_a_pause_wait_for_its_end_and_are_unheard_where_that_is_the_runs(tmp_path: Path) -> None:
    code = """
def work(prompt):
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.02)
    say("only words ")
"""
    async with an_acp_office(tmp_path, code) as office:
        await office.begin()
        work = tmp_path / "work" / "ada"
        await until((work / "begun").exists)
        run = (await office.all(Run, "kind = 'broadcast'"))[0]
        await office.do("PauseRun", run=run.id)
        await office.do("SpeakToRun", run=run.id, text="take the other file")
        (work / "go").touch()
        while "only words" not in await office.transcript(run):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        assert [each.status for each in await office.all(Remark)] == ["waiting"]
        await office.do("KillRun", run=run.id, reason="enough")
        await office.idle()
        assert [each.status for each in await office.all(Remark)] == ["unheard"]


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)
