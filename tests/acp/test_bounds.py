"""Programs that send more than anybody can read, or read nothing themselves: each is bounded, and hears it at once."""

import asyncio
import sys
import tracemalloc
from pathlib import Path

import pytest

from core.agents.acp.line import request_of
from core.agents.acp.tools import Tools
from core.domain.entities import Approval, Run
from core.domain.limits import PERMISSIONS_WAITING
from core.domain.states import RunStatus
from tests.acp.test_sessions import an_acp_office, until
from tests.programs.processes import marked
from tests.stepped import Stepped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
DEAF = """
def work(prompt):
    time.sleep(600)

def listen():
    for line in sys.stdin:
        message = json.loads(line)
        requests.put(message)
        if message.get("method") == "session/prompt":
            break
    open("deaf", "w").close()
    for number in range(20000):
        send(id="x" + str(number), method="no/such/method/" + "y" * 200, params={})
    time.sleep(600)
"""


async def run_of(office: Stepped) -> Run:
    return (await office.all(Run, "kind = 'broadcast'"))[0]


async def test_a_program_that_reads_nothing_any_more_is_killed_all_the_same(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, DEAF) as office:
        await office.begin()
        await until((tmp_path / "work" / "ada" / "deaf").exists)
        await asyncio.sleep(0.5)  # until its pipe is full
        await office.do("KillRun", run=(await run_of(office)).id, reason="enough")
        await office.idle()
        assert (await run_of(office)).status == RunStatus.KILLED
        assert marked(str(tmp_path)) == []


async def test_a_program_that_reads_nothing_any_more_is_ended_for_its_silence(tmp_path: Path) -> None:
    async with an_acp_office(tmp_path, DEAF, silence_s=1.0) as office:
        await office.begin()
        await office.idle()
        assert (await run_of(office)).exit_kind == "silence"
        assert marked(str(tmp_path)) == []


ASKS_MUCH = """
GOT = queue.Queue()
def listen():
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            GOT.put(message)
        elif message["method"] != "session/cancel":
            requests.put(message)
    requests.put(None)

def asked(number, size):
    tool = {"toolCallId": "t", "title": "run it", "kind": "execute", "rawInput": {"command": "x" * size}}
    params = {"sessionId": SESSION, "toolCall": tool, "options": OPTIONS}
    send(id=number, method="session/request_permission", params=params)
"""


async def test_a_question_that_is_too_large_for_anybody_to_read_is_refused_at_once(tmp_path: Path) -> None:
    code = """
def work(prompt):
    if "too large" in prompt:
        say("told why" + chr(10) + "NO_REPLY")
        return
    for size in (2, 17):
        asked("p", size * 1024 * 1024)
        answer = GOT.get()
        say(answer["id"] + ": " + answer["error"]["message"] + chr(10))
"""
    async with an_acp_office(tmp_path, ASKS_MUCH + code, silence_s=60) as office:
        run = await office.ended("broadcast")
        told = await office.transcript(run)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "no_reply"), run.detail
        assert told.count("is too large to be put to the operator; at most 1,048,576 are. Ask for less at once.") == 2
        assert "told why" in told
        assert await office.all(Approval) == []


async def test_a_flood_of_questions_is_refused_at_once_beyond_those_that_may_wait(tmp_path: Path) -> None:
    code = f"""
COUNT, WAIT = 3000, {PERMISSIONS_WAITING}
def work(prompt):
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.02)
    for number in range(COUNT):
        asked(number, 1000)
    answers = [GOT.get() for _ in range(COUNT - WAIT)]
    open("refused", "w").write(str(sorted(each["id"] for each in answers)[0]))
    CANCELLED.wait(600)
"""
    async with an_acp_office(tmp_path, ASKS_MUCH + code) as office:
        await office.begin()
        work = tmp_path / "work" / "ada"
        await until((work / "begun").exists)
        run = await run_of(office)
        await office.do("PauseRun", run=run.id)
        (work / "go").touch()
        most = 0
        while not (work / "refused").exists():
            most = max(most, len(asyncio.all_tasks()))
            await asyncio.sleep(0.01)
        assert most < 500
        told = await office.transcript(run)
        assert told.count(f"{PERMISSIONS_WAITING} questions of this run wait already") == 1
        await office.do("KillRun", run=run.id, reason="enough")
        await office.idle()
        assert await office.all(Approval) == []


def test_of_open_calls_only_so_much_is_held() -> None:
    tools = Tools(lambda text: text)
    tracemalloc.start()
    try:
        for number in range(20):
            few = {"toolCallId": f"few-{number}", "title": "read", "rawInput": {"path": "y" * 6_000_000 + str(number)}}
            many = {
                "toolCallId": f"many-{number}",
                "title": "read",
                "rawInput": {"path": "y" * 3_500_000 + str(number)},
            }
            tools.take(few)
            tools.take(many)
        del few, many
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 40 * 1024 * 1024
    assert tools.asked({"toolCallId": "few-19"})[0].is_cut
    last = tools.asked({"toolCallId": "many-19"})[0]
    assert (last.is_cut, last.raw) == (False, {"path": "y" * 3_500_000 + "19"})


async def test_a_question_about_a_call_that_is_too_large_is_refused(tmp_path: Path) -> None:
    code = """
def work(prompt):
    update("tool_call", toolCallId="t", title="big", kind="other", rawInput={"text": "x" * 6 * 1024 * 1024})
    first = ask_later("p-1", toolCallId="t").get()["outcome"]["optionId"]
    say("big " + first + chr(10) + "NO_REPLY")
"""
    async with an_acp_office(tmp_path, code) as office:
        run = await office.ended("broadcast")
        told = await office.transcript(run)
        assert "big no" in told, run.detail
        assert "a call that is too large to be shown" in told


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "method": "a/b", "params": {"x', (7, "a/b")),
        (b' {"method":"a/b","id":"p\\"1","jsonrpc":"2.0","params":', ('p"1', "a/b")),
        (b'{"jsonrpc": "2.0", "method": "session/update", "params": {"id": 7, "x', None),
        (b'{"jsonrpc": "2.0", "id": 7, "result": {"method": "a/b", "x', None),
        (b'{"params": {"id": 7, "method": "a/b", ', None),
        (b"not json", None),
        (b"", None),
    ],
)
def test_a_request_is_known_by_its_beginning(line: bytes, found: tuple[int | str, str] | None) -> None:
    assert request_of(line) == found
