"""A company whose agents ask a scripted model server through the gateway."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from core.agents.access import Access
from core.agents.models.providers import GatewayConfig, GatewayWire, ProviderConfig
from core.config import PriceConfig
from core.domain.entities import Run
from tests.models.server import ModelServer
from tests.server.served import ADA, Served, a_served_company

REAL = "sk-real-0123456789abcdef-the-key"
PRICE = PriceConfig(tokens_in=10, tokens_out=100)  # a Turn without more: 100 in, 10 out, 2,000 micros
COST = 2_000
PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/scripted:generateContent",
}
WIRES: tuple[GatewayWire, ...] = ("openai", "responses", "anthropic", "gemini")
STREAMED = {**PATHS, "gemini": "/v1beta/models/scripted:streamGenerateContent?alt=sse"}


def asked(wire: str, *, stream: bool = False, **more: Any) -> dict[str, Any]:
    """A request's body that the scripted server takes."""
    said = [{"role": "user", "content": "Claim a task."}]
    if wire == "gemini":
        return {"contents": [{"role": "user", "parts": [{"text": "Claim a task."}]}], **more}
    body = {"model": "scripted", "max_tokens": 50, **({"input": said} if wire == "responses" else {"messages": said})}
    return body | ({"stream": True} if stream else {}) | more


@dataclass
class Program:
    """What a run's program can do: ask models with the token of its run alone."""

    served: Served
    access: Access

    @property
    def base(self) -> str:
        return self.access.models["models"]

    @asynccontextmanager
    async def client(self, headers: Mapping[str, str] | None = None) -> AsyncIterator[httpx2.AsyncClient]:
        told = {"Authorization": f"Bearer {self.access.token}"} if headers is None else dict(headers)
        async with httpx2.AsyncClient(base_url=self.base, headers=told, trust_env=False, timeout=60) as client:
            yield client

    async def ask(self, wire: str = "openai", *, stream: bool = False, **more: Any) -> httpx2.Response:
        """One request, its answer read whole."""
        async with self.client() as client:
            return await client.post((STREAMED if stream else PATHS)[wire], json=asked(wire, stream=stream, **more))

    async def lines(self) -> list[dict[str, Any]]:
        """What the transcript tells of its requests."""
        rows = (await self.transcript()).splitlines()
        return [row for row in map(json.loads, rows) if row["kind"] == "model"]

    async def ended_lines(self, count: int = 1) -> list[dict[str, Any]]:
        """The same, once so many of them are over."""
        async with asyncio.timeout(60):
            while len(found := await self.lines()) < count:  # noqa: ASYNC110 - a state of the server
                await asyncio.sleep(0.01)
        return found

    async def transcript(self) -> str:
        transcripts = self.served.company._transcripts
        assert transcripts is not None
        transcripts.flush()
        path = self.served.company.transcript(self.access.run_id)
        return path.read_text() if path.exists() else ""

    async def run(self) -> Run:
        """The run as the board has it."""
        return (await self.served.company.board.readers.entities(Run, "id = :id", id=self.access.run_id))[0]


def provider_of(server: ModelServer | str, **more: Any) -> ProviderConfig:
    """The settings of a provider that is this server."""
    url = server if isinstance(server, str) else server.url
    return ProviderConfig(**{"url": url, "wires": WIRES, "key": "env:GATEWAY_TEST_KEY", **more})


@asynccontextmanager
async def asking(
    folder: Path, server: ModelServer | str, *, priced: bool = True, runner: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None, **more: Any,
) -> AsyncIterator[Program]:  # fmt: skip
    """A run of ada's, whose runner names the gateway `models`. `more` are settings of the provider."""
    async with a_served_company(folder) as served:
        config = served.company.config
        config.gateway = GatewayConfig(providers={"models": provider_of(server, **more), "other": provider_of(server)})
        config.prices = {"scripted": PRICE} if priced else {}
        settings = {"kind": "outside", "gateway": "models", **(runner or {})}
        await served.do("EditAgent", agent="ada", runner=settings)
        yield Program(served, await served.run(ADA, **(about or {})))
