"""What a run has used: tokens always, money where a price is known; and whether that is within its limits."""

import asyncio
from collections.abc import Callable, Mapping

from core.agents.chat.settings import ChatSettings
from core.agents.models.conversation import Usage
from core.agents.models.prices import Price, cost_micros
from core.agents.runner import Desk, Told
from core.prompting.counting import tokens

UNKNOWN = "unknown"


class Meter:
    """Adds up what each answer used. Money that is not known counts 0 in the sum, and `unknown` says so."""

    def __init__(
        self, desk: Desk, settings: ChatSettings, prices: Mapping[str, Price], now: Callable[[], int]
    ) -> None:  # fmt: skip
        self._desk = desk
        self._settings = settings
        self._prices = prices
        self._now = now
        self.tokens_in = 0
        self.tokens_out = 0
        self.cost_micros = 0
        self.unknown = False
        self._tried: list[Usage] = []

    def note_try(self, usage: Usage | None) -> None:
        """What a try used that came to nothing: it was spent all the same."""
        if usage is not None:
            self._tried.append(usage)

    async def note(self, usage: Usage | None, asked: str, answered: str) -> None:
        """Take in one answer and tell the board. Without `usage` the tokens of the texts are counted here."""
        tried, self._tried = self._tried, []
        for each in tried:
            await self._add(each, each)
        if usage is None:
            counted = await asyncio.to_thread(lambda: Usage(tokens(asked), tokens(answered)))
            await self._add(counted, None)
        else:
            await self._add(usage, usage)
        await self._desk.spent(self.tokens_in, self.tokens_out, self.cost_micros)

    async def settle(self) -> None:
        """Take in what the last tries used, when no answer follows."""
        if self._tried:
            tried, self._tried = self._tried, []
            for each in tried:
                await self._add(each, each)
            await self._desk.spent(self.tokens_in, self.tokens_out, self.cost_micros)

    async def _add(self, used: Usage, told: Usage | None) -> None:
        settings = self._settings
        # The prices are read from files the first time.
        cost = await asyncio.to_thread(
            cost_micros, told, settings.model, settings.url, self._now(), self._prices
        )  # fmt: skip
        self.tokens_in += used.tokens_in
        self.tokens_out += used.tokens_out
        self.cost_micros += cost or 0
        self.unknown = self.unknown or cost is None
        counted = {} if told is not None else {"counted": "by Opsroom: the server told nothing"}
        self._desk.tell(
            Told.USAGE, tokens_in=used.tokens_in, tokens_out=used.tokens_out,
            cost=UNKNOWN if cost is None else cost, **counted,
        )  # fmt: skip

    @property
    def used_up(self) -> tuple[str, str]:
        """Which limit of the run is reached (its name and why), both empty if none is."""
        settings = self._settings
        if self.tokens_in + self.tokens_out >= settings.tokens:
            used = f"it used {self.tokens_in + self.tokens_out:,} tokens; {settings.tokens:,} are its limit"
            return "tokens", f'{used} ("tokens" of its runner)'
        if settings.cost_micros is None:
            return "", ""
        if self.unknown:
            return "cost", f"its money is limited, and {self.unknown_words}"
        if self.cost_micros >= settings.cost_micros:
            spent, limit = self.cost_micros / 1_000_000, settings.cost_micros / 1_000_000
            return "cost", f'it cost ${spent:.4f}; ${limit:.4f} is its limit ("cost_micros" of its runner)'
        return "", ""

    @property
    def unknown_words(self) -> str:
        """What is to be said of a cost that is not known."""
        return f"what {self._settings.model} costs is unknown (name its price in company.toml, [prices])"
