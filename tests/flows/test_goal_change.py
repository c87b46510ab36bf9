"""The coordinator wants another goal: the operator sees both side by side, and only their yes changes it (S2-12)."""

from pathlib import Path

import pytest

from core.domain.goals import is_reviewed
from tests.flows.conftest import Picture
from tests.flows.situations import a_changed_goal
from tests.flows.world import HOME, SMALL, agree, an_office, press, ready, shown, wait, write
from tui.screens.confirm import Confirm

SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


@SIZES
async def test_a_changed_goal_is_read_side_by_side_and_approved(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_changed_goal(office)
        before = await office.goal(goal)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert "± change" in shown(app)
            await picture(pilot, "it-waits")
            await press(pilot, "enter")
            assert "before" in shown(app)
            assert "after" in shown(app)
            await picture(pilot, "side-by-side")
            await press(pilot, "escape", "a")
            assert isinstance(app.screen, Confirm)
            await picture(pilot, "the-question")

            await press(pilot, "enter")  # cancel has the focus
            await wait(pilot, office, 10)
            assert (await office.goal(goal)).must_haves == before.must_haves

            await press(pilot, "a")
            await agree(pilot, office)
            await wait(pilot, office, 3)
            assert (await office.goal(goal)).must_haves == before.must_haves, "it is held for five seconds"
            await wait(pilot, office, 3)
            after = await office.goal(goal)
            assert [must["text"] for must in after.must_haves] == [
                "Files, lines and bytes of each language",
                "Every dead link, relative or absolute, with the file and line that holds it",
                "The ten largest files",
            ]
            assert "Fetch at most 50 pages" in after.constraints
            assert is_reviewed(after)
            assert (await office.approval()).status == "consumed"
            await picture(pilot, "changed")


@pytest.mark.soak
async def test_a_changed_goal_is_refused_with_a_word(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_changed_goal(office)
        before = await office.goal(goal)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Absolute links are another goal")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "rejected"
            after = await office.goal(goal)
            assert (after.must_haves, after.constraints) == (before.must_haves, before.constraints)
            assert after.reason == "Absolute links are another goal"
            await picture(pilot, "refused")


async def test_a_long_change_can_be_read_to_its_end_before_the_answer(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_changed_goal(office)
        app = office.app()
        async with app.run_test(size=(60, 14)) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)
            assert app.focused is not None
            assert app.focused.id == "cancel"
            first = shown(app)
            assert "Fetch at most 50 pages" not in first
            await press(pilot, *["pagedown"] * 8)
            assert "Fetch at most 50 pages" in shown(app)
            assert app.focused is not None
            assert app.focused.id == "cancel"
