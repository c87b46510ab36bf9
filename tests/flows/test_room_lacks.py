"""The room where something is lacking: a mission and a budget are set by key, and what cannot run is told."""

from pathlib import Path

import pytest

from core.domain.entities import Budget, Company
from tests.flows.world import HOME, an_office, press, ready, shown, write


async def test_a_mission_is_set_from_the_inbox_and_the_companys_budget_by_key(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await office.do("EditCompany", mission="")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "The company has no mission" in shown(app)
            assert "M sets it" in app.room.board.list.empty, "the empty board promises no proposal"
            assert "M set it" in shown(app), "the selected item's key stands in the bottom line"
            await press(pilot, "M")
            await write(pilot, "Know every map")
            await press(pilot, "enter")
            (company,) = await office.company.board.readers.entities(Company, "id = 1")
            assert company.mission == "Know every map"
            assert "Nothing waits for you." in shown(app)

            await press(pilot, "dollar_sign")
            await write(pilot, "5 week")
            await press(pilot, "enter")
            (budget,) = await office.company.board.readers.entities(Budget, "scope = 'company'")
            assert (budget.limit_micros, budget.period) == (5_000_000, "week")


async def test_a_ceo_that_cannot_run_is_told_instead_of_a_heartbeat(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app(runner_kinds=frozenset())
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "Nothing runs for ceo" in shown(app)
            await press(pilot, "H")
            assert "Chief cannot run: there is no runner of kind 'rehearsal' in this program" in shown(app)
            events = await office.company.board.readers.events_after(0, 1000)
            assert "HeartbeatCalled" not in {event.kind for event in events}


@pytest.mark.soak
async def test_a_paused_ceo_is_said_to_be_paused(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await office.do("PauseAgent", agent="ceo")
            app.room.flush()
            await press(pilot, "tab")
            assert "Chief is paused: nothing is asked of it" in shown(app)
            assert "CEO paused" in shown(app)
