"""One request passed to its provider, and its answer passed back as it comes; what it used is read off on the way."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import httpx2

from core.agents.metered import ModelCall
from core.agents.models.conversation import Usage
from core.agents.models.errors import Failure, ModelError, failed_stream, refusal
from core.agents.models.keys import scrub
from core.agents.models.prices import Price, cost_micros
from core.domain.errors import OpsroomError
from core.server.gateway.gate import Gate
from core.server.gateway.holding import Hold
from core.server.gateway.passage import Passage
from core.server.gateway.request import Asked
from core.server.gateway.streams import Scrubber, UsageHider
from core.server.gateway.upstream import Connections, Cut, chunks, encoding_of, refusal_of
from core.server.gateway.usage import UsageReader
from core.server.gateway.wires import Route, Upstream, status_of

if TYPE_CHECKING:
    from starlette.types import Message, Send

COOL_MS = 5_000  # a provider that takes nothing rests so long, unless it says how long
IN_THREAD = 64 * 1024  # bytes that are not parsed on the loop
_NOTE = 300
_NOT_PASSED = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding",
    "upgrade", "content-length", "content-encoding", "set-cookie", "date", "server", "alt-svc",
    "strict-transport-security", "access-control-allow-origin",
})  # fmt: skip


@dataclass(slots=True)
class Shared:
    """What all requests of a company's gateway share. `plain` names providers that do not know `stream_options`.

    `large` is had by the one large body that is read.
    """

    gate: Gate
    prices: Mapping[str, Price]
    connections: Connections = field(default_factory=Connections)
    plain: set[str] = field(default_factory=set)
    large: asyncio.Lock = field(default_factory=asyncio.Lock)


class Passing:
    """One request of a run. `note` is told to the transcript at its end, whatever that is."""

    def __init__(self, shared: Shared, passage: Passage, route: Route) -> None:
        self._shared = shared
        self._passage = passage
        self._route = route
        self._began = asyncio.get_running_loop().time()
        self._at = shared.gate.now()
        self._reader: UsageReader | None = None
        self._key = passage.key.reveal() if passage.key else ""
        self.model = route.model
        self._settling: asyncio.Task[None] | None = None
        self._sent: Asked | None = None
        self._hold: Hold | None = None
        self.started = False
        self.status = 0
        self.note = "gone: its program went away"

    async def leave(self, asked: Asked, send: "Send") -> None:
        """Ask once budgets and limits have room beside what is on its way. Raises what `Gate.hold` and `through` do."""
        if self._route.paid:
            taken = asked.taken
            micros = await self._cost(taken)
            self._hold = await self._shared.gate.hold(self._passage, taken.tokens_in + taken.tokens_out, micros)
        await self.through(asked, send)

    def release(self) -> None:
        """What it used is counted: it holds nothing back any more."""
        if self._hold is not None:
            self._shared.gate.holds.release(self._hold)

    async def through(self, asked: Asked, send: "Send") -> None:
        """Ask, and pass the answer on. Raises Upstream before anything was passed; a cut answer stays without end."""
        provider = self._passage.provider
        if asked.hides_usage and self._passage.name in self._shared.plain:
            asked = await asyncio.to_thread(asked.without_usage)
        self._sent = asked
        response = await self._shared.connections.send(provider, asked)
        try:
            if 300 <= response.status_code < 400:
                # Followed by the program, it would lead its token out of here.
                raise Upstream("The provider sends elsewhere.", "The operator's company.toml has a wrong url.")
            if response.status_code >= 400:
                refused = await refusal_of(response, provider)
                if asked.hides_usage and response.status_code in (400, 422) and b"stream_options" in refused:
                    self._shared.plain.add(self._passage.name)
                    await response.aclose()
                    await self.through(asked, send)
                    return
                await self._refused(response, refused, send)
            else:
                await self._answer(response, asked, send)
        finally:
            await response.aclose()

    async def _settle(self) -> None:
        reader, usage = self._reader, None
        if reader is not None:
            if reader.size > IN_THREAD:
                await asyncio.to_thread(reader.end)
            else:
                reader.end()
            usage = reader.usage
        used = self._used(usage)
        if reader is not None:
            self._note_failed(reader)
        passage, route = self._passage, self._route
        cost = await self._cost(used) if route.paid else None
        ms = int((asyncio.get_running_loop().time() - self._began) * 1000)
        counts = used or Usage()
        call = ModelCall(
            passage.name, str(route.wire), self._clean(self.model)[:200], self.status, ms,
            None if used is None else used.tokens_in, None if used is None else used.tokens_out,
            counts.cache_read, counts.cache_write, cost, route.paid and self._sent is not None,
            self._clean(self.note)[:_NOTE], used != usage,
        )  # fmt: skip
        await passage.metered.note(call)

    def _used(self, told: Usage | None) -> Usage | None:
        """What it used as told, or by its bytes where the provider, cut short or silent about it, did not tell all."""
        reader, sent = self._reader, self._sent
        if sent is None or not self._route.paid:
            return told
        if reader is None:
            # No answer came, and none was told to the program: it went away from what it had asked for.
            return None if self.status else Usage(sent.taken.tokens_in)
        if told is None:
            is_refused = reader.failed is not None and not reader.tokens_said
            return None if is_refused else Usage(sent.taken.tokens_in, reader.tokens_said)
        return replace(told, tokens_out=max(told.tokens_out, reader.tokens_said)) if self.note else told

    def refused_here(self, error: OpsroomError) -> None:
        """It was not passed, for this reason."""
        self.status, self.note = status_of(error), error.message

    async def _cost(self, usage: Usage | None) -> int | None:
        # The prices are read from files the first time.
        return await asyncio.to_thread(
            cost_micros, usage, self.model, self._passage.provider.url, self._at, self._shared.prices
        )

    async def _answer(self, response: httpx2.Response, asked: Asked, send: "Send") -> None:
        if encoding_of(response) is None:
            raise Upstream("The provider answers in an encoding that was not asked for.", "Tell the operator.")
        kind = response.headers.get("content-type", "")
        self._reader = UsageReader(self._route.wire, events="event-stream" in kind) if self._route.paid else None
        self._passage.metered.limited_until = 0
        await self._begin(response, send)
        scrubber = Scrubber(self._key)
        hider = UsageHider() if asked.hides_usage and "event-stream" in kind else None
        try:
            async with aclosing(chunks(response, self._passage.provider)) as coming:
                async for chunk in coming:
                    await self._pass(chunk, hider, scrubber, send)
        except Cut as cut:
            # Without its end the program sees that the answer was cut, as it would at the provider itself.
            self.note = cut.note
            return
        self.note = ""
        rest = scrubber.feed(hider.end()) if hider is not None else b""
        # Kept before the program can know that the answer is over: its next request meets budgets that know of it.
        await self.settle_once()
        await send({"type": "http.response.body", "body": rest + scrubber.end(), "more_body": False})

    async def _pass(self, chunk: bytes, hider: UsageHider | None, scrubber: Scrubber, send: "Send") -> None:
        self._passage.metered.stir()
        if self._reader is not None:
            self._reader.feed(chunk)
        shown = scrubber.feed(chunk if hider is None else hider.feed(chunk))
        if shown:
            await self._taken({"type": "http.response.body", "body": shown, "more_body": True}, send)

    async def _taken(self, message: "Message", send: "Send") -> None:
        """Send, as long as the program takes what was sent. Raises Cut."""
        provider, loop = self._passage.provider, asyncio.get_running_loop()
        left = self._began + provider.answer_s - loop.time()
        try:
            async with asyncio.timeout(max(0.0, min(provider.silence_s, left))):
                await send(message)
        except TimeoutError:
            raise Cut("not read by its program") from None

    async def _begin(self, response: httpx2.Response, send: "Send", more: Mapping[str, str] | None = None) -> None:
        headers = {
            name: self._clean(value) for name, value in response.headers.items() if name.lower() not in _NOT_PASSED
        } | dict(more or {})
        self.status, self.started = response.status_code, True
        told = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": response.status_code, "headers": told})

    async def _refused(self, response: httpx2.Response, body: bytes, send: "Send") -> None:
        text = body.decode("utf-8", "replace")
        now = self._shared.gate.now()
        error = refusal(response.status_code, text, response.headers, now)
        until = self._rest(error, now)
        more: dict[str, str] = {}
        if until is not None and "retry-after" not in response.headers:
            more["retry-after"] = str(max(1, -(-(until - now) // 1000)))
        self.note = error.message
        if error.kind is Failure.QUOTA or response.status_code == 401:
            # Asked again it answers the same, and no program can mend it.
            self._passage.metered.end(str(error.kind), self._clean(error.message)[:_NOTE])
        await self.settle_once(response.status_code)
        await self._begin(response, send, more)
        await send({"type": "http.response.body", "body": self._clean(text).encode(), "more_body": False})

    def _rest(self, error: ModelError, now: int) -> int | None:
        """Let the provider rest for all agents when it says that it takes nothing; until when."""
        if error.kind not in (Failure.RATE_LIMITED, Failure.OVERLOADED):
            return None
        until = error.until or now + COOL_MS
        self._shared.gate.cooldowns.cool(self._passage.line, until)
        if error.kind is Failure.RATE_LIMITED:
            self._passage.metered.limited_until = until
        return until

    def _note_failed(self, reader: UsageReader) -> None:
        """What an answer with status 200 told of its own failure."""
        if reader.failed is None:
            return
        error = failed_stream(reader.failed)
        self._rest(error, self._shared.gate.now())
        self.note = error.message

    def _clean(self, text: str) -> str:
        return scrub(text, [self._passage.key] if self._passage.key else [])

    async def settle_once(self, status: int | None = None) -> None:
        """At its end: keep what it used, and tell the transcript; once."""
        if self._settling is None:
            self.status = self.status if status is None else status
            self._settling = asyncio.create_task(self._settle())
        # A program that has its answer goes away at once: that must not keep what it used from being counted.
        await asyncio.shield(self._settling)
