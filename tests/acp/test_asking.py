"""What a program asks before it acts waits for the operator; in what mode it asks is set, and made sure of."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from core.agents.acp.catalogue import check
from core.domain.entities import Approval, Run
from core.domain.errors import Invalid
from core.domain.states import ApprovalStatus, RunStatus
from tests.acp.test_sessions import SILENT, an_acp_office, ended
from tests.programs.processes import marked
from tests.stepped import Stepped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
ASKS = """
def work(prompt):
    for number in range(TIMES):
        said = ask("p-" + str(number), rawInput={"command": "make test"})
        say("answer " + str(number) + ": " + (said.get("optionId") or said["outcome"]) + chr(10))
    say("NO_REPLY")
"""


async def pending(office: Stepped) -> Approval:
    """The question that waits, once there is one."""
    waits = "kind = 'permission' AND status = 'pending' ORDER BY id"
    async with asyncio.timeout(60):
        while not (found := await office.all(Approval, waits)):  # noqa: ASYNC110 - another process asks
            await asyncio.sleep(0.02)
    return found[0]


async def answered(office: Stepped, question: Approval, answer: str, note: str = "") -> None:
    """The operator answers."""
    note = note or ("no" if answer == "refused" else "")
    seen = question.payload_hash
    await office.do("AnswerPermission", approval=question.id, permit=answer, note=note, payload_hash=seen)


async def run_of(office: Stepped) -> Run:
    return (await office.all(Run, "kind = 'broadcast'"))[0]


@pytest.mark.parametrize(("answer", "option"), [("once", "once"), ("run", "once"), ("refused", "no")])
async def test_the_operators_answer_reaches_the_program(tmp_path: Path, answer: str, option: str) -> None:
    async with an_acp_office(tmp_path, "TIMES = 1" + ASKS) as office:
        await office.begin()
        question = await pending(office)
        wish = question.payload
        assert (wish["kind"], wish["command"], wish["folder"]) == (
            "command",
            "make test",
            str(tmp_path / "work" / "ada"),
        )
        await answered(office, question, answer)
        await office.idle()
        assert f"answer 0: {option}" in await office.transcript(await run_of(office))


async def test_a_yes_for_the_run_answers_the_same_again_and_a_yes_for_once_does_not(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, "TIMES = 3" + ASKS) as office:
        await office.begin()
        await answered(office, await pending(office), "once")
        await answered(office, await pending(office), "run")
        await office.idle()
        told = await office.transcript(await run_of(office))
        assert all(f"answer {number}: once" in told for number in range(3))
        assert len(await office.all(Approval, "kind = 'permission' ORDER BY id")) == 2


async def test_what_the_operator_said_to_a_refusal_is_told_to_the_program(tmp_path: Path) -> None:
    code = """
TIMES, PROMPTS = 1, []
def work(prompt):
    PROMPTS.append(prompt)
    if len(PROMPTS) == 1:
        ask()
    else:
        say(prompt + chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        await office.begin()
        await answered(office, await pending(office), "refused", "use the other printer")
        await office.idle()
        assert "run it: use the other printer" in await office.transcript(await run_of(office))


BREAKS_OFF = """
PROMPTS = []
def work(prompt):
    PROMPTS.append(prompt)
    if len(PROMPTS) <= TIMES:
        ask("p-" + str(len(PROMPTS)), rawInput={"command": COMMAND + str(len(PROMPTS))})
        return "cancelled"
    say(prompt + chr(10) + "NO_REPLY")
"""


async def test_a_turn_that_a_refusal_has_ended_is_gone_on_with_and_no_reminder(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, "TIMES, COMMAND = 3, 'make '" + BREAKS_OFF) as office:
        await office.begin()
        for _ in range(3):
            await answered(office, await pending(office), "refused", "use the other printer")
        await office.idle()
        run = await run_of(office)
        told = await office.transcript(run)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply"), run.detail
        assert "run it: use the other printer" in told
        assert "reminded" not in told


@pytest.mark.parametrize("words", ["", "the user said no"])
async def test_acts_that_were_refused_are_no_errors_of_the_agent(tmp_path: Path, words: str) -> None:
    code = """
def work(prompt):
    for number in range(4):
        name = "t-" + str(number)
        tool = {"title": "run it", "kind": "execute", "rawInput": {"command": "make " + name}}
        update("tool_call", toolCallId=name, status="pending", **tool)
        ask("p-" + str(number), toolCallId=name, **tool)
        update("tool_call_update", toolCallId=name, status="failed", rawOutput=WORDS)
    say("NO_REPLY")
"""
    async with an_acp_office(tmp_path, f"WORDS = {words!r}" + code) as office:
        await office.begin()
        for _ in range(4):
            await answered(office, await pending(office), "refused", "use the other printer")
        await office.idle()
        run = await run_of(office)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply"), run.detail


async def test_one_that_fails_without_a_word_again_and_again_is_stuck_with_a_reason(tmp_path: Path) -> None:
    code = """
def work(prompt):
    for number in range(300):
        name = "t-" + str(number)
        update("tool_call", toolCallId=name, title="", kind="execute", status="pending")
        update("tool_call_update", toolCallId=name, status="failed")
        if CANCELLED.wait(0.05):
            return "cancelled"
"""
    async with an_acp_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.FAILED, "stuck")
        assert "with the same result 4 times: execute" in run.detail


