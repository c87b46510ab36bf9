"""How a subcommand gets at a company: reading the file itself, or sending one command through its one door."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.config import board_path, read_config
from core.domain.errors import BoardOwned

if TYPE_CHECKING:
    from core.blackboard.board import Board
    from core.commands.registry import Answer, Command

T = TypeVar("T")
OWNER_WAIT_S = 5.0


def now_ms() -> int:
    """Milliseconds UTC."""
    return time.time_ns() // 1_000_000


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one piece of asynchronous work to its end."""
    return asyncio.run(work)


def is_stopped(folder: Path) -> bool:
    """Whether no run is dispatched there now."""
    from core.domain.entities import Company

    async def look() -> bool:
        async with reading(folder) as board:
            return not all(company.dispatching for company in await board.readers.entities(Company, "true"))

    return asyncio.run(look())


@asynccontextmanager
async def reading(folder: Path) -> AsyncIterator["Board"]:
    """The board of a company for reading, whoever owns it. Raises Invalid or a BoardError."""
    from core.blackboard.board import Board

    read_config(folder)
    board = await Board.open(board_path(folder), clock=now_ms, role="reader")
    try:
        yield board
    finally:
        await board.close()


async def send(folder: Path, command: "Command") -> "Answer":
    """Carry out one command as the operator: here if nobody owns the board, else in the owner's process.

    An owner may just be coming up or going: ask again for a while. The key makes it at most once.
    """
    from core.company import OpenCompany

    key = f"cli:{uuid.uuid4().hex}"
    deadline = time.monotonic() + OWNER_WAIT_S
    while True:
        company = await OpenCompany.open(folder)
        try:
            return await company.execute(command, key=key)
        except BoardOwned:
            if time.monotonic() > deadline:
                raise
        finally:
            await company.close()
        await asyncio.sleep(0.2)
