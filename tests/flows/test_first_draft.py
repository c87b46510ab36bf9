"""The first draft: read, sent back, revised, approved, dispatched; or refused, and the next one heeds the reason."""

from pathlib import Path

import pytest

from core.domain.states import GoalStatus
from core.refill import refill_material
from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL, a_draft, an_office, press, ready, settle, shown, wait, write

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


@SIZES
async def test_it_is_read_revised_approved_and_dispatched(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        before = (await office.goal(goal)).content_hash
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "enter")
            await picture(pilot, "it-is-read")
            await press(pilot, "escape", "r")
            await write(pilot, "Leave the links out")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            ceo = await office.agent("ceo", "mention", goal_id=goal)
            await office.do("EditGoal", ceo, goal=goal, must_haves=["Files, lines and bytes of each language"])
            await office.end(ceo)
            await settle(pilot)
            await wait(pilot, office, 1)
            assert (await office.goal(goal)).content_hash != before
            await press(pilot, "enter")
            assert "Every dead relative link" not in "\n".join(block.body for block in app.room.detail.prose.blocks[:1])
            await picture(pilot, "revised")
            await press(pilot, "escape", "a")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).reviewed_by == "human"
            await wait(pilot, office, 1)
            await press(pilot, "d")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).status == GoalStatus.PLANNING
            await picture(pilot, "dispatched")


async def test_it_is_refused_and_the_next_draft_is_told_why(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_draft(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Nothing about links, please")
            await press(pilot, "enter")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).status == GoalStatus.CANCELLED
            material = await refill_material(office.company.board.readers)
            assert "Nothing about links, please" in str(material), "what the next proposal is made from"
            again = await a_draft(office, "Count the folder")
            await settle(pilot)
            await wait(pilot, office, 1)
            await press(pilot, "i")
            assert app.room.situation.ref == f"goal:{again}"
            assert "Count the folder" in shown(app)
            await picture(pilot, "the-next-one")