async def test_one_that_wants_what_was_refused_again_and_again_comes_to_an_end(tmp_path: Path) -> None:
    code = "TIMES, COMMAND = 500, 'make #'" + BREAKS_OFF.replace(" + str(len(PROMPTS))}", "}")
    async with an_acp_office(tmp_path, code) as office:
        await office.begin()
        await answered(office, await pending(office), "refused")
        await office.idle()
        run = await run_of(office)
        assert run.status == RunStatus.FAILED, run.detail
        assert run.exit_kind in ("stuck", "turns")


async def test_a_run_that_ends_takes_its_questions_back_and_the_program_hears_that_they_are_cancelled(
    tmp_path: Path,
) -> None:
    code = "TIMES = 1" + ASKS.replace('    say("NO_REPLY")', '    open("after", "w").write(said["outcome"])')
    async with an_acp_office(tmp_path, code, grace_s=5) as office:
        await office.begin()
        question = await pending(office)
        run = await run_of(office)
        await office.do("KillRun", run=run.id, reason="enough")
        await office.idle()
        assert (tmp_path / "work" / "ada" / "after").read_text() == "cancelled"
        assert marked(str(tmp_path)) == []
        now = (await office.all(Approval, "id = :id", id=question.id))[0]
        assert now.status == ApprovalStatus.CANCELLED
        assert (await run_of(office)).status == RunStatus.KILLED


async def test_twenty_questions_at_once_are_all_answered(tmp_path: Path) -> None:
    code = """
def work(prompt):
    tool = {"title": "run it", "kind": "execute", "rawInput": {"command": "make test"}}
    asked = [ask_later("p-" + str(n), toolCallId="t-" + str(n), **tool) for n in range(20)]
    say("answers: " + json.dumps([each.get()["outcome"].get("optionId") for each in asked]) + chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        await office.begin()
        await answered(office, await pending(office), "run")
        await office.idle()
        told = (await office.transcript(await run_of(office))).replace("\\", "")
        answers = json.loads("[" + told.partition("answers: [")[2].partition("]")[0] + "]")
        assert len(answers) == 20
        assert set(answers) <= {"once", "no"}
        assert answers[0] == "once"


async def test_a_call_of_the_boards_own_tools_is_not_asked_and_no_command_passes_for_one(tmp_path: Path) -> None:
    code = """
