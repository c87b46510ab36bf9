"""The gateway behind `/gateway/NAME/…` on loopback: who asks, whether they may, and errors in the wire's own words."""

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from core.domain.errors import OpsroomError
from core.server import answers
from core.server.answers import TooMany
from core.server.gateway.passing import IN_THREAD, Passing, Shared
from core.server.gateway.request import BODY_MAX, Asked, asked_of, tokens_of
from core.server.gateway.wires import Upstream, body_of, route_of, status_of, wire_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from core.server.gateway.passage import Passage
    from core.server.gateway.wires import Route

PREFIX = "/gateway/"
_LOG = logging.getLogger(__name__)


class Gateway:
    """An ASGI application: it passes on what `route_of` knows, and nothing else."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request. Its end, its run's end, and its program's going away end the provider's answer too."""
        request = Request(scope, receive)
        name, _, rest = str(scope["path"]).removeprefix(PREFIX).partition("/")
        path = f"/{rest}"
        wire = wire_of(path)
        try:
            tokens = tokens_of(request.headers.items(), request.url.query)
            passage, token = self._shared.gate.passage(tokens, name)
            wire = wire_of(path, passage.provider.wires)
            route = route_of(request.method, path, passage.provider.wires)
            with passage.counting():
                refused = await self._passed(request, send, passage, route, token)
        except OpsroomError as error:
            refused = error
        if refused is not None:
            await _told(refused, body_of(wire, refused))(scope, receive, send)

    async def _passed(
        self, request: Request, send: "Send", passage: "Passage", route: "Route", token: str
    ) -> OpsroomError | None:
        """Pass it; what must be told instead, when nothing was passed."""
        work = Passing(self._shared, passage, route)
        try:
            await self._through(work, request, send, passage, route, token)
        except OpsroomError as error:
            work.refused_here(error)
            return error
        except Exception:
            _LOG.exception("a request of R%s to the provider %s failed", passage.run_id, passage.name)
            failed = Upstream("The gateway failed.", "Try once more; then tell the operator.", 500)
            work.refused_here(failed)
            return None if work.started else failed
        finally:
            # Whatever ended it, also its program's going away: what it used so far was spent.
            await work.settle_once()
            work.release()
        return None

    async def _through(
        self, work: Passing, request: Request, send: "Send", passage: "Passage", route: "Route", token: str
    ) -> None:
        content = await answers.body(request, BODY_MAX)
        self._shared.gate.admit(passage)
        asked = await _prepared(self._shared, request, passage, route, content, token)
        work.model = asked.model
        passing = asyncio.create_task(work.leave(asked, send))
        ends = [asyncio.create_task(_gone(request)), asyncio.create_task(passage.over.wait())]
        try:
            await asyncio.wait((passing, *ends), return_when=asyncio.FIRST_COMPLETED)
            if passing.done():
                passing.result()
            elif passage.over.is_set():
                work.note = "cut: the run is over"
        finally:
            for task in (passing, *ends):
                task.cancel()
            await asyncio.gather(passing, *ends, return_exceptions=True)


async def _prepared(
    shared: Shared, request: Request, passage: "Passage", route: "Route", content: bytes, token: str
) -> Asked:
    headers = [(name, value) for name, value in request.headers.items()]
    told = (passage, route, request.method, headers, request.url.query, content, token)
    if len(content) <= IN_THREAD:
        return asked_of(*told)
    # One at a time: each takes the room's time, also in a thread.
    async with shared.large:
        return await asyncio.to_thread(asked_of, *told)


async def _gone(request: Request) -> None:
    """Until the program has gone away: its body was read, so nothing else comes."""
    with contextlib.suppress(Exception):
        while (await request.receive())["type"] != "http.disconnect":
            pass


def _told(error: OpsroomError, body: bytes) -> Response:
    headers = {}
    if isinstance(error, TooMany) and error.retry_s is not None:
        headers["Retry-After"] = str(error.retry_s)
    return Response(body, status_of(error), headers, media_type="application/json")
