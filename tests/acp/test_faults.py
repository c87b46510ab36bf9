"""Programs that misbehave: each ends as what it is, and nothing of it is left."""

import asyncio
import sys
from pathlib import Path

import pytest

from core.domain.entities import Run
from core.domain.states import RunStatus, TaskStatus
from tests.acp.test_sessions import SILENT, WORKS, an_acp_office, ended, until
from tests.programs.company import an_office
from tests.programs.processes import marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
KEY = "sk-of-the-program-0123456789"
FORKS = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
    time.sleep(600)
"""
CLAIMED = WORKS.split('    call("StartTask"')[0]


@pytest.mark.parametrize(
    ("code", "status", "exit_kind", "words"),
    [
        ("def work(prompt): os._exit(0)", RunStatus.FAILED, "no_result", "although with exit code 0"),
        (
            "def work(prompt): print('no disk', file=sys.stderr, flush=True); os._exit(3)",
            RunStatus.FAILED, "exit", "exit code 3: no disk",
        ),
        ("def work(prompt): say('half a word '); os.kill(os.getpid(), 9)", RunStatus.FAILED, "signal", "half a word"),
        ("sys.exit()\ndef work(prompt): pass", RunStatus.FAILED, "no_result", "although with exit code 0"),
        ("VERSION = 7\ndef work(prompt): pass", RunStatus.FAILED, "protocol", "it speaks version 7"),
        ("VERSION = 'one'\ndef work(prompt): pass", RunStatus.FAILED, "protocol", "none of the Agent Client Protocol"),
        ("SESSION = ''\ndef work(prompt): pass", RunStatus.FAILED, "protocol", "without an id"),
        ("SESSION = None\ndef work(prompt): pass", RunStatus.FAILED, "protocol", "without an id"),
    ],
)  # fmt: skip
async def test_a_program_that_dies_or_speaks_something_else_says_why(
    tmp_path: Path, code: str, status: RunStatus, exit_kind: str, words: str
) -> None:
    run, _ = await ended(tmp_path, code)
    assert (run.status, run.exit_kind) == (status, exit_kind)
    assert words in run.detail
    assert {"protocol": "check that its command", "no_result": "opsroom doctor DIR --call"}.get(
        exit_kind, ""
    ) in run.detail


async def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o700)
    run, _ = await ended(tmp_path, "def work(prompt): pass", command=["./broken"])
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "not_started")


@pytest.mark.parametrize(
    ("code", "limits", "exit_kind"),
    [
        ("def answer_initialize(params): time.sleep(600)\ndef work(prompt): pass", {"start_s": 0.7}, "start"),
        ("def work(prompt): time.sleep(600)", {"silence_s": 1.5}, "silence"),
        ("def work(prompt):\n    for _ in range(6000): say('still '); time.sleep(0.1)", {"wall_s": 2.0}, "wall_time"),
    ],
)
async def test_a_program_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, code: str, limits: dict[str, float], exit_kind: str
) -> None:
    run, _ = await ended(tmp_path, FORKS + code, **limits)
    assert (run.status, run.exit_kind) == (RunStatus.TIMED_OUT, exit_kind)
    assert f'"{next(iter(limits))}" of its runner' in run.detail


async def test_a_killed_run_is_asked_to_end_its_turn_and_leaves_no_process(tmp_path: Path) -> None:
    code = """
def work(prompt):
    open("ready", "w").close()
    CANCELLED.wait(60)
    open("cancelled", "w").close()
    return "cancelled"
"""
    async with an_acp_office(tmp_path, FORKS + code) as office:
        await office.begin()
        await until((tmp_path / "work" / "ada" / "ready").exists)
        run = (await office.all(Run, "kind = 'broadcast'"))[0]
        await office.do("KillRun", run=run.id, reason="enough")
        await office.idle()
        assert (tmp_path / "work" / "ada" / "cancelled").exists()
        assert marked(str(tmp_path)) == []
        assert (await office.all(Run, "id = :id", id=run.id))[0].status == RunStatus.KILLED


async def test_floods_colours_and_lines_beside_the_protocol_are_read(tmp_path: Path) -> None:
    code = r"""
