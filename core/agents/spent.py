"""What a run has used so far, put on the board at most once a second: a program may tell it with every line."""

import asyncio
from collections.abc import Awaitable, Callable

EVERY_S = 1.0

Sums = tuple[int, int, int]  # tokens in, tokens out, millionths of a US dollar, each since the run began


class Spent:
    """The last sums that were told reach `keep`: the first at once, the others together, the last with `end`."""

    def __init__(self, keep: Callable[[int, int, int], Awaitable[None]], every_s: float = EVERY_S) -> None:
        self._keep = keep
        self._every_s = every_s
        self._told: Sums | None = None
        self._resting: asyncio.Task[None] | None = None

    async def note(self, tokens_in: int, tokens_out: int, cost_micros: int) -> None:
        """The sums now."""
        self._told = (tokens_in, tokens_out, cost_micros)
        if self._resting is None or self._resting.done():
            await self._write()
            self._resting = asyncio.create_task(self._rest())

    async def end(self) -> None:
        """The run is over, however: what was not written yet is."""
        if self._resting is not None:
            self._resting.cancel()
            await asyncio.wait([self._resting])
        await self._write()

    async def _rest(self) -> None:
        await asyncio.sleep(self._every_s)
        while self._told is not None:
            await self._write()
            await asyncio.sleep(self._every_s)

    async def _write(self) -> None:
        told = self._told
        if told is None:
            return
        await self._keep(*told)
        # Forgotten only now: who is cancelled meanwhile writes it again.
        if self._told == told:
            self._told = None
