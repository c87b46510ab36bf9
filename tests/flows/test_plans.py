"""A plan stands open for objection for five minutes: the operator sees it, objects, or lets it run at once (S3-13)."""

from pathlib import Path

import pytest

from core.domain.actors import System
from core.domain.errors import Conflict
from tests.flows.conftest import Picture
from tests.flows.situations import a_plan
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    Office,
    a_goal_at_work,
    an_office,
    head_of,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)


async def comments(office: Office, kind: str) -> list[tuple[str, str]]:
    """Who wrote what of a kind."""
    rows = await office.company.board.readers.all("SELECT author, body FROM comments WHERE kind = :kind", kind=kind)
    return [(row["author"], row["body"]) for row in rows]


@pytest.mark.parametrize(
    "size",
    [HOME, *(pytest.param(size, marks=pytest.mark.soak) for size in (SMALL, TINY))],
    ids=["home", "small", "tiny"],
)
async def test_a_plan_counts_down_and_is_let_run_by_key(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await a_plan(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert "◷ plan 4:59" in shown(app)
            await wait(pilot, office, 75)
            assert "◷ plan 3:44" in shown(app)
            await picture(pilot, "it-counts-down")
            await press(pilot, "enter")
            assert "3:44 left" in shown(app)
            await picture(pilot, "the-plan")
            await press(pilot, "a")
            assert "let it run T3" in app.room.message.says
            await press(pilot, "u")
            await wait(pilot, office, 6)
            assert (await office.task(3)).plan_until is not None, "it was taken back"

            await press(pilot, "a")
            await wait(pilot, office, 6)
            task = await office.task(3)
            assert (task.plan_until, task.status, task.plans) == (None, "working", 1)
            assert not app.room.view.inbox()


async def test_a_plan_is_objected_by_key_and_adjusted_first(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await a_plan(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Ask only for the head of a page")
            await picture(pilot, "the-objection")
            await press(pilot, "enter")
            await wait(pilot, office, 4)
            assert not await comments(office, "objection"), "it is held for five seconds"
            await wait(pilot, office, 2)
            assert await comments(office, "objection") == [("human", "Ask only for the head of a page")]
            task = await office.task(3)
            assert task.plan_until is None
            assert "Ask only for the head of a page" in task.reason
            app.room.board.list.focus()
            app.room.board.list.move_to("task:3")
            await settle(pilot)
            assert "its plan met an objection (1 of 3)" in head_of(app)
            await picture(pilot, "objected")


@pytest.mark.soak
async def test_the_third_plan_that_meets_an_objection_comes_to_the_operator(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await a_plan(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            for more in (True, True, False):
                told = "the author adjusts the plan first" if more else "you are asked how it goes on"
                assert told in shown(app)
                await press(pilot, "b")
                await write(pilot, "Not over the network")
                await press(pilot, "enter")
                await wait(pilot, office, 6)
                if more:
                    again = await office.agent("links", "execute", task_id=3)
                    await office.do("PostPlan", again, task=3, body="I fetch them a little slower.")
                    await office.end(again)
                await settle(pilot)
                await wait(pilot, office, 1)
            assert (await office.task(3)).status == "waiting_human"
            assert (await office.approval()).status == "pending"
            await picture(pilot, "it-is-asked")
            await press(pilot, "a")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "consumed"
            assert (await office.task(3)).status == "pending"


async def test_silence_lets_a_plan_run_and_a_late_key_is_told_so(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await a_plan(office)
        app = office.app()
        async with app.run_test(size=HOME, notifications=True) as pilot:
            await ready(pilot, office)
            with pytest.raises(Conflict):
                await office.do("ClosePlan", System(), task=3)
            office.clock.forward(297)
            await press(pilot, "a")
            office.clock.forward(3)
            await office.do("ClosePlan", System(), task=3)
            await wait(pilot, office, 6)
            assert "No plan of T3 stands open for objection" in app.room.message.says
            assert (await office.task(3)).status == "working"
