"""Programs that speak the protocol, at work through the dispatcher: what they tell, and how they end."""

import sys
from pathlib import Path

import pytest

from core.domain.states import RunStatus
from tests.acp.bare import bare
from tests.programs.company import an_office
from tests.programs.processes import marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


async def test_silence_is_an_answer_where_it_may_be(tmp_path: Path) -> None:
    code = bare("""
def work(prompt):
    say("NO_")
    say("REPLY")
""")
    async with an_office(tmp_path, code, kind="acp", mode="default") as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind, run.detail, run.session) == (RunStatus.SUCCEEDED, "no_reply", "", "s-1")
        told = await office.transcript(run)
        assert "the program is bare 7" in told
        assert "supervised: in its session mode 'default' the operator is asked" in told
    assert marked(str(tmp_path)) == []
