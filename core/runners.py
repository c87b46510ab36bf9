"""The runners of this program for one company: which kinds of agents it can run (`core.config.runner_kinds`)."""

import asyncio
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from core.agents.models.cooldown import Cooldowns
from core.agents.programs.runner import CommandRunner
from core.agents.runner import Assignment, Desk, Outcome, Runner
from core.company import wall_clock
from core.config import Config, PriceConfig
from core.rehearsal import rehearsal_runners

if TYPE_CHECKING:
    from core.agents.models.prices import Price


def runners_for(config: Config) -> Mapping[str, Runner]:
    """A runner for each kind that a company with these settings can have."""
    cooldowns = Cooldowns(wall_clock)
    return {
        "acp": _Later(_acp_runner, wants_access=True),
        "chat": _Later(partial(_chat_runner, config.prices, cooldowns), cooldowns=cooldowns),
        "command": CommandRunner(),
        **rehearsal_runners(config),
    }


class _Later:
    """A runner that is imported when the first agent needs it: an HTTP client, or a protocol, takes up to a second.

    `cooldowns` are those of the runner to come, for who shares them before it is made (F14).
    """

    def __init__(
        self, made: Callable[[], Runner], *, wants_access: bool = False, cooldowns: Cooldowns | None = None
    ) -> None:
        self.wants_access = wants_access
        self.cooldowns = cooldowns
        self._made = made
        self._runner: Runner | None = None
        self._making = asyncio.Lock()

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        async with self._making:
            # One for all.
            if self._runner is None:
                self._runner = await asyncio.to_thread(self._made)
            runner = self._runner
        return await runner.run(assignment, desk)


def _acp_runner() -> Runner:
    from core.agents.acp.runner import AcpRunner

    return AcpRunner()


def _chat_runner(prices: Mapping[str, PriceConfig], cooldowns: Cooldowns) -> Runner:
    from core.agents.chat.runner import ChatRunner

    return ChatRunner(prices=prices_of(prices), cooldowns=cooldowns)


def prices_of(told: Mapping[str, PriceConfig]) -> dict[str, "Price"]:
    """The operator's own table of prices (`[prices]` of company.toml) by model."""
    from core.agents.models.prices import Price

    prices: dict[str, Price] = {}
    for model, each in told.items():
        parts = (each.tokens_in, each.tokens_out, each.cache_read, each.cache_write)
        # By their text: 0.1 is meant, not what binary makes of it.
        tokens_in, tokens_out, read, write = (None if part is None else Decimal(str(part)) for part in parts)
        prices[model] = Price(tokens_in or Decimal(0), tokens_out or Decimal(0), read, write)
    return prices