def work(prompt):
    for number in range(3000):
        say("x" * 60 + " ")
    for number in range(30000):
        print("noise " * 10, file=sys.stderr)
    for line in ("\x1b[31mred\x1b[0m", "{", "[]", "7", '{"jsonrpc": "2.0"}', '{"id": [1], "result": {}}',
                 '{"id": 99, "result": {}}', '{"id": true, "method": 7}', "[" * 100000,
                 '{"method": "session/update", "params": 7}', '{"method": "session/update", "params": {"update": [7]}}',
                 '{"id": 5, "method": "no/such/method", "params": null}', '{"method": "no/such/notification"}',
                 '{"id": 6, "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}}'):
        waiting[5], waiting[6] = queue.Queue(), queue.Queue()
        write(line)
    for _ in range(30):
        write("chatter")
    say("\x1b[31mgreen\x1b[0m ")
    time.sleep(0.3)
    say(chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")
        told = await office.transcript(run)
        assert "it wrote beside the protocol: red" in told
        assert told.count("beside the protocol: chatter") < 20
        assert "it writes more beside the protocol" in told
        assert "green" in told
        assert "\\u001b" not in told
        kept = (tmp_path / "runs" / f"{run.id}.stderr").stat()
        assert 900_000 < kept.st_size < 1_100_000


async def test_a_line_of_sixteen_mebibytes_is_read_and_a_longer_one_is_skipped(tmp_path: Path) -> None:
    code = """
def work(prompt):
    say("long " * (3 * 1024 * 1024))
    say("l" * 20 * 1024 * 1024)
    update("tool_call", toolCallId="t", title="read", status="completed", rawInput={"path": "y" * 9 * 1024 * 1024})
    say(chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply")
        told = await office.transcript(run)
        assert '"text": "long long' in told
        assert "bytes was skipped: too long" in told
        assert len(told) < 200_000


async def test_secrets_stand_nowhere_also_where_they_come_in_pieces(tmp_path: Path) -> None:
    code = """
def work(prompt):
    key, token = os.environ["ITS_KEY"], os.environ["OPSROOM_TOKEN"]
    for letter in "the key is " + key + " and so on ":
        say(letter)
    say("it is " + key, "agent_thought_chunk")
    update("plan", entries=[{"content": key, "status": "pending"}])
    change = {"type": "diff", "path": "x", "oldText": None, "newText": token}
    update("tool_call", toolCallId="t", title=key, status="completed", rawInput={"key": key}, content=[change])
    write(key)
    print(token, file=sys.stderr)
    say(chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code, {"ITS_KEY": KEY}, env=["ITS_KEY"]) as office:
        told = await office.transcript(await office.ended("broadcast"))
        assert told.count("[secret removed]") >= 6
        assert "run-" not in told
    assert await asyncio.to_thread(_files_with, tmp_path, KEY) == []


CUT = """
KEY = os.environ["ITS_KEY"]
def upto(most):
    return "z" * (most - 8) + KEY  # its first letters would stand before the cut
def work(prompt):
    update("tool_call", toolCallId=upto(200), title=upto(500), kind="other", rawInput={"a": upto(19993)},
           content=[{"type": "diff", "path": upto(500), "oldText": "", "newText": upto(299)}])
    update("tool_call_update", toolCallId=upto(200), status="failed", rawOutput=upto(20000))
    update("plan", entries=[{"content": upto(200), "status": "pending"}])
    write(upto(300))
    END
"""


@pytest.mark.parametrize(
    "end",
    ['raise Wrong({"code": -32603, "message": upto(980)})', "return upto(80)",
     'update("current_mode_update", currentModeId=upto(80)); CANCELLED.wait(60)', "raise Wrong([upto(1000)])"],
    ids=["error", "stopReason", "mode", "no error"],
)  # fmt: skip
async def test_no_secret_is_cut_in_two_so_that_its_first_part_stays(tmp_path: Path, end: str) -> None:
    code = CUT.replace("END", end)
    async with an_acp_office(tmp_path, code, {"ITS_KEY": KEY}, env=["ITS_KEY"]) as office:
        run = await office.ended("broadcast")
        told = await office.transcript(run)
        assert "[secret removed]"[:8] in run.detail
        assert told.count("z[secret") >= 6
    part = KEY[:7]
    assert await asyncio.to_thread(_files_with, tmp_path, part) == []


def _files_with(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


LOOP = """
    call("StartTask", task=1)
    for number in range(300):
        name = "t-" + str(number)
        update("tool_call", toolCallId=name, title="ls", kind="execute", status="pending", rawInput={"command": "ls"})
        update("tool_call_update", toolCallId=name, status="completed", rawOutput="nothing")
        if CANCELLED.wait(0.05):
            return "cancelled"
"""


async def test_the_same_act_with_the_same_result_again_and_again_is_stuck_and_its_task_blocked(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, CLAIMED + LOOP) as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert "the same action with the same result 4 times" in run.detail
        assert (await office.task()).status == TaskStatus.BLOCKED


@pytest.mark.parametrize(
    ("limits", "exit_kind"),
    [({"turns": 3}, "turns"), ({"tokens": 100}, "tokens"), ({"cost_micros": 5000}, "cost")],
)
async def test_limits_end_the_run(tmp_path: Path, limits: dict[str, int], exit_kind: str) -> None:
    code = """
def work(prompt):
    for number in range(5):
        say("I look ")
        update("tool_call", toolCallId=str(number), title="look " + str(number), status="completed")
        update("usage_update", used=1, size=2, cost={"amount": 0.002 * (number + 1), "currency": "USD"})
    return {"stopReason": "end_turn", "usage": {"inputTokens": 200, "outputTokens": 20, "totalTokens": 220}}
"""
    run, _ = await ended(tmp_path, code, **limits)
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, exit_kind)


async def test_trouble_after_the_work_is_done_does_not_undo_it(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, WORKS + "\n    os._exit(9)\n") as office:
        await office.ended("broadcast")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done")
        assert "exit code 9" in run.detail


async def test_where_nobody_serves_the_company_it_says_how_to(tmp_path: Path) -> None:
    async with an_office(tmp_path, SILENT, served=False, kind="acp", mode="default") as office:
        run = await office.ended("broadcast")
        assert run.status == RunStatus.FAILED
        assert "opsroom serve" in run.detail
