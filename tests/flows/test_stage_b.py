"""Stage B by key: switched on after a question, its limits told, back at once, a goal recalled, a heartbeat called."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.actors import System
from core.domain.entities import Company, Goal
from core.domain.states import ApprovalStatus, Autonomy, GoalStatus
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_draft,
    an_office,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)
from tui.app import OpsroomApp
from tui.screens.agents import AgentsScreen
from tui.screens.confirm import Confirm

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

SIZES = pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])


async def the_company(office: Office) -> Company:
    return (await office.company.board.readers.entities(Company, "true"))[0]


async def at_b(office: Office, goals: int) -> None:
    """Stage B, and so many goals that it dispatched; all but the last are over, and nobody looked at one."""
    await office.do("SetAutonomy", stage="B", budget_micros=5_000_000)
    for number in range(goals):
        goal = await a_draft(office, f"Audit the folder, part {number + 1}")
        await office.do("DispatchGoal", System("ticker"), goal=goal)
        if number < goals - 1:
            await over(office, goal)


async def over(office: Office, goal: int) -> None:
    """As when it is accepted, but by nobody: what is decided about a goal would count as a look at it."""
    writer = office.company.board.writer
    assert writer is not None
    await writer.submit(lambda tx: tx.update(tx.get(Goal, goal), "GoalAccepted", status=GoalStatus.DONE))


async def on_the_board(pilot: Pilot[None], app: OpsroomApp, ref: str) -> None:
    app.room.board.list.focus()
    app.room.board.list.move_to(ref)
    await settle(pilot)


@SIZES
async def test_it_is_switched_on_after_a_question_and_off_at_once(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_draft(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await press(pilot, "B")
            assert app.room.composer.field.value == "5.00"
            await picture(pilot, "how-much")
            await press(pilot, *["backspace"] * 4, "2", "enter")
            assert isinstance(app.screen, Confirm)
            assert "It may cost $2.00 a day" in shown(app)
            await picture(pilot, "the-question")
            await wait(pilot, office, 1)
            await press(pilot, "enter")  # cancel has the focus
            assert (await the_company(office)).autonomy == Autonomy.A
            await press(pilot, "B", "enter")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            company = await the_company(office)
            assert (company.autonomy, company.budget_micros) == (Autonomy.B, 5_000_000)
            await settle(pilot)
            await picture(pilot, "stage-b")
            await press(pilot, "B")
            assert (await the_company(office)).autonomy == Autonomy.A
            assert "stage A: you dispatch" in shown(app)


async def test_no_amount_and_nothing_are_refused_in_words(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "B", *["backspace"] * 4)
            await write(pilot, "much")
            await press(pilot, "enter")
            assert "is no amount of US dollars" in shown(app)
            await press(pilot, "B", *["backspace"] * 4, "0", "enter")
            assert "Stage B without a budget could start nothing" in shown(app)
            assert (await the_company(office)).autonomy == Autonomy.A


async def test_a_limit_brings_it_back_to_a_person(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await at_b(office, 3)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "stage B: 3 of 3 in a row" in shown(app)
            await office.do("ReturnAutonomy", System("ticker"))
            await settle(pilot)
            assert (await the_company(office)).autonomy == Autonomy.A
            await press(pilot, "i")
            await picture(pilot, "it-came-back")
            await wait(pilot, office, 1)
            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)
            assert "3 goals in a row were dispatched" in shown(app)
            await picture(pilot, "once-more")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == ApprovalStatus.CONSUMED
            company = await the_company(office)
            assert (company.autonomy, company.auto_in_a_row) == (Autonomy.B, 0)


async def test_a_goal_that_is_opened_is_looked_at(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await at_b(office, 2)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert (await the_company(office)).auto_in_a_row == 2
            await on_the_board(pilot, app, "goal:2")
            assert (await the_company(office)).auto_in_a_row == 2, "a cursor that passes is no look"
            await press(pilot, "enter")
            assert (await the_company(office)).auto_in_a_row == 0
            assert "stage B dispatched it" in shown(app)


@SIZES
async def test_a_goal_is_recalled_after_a_question(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await at_b(office, 1)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await on_the_board(pilot, app, "goal:1")
            assert "R recall" in shown(app)
            await press(pilot, "R")
            assert isinstance(app.screen, Confirm)
            await picture(pilot, "the-question")
            await wait(pilot, office, 1)
            await press(pilot, "enter")
            assert (await office.goal()).status == GoalStatus.PLANNING
            await press(pilot, "R")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            goal = await office.goal()
            assert (goal.status, goal.reviewed_by) == (GoalStatus.DRAFT, None)
            await settle(pilot)
            await picture(pilot, "a-draft-again")


async def test_a_stop_holds_at_once(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await at_b(office, 1)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "exclamation_mark")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            company = await the_company(office)
            assert (company.dispatching, company.autonomy) == (False, Autonomy.B)
            await press(pilot, "H")
            assert "The company is stopped" in shown(app)


async def test_a_heartbeat_is_called_from_the_agents(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "A")
            assert isinstance(app.screen, AgentsScreen)
            before = await office.events()
            await press(pilot, "H")
            assert "heartbeat is due now" in shown(app)
            found = await office.company.board.readers.events_after(before, 5)
            assert [event.kind for event in found] == ["HeartbeatCalled"]
            await press(pilot, "B", "enter")
            await wait(pilot, office, 1)
            await picture(pilot, "stage-b-from-here")
            await press(pilot, "right", "enter")
            assert (await the_company(office)).autonomy == Autonomy.B
            assert "B back to A" in shown(app)
