"""Programs that send more than anybody can read, or read nothing themselves: each is bounded, and hears it at once."""

import asyncio
import sys
from pathlib import Path

import pytest

from core.domain.entities import Run
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