def work(prompt):
    own = ask("p-1", title="mcp__opsroom__ClaimTask", kind="other", rawInput={"task": 1})
    say(own.get("optionId"))
    call = {"server": "opsroom", "tool": "ClaimTask", "arguments": {"task": 1}}
    also = ask("p-2", toolCallId="t-2", title="mcp.opsroom.ClaimTask", kind="execute", rawInput=call)
    say(chr(10) + "also " + also.get("optionId"))
    for number, tool in enumerate((
        {"title": "mcp__opsroom__ClaimTask", "kind": "execute", "rawInput": {"command": "mcp__opsroom__ClaimTask"}},
        {"title": "mcp__opsroom__NoSuchTool", "kind": "other", "rawInput": {}},
        {"title": "mcp__opsroom__ClaimTask; rm -r .", "kind": "other", "rawInput": {}},
        {"title": "mcp.opsroom.ClaimTask", "kind": "execute", "rawInput": {**call, "server": "other"}},
        {"title": "mcp.opsroom.ClaimTask", "kind": "execute", "rawInput": {**call, "command": "rm -r ."}},
    )):
        said = ask("q-" + str(number), toolCallId="u-" + str(number), **tool)
        say(chr(10) + "then " + (said.get("optionId") or "none"))
    say(chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        await office.begin()
        for _ in range(5):
            await answered(office, await pending(office), "refused")
        await office.idle()
        told = await office.transcript(await run_of(office))
        assert told.count("then no") == 5
        assert "also once" in told
        assert '"text": "once' in told


async def test_no_secret_stands_in_a_question(tmp_path: Path) -> None:
    code = """
def work(prompt):
    key = os.environ["ITS_KEY"]
    change = {"type": "diff", "path": "x", "oldText": "", "newText": key}
    ask(title="say " + key, rawInput={"command": "say " + key, "cwd": key}, content=[change])
    say("NO_REPLY")
"""
    key = "sk-of-the-program-0123456789"
    async with an_acp_office(tmp_path, code, {"ITS_KEY": key}, env=["ITS_KEY"]) as office:
        await office.begin()
        question = await pending(office)
        assert key not in json.dumps(question.payload)
        assert question.payload["command"] == "say [secret removed]"
        await answered(office, question, "refused")
        await office.idle()


async def test_a_program_that_offers_no_yes_for_once_alone_gets_none_and_nobody_is_asked(tmp_path: Path) -> None:
    code = "TIMES = 1\nOPTIONS = [OPTIONS[0], OPTIONS[2]]" + ASKS
    async with an_acp_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        told = await office.transcript(run)
        assert "answer 0: no" in told
        assert "it offers no permission for once alone: it was refused, and you were not asked" in told
        assert await office.all(Approval) == []


async def test_what_belongs_to_no_call_or_to_another_session_is_not_put_to_the_operator(tmp_path: Path) -> None:
    code = """
def work(prompt):
    empty = ask_later("p-1", toolCallId="never-told").get()["outcome"]
    tool = {"toolCallId": "t-2", "title": "run it", "kind": "execute", "rawInput": {"command": "make"}}
    waiting["p-2"] = queue.Queue()
    asked = {"sessionId": "of-somebody-else", "toolCall": tool, "options": OPTIONS}
    send(id="p-2", method="session/request_permission", params=asked)
    other = GOT.get()
    say("empty " + empty["optionId"] + ", other " + str(other["error"]["code"]) + chr(10) + "NO_REPLY")
"""
    answers = """
GOT = queue.Queue()
def listen():
    for line in sys.stdin:
        message = json.loads(line)
        if "error" in message:
            GOT.put(message)
        elif "method" not in message:
            waiting.pop(message["id"]).put(message["result"])
        elif message["method"] != "session/cancel":
            requests.put(message)
    requests.put(None)
"""
    async with an_acp_office(tmp_path, answers + code) as office:
        told = await office.transcript(await office.ended("broadcast"))
        assert "empty no, other -32602" in told
        assert await office.all(Approval) == []


async def test_while_the_operator_is_waited_for_no_limit_of_time_is_reached(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, "TIMES = 1" + ASKS, silence_s=2.0, wall_s=60) as office:
        await office.begin()
        question = await pending(office)
        await asyncio.sleep(2.5)
        await answered(office, question, "once")
        await office.idle()
        assert (await run_of(office)).exit_kind == "no_reply"


async def test_a_program_that_asks_and_works_on_without_an_answer_reaches_its_limit(tmp_path: Path) -> None:
    code = """
def work(prompt):
    ask_later("p-1", toolCallId="t-1", title="run it", kind="execute", rawInput={"command": "make test"})
    while not CANCELLED.wait(0.05):
        say("still at work" + chr(10))
    return "cancelled"
"""
    async with an_acp_office(tmp_path, code, wall_s=2) as office:
        await office.begin()
        question = await pending(office)
        await office.idle()
        run = await run_of(office)
        assert (run.status, run.exit_kind) == (RunStatus.TIMED_OUT, "wall_time")
        assert (await office.all(Approval, "id = :id", id=question.id))[0].status == ApprovalStatus.CANCELLED


OPTION = """
def opened():
    values = [{"value": each, "name": each} for each in MODES]
    option = {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": MODE}
    return {"configOptions": [{**option, "options": [{"group": "g", "name": "G", "options": values}]}]}
def answer_session_set_config_option(params):
    global MODE
    MODE = params["value"] if OBEYS else MODE
    return opened()
"""


@pytest.mark.parametrize("how", ["", OPTION], ids=["mode", "option"])
async def test_the_mode_that_asks_is_set_before_the_first_prompt(tmp_path: Path, how: str) -> None:
    code = how + SILENT + "    say(chr(10) + 'mode is ' + MODE)\n"
    _, told = await ended(tmp_path, code)
    assert "mode is default" in told


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("MODES = ['auto']", "it has no session mode 'default' (it has: auto)"),
        ("MODES = []", "it has no session mode 'default' (it has: none)"),
        ("OBEYS = False" + OPTION, "its session mode is 'auto' although 'default' was set"),
        (
            "def answer_session_set_mode(params): raise Wrong({'code': -32602, 'message': 'Invalid Mode'})",
            "could not be set: session/set_mode: Invalid Mode",
        ),
    ],
)
async def test_where_the_mode_that_asks_cannot_be_set_nothing_is_begun(tmp_path: Path, code: str, words: str) -> None:
    run, told = await ended(tmp_path, code + "\ndef work(prompt): call('ClaimTask', task=1)\n")
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "unsupervised")
    assert words in run.detail
    assert "ClaimTask" not in told


