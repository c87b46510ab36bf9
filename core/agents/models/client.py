"""The client: one request, its tries and its waits; pieces of the answer as they come."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from core.agents.models.anthropic import AnthropicWire
from core.agents.models.conversation import (
    Answer,
    Gathered,
    ModelRequest,
    Piece,
    Text,
    ToolCall,
)
from core.agents.models.cooldown import Cooldowns
from core.agents.models.endpoint import Endpoint, Limits
from core.agents.models.errors import RETRIED, Failure, ModelError, RateLimited
from core.agents.models.openai import OpenAIWire
from core.agents.models.transport import Transport
from core.agents.models.waiting import Retrying
from core.agents.models.wire import Wire


@dataclass(frozen=True, slots=True)
class Notice:
    """We wait before we ask again: what went wrong (`error`, with what it had cost), and for how many seconds.

    `kind` is the failure's: LOADING is shown as loading, RATE_LIMITED as cooling down.
    """

    kind: Failure
    wait_s: float
    error: ModelError


@dataclass(slots=True)
class _Tries:
    """What one request has cost in tries so far."""

    tried: int = 0
    loaded_s: float = 0.0
    cooled_s: float = 0.0
    stale: bool = False
    guessed: str | None = None


def _now() -> int:
    return time.time_ns() // 1_000_000


class ModelClient:
    """Asks one endpoint. Several requests may run at once; `close` it at the end.

    `cooldowns` is shared by all clients of a company. `tell` hears of each wait. `now` (ms UTC), `sleep` (seconds) and
    `chance` (0…1) are injected in tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        limits: Limits | None = None,
        retrying: Retrying | None = None,
        cooldowns: Cooldowns | None = None,
        tell: Callable[[Notice], None] = lambda notice: None,
        now: Callable[[], int] = _now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._endpoint = endpoint
        self._wire: Wire = AnthropicWire() if endpoint.wire == "anthropic" else OpenAIWire()
        self._transport = Transport(endpoint, self._wire, limits or Limits(), now)
        self._retrying = retrying or Retrying()
        self._cooldowns = cooldowns or Cooldowns(now)
        self._tell = tell
        self._now = now
        self._sleep = sleep
        self._chance = chance
        self._without: frozenset[str] = frozenset()
        self._known = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece]:
        """The pieces of the answer: texts and thoughts as they come, then calls, usage if told, and the finish.

        Raises ModelError; RateLimited when the provider takes no requests for now. Nothing is tried again once a text
        or a call was handed on. Leave it only by its end or by `aclose` (contextlib.aclosing).
        """
        tries = _Tries()
        while True:
            await self._cooled(tries)
            body = self._body(request)
            handed: list[str] = []
            try:
                async with aclosing(self._transport.answer(body, self._wire.reader(request))) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, (Text, ToolCall)):
                            handed.append(piece.text)
                        yield piece
                self._known = True
                return
            except ModelError as error:
                error.partial = "".join(handed)
                if handed:
                    raise
                await self._before_next(error, tries, body)

    async def complete(self, request: ModelRequest) -> Answer:
        """The whole answer. Raises what `stream` raises."""
        found = Gathered()
        async with aclosing(self.stream(request)) as pieces:
            async for piece in pieces:
                found.take(piece)
        return found.answer()

    @property
    def without(self) -> frozenset[str]:
        """Fields of a request that this server was found not to know, e.g. `response_format`."""
        return self._without

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body = self._wire.body(self._endpoint.model, request, self._without, stream=self._endpoint.stream)
        return {**body, **self._endpoint.extra}

    async def _cooled(self, tries: _Tries) -> None:
        """Wait while the provider cools down, if that is soon over. Raises RateLimited."""
        while (until := self._cooldowns.until(self._endpoint.line)) is not None:
            wait_s = (until - self._now()) / 1000
            limited = RateLimited("The provider is cooling down; no request was sent.", until)
            if tries.cooled_s + wait_s > self._retrying.patience_s:
                raise limited
            tries.cooled_s += wait_s
            # Not all agents at the same moment.
            wait_s = self._retrying.pause_s(1, max(wait_s, 0.001), self._chance)
            await self._wait(limited, wait_s)

    async def _before_next(self, error: ModelError, tries: _Tries, body: dict[str, Any]) -> None:
        """Wait as long as this failure asks for, or raise it when it is not worth another try."""
        if error.kind is Failure.REQUEST and self._learned(error, tries, body):
            return
        if error.kind is Failure.UNREACHABLE and error.stale and not tries.stale:
            tries.stale = True
            return
        if error.kind is Failure.LOADING and tries.loaded_s < self._retrying.loading_s:
            tries.loaded_s += self._retrying.loading_every_s
            await self._wait(error, self._retrying.loading_every_s)
            return
        tries.tried += 1
        # Each silence has cost its whole time-out.
        most = min(1, self._retrying.tries) if error.kind is Failure.SILENT else self._retrying.tries
        asked_s = None if error.until is None else max(0.0, (error.until - self._now()) / 1000)
        wait_s = self._retrying.pause_s(tries.tried, asked_s, self._chance)
        if error.kind in (Failure.RATE_LIMITED, Failure.OVERLOADED):
            await self._limited(error, tries, wait_s)
        elif error.kind not in RETRIED or tries.tried > most or wait_s > self._retrying.patience_s:
            raise error
        else:
            await self._wait(error, wait_s)

    async def _limited(self, error: ModelError, tries: _Tries, wait_s: float) -> None:
        """Cool the line down for all agents; the wait itself is where every request begins."""
        over = tries.tried > self._retrying.tries
        if over and error.until is None:
            wait_s = self._retrying.longest_s
        until = self._now() + int(wait_s * 1000)
        self._cooldowns.cool(self._endpoint.line, until)
        if over or wait_s > self._retrying.patience_s:
            if error.kind is Failure.RATE_LIMITED:
                raise RateLimited(error.message, until, status=error.status) from None
            error.until = until
            raise error

    def _learned(self, error: ModelError, tries: _Tries, body: dict[str, Any]) -> bool:
        """A field that this server does not know is left out from now on, once for each field."""
        if tries.guessed is not None:
            # Without it the request was refused as well: it was not the reason.
            self._without -= {tries.guessed}
            return False
        if error.status not in (400, 422):
            return False
        field = self._wire.lesson(error.message, body, guess=False)
        if field is None and not self._known:
            field = tries.guessed = self._wire.lesson(error.message, body, guess=True)
        if field is None or field in self._without or field in self._endpoint.extra:
            return False
        self._without |= {field}
        return True

    async def _wait(self, error: ModelError, wait_s: float) -> None:
        self._tell(Notice(error.kind, wait_s, error))
        await self._sleep(wait_s)
