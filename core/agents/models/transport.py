"""One request on the wire and its bounded answer. No tries, no waits."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cache
from typing import Any

import httpx2

from core.agents.models.conversation import Piece
from core.agents.models.endpoint import Endpoint, Limits
from core.agents.models.errors import Failure, ModelError, refusal
from core.agents.models.sse import SHOWN_BYTES, Events
from core.agents.models.wire import Reader, Wire

_IN_THREAD = 1024 * 1024  # a longer answer that is not streamed is read off the loop


@cache
def trusted() -> ssl.SSLContext:
    """The certificates that this machine trusts; one for all clients, since reading them takes up to a second."""
    return httpx2.create_ssl_context()


class Transport:
    """Connections to one endpoint. `now` gives ms UTC (for what refusals say of times)."""

    def __init__(self, endpoint: Endpoint, wire: Wire, limits: Limits, now: Callable[[], int]) -> None:
        self._endpoint = endpoint
        self._limits = limits
        self._now = now
        self._address = endpoint.address(wire.path)
        key = endpoint.key.reveal() if endpoint.key else ""
        # Identity: a compressed answer would come in lumps, and could be far larger than what is read.
        ours = {"Content-Type": "application/json", "Accept-Encoding": "identity", **wire.headers(key)}
        self._headers = {**ours, **endpoint.headers}
        self._client: httpx2.AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def answer(self, body: dict[str, Any], reader: Reader) -> AsyncGenerator[Piece]:
        """Send one request; the pieces of its answer. Raises ModelError without any secret in it."""
        try:
            async with aclosing(self._answer(body, reader)) as pieces:
                async for piece in pieces:
                    yield piece
        except ModelError as error:
            error.usage = reader.usage
            error.clean([self._endpoint.key] if self._endpoint.key else [])
            raise

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _answer(self, body: dict[str, Any], reader: Reader) -> AsyncGenerator[Piece]:
        client = await self._opened()
        deadline = asyncio.get_running_loop().time() + self._limits.whole_s
        response = await self._sent(client, body)
        try:
            if response.status_code != 200:
                raise await self._refusal(response, deadline)
            read = self._whole if "json" in response.headers.get("content-type", "") else self._events
            async with aclosing(read(response, reader, deadline)) as pieces:
                async for piece in pieces:
                    yield piece
            for piece in reader.end():
                yield piece
        finally:
            await response.aclose()

    async def _sent(self, client: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        """The head of the response. A connection that was kept alive and is gone is told as stale."""
        fresh: list[str] = []

        async def trace(event: str, facts: dict[str, Any]) -> None:
            if event == "connection.connect_tcp.started":
                fresh.append(event)

        # ASCII: a model may have said half a character, which no UTF-8 holds.
        content = json.dumps(body).encode("ascii")
        try:
            request = client.build_request(
                "POST", self._address, content=content, headers=self._headers, extensions={"trace": trace}
            )
            async with asyncio.timeout(min(self._limits.first_s, self._limits.whole_s)):
                return await client.send(request, stream=True)
        except TimeoutError:
            raise ModelError(Failure.SILENT, f"The model server said nothing for {self._limits.first_s:g} s.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unreachable(error, stale=not fresh) from None

    async def _opened(self) -> httpx2.AsyncClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._open)
            return self._client

    def _open(self) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(None, connect=self._limits.connect_s, pool=None)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30)
        # A proxy of the environment is for other machines: what goes to this one stays here.
        return httpx2.AsyncClient(verify=trusted(), timeout=timeout, limits=limits, trust_env=not self._endpoint.local)

    async def _refusal(self, response: httpx2.Response, deadline: float) -> ModelError:
        """The refusal, from as much of its body as comes in time."""
        body = bytearray()
        try:
            async with aclosing(self._chunks(response, deadline)) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) > self._limits.refusal_bytes:
                        break
        except ModelError:
            pass
        text = bytes(body[: self._limits.refusal_bytes]).decode("utf-8", "replace")
        return refusal(response.status_code, text, response.headers, self._now())

    async def _events(self, response: httpx2.Response, reader: Reader, deadline: float) -> AsyncGenerator[Piece]:
        events = Events()
        begin = bytearray()
        async with aclosing(self._chunks(response, deadline)) as chunks:
            try:
                async for chunk in chunks:
                    if not events.seen:
                        begin += chunk[: SHOWN_BYTES - len(begin)]
                    for data in events.feed(chunk):
                        for piece in reader.feed(data):
                            yield piece
            except ModelError as error:
                # The line broke after the server had said why the answer ended: nothing of it is missing.
                if error.kind is not Failure.TRUNCATED or not reader.complete:
                    raise
        for data in events.end():
            for piece in reader.feed(data):
                yield piece
        if begin.strip() and not events.seen:
            shown = bytes(begin).decode("utf-8", "replace")
            raise ModelError(Failure.GARBLED, f"The server's answer is no stream of events: {shown!r}")

    async def _whole(self, response: httpx2.Response, reader: Reader, deadline: float) -> AsyncGenerator[Piece]:
        body = bytearray()
        async with aclosing(self._chunks(response, deadline)) as chunks:
            async for chunk in chunks:
                body += chunk
        text = bytes(body).decode("utf-8", "replace")
        if len(text) > _IN_THREAD:
            pieces = await asyncio.to_thread(lambda: list(reader.feed(text)))
        else:
            pieces = list(reader.feed(text))
        for piece in pieces:
            yield piece

    async def _chunks(self, response: httpx2.Response, deadline: float) -> AsyncGenerator[bytes]:
        """The bytes of the body; each wait for more is bounded, and so is their sum."""
        loop = asyncio.get_running_loop()
        chunks = response.aiter_bytes()
        size = 0
        while True:
            try:
                async with asyncio.timeout(max(0.0, min(self._limits.silence_s, deadline - loop.time()))):
                    chunk = await anext(chunks, None)
            except TimeoutError:
                if loop.time() < deadline:
                    told = f"The model server said nothing for {self._limits.silence_s:g} s."
                    raise ModelError(Failure.SILENT, told) from None
                told = f"The answer took longer than {self._limits.whole_s:g} s."
                raise ModelError(Failure.TOO_LONG, told) from None
            except httpx2.HTTPError as error:
                told = f"The connection broke in the middle of the answer ({type(error).__name__})."
                raise ModelError(Failure.TRUNCATED, told) from None
            if chunk is None:
                return
            size += len(chunk)
            if size > self._limits.answer_bytes:
                raise ModelError(Failure.TOO_LARGE, f"The answer is over {self._limits.answer_bytes:,} bytes.")
            yield chunk


def _unreachable(error: Exception, *, stale: bool) -> ModelError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ModelError(Failure.UNTRUSTED, "The model server shows a certificate that is not trusted.")
        cause = cause.__cause__ or cause.__context__
    name = type(error).__name__
    if isinstance(error, (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL)):
        return ModelError(Failure.REQUEST, f"The request cannot be sent ({name}).")
    told = ModelError(Failure.UNREACHABLE, f"The model server does not answer ({name}).")
    told.stale = stale and not isinstance(error, (httpx2.ConnectError, httpx2.TimeoutException))
    return told