async def test_a_program_that_leaves_the_mode_is_ended(tmp_path: Path) -> None:
    code = """
def work(prompt):
    update("current_mode_update", currentModeId="auto")
    CANCELLED.wait(60)
    return "cancelled"
"""
    run, _ = await ended(tmp_path, code)
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "unsupervised")
    assert "its session mode became 'auto'" in run.detail


async def test_only_the_operator_lets_a_program_act_unasked_and_the_run_says_so(tmp_path: Path) -> None:
    run, _ = await ended(tmp_path / "unsaid", "MODES = []" + SILENT, mode="")
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "invalid")
    assert '"unsupervised": true' in run.detail
    run, told = await ended(tmp_path / "said", "MODES = []" + SILENT, mode="", unsupervised=True)
    assert run.exit_kind == "no_reply"
    assert "not supervised" in run.detail
    assert "not supervised: its program acts without asking the operator" in told


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"program": "claude", "mode": "bypassPermissions"}, "you are not asked"),
        ({"program": "hal"}, "There is no program 'hal' in the catalogue"),
        ({"command": ["./agent"]}, "Nothing says that this program asks you"),
        ({}, "names no command"),
        ({"command": ["./agent"], "mode": "ask", "speed": 9}, "speed: there is no such setting"),
    ],
)
def test_settings_that_no_run_could_use_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(Invalid) as told:
        check({"kind": "acp", **settings})
    assert words in str(told.value)
    assert told.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"program": "claude"}, {"program": "codex", "mode": "workspace-write"}, {"program": "gemini"},
        {"program": "opencode"}, {"program": "claude", "mode": "bypassPermissions", "unsupervised": True},
        {"command": ["./agent"], "mode": "ask"},
    ],
)  # fmt: skip
def test_settings_that_a_run_can_use_are_taken(settings: dict[str, object]) -> None:
    check({"kind": "acp", **settings})


TELLS = """
AUTO = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION, "update":
                   {"sessionUpdate": "current_mode_update", "currentModeId": "auto"}}})
def work(prompt):
    open("worked", "w").close()
    CANCELLED.wait(60)
    return "cancelled"
"""
BEFORE = """
def answer_session_set_mode(params):
    write(AUTO)
    return {}
"""
BESIDE = """
def send(**message):
    set_now = GIVEN.get("session/set_mode") or GIVEN.get("session/set_config_option")
    more = chr(10) + AUTO if set_now and "result" in message else ""
    write(json.dumps({"jsonrpc": "2.0", **message}) + more)
"""


@pytest.mark.parametrize(
    "how", [BEFORE, BESIDE, OPTION + BESIDE], ids=["before the answer", "in one write after it", "an option"]
)
async def test_what_the_program_tells_of_its_mode_goes_before_its_answer(tmp_path: Path, how: str) -> None:
    run, told = await ended(tmp_path, TELLS + how)
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "unsupervised")
    assert "'auto'" in run.detail
    assert "the operator is asked" not in told
    assert not (tmp_path / "work" / "ada" / "worked").exists()


async def test_a_mode_that_is_told_as_soon_as_the_session_begins_is_set_anew(tmp_path: Path) -> None:
    code = """
def answer_session_new(params):
    global MODE
    known = {"sessionId": SESSION, "modes": {**modes(), "currentModeId": "default"}}
    update("current_mode_update", currentModeId="auto")
    return known
def work(prompt):
    say("its mode is " + MODE + chr(10) + "NO_REPLY")
"""
    run, told = await ended(tmp_path, code)
    assert run.exit_kind == "no_reply"
    assert "its mode is default" in told


async def test_who_asks_before_the_session_has_begun_is_not_out_of_time_while_a_person_thinks(tmp_path: Path) -> None:
    code = """
def answer_session_new(params):
    ask("early", rawInput={"command": "make login"})
    return {"sessionId": SESSION, **opened()}
def work(prompt): say("NO_REPLY")
"""
    async with an_acp_office(tmp_path, code, start_s=3.0) as office:
        await office.begin()
        question = await pending(office)
        await asyncio.sleep(3.5)
        await answered(office, question, "once")
        await office.idle()
        run = await run_of(office)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")
