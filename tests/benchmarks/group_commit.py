"""The group commit: the same command from 1, 8, 64 and 256 callers at once."""

import asyncio
import time
from pathlib import Path

from core.commands.comments import AddComment
from tests.benchmarks.world import HUMAN, World, a_board

COMMANDS = 1024


async def _rate(world: World, callers: int) -> float:
    async def caller(count: int) -> None:
        for _ in range(count):
            await world.door.execute(HUMAN, AddComment(goal=1, body="One line of a discussion."))

    begun = time.perf_counter()
    await asyncio.gather(*(caller(COMMANDS // callers) for _ in range(callers)))
    return COMMANDS / (time.perf_counter() - begun)


async def _measure(folder: Path) -> None:
    async with a_board(folder, 1) as world:
        base = await _rate(world, 1)
        for callers in (1, 8, 64, 256):
            rate = await _rate(world, callers)
            print(f"{callers:>4} callers   {rate:10,.0f} commands/s   {rate / base:6.2f} × one caller")


def measure(folder: Path) -> None:
    """Print commands per second and their ratio to a single caller."""
    asyncio.run(_measure(folder))
