"""Real programs over the Agent Client Protocol are answered in the room, key by key: a yes, a no, and the run's end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.domain.entities import Approval
from core.domain.states import ApprovalStatus, RunStatus
from tests.binaries.test_acp import Speaker, at_work, newest, pending, sign, speaking
from tests.binaries.test_work import require_handed_in
from tests.binaries.worker import SIGN, Worker
from tests.binaries.world import World
from tests.flows.world import press, settle, settle_screen, shown, write
from tests.programs.processes import marked
from tui.app import OpsroomApp
from tui.screens.confirm import Confirm
from tui.screens.run import RunScreen

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


@asynccontextmanager
async def in_the_room(world: World) -> AsyncIterator[tuple[OpsroomApp, Pilot[None]]]:
    """The room of this company, whose first question waits and is shown."""
    await pending(world.office)
    clock = world.office.clock
    app = OpsroomApp(world.office.company, clock=clock, monotonic=lambda: clock() / 1000, start=False)
    async with app.run_test(size=(140, 40)) as pilot:
        while not app.room.view.loaded:
            await pilot.pause(0.02)
        await settle(pilot)
        pass_time(app, world, 1)
        assert "> sign.txt; cat sign.txt" in shown(app)
        yield app, pilot


def pass_time(app: OpsroomApp, world: World, seconds: int) -> None:
    """What was held long enough is sent, and keys are heard again."""
    world.office.clock.advance(seconds * 1000)
    app.room.decisions.look_at_the_clock()
    app.room.grow_older()


@speaking("gemini", "codex")
async def test_it_is_allowed_by_a_key(tmp_path: Path, who: Speaker) -> None:
    async with at_work(tmp_path, who, Worker(leaves=True)) as world, in_the_room(world) as (app, pilot):
        await press(pilot, "a")
        if isinstance(app.screen, Confirm):  # what leaves a sandbox is asked once more
            pass_time(app, world, 1)
            await press(pilot, "right", "enter")
        assert not sign(tmp_path).exists(), "a yes is held for five seconds"
        pass_time(app, world, 6)
        await settle(pilot)
        await world.office.idle()
        await require_handed_in(world)
        assert sign(tmp_path).read_text() == SIGN


@speaking("gemini", "codex")
async def test_it_is_refused_by_a_key_with_a_reason_that_the_program_hears(tmp_path: Path, who: Speaker) -> None:
    async with at_work(tmp_path, who, Worker(leaves=True)) as world, in_the_room(world) as (app, pilot):
        await press(pilot, "b")
        await write(pilot, "not on a Monday")
        await press(pilot, "enter")
        pass_time(app, world, 6)
        await settle(pilot)
        await world.office.idle()
        (refused,) = await world.office.all(Approval)
        assert (refused.status, refused.note) == (ApprovalStatus.REJECTED, "not on a Monday")
        run = await newest(world)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done"), run.detail
        assert not sign(tmp_path).exists()
        assert "not on a Monday" in await world.office.transcript(run)


@speaking("gemini", "codex")
async def test_its_run_is_ended_by_keys_while_it_waits(tmp_path: Path, who: Speaker) -> None:
    mark = str(tmp_path / "company")
    async with at_work(tmp_path, who, Worker(leaves=True)) as world, in_the_room(world) as (app, pilot):
        assert await asyncio.to_thread(marked, mark)
        await press(pilot, "w")
        await settle_screen(pilot, RunScreen)
        assert "asks Q1" in shown(app)
        await press(pilot, "x")
        assert isinstance(app.screen, Confirm)
        pass_time(app, world, 1)
        await press(pilot, "right", "enter")
        await world.office.idle()
        assert await asyncio.to_thread(marked, mark) == []
        assert (await newest(world)).status == RunStatus.KILLED
        assert [each.status for each in await world.office.all(Approval)] == [ApprovalStatus.CANCELLED]
        assert not sign(tmp_path).exists()
