"""A refused review: disputed, upheld, ruled on by the coordinator; the third refusal comes to the operator (C-07)."""

from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.situations import mended, rebutted, refused, ruled
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_goal_at_work,
    an_office,
    handed_in,
    head_of,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)
from tui.app import OpsroomApp

TASK = 2


async def look_at_the_task(pilot: object, app: OpsroomApp) -> None:
    """The cursor on the task, its reviews open."""
    app.room.board.list.focus()
    app.room.board.list.move_to(f"task:{TASK}")
    await settle(pilot)  # type: ignore[arg-type]
    await press(pilot, "enter", "3")  # type: ignore[arg-type]


async def refused_three_times(office: Office) -> None:
    """One dispute that was ruled on, and two refusals more for the same finding."""
    await handed_in(office, TASK, "inventory")
    await refused(office, TASK, 1)
    await rebutted(office, TASK)
    await refused(office, TASK, 1, finding={"earlier": 1})
    await ruled(office, TASK)
    for output in (2, 3):
        await mended(office, TASK, "inventory")
        await refused(office, TASK, output, finding={"earlier": 1})


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_dispute_is_followed_to_its_ruling(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await handed_in(office, TASK, "inventory")
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            await look_at_the_task(pilot, app)
            assert "it needs the verdict of somebody who never ran it" in head_of(app)

            await refused(office, TASK, 1)
            await settle(pilot)
            assert "sent back: Figures of a generated folder" in head_of(app)
            await picture(pilot, "refused")

            await rebutted(office, TASK)
            await settle(pilot)
            assert "its author does not accept the refusal" in head_of(app)
            assert (await office.task(TASK)).review_step == "reply"

            await refused(office, TASK, 1, finding={"earlier": 1})
            await settle(pilot)
            assert "disputed:" in head_of(app)
            assert "the coordinator rules" in head_of(app)

            await ruled(office, TASK)
            await settle(pilot)
            task = await office.task(TASK)
            assert (task.status, task.review_attempts) == ("working", 1)
            await press(pilot, "end")
            await settle(pilot)
            assert "ruling" in shown(app)
            await picture(pilot, "ruled")


async def test_a_first_verdict_of_two_waits_for_the_second(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await office.do("HireAgent", slug="challenger", name="Challenger", role="challenger", manager="ceo")
        await a_goal_at_work(office)
        await office.do("EditTask", task=TASK, constraints=["Leave the risk controls alone"])
        assert (await office.task(TASK)).risk == "high"
        await handed_in(office, TASK, "inventory")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await look_at_the_task(pilot, app)
            await refused(office, TASK, 1, by="challenger")
            await settle(pilot)
            assert "a second verdict is due" in head_of(app)
            assert "waits for a second look" in shown(app)
            await picture(pilot, "a-second-look-is-due")
            await refused(office, TASK, 1, finding={"what": "the rows do not add up", "criterion": "end_state"})
            await settle(pilot)
            assert "waits for a second look" not in shown(app)
            assert (await office.task(TASK)).status == "working"


async def test_the_third_refusal_is_decided_by_key(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await refused_three_times(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "T2 was refused 3 times" in shown(app)
            await picture(pilot, "it-is-asked")
            await press(pilot, "a")
            await wait(pilot, office, 4)
            assert (await office.approval()).status == "pending"
            await wait(pilot, office, 2)
            assert (await office.approval()).status == "consumed"
            assert (await office.task(TASK)).status == "pending"


@pytest.mark.soak
async def test_the_third_refusal_can_end_the_task(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await refused_three_times(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Leave the figures out")
            await press(pilot, "enter")
            await picture(pilot, "the-question")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            task = await office.task(TASK)
            assert (task.status, task.reason) == ("cancelled", "Leave the figures out")
            assert (await office.approval()).status == "rejected"


@pytest.mark.soak
async def test_new_findings_of_a_later_review_become_tasks(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await handed_in(office, TASK, "inventory")
        await refused(office, TASK, 1)
        await mended(office, TASK, "inventory")
        more = {"what": "no totals", "where": "the end of the table", "change": "add a row of totals", "earlier": None}
        await refused(office, TASK, 2, verdict="approved", summary="build/ is gone from it.", finding=more)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await look_at_the_task(pilot, app)
            await press(pilot, "end")
            assert "T6 takes up: no totals" in shown(app)
            await picture(pilot, "a-follow-up")
            assert (await office.task(TASK)).status == "done"
            assert (await office.task(6)).title == "After T2: no totals"
