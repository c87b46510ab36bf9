"""Claims through the one door beside bare sqlite3 statements on the same file system with the same durability."""

import asyncio
import sqlite3
import time
from pathlib import Path

from core.commands.work import ClaimTask
from tests.benchmarks.world import AGENTS, a_board, run_of

CLAIMS = AGENTS


def bare(folder: Path, claims: int) -> float:
    """Claims per second of a hand-written compare-and-swap with its event, one commit each."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE tasks(id INTEGER PRIMARY KEY, status TEXT, assignee INTEGER, fence INTEGER)")
    connection.execute("CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT, changed TEXT)")
    connection.executemany("INSERT INTO tasks VALUES (?, 'pending', NULL, 0)", [(i,) for i in range(1, claims + 1)])
    begun = time.perf_counter()
    for task in range(1, claims + 1):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "UPDATE tasks SET status = 'claimed', assignee = 1, fence = fence + 1 WHERE id = ? AND status = 'pending'",
            (task,),
        )
        connection.execute("INSERT INTO events(kind, changed) VALUES ('TaskClaimed', '{\"status\":\"claimed\"}')")
        connection.execute("COMMIT")
    rate = claims / (time.perf_counter() - begun)
    connection.close()
    return rate


async def through_the_door(folder: Path, together: int) -> float:
    """Claims per second of agents that claim one task each, this many at a time."""
    async with a_board(folder, CLAIMS) as world:
        actors = [await run_of(world, agent, f"claim:{agent}") for agent in world.agents]
        jobs = list(zip(actors, range(1, CLAIMS + 1), strict=True))
        begun = time.perf_counter()
        for start in range(0, CLAIMS, together):
            batch = jobs[start : start + together]
            await asyncio.gather(*(world.door.execute(actor, ClaimTask(task=task)) for actor, task in batch))
        return CLAIMS / (time.perf_counter() - begun)


def measure(folder: Path) -> None:
    """Print rates and their ratio to bare statements of the same run."""
    base = bare(folder, CLAIMS * 4)
    print(f"bare sqlite3, one commit a claim      {base:10,.0f} claims/s")
    for together in (1, 8, 64):
        place = folder / f"door{together}"
        place.mkdir()
        rate = asyncio.run(through_the_door(place, together))
        print(f"through the commands, {together:>3} at a time    {rate:10,.0f} claims/s   {rate / base:6.2f} × bare")
