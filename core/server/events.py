"""The board's events as server-sent events, for the operator: each once and in order, from a cursor on."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from core.blackboard.follow import Follower
from core.blackboard.readers import Readers
from core.commands.registry import INTEGER_MAX
from core.domain.entities import Event
from core.domain.errors import BoardError, Invalid
from core.server.answers import TooMany
from core.server.api import Backend
from core.server.callers import Caller

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

HEARTBEAT_S = 15.0
STREAMS_MAX = 16
_PAGE = 200


async def events(backend: Backend, request: "Request", caller: Caller) -> "Response":
    """`GET /api/events?after=N`: what follows event N; without a cursor, what happens from now on.

    Events tell everything, also what agents do not see of each other, so they are for the operator alone. Raises
    Forbidden, Invalid, TooMany.
    """
    from starlette.responses import StreamingResponse

    caller.require_operator("The stream of events")
    readers = backend.require_readers()
    after = _cursor(request)
    if backend.streams >= STREAMS_MAX:
        raise TooMany(f"{STREAMS_MAX} streams are open already.", "Close one.", retry_s=5)
    last = await readers.last_event() if after is None else after
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(backend, readers, last), headers=headers, media_type="text/event-stream")


def _cursor(request: "Request") -> int | None:
    unknown = sorted(set(request.query_params) - {"after"})
    if unknown:
        raise Invalid(f"There is no {unknown[0][:80]!r} here.", "Known: after.")
    # A browser or client that lost the stream names the last event that it has.
    said = request.headers.get("last-event-id") or request.query_params.get("after")
    if said is None:
        return None
    if not said.isascii() or not said.isdigit() or len(said) > 19 or int(said) > INTEGER_MAX:
        raise Invalid(f"after={said[:20]!r} is no number of an event.", "Give a whole number, e.g. after=306.")
    return int(said)


async def _stream(backend: Backend, readers: Readers, last: int) -> AsyncIterator[bytes]:
    woken = asyncio.Event()
    # The follower only wakes: what is sent is read at the client's own pace, so that none grows a queue here.
    follower = Follower(readers, backend.writer, lambda _events: woken.set(), None)
    backend.streams += 1
    closing = asyncio.create_task(backend.closing.wait())
    closing.add_done_callback(lambda _task: woken.set())
    follower.start()
    try:
        yield b": the board's events\n\n"
        while not backend.closing.is_set():
            woken.clear()
            while found := await readers.events_after(last, _PAGE):
                yield b"".join(_told(event) for event in found)
                last = found[-1].id
            heard = False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_S):
                    heard = await woken.wait()
            if not heard:
                yield b": nothing new\n\n"
    except BoardError:
        yield b": the board was closed\n\n"
    finally:
        backend.streams -= 1
        closing.cancel()
        follower.stop()


def _told(event: Event) -> bytes:
    told = {
        "id": event.id, "at": event.at, "actor": event.actor, "run": event.run_id, "entity": event.entity,
        "entity_id": event.entity_id, "kind": event.kind, "changed": event.changed, "cause": event.cause,
    }  # fmt: skip
    # ASCII: no character of an agent's text can end a line of the stream.
    return f"id: {event.id}\ndata: {json.dumps(told)}\n\n".encode()
