"""Connections to the providers, and one request on them: its answer comes in bytes, each wait for them is bounded."""

import asyncio
import ssl
import zlib
from collections.abc import AsyncGenerator
from contextlib import suppress

import httpx2

from core.agents.models.endpoint import Endpoint
from core.agents.models.providers import ProviderConfig
from core.agents.models.transport import trusted
from core.server.gateway.request import Asked
from core.server.gateway.wires import Upstream

CONNECT_S = 10.0
REFUSAL_BYTES = 256 * 1024
UNPACKED_MAX = 64 * 1024 * 1024  # bytes of an answer that came compressed, which was not asked for
_PIECE = 64 * 1024


class Cut(Exception):
    """The answer broke off in the middle: `note` says how."""

    def __init__(self, note: str) -> None:
        super().__init__(note)
        self.note = note


class Connections:
    """Those of one company's gateway. A proxy of the environment is for other machines alone."""

    def __init__(self) -> None:
        self._clients: dict[bool, httpx2.AsyncClient] = {}
        self._opening = asyncio.Lock()

    async def send(self, provider: ProviderConfig, asked: Asked) -> httpx2.Response:
        """The head of the answer; close it. Raises Upstream where there is none in time."""
        client = await self._client(Endpoint(provider.url, "").local)
        try:
            request = client.build_request(
                asked.method, asked.target, content=asked.content or None, headers=list(asked.headers)
            )
            async with asyncio.timeout(min(provider.first_s, provider.answer_s)):
                return await client.send(request, stream=True)
        except TimeoutError:
            told = f"The provider said nothing for {provider.first_s:g} s."
            raise Upstream(told, "Try again later.", 504) from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Upstream(_unreachable(error), "Tell the operator if it stays so.") from None

    async def close(self) -> None:
        """Close all."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def _client(self, local: bool) -> httpx2.AsyncClient:
        async with self._opening:
            if local not in self._clients:
                self._clients[local] = await asyncio.to_thread(_opened, local)
            return self._clients[local]


def _opened(local: bool) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(None, connect=CONNECT_S, pool=None)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30)
    # No headers of its own: what is sent is the program's.
    return httpx2.AsyncClient(
        verify=trusted(), timeout=timeout, limits=limits, trust_env=not local, headers={}, follow_redirects=False
    )


def _unreachable(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "The provider shows a certificate that is not trusted."
        cause = cause.__cause__ or cause.__context__
    return f"The provider cannot be reached ({type(error).__name__})."


async def chunks(response: httpx2.Response, provider: ProviderConfig) -> AsyncGenerator[bytes]:
    """The bytes of an answer, its compression undone. Raises Cut when they break off, or come too slowly."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + provider.answer_s
    coming = _unpacked(response)
    while True:
        try:
            async with asyncio.timeout(max(0.0, min(provider.silence_s, deadline - loop.time()))):
                chunk = await anext(coming, None)
        except TimeoutError:
            raise Cut("silent" if loop.time() < deadline else "too long") from None
        except httpx2.HTTPError:
            raise Cut("cut") from None
        if chunk is None:
            return
        yield chunk


def encoding_of(response: httpx2.Response) -> str | None:
    """How it is compressed: "" or gzip; None for what is not unpacked here."""
    said = response.headers.get("content-encoding", "").strip().lower()
    return {"": "", "identity": "", "gzip": "gzip", "x-gzip": "gzip"}.get(said)


async def _unpacked(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """The bytes of an answer in pieces. Raises Cut for more than UNPACKED_MAX, or what cannot be unpacked."""
    encoding = encoding_of(response)
    if encoding is None:
        raise Cut("encoded")
    if not encoding:
        async for chunk in response.aiter_raw():
            yield chunk
        return
    unpacking, size = zlib.decompressobj(16 + zlib.MAX_WBITS), 0
    async for chunk in response.aiter_raw():
        rest = chunk
        while rest:
            try:
                piece = unpacking.decompress(rest, _PIECE)
            except zlib.error:
                raise Cut("not unpacked") from None
            rest, size = unpacking.unconsumed_tail, size + len(piece)
            if size > UNPACKED_MAX:
                raise Cut("too large")
            yield piece


async def refusal_of(response: httpx2.Response, provider: ProviderConfig) -> bytes:
    """The body of a refusal, as much of it as comes in time and bounds."""
    body = bytearray()
    coming = chunks(response, provider)
    with suppress(Cut):
        async for chunk in coming:
            body += chunk
            if len(body) > REFUSAL_BYTES:
                break
    await coming.aclose()
    return bytes(body[:REFUSAL_BYTES])
