"""A reorganisation that the CEO proposes: the chart before and after side by side; approved, edited, overtaken."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import AgentRecord, Company
from core.domain.states import ApprovalStatus
from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL, Office, agree, an_office, press, ready, settle, shown, wait
from tui.screens.confirm import Confirm
from tui.screens.lines_form import LinesForm

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

CHANGES: list[dict[str, Any]] = [
    {"agent": "links", "manager": "reviewer", "duties": "Every link of every file, also those to the outside"},
    {"agent": "inventory", "duties": "Every figure"},
]
SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


async def a_change_waits(office: Office) -> int:
    ceo = await office.agent("ceo", "mention")
    answer = await office.do(
        "ProposeOrganisation", ceo, changes=CHANGES, why="Links are checked where they are judged."
    )
    await office.end(ceo)
    office.clock.forward(30)
    return int(answer["id"])


async def manager_of(office: Office, slug: str) -> str:
    agents = {each.slug: each for each in await office.company.board.readers.entities(AgentRecord, "true")}
    above = next((each for each in agents.values() if each.id == agents[slug].manager_id), None)
    return above.slug if above else ""


@SIZES
async def test_a_change_is_read_side_by_side_and_approved(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_change_waits(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert "awaiting org" in shown(app)
            await press(pilot, "enter")
            await picture(pilot, "it-is-read")
            await press(pilot, "escape", "a")
            assert isinstance(app.screen, Confirm)
            await picture(pilot, "before-and-after")
            await press(pilot, "enter")  # cancel has the focus
            await wait(pilot, office, 7)
            assert (await office.approval(number)).status == ApprovalStatus.PENDING
            await press(pilot, "a")
            await agree(pilot, office)
            await wait(pilot, office, 6)
            assert (await office.approval(number)).status == ApprovalStatus.CONSUMED
            assert await manager_of(office, "links") == "reviewer"
            (company,) = await office.company.board.readers.entities(Company, "true")
            assert company.org_status == "settled"


@SIZES
async def test_a_change_is_edited_and_approved(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_change_waits(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "e")
            form = app.screen
            assert isinstance(form, LinesForm)
            await picture(pilot, "the-form")
            form.text.text = form.text.text.replace("links > reviewer", "links > ceo")
            await press(pilot, "ctrl+s")
            await settle(pilot)
            assert isinstance(app.screen, Confirm), "what will be is shown before it is"
            await agree(pilot, office)
            await wait(pilot, office, 6)
            assert (await office.approval(number)).status == ApprovalStatus.CONSUMED
            assert await manager_of(office, "links") == "ceo"


async def test_a_change_that_was_overtaken_is_refused_in_words(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_change_waits(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await office.do("EditAgent", agent="links", manager="ceo")
            await settle(pilot)
            await wait(pilot, office, 1)
            await press(pilot, "a")
            await wait(pilot, office, 1)
            assert "The board will refuse this: overtaken" in shown(app)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert "The organisation changed" in shown(app)
            assert (await office.approval(number)).status == ApprovalStatus.PENDING
            assert await manager_of(office, "links") == "ceo"

            # The way out that it names: saved as it is, it is asked about today's organisation.
            await press(pilot, "e")
            await press(pilot, "ctrl+s")
            assert isinstance(app.screen, Confirm)
            assert "will refuse" not in shown(app)
            await agree(pilot, office)
            await wait(pilot, office, 6)
            assert (await office.approval(number)).status == ApprovalStatus.CONSUMED
            assert await manager_of(office, "links") == "reviewer"
