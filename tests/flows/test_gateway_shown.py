"""What the room and the command line tell of the gateway: its requests as lines, and who is not metered."""

import asyncio
from pathlib import Path

import pytest

from core.agents.metered import ModelCall
from core.agents.transcript_tail import Entry
from core.domain.entities import AgentRecord
from core.domain.metering import metering_words
from tests.flows.test_run import a_run, opened, seen, told
from tests.flows.world import HOME, an_office, press, ready, settle, shown
from tui.cli import main
from tui.panes.transcript import as_text
from tui.screens.agents import AgentsScreen

PASSED = ModelCall("models", "anthropic", "scripted", 200, 340, 5200, 310, cost_micros=12_300)
HELD = ModelCall("models", "anthropic", "scripted", 402, 2, note="No request was sent: [/the budget] is used up.")


async def test_a_run_tells_its_requests_and_that_a_login_of_its_own_is_not_metered(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office, {"kind": "command", "command": ["./agent.sh"]})
        told(office, run.run_id, ("model", PASSED.facts()), ("model", HELD.facts()))
        async with office.app().run_test(size=HOME) as pilot:
            _, screen = await opened(pilot, office, run.run_id)
            await seen(pilot, screen, "asked scripted: 200 in 340 ms")
            await seen(pilot, screen, "asked scripted: 402 in 2 ms")
            await seen(pilot, screen, "not metered")


async def test_a_cost_that_is_not_known_is_told_as_unknown_never_as_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with an_office(tmp_path / "c") as office:
        run = await a_run(office, {"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": "m"})
        await office.end(run, tokens_in=2000, tokens_out=310)
        async with office.app().run_test(size=HOME) as pilot:
            app = await ready(pilot, office)
            assert "+?" in shown(app).splitlines()[0]
            await press(pilot, "A")
            screen = app.screen
            assert isinstance(screen, AgentsScreen)
            assert "today $0.04 + unknown · 14 days $0.04 + unknown" in shown(app)
            agent = next(each for each in screen.leading.view.tables.all(AgentRecord) if each.id == run.agent_id)
            screen.roster.move_to(f"agent:{agent.id}")
            await settle(pilot)
            said = "\n".join(block.body for block in screen.facts.blocks)
            assert "nothing spent yet" not in said
            assert "$0.00 + unknown" in said
        await asyncio.to_thread(main, ["status", str(tmp_path / "c")])
        assert "+ unknown" in capsys.readouterr().out


def test_the_lines_of_requests_in_full() -> None:
    lines = [as_text(Entry(0, "model", call.facts())) for call in (PASSED, HELD)]
    assert "asked scripted: 200 in 340 ms · 5,510 tok · $0.0123" in lines[0]
    assert lines[1].endswith("No request was sent: [/the budget] is used up.")
    unknown = ModelCall("models", "gemini", "m", 200, 1, 5, 5)
    assert "cost unknown" in as_text(Entry(0, "model", unknown.facts()))


@pytest.mark.parametrize(("runner", "words"), [
    ({"kind": "chat"}, ""), ({"kind": "rehearsal"}, ""), ({}, ""),
    ({"kind": "command", "gateway": "models"}, "metered by the gateway models"),
    ({"kind": "acp", "gateway": ""}, "not metered: it has a login of its own, and only what it tells is counted"),
])  # fmt: skip
def test_whether_an_agent_is_metered_is_said_of_programs_alone(runner: dict[str, str], words: str) -> None:
    assert metering_words(runner) == words
