"""The room in a browser of this machine: a page, a websocket, and a process for each visitor (`docs/server.md`).

Whoever decides in the room is the operator. So the page lies at a place that nobody can guess, opens by a token, and
is closed to pages of others, to other names of this machine (DNS rebinding), and to addresses elsewhere.
"""

import asyncio
import hmac
import importlib.resources
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from secrets import token_urlsafe
from string import Template

import textual_serve
from aiohttp import web

from core.domain.errors import OpsroomError
from core.server.doors import LOOPBACK, bound
from core.server.guard import Misdirected, require_local
from core.server.web_visit import Visit

MOST_VISITORS = 4  # each is a process of about a hundred megabytes
COOKIE = "opsroom-room"
MESSAGE_MAX = 65_536  # bytes; what is pasted comes in one message
SILENCE_S = 15.0  # after which a browser is asked whether it is still there
END_S = 8.0
# `sandbox` without popups: an address in somebody's text opens nothing. Nothing is asked of another machine.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:;"
    " connect-src 'self' {websocket}; frame-ancestors 'none'; base-uri 'none'; form-action 'none';"
    " sandbox allow-scripts allow-same-origin"
)
REFUSED = (
    "This is not open to you.\n\nOpen the whole address that `opsroom serve --web` printed, with its token. It is made"
    " anew each time that command starts.\n"
)
FULL = "There are {most} visitors already, and no more are let in.\n\nClose one of their pages, then load this again.\n"
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebRoom:
    """Lets browsers see the room. `argv` starts a room for one visitor, which speaks as Textual's web driver does."""

    def __init__(self, argv: Sequence[str], most: int = MOST_VISITORS) -> None:
        self._argv = tuple(argv)
        self._most = most
        self._token = token_urlsafe(32)
        # A cookie goes to every port of this machine; below a path of its own no other server is ever sent it.
        self._place = f"/{token_urlsafe(16)}"
        self._visits: set[asyncio.Task[None]] = set()
        self._address = ""

    @property
    def url(self) -> str:
        """The whole address, with the token."""
        return f"http://{self._address}{self._place}/?token={self._token}"

    @asynccontextmanager
    async def listening(self, host: str = LOOPBACK, port: int = 0) -> AsyncIterator[str]:
        """Listen for as long as the context lasts; gives the address. At its end every visitor's room ends.

        Raises Invalid for a host that is not this machine alone, BoardError when the port cannot be had.
        """
        listener = bound(host, port)
        shown = f"[{host}]" if ":" in host else host
        self._address = f"{shown}:{listener.getsockname()[1]}"
        runner = web.AppRunner(self._application(), access_log=None, handle_signals=False, shutdown_timeout=1.0)
        try:
            await runner.setup()
            await web.SockSite(runner, listener).start()
            yield self.url
        finally:
            for visit in self._visits:
                visit.cancel()
            if self._visits:
                await asyncio.wait(self._visits, timeout=END_S)
            await runner.cleanup()
            listener.close()

    def _application(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded])
        app.add_routes([
            web.get(f"{self._place}/", self._page),
            web.get(f"{self._place}/room.js", self._script),
            web.get(f"{self._place}/ws", self._websocket),
            web.static(f"{self._place}/static", importlib.resources.files(textual_serve) / "static"),  # type: ignore[arg-type]
        ])  # fmt: skip
        return app

    # ------------------------------------------------------------- who may

    @web.middleware
    async def _guarded(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        try:
            require_local(request.raw_headers)
        except Misdirected as error:
            return self._told(421, str(error))
        except OpsroomError as error:
            return self._told(403, str(error))
        told = request.query.get("token")
        if request.path == f"{self._place}/" and told is not None and self._is_token(told):
            return self._let_in()
        if not self._is_token(request.cookies.get(COOKIE, "")):
            return self._told(403, REFUSED)
        try:
            answer = await handler(request)
        except web.HTTPException as error:
            return self._told(error.status, f"{error.reason}\n")
        if not answer.prepared:
            self._close_to_others(answer)
        return answer

    def _is_token(self, said: str) -> bool:
        return hmac.compare_digest(said.encode("utf-8", "replace"), self._token.encode())

    def _let_in(self) -> web.Response:
        """The token leaves the address line, and with it the history of the browser."""
        answer = web.Response(status=303, headers={"Location": f"{self._place}/"})
        answer.set_cookie(COOKIE, self._token, path=f"{self._place}/", httponly=True, samesite="Strict")
        self._close_to_others(answer)
        return answer

    def _told(self, status: int, words: str) -> web.Response:
        answer = web.Response(status=status, text=words)
        self._close_to_others(answer)
        return answer

    def _close_to_others(self, answer: web.StreamResponse) -> None:
        answer.headers.update({
            "Content-Security-Policy": POLICY.format(websocket=f"ws://{self._address}"), "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
            "Cross-Origin-Resource-Policy": "same-origin",
        })  # fmt: skip

    # ------------------------------------------------------------- the room

    async def _page(self, request: web.Request) -> web.Response:
        if len(self._visits) >= self._most:
            return self._told(503, FULL.format(most=self._most))
        page = Template(_ours("web.html"))
        size = max(8, min(_number(request, "fontsize", 16), 40))
        text = page.substitute(websocket=f"ws://{request.host}{self._place}/ws", size=size)
        return web.Response(text=text, content_type="text/html")

    async def _script(self, _request: web.Request) -> web.Response:
        return web.Response(text=_ours("web.js"), content_type="text/javascript")

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        if "Origin" not in request.headers:  # every browser says which page asks
            return self._told(403, REFUSED)
        if len(self._visits) >= self._most:
            return self._told(503, FULL.format(most=self._most))
        websocket = web.WebSocketResponse(heartbeat=SILENCE_S, max_msg_size=MESSAGE_MAX)
        visit = asyncio.ensure_future(self._visited(request, websocket))
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)
        try:
            await visit
        except asyncio.CancelledError:
            visit.cancel()
        return websocket

    async def _visited(self, request: web.Request, websocket: web.WebSocketResponse) -> None:
        await websocket.prepare(request)
        columns, lines = _number(request, "width", 80), _number(request, "height", 24)
        await Visit(self._argv, websocket).follow(columns, lines)


def _ours(name: str) -> str:
    return (importlib.resources.files("core.server") / name).read_text(encoding="utf-8")


def _number(request: web.Request, name: str, usual: int) -> int:
    said = request.query.get(name, "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 6 else usual
