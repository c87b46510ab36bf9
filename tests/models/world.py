"""A client before a scripted server, with a clock that only moves when the client waits."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from core.agents.models.client import ModelClient, Notice
from core.agents.models.conversation import ModelRequest, Piece, Text, Tool, User
from core.agents.models.cooldown import Cooldowns
from core.agents.models.endpoint import Endpoint, Limits
from core.agents.models.errors import ModelError
from core.agents.models.keys import Secret
from core.agents.models.waiting import Retrying
from tests.models.server import ModelServer

KEY = Secret("sk-test-0123456789abcdef")
START = 1_700_000_000_000
CLAIM = Tool("claim", "Claims a task.", {"type": "object", "properties": {"task": {"type": "integer"}}})
ASK = ModelRequest(
    (User("Claim a task."),), system=(Text("You are an executor.", stable=True), Text("Now.")), tools=(CLAIM,)
)
Wire = Literal["openai", "anthropic"]
WIRES: tuple[Wire, ...] = ("openai", "anthropic")


@dataclass
class Clock:
    """`slept` are the waits so far, in seconds."""

    now: int = START
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> int:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += int(seconds * 1000) + 1


@dataclass
class World:
    """The client of a test and what it told."""

    client: ModelClient
    clock: Clock
    cooldowns: Cooldowns
    notices: list[Notice]
    endpoint: Endpoint

    async def streamed(self, request: ModelRequest = ASK) -> tuple[list[Piece], ModelError | None]:
        """The pieces that came, and the error that ended them."""
        pieces: list[Piece] = []
        try:
            async for piece in self.client.stream(request):
                pieces.append(piece)
        except ModelError as error:
            return pieces, error
        return pieces, None

    async def failed(self, request: ModelRequest = ASK) -> ModelError:
        """The error of a request that hands on nothing."""
        pieces, error = await self.streamed(request)
        assert error is not None, f"it did not fail: {pieces}"
        assert not pieces
        return error


@asynccontextmanager
async def asking(
    server: ModelServer | str,
    wire: Wire = "openai",
    *,
    limits: Limits | None = None,
    retrying: Retrying | None = None,
    clock: Clock | None = None,
    cooldowns: Cooldowns | None = None,
    chance: Callable[[], float] = lambda: 0.5,
    key: Secret | None = KEY,
    **endpoint: Any,
) -> AsyncIterator[World]:
    """A client of this server for as long as the context lasts."""
    base = server if isinstance(server, str) else server.url
    place = Endpoint(base + ("/v1" if wire == "openai" else ""), "scripted", wire, key, **endpoint)
    clock = clock or Clock()
    cooldowns = cooldowns or Cooldowns(clock)
    notices: list[Notice] = []
    client = ModelClient(
        place,
        limits=limits or Limits(),
        retrying=retrying or Retrying(),
        cooldowns=cooldowns,
        tell=notices.append,
        now=clock,
        sleep=clock.sleep,
        chance=chance,
    )
    try:
        yield World(client, clock, cooldowns, notices, place)
    finally:
        await client.close()
