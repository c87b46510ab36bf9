"""One tick over boards of 1,000 to 100,000 finished tasks with the same 50 live ones: finished ones must not cost."""

import asyncio
import time
from pathlib import Path

from core.blackboard.transaction import Transaction
from core.domain.plan import plan_tick
from core.gathering import gather
from tests.benchmarks.world import a_board, wall_ms

LIVE = 50
REPEATS = 20


def _finish(tx: Transaction, count: int) -> None:
    # Rows as finished tasks leave them; written directly, since only their number matters here.
    row = tx.one("SELECT * FROM tasks WHERE id = 1")
    assert row is not None
    row |= {"status": "done", "round_id": None}
    names = [name for name in row if name != "id"]
    tx.connection.executemany(
        f"INSERT INTO tasks({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})",
        ([row[name] for name in names] for _ in range(count)),
    )


async def _measure(folder: Path) -> None:
    first = 0.0
    for finished in (1_000, 10_000, 100_000):
        place = folder / str(finished)
        place.mkdir()
        async with a_board(place, LIVE) as world:
            writer = world.board.writer
            assert writer is not None
            await writer.submit(lambda tx, count=finished: _finish(tx, count))
            times = []
            for number in range(REPEATS):
                begun = time.perf_counter()
                facts = await writer.submit(lambda tx, n=number: gather(tx, n, lambda _runs: {}))
                plan = plan_tick(facts, wall_ms())
                times.append(time.perf_counter() - begun)
            best = sorted(times)[REPEATS // 2] * 1000
            first = first or best
            print(
                f"{finished:>8,} finished, {LIVE} live   {best:7.2f} ms a tick (median)   {best / first:5.2f} × the"
                f" first   {len(plan.actions)} actions"
            )


def measure(folder: Path) -> None:
    """Print the median time of gathering and planning, and its ratio to the smallest board."""
    asyncio.run(_measure(folder))
