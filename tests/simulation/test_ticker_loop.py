"""The loop of the ticker: at once, debounced, one catch-up tick, and no end by an error (DESIGN §5)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core import ticker as module
from core.domain.actors import HUMAN
from core.domain.entities import Event
from core.domain.limits import TICK_MS
from core.ticker import QUIET, Ticked, Ticker
from tests.unit.world import Clock, World, a_company

PATIENCE_S = 10.0


class Beating:
    """A ticker whose loop runs, with both its clocks in the test's hand."""

    def __init__(self, world: World) -> None:
        assert world.board.writer is not None
        self.world = world
        self.wall = world.clock
        self.steady = Clock(0)
        self.ticks: list[Ticked] = []
        self.ticker = Ticker(
            world.board.writer, world.door, lambda _runs: {},
            clock=self.wall, monotonic=lambda: self.steady() / 1000, on_tick=self.ticks.append,
        )  # fmt: skip

    def pass_(self, ms: int) -> None:
        """Time passes for both clocks."""
        self.wall.advance(ms)
        self.steady.advance(ms)

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110 - what a test waits for has no event
                await asyncio.sleep(0.005)

    async def ticked(self, times: int) -> None:
        """Wait for so many ticks in all, and see that no more follow."""
        await self.until(lambda: len(self.ticks) >= times)
        await asyncio.sleep(0.1)
        assert len(self.ticks) == times

    async def told(self, kind: str) -> list[dict[str, Any]]:
        """What the ticker wrote down about itself."""
        import json

        rows = await self.world.read(lambda tx: tx.all("SELECT changed FROM events WHERE kind = :k", k=kind))
        return [json.loads(row["changed"]) for row in rows]


@asynccontextmanager
async def beating(folder: Path) -> AsyncIterator[Beating]:
    async with a_company(folder) as world:
        made = Beating(world)
        loop = asyncio.create_task(made.ticker.run())
        try:
            await made.ticked(1)
            yield made
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE_S", 0.01)


async def test_it_ticks_at_once_and_then_with_the_clock(tmp_path: Path) -> None:
    async with beating(tmp_path) as loop:
        loop.pass_(TICK_MS)
        await loop.ticked(2)
        assert loop.ticks[1].number == loop.ticks[0].number + 1


async def test_many_pokes_make_one_tick(tmp_path: Path) -> None:
    async with beating(tmp_path) as loop:
        for _ in range(50):
            loop.ticker.poke()
        await loop.ticked(2)


async def test_ticks_that_were_missed_collapse_into_one_that_says_how_many(tmp_path: Path) -> None:
    async with beating(tmp_path) as loop:
        loop.pass_(10 * TICK_MS)
        await loop.ticked(2)
        assert [note["missed"] for note in await loop.told("TicksMissed")] == [9]
        assert await loop.told("ClockStepped") == []


@pytest.mark.parametrize("by", [3_600_000, -3_600_000])
async def test_a_step_of_the_wall_clock_is_told_and_ticking_goes_on(tmp_path: Path, by: int) -> None:
    async with beating(tmp_path) as loop:
        loop.wall.advance(by)
        await asyncio.sleep(0.1)
        assert [note["by_ms"] for note in await loop.told("ClockStepped")] == [by]
        count = len(loop.ticks)
        loop.pass_(TICK_MS)
        await loop.ticked(count + 1)


async def test_a_tick_that_fails_does_not_end_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with beating(tmp_path) as loop:
        gather = module.gather

        def fail(*_: object) -> None:
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr(module, "gather", fail)
        loop.ticker.poke()
        await loop.until(lambda: loop.ticker.trouble)
        assert "a bug" in loop.ticker.trouble
        monkeypatch.setattr(module, "gather", gather)
        loop.ticker.poke()
        await loop.ticked(2)
        assert loop.ticker.trouble == ""


def event(kind: str, actor: str = "x") -> Event:
    return Event(id=1, at=0, actor=actor, run_id=None, entity="tasks", entity_id=1, kind=kind, changed={}, cause=None)


async def test_only_news_that_give_something_to_decide_wake_it(tmp_path: Path) -> None:
    async with beating(tmp_path) as loop:
        loop.ticker.hear([event(kind) for kind in sorted(QUIET)])
        await loop.ticked(1)
        loop.ticker.hear([event("TaskClaimed")])
        await loop.ticked(2)


async def test_a_persons_word_is_heard_at_once(tmp_path: Path) -> None:
    async with beating(tmp_path) as loop:
        loop.ticker.hear([event("CommentAdded", "scout")])
        await loop.ticked(1)
        loop.ticker.hear([event("CommentAdded", HUMAN)])
        await loop.ticked(2)


async def test_a_tick_wakes_itself_only_while_it_moves_something(tmp_path: Path) -> None:
    async with beating(tmp_path) as loop:
        assert loop.world.board.writer is not None
        loop.world.board.writer.listen(loop.ticker.hear)
        await loop.world.an_active_goal("one", "two")
        await loop.until(lambda: len(loop.ticks) > 1)
        await asyncio.sleep(0.3)
        count = len(loop.ticks)
        await asyncio.sleep(0.3)
        assert len(loop.ticks) == count
        assert count < 10
