"""The runners of this program for one company: which kinds of agents it can run (`core.config.runner_kinds`)."""

import asyncio
from collections.abc import Mapping
from decimal import Decimal

from core.agents.programs.runner import CommandRunner
from core.agents.runner import Assignment, Desk, Outcome, Runner
from core.config import Config, PriceConfig
from core.rehearsal import rehearsal_runners


def runners_for(config: Config) -> Mapping[str, Runner]:
    """A runner for each kind that a company with these settings can have."""
    return {"chat": _ChatAgents(config.prices), "command": CommandRunner(), **rehearsal_runners(config)}


class _ChatAgents:
    """The chat runner, imported when the first agent needs it: an HTTP client takes up to a second."""

    def __init__(self, prices: Mapping[str, PriceConfig]) -> None:
        self._prices = prices
        self._runner: Runner | None = None
        self._making = asyncio.Lock()

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        async with self._making:
            # One for all: its runs share the cool-downs of their providers.
            if self._runner is None:
                self._runner = await asyncio.to_thread(self._made)
            runner = self._runner
        return await runner.run(assignment, desk)

    def _made(self) -> Runner:
        from core.agents.chat.runner import ChatRunner
        from core.agents.models.prices import Price

        prices: dict[str, Price] = {}
        for model, told in self._prices.items():
            parts = (told.tokens_in, told.tokens_out, told.cache_read, told.cache_write)
            # By their text: 0.1 is meant, not what binary makes of it.
            tokens_in, tokens_out, read, write = (None if part is None else Decimal(str(part)) for part in parts)
            prices[model] = Price(tokens_in or Decimal(0), tokens_out or Decimal(0), read, write)
        return ChatRunner(prices=prices)
