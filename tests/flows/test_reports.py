"""Phase 4: the report is composed by the program, sent back with a remark, made anew, and accepted (S2-14, S3-26)."""

from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.situations import a_finished_round, round_decided
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    an_office,
    approved,
    handed_in,
    head_of,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)

REMARK = "Name the ten largest files"


async def reported(office: Office, goal: int, summary: str) -> None:
    """The coordinator hands the report over."""
    coordinator = await office.agent("coordinator", "report", goal_id=goal)
    await office.do("ReportGoal", coordinator, goal=goal, summary=summary, findings=["Python is half of it."])
    await office.end(coordinator)


async def another_round(office: Office, goal: int) -> None:
    """What the remark asked for is planned, done and approved."""
    coordinator = await office.agent("coordinator", "plan", goal_id=goal)
    task = {"title": REMARK, "intent": REMARK, "end_state": "du names the same ten.", "must_haves": ["M1"]}
    await office.do("OpenRound", coordinator, goal=goal, tasks=[task])
    await office.end(coordinator)
    await handed_in(office, 6, "inventory")
    await approved(office, 6, output=4)
    coordinator = await office.agent("coordinator", "round_review", goal_id=goal, round_id=2)
    await round_decided(office, coordinator, "report", number=2)
    await office.end(coordinator)


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_a_report_comes_back_with_a_remark_and_is_accepted_then(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        goal, coordinator = await a_finished_round(office)
        await round_decided(office, coordinator, "report")
        await office.end(coordinator)
        await reported(office, goal, "Nine languages, no dead link.")
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert "★ report" in shown(app)
            await press(pilot, "2", "enter")
            await picture(pilot, "the-report")
            await press(pilot, "r")
            await write(pilot, REMARK)
            await press(pilot, "enter")
            await wait(pilot, office, 4)
            assert (await office.goal(goal)).status == "reporting"
            await wait(pilot, office, 2)
            back = await office.goal(goal)
            assert (back.status, back.reason) == ("active", REMARK)
            assert f"to be heeded: {REMARK}" in head_of(app)

            await another_round(office, goal)
            await reported(office, goal, "The ten largest files are named.")
            await settle(pilot)
            await wait(pilot, office, 1)
            await press(pilot, "escape", "i")
            await picture(pilot, "the-second-report")
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert (await office.goal(goal)).status == "done"
            titles = await office.company.board.readers.all("SELECT title FROM outputs WHERE task_id IS NULL")
            assert [row["title"] for row in titles] == ["Report on G1, version 1", "Report on G1, version 2"]
            await picture(pilot, "accepted")
