"""A hire that the CEO asks for: read with what it costs and what is lacking, approved, edited and approved, refused."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import AgentRecord, Budget
from core.domain.states import ApprovalStatus
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    an_office,
    press,
    ready,
    settle,
    settle_screen,
    shown,
    wait,
    write,
)
from tui.screens.lines_form import LinesForm

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

SCOUT: dict[str, Any] = {
    "slug": "scout", "name": "Milo", "role": "executor", "capabilities": ("marks",), "budget_micros": 2_000_000,
    "why": "The folder has marked lines, and nobody looks for marks.",
}  # fmt: skip
SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


async def a_hire_waits(office: Office, **more: Any) -> int:
    """The CEO asks for somebody who can do what a goal of the operator needs and nobody can."""
    if "slug" not in more:
        await office.do(
            "CreateGoal", title="Mark the folder", must_haves=["All marks, with file and line"], split=False
        )
    ceo = await office.agent("ceo", "mention")
    answer = await office.do("ProposeHire", ceo, **{**SCOUT, **more})
    await office.end(ceo)
    return int(answer["id"])


async def hired(office: Office) -> AgentRecord | None:
    found = await office.company.board.readers.entities(AgentRecord, "slug = 'scout'")
    return found[0] if found else None


@SIZES
async def test_a_hire_is_read_and_approved(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_hire_waits(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await picture(pilot, "it-waits")
            await press(pilot, "enter")
            assert "at most $2.00 a day" in shown(app)
            assert "without it nobody can: marks" in shown(app)
            await picture(pilot, "it-is-read")
            await press(pilot, "escape", "a")
            assert await hired(office) is None, "it is held for five seconds"
            await press(pilot, "u")
            await wait(pilot, office, 6)
            assert (await office.approval(number)).status == ApprovalStatus.PENDING
            await press(pilot, "a")
            await wait(pilot, office, 6)
            scout = await hired(office)
            assert scout is not None
            assert scout.capabilities == ("marks",)
            (budget,) = await office.company.board.readers.entities(Budget, "true")
            assert (budget.scope_id, budget.limit_micros) == (scout.id, 2_000_000)
            assert not any(item.kind == "hire_agent" for item in app.room.view.inbox())


@SIZES
async def test_a_hire_is_edited_and_approved_as_it_then_is(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_hire_waits(office)
        asked = await office.approval(number)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "e")
            form = app.screen
            assert isinstance(form, LinesForm)
            assert "why: The folder has marked lines" in form.text.text
            await picture(pilot, "the-form")
            form.text.text = form.text.text.replace("role: executor", "role: boss")
            await press(pilot, "ctrl+s")
            assert "there is no role 'boss'" in shown(app)
            assert (await office.approval(number)).payload_hash == asked.payload_hash
            form.text.text = form.text.text.replace("role: boss", "role: executor").replace(
                "can: marks", "can: marks, links"
            )
            await press(pilot, "ctrl+s")
            await settle(pilot)
            edited = await office.approval(number)
            assert edited.payload_hash != asked.payload_hash
            assert edited.payload["capabilities"] == ["marks", "links"]
            assert edited.status == ApprovalStatus.PENDING, "the approval is held for five seconds"
            assert "u takes it back" in shown(app)
            await picture(pilot, "edited-and-held")
            await wait(pilot, office, 6)
            scout = await hired(office)
            assert scout is not None
            assert scout.capabilities == ("marks", "links")
            assert (await office.approval(number)).status == ApprovalStatus.CONSUMED


async def test_what_was_written_and_left_is_there_again(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_hire_waits(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "e")
            await write(pilot, "v")
            await press(pilot, "escape")
            assert "Nothing was saved" in shown(app)
            await press(pilot, "e")
            await settle_screen(pilot, LinesForm)
            assert isinstance(app.screen, LinesForm)
            assert "name: Milov" in app.screen.text.text
            assert (await office.approval(number)).payload["name"] == "Milo"


async def test_a_hire_is_refused_with_a_reason(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        first = await a_hire_waits(office)
        second = await a_hire_waits(office, slug="twin", name="Tilda", capabilities=("twins",))
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "we can do without")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            refused = await office.approval(first)
            assert (refused.status, refused.note) == (ApprovalStatus.REJECTED, "we can do without")
            assert await hired(office) is None
            waiting = [item.id for item in app.room.view.inbox() if item.kind == "hire_agent"]
            assert waiting == [f"approval:{second}"]
            await press(pilot, "i")
            app.room.inbox.list.move_to(f"approval:{second}")
            await settle(pilot)
            await wait(pilot, office, 1)
            await press(pilot, "r")
            await write(pilot, "what would it cost?")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert (await office.approval(second)).status == ApprovalStatus.REVISION_REQUESTED
            await press(pilot, "A")
            await picture(pilot, "nobody-came")


async def test_a_hire_that_changed_meanwhile_is_not_edited_over(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        number = await a_hire_waits(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "e")
            form = app.screen
            assert isinstance(form, LinesForm)
            await office.do("EditApproval", approval=number, payload={"name": "Mila"})
            form.text.text = form.text.text.replace("can: marks", "can: links")
            await press(pilot, "ctrl+s")
            assert app.screen is form
            assert "changed since you read it" in shown(app)
            assert (await office.approval(number)).payload["capabilities"] == ["marks"]
