"""Model servers that answer on this machine, asked by `GET /v1/models` on loopback alone, all at once."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import httpx2

ANSWER_S = 2.0
_BYTES = 1024 * 1024
_MODELS, _NAME = 100, 200


class ServerState(StrEnum):
    """What a port said."""

    READY = "ready"
    LOADING = "loading"
    REFUSES = "refuses"  # it wants a key, or is broken
    OTHER = "other"  # something else listens there


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A port that something answers on. `url` is what an agent's setting of that name takes."""

    name: str
    url: str
    state: ServerState
    models: tuple[str, ...] = ()
    words: str = ""


async def find_servers(places: Mapping[str, int], answer_s: float = ANSWER_S) -> tuple[FoundServer, ...]:
    """What answers on these ports (by the usual server's name) of 127.0.0.1, each within `answer_s` seconds."""
    limits = httpx2.Timeout(answer_s)
    # No proxy: what goes to this machine stays here. No certificates: there is no TLS, and reading them takes long.
    client = await asyncio.to_thread(
        lambda: httpx2.AsyncClient(trust_env=False, timeout=limits, follow_redirects=False, verify=False)
    )
    async with client:
        asked = [_ask(client, name, port, answer_s) for name, port in places.items()]
        return tuple(found for found in await asyncio.gather(*asked) if found is not None)


async def _ask(client: httpx2.AsyncClient, name: str, port: int, answer_s: float) -> FoundServer | None:
    url = f"http://127.0.0.1:{port}/v1"
    body = bytearray()
    try:
        async with asyncio.timeout(answer_s), client.stream("GET", f"{url}/models") as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _BYTES:
                    break
            status = response.status_code
    except httpx2.ConnectError:
        return None
    except (TimeoutError, httpx2.HTTPError):
        return FoundServer(name, url, ServerState.OTHER, words=f"something listens there, but told nothing in time "
                           f"({answer_s:g} s)")  # fmt: skip
    return _read(name, url, status, bytes(body[:_BYTES]).decode("utf-8", "replace"))


def _read(name: str, url: str, status: int, text: str) -> FoundServer:
    if status == 503 and "loading" in text.casefold():
        return FoundServer(name, url, ServerState.LOADING, words="it loads its model; ask again in a while")
    if status in (401, 403):
        return FoundServer(name, url, ServerState.REFUSES, words="it wants a key")
    models = _models(text) if status == 200 else None
    if models is None:
        return FoundServer(name, url, ServerState.OTHER, words="something else answers there")
    words = "" if models else "it has no model: load one there"
    return FoundServer(name, url, ServerState.READY, models, words)


def _models(text: str) -> tuple[str, ...] | None:
    """The names of its models; None for what is no such list."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows = told.get("data") if isinstance(told, dict) else None
    if rows is None and isinstance(told, dict) and told.get("object") == "list":
        rows = []  # Ollama without a model says null
    if not isinstance(rows, list):
        return None
    names = (row.get("id") for row in rows if isinstance(row, dict))
    # One that cannot be printed is no name: it would be written into an agent's settings.
    return tuple(name[:_NAME] for name in names if isinstance(name, str) and name and name.isprintable())[:_MODELS]
