"""Two rooms on one board: the second follows, both decide, and the one that comes late is told."""

import os
from pathlib import Path

import pytest

from core.company import OpenCompany, socket_path
from core.domain.goals import is_reviewed
from tests.flows.conftest import Picture
from tests.flows.world import HOME, Office, a_draft, an_office, press, ready, shown, wait
from tests.server.served import serving


@pytest.fixture
def fixed_pid(monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture names the owner's process."""
    monkeypatch.setattr(os, "getpid", lambda: 4242)


async def test_both_approve_and_one_is_told(tmp_path: Path, picture: Picture, fixed_pid: None) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        async with serving(lambda: office.company.local_door, socket_path(office.company.folder)):
            second = await OpenCompany.open(tmp_path / "c", clock=office.clock, role="reader")
            other = Office(second, office.clock)
            first_app, second_app = office.app(), other.app()
            async with first_app.run_test(size=HOME) as first, second_app.run_test(size=HOME) as follower:
                await ready(first, office)
                await ready(follower, other)
                await picture(follower, "it-follows")
                await press(first, "a")
                await press(follower, "a")
                await wait(first, office, 6)
                assert is_reviewed(await office.goal(goal))
                second_app.room.decisions.look_at_the_clock()
                await press(follower)
                assert "is reviewed already" in second_app.room.message.says
                await picture(follower, "it-is-told")
                reviews = await office.company.board.readers.value(
                    "SELECT count(*) FROM events WHERE kind = 'GoalReviewed'"
                )
                assert reviews == 1


@pytest.mark.soak
async def test_a_follower_decides_through_the_owner(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        async with serving(lambda: office.company.local_door, socket_path(office.company.folder)):
            second = await OpenCompany.open(tmp_path / "c", clock=office.clock, role="reader")
            other = Office(second, office.clock)
            app = other.app()
            async with app.run_test(size=HOME) as pilot:
                await ready(pilot, other)
                await press(pilot, "a")
                await wait(pilot, other, 6)
                assert is_reviewed(await office.goal(goal))
                await pilot.pause(0.6)  # the file is looked at each quarter of a second
                await press(pilot)
                assert "reviewed" in shown(app)
                await press(pilot, "t")
                assert "only follows" in app.room.message.says
                await pilot.press("q")
                await pilot.pause(0.3)
            assert not app.is_running


async def test_a_follower_without_an_owner_says_so(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        second = await OpenCompany.open(tmp_path / "c", clock=office.clock, role="reader")
        other = Office(second, office.clock)
        app = other.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, other)
            await press(pilot, "a")
            await wait(pilot, other, 6)
            assert "does not answer" in app.room.message.says
            assert not is_reviewed(await office.goal(goal))
