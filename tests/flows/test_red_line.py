"""An act at a red line is held before its effect; the operator releases exactly it, once, or refuses it (D-03)."""

from pathlib import Path

import pytest

from core.domain.actors import Agent
from core.domain.errors import Conflict
from tests.flows.conftest import Picture
from tests.flows.world import (
    HOME,
    SMALL,
    Office,
    a_goal_at_work,
    an_office,
    at_work,
    press,
    ready,
    settle,
    shown,
    wait,
    write,
)
from tui.screens.confirm import Confirm

ACT = {"tool": "shell", "command": "rm -r assets/old", "folder": "/srv/site"}
SIZES = pytest.mark.parametrize("size", [HOME, SMALL], ids=["home", "small"])


async def held(office: Office) -> None:
    """An agent that meets a red line: its task waits, and its run ends."""
    links = await at_work(office, 3, "links")
    answer = await office.do("CheckAct", links, task=3, act=ACT)
    assert (answer["allowed"], answer["waits"]) == (False, 1)
    await office.end(links)
    office.clock.forward(20)


async def at_it_again(office: Office) -> Agent:
    """Somebody works on the task anew."""
    return await at_work(office, 3, "links")


@SIZES
async def test_an_act_is_held_released_by_key_and_done_once(
    tmp_path: Path, picture: Picture, size: tuple[int, int]
) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await held(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            assert "! red line" in shown(app)
            await press(pilot, "enter")
            await picture(pilot, "it-is-held")
            await press(pilot, "escape", "a")
            assert isinstance(app.screen, Confirm)
            assert "command: rm -r assets/old" in shown(app)
            await picture(pilot, "exactly-this")
            await press(pilot, "enter")  # cancel has the focus
            await wait(pilot, office, 10)
            assert (await office.approval()).status == "pending"

            await press(pilot, "a")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 4)
            assert (await office.approval()).status == "pending", "it is held for five seconds"
            await wait(pilot, office, 2)
            assert (await office.approval()).status == "approved"
            assert (await office.task(3)).status == "pending"

            links = await at_it_again(office)
            other = {**ACT, "command": "rm -r assets"}
            with pytest.raises(Conflict, match="approved something else"):
                await office.do("CheckAct", links, task=3, act=other, approval=1)
            assert (await office.do("CheckAct", links, task=3, act=ACT))["allowed"]
            assert (await office.approval()).status == "consumed"
            assert (await office.do("CheckAct", links, task=3, act=ACT))["waits"] == 2, "one yes is one act"
            await settle(pilot)
            assert "! red line" in shown(app)


async def test_an_act_is_refused_with_a_reason(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        await held(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "Keep the old assets")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            refused = await office.approval()
            assert (refused.status, refused.note) == ("rejected", "Keep the old assets")
            task = await office.task(3)
            assert (task.status, task.reason) == ("pending", "Keep the old assets")
            links = await at_it_again(office)
            again = await office.do("CheckAct", links, task=3, act=ACT)
            assert not again["allowed"]
            assert "Keep the old assets" in again["why"]
            await settle(pilot)
            assert not any(item.kind == "red_line" for item in app.room.view.inbox()), "it is not asked again"
            await picture(pilot, "refused")
