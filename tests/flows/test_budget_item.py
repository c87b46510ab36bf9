"""A budget: told at 80 %; at the stop raised once, raised for good, or what costs it paused, each by its own key."""

from pathlib import Path

import pytest

from core.domain.actors import System
from core.domain.entities import AgentRecord, Budget
from core.domain.states import ApprovalStatus
from tests.flows.conftest import Picture
from tests.flows.world import HOME, Office, an_office, press, ready, settle, shown, wait, write

# Long: only by `make soak`.
pytestmark = pytest.mark.soak


async def nearly_used_up(office: Office) -> None:
    """An agent has spent nine of ten cents today."""
    await office.do("SetBudget", scope="agent", slug="links", limit_micros=100_000, period="day")
    links = await office.agent("links", "broadcast")
    await office.end(links, tokens_in=9_000, tokens_out=900, cost_micros=90_000)


async def held(office: Office) -> None:
    """Its next run does not start."""
    agents = await office.company.board.readers.entities(AgentRecord, "slug = 'links'")
    queued = await office.do("QueueRun", System(), kind="broadcast", agent_id=agents[0].id, key="next")
    await office.do("StartRun", System(), run=queued["id"], owner=office.company.token, runs_at_once=99)
    office.clock.forward(20)


async def budget(office: Office) -> Budget:
    return (await office.company.board.readers.entities(Budget, "true"))[0]


async def test_it_is_told_once_when_it_is_nearly_used_up(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await nearly_used_up(office)
            await settle(pilot)
            assert "⚠ 90 % of the budget of Link checker" in shown(app)
            await picture(pilot, "told")
            await press(pilot, "tab")
            assert "⚠" not in shown(app)
            await wait(pilot, office, 3)
            assert "⚠" not in shown(app)


@pytest.mark.parametrize("key", ["a", "r", "d"])
async def test_at_the_stop_each_way_on_has_its_key(tmp_path: Path, picture: Picture, key: str) -> None:
    async with an_office(tmp_path / "c") as office:
        await nearly_used_up(office)
        await held(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            if key == "a":
                await picture(pilot, "it-waits")
            await press(pilot, key)
            if key == "d":
                await write(pilot, "too dear")
                await press(pilot, "enter")
            assert "u takes it back" in shown(app)
            await wait(pilot, office, 6)
            found, now = await office.approval(), await budget(office)
            if key == "a":
                assert (found.status, now.limit_micros, now.extra_micros) == (
                    ApprovalStatus.CONSUMED, 100_000, 100_000,
                )  # fmt: skip
            elif key == "r":
                assert (found.status, now.limit_micros) == (ApprovalStatus.CANCELLED, 200_000)
            else:
                assert found.status == ApprovalStatus.CANCELLED
                (links,) = await office.company.board.readers.entities(AgentRecord, "slug = 'links'")
                assert links.status == "paused"


async def test_another_key_takes_the_place_of_the_first(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await nearly_used_up(office)
        await held(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "a", "r")
            assert len(app.room.decisions.holding) == 1
            await wait(pilot, office, 6)
            now = await budget(office)
            assert (now.limit_micros, now.extra_micros) == (200_000, 0)


async def test_a_missing_translation_is_told_in_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with an_office(tmp_path / "c") as office:
        monkeypatch.setattr(office.company, "warnings", ("prompts/ceo-modes/operating.zh.md is missing.",))
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "⚠ prompts/ceo-modes/operating.zh.md is missing." in shown(app)
            await press(pilot, "tab")
            assert "⚠" not in shown(app)
