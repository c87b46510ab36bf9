"""A round in which nothing moves is in the inbox with what can be done, and ends at a person (C-05, F16)."""

from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.situations import a_stalled_round
from tests.flows.world import HOME, SMALL, an_office, press, ready, settle, shown, wait, write
from tui.screens.confirm import Confirm


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_round_that_stands_still_is_ended_by_key(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_stalled_round(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            app.room.inbox.list.move_to("stalled:round:1")
            await settle(pilot)
            assert "Round 1 of G1 stands still" in shown(app)
            await picture(pilot, "it-stands-still")
            if size == SMALL:
                await press(pilot, "enter")
                await picture(pilot, "what-can-be-done")
                await press(pilot, "escape")
            await press(pilot, "b")
            await write(pilot, "We have no network")
            await press(pilot, "enter")
            assert isinstance(app.screen, Confirm)
            await picture(pilot, "the-question")
            await press(pilot, "escape")
            assert (await office.task(2)).status == "blocked"

            await press(pilot, "b")
            await write(pilot, "We have no network")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            states = [(await office.task(number)).status for number in (2, 3, 4, 5)]
            assert states == ["cancelled"] * 4
            assert (await office.task(2)).reason == "We have no network"
            assert await office.company.board.readers.value("SELECT status FROM rounds") == "reviewing"
            assert (await office.goal(goal)).status == "active"
            await picture(pilot, "ended")


async def test_a_standstill_is_solved_by_unblocking(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_stalled_round(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            app.room.inbox.list.move_to("wait:task:2")
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert (await office.task(2)).status == "pending"
            assert await office.company.board.readers.value("SELECT status FROM rounds") == "open"
            assert not any(item.kind == "stalled" for item in app.room.view.inbox())
