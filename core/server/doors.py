"""How a company is reached from outside this process: the owner's socket, and loopback when somebody needs it."""

import asyncio
import contextlib
import importlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from core.agents.access import Access, Heard
from core.agents.metered import Metered
from core.agents.models.keys import Secret
from core.agents.runner import Assignment
from core.commands.door import Door
from core.company import OpenCompany, socket_path
from core.domain.actors import Agent
from core.domain.errors import BoardError, Invalid
from core.server.api import Backend
from core.server.callers import Tokens, commissioned, operator_token
from core.server.gateway.passage import passage_of
from core.server.socket import SOCKET_BODY_MAX, running, socket_serving

if TYPE_CHECKING:
    from core.server.gateway.passing import Shared

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the company listens: an address like `http://127.0.0.1:4711`."""

    url: str


class Doors:
    """The ways into an open company, for as long as the context lasts.

    Nothing listens on the network until a runner wants access for its program, or `listen` is called; until then
    `listening` is None.
    """

    def __init__(self, company: OpenCompany, tokens: Tokens | None = None) -> None:
        self._company = company
        self._tokens = tokens or Tokens()
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self.listening: Listening | None = None

    async def __aenter__(self) -> "Doors":
        self._company.give_access = self.access
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._company.give_access = None
        await self._stack.aclose()

    async def open_socket(self) -> None:
        """Listen on the socket of the company that this process owns. Raises BoardReadOnly, OSError."""
        await load()
        # Never the door to an owner elsewhere: this socket is where such a door leads.
        backend = self._backend(lambda: self._company.local_door)
        backend.trusted, backend.body_max = True, SOCKET_BODY_MAX
        await self._stack.enter_async_context(socket_serving(backend, socket_path(self._company.folder)))

    async def listen(self, host: str = LOOPBACK, port: int = 0) -> Listening:
        """Listen on loopback; port 0 takes a free one. A second call gives what the first one opened.

        Raises Invalid for a host that is not this machine alone, BoardError when the port cannot be had.
        """
        async with self._lock:
            if self.listening is None:
                self.listening = await self._open(host, port)
            return self.listening

    async def admit_operator(self) -> None:
        """Let the operator's token in, made if there is none. Raises Invalid when others could read it."""
        self._tokens.admit_operator(await asyncio.to_thread(operator_token, self._company.folder))

    @asynccontextmanager
    async def access(self, assignment: Assignment, actor: Agent) -> AsyncIterator[Access]:
        """Access for one run, which ends with the context.

        Raises BoardError, and for a runner with a gateway what `passage_of` raises.
        """
        url = (await self.listen()).url
        listeners: list[Callable[[Heard], None]] = []
        metered = Metered()
        passage = await passage_of(self._company.config.gateway, assignment, metered)
        models, wires = {}, {}
        if passage is not None:
            models = {passage.name: f"{url}/gateway/{passage.name}"}
            wires = {passage.name: tuple(map(str, passage.provider.wires))}
        secrets: list[Secret] = []
        token = self._tokens.give(actor, commissioned(assignment), listeners, passage, secrets)
        secrets.append(Secret(token))
        try:
            yield Access(url, token, actor.run_id, listeners, models, wires, secrets, metered)
        finally:
            self._tokens.end(token)
            if passage is not None:
                await passage.end()

    async def _open(self, host: str, port: int) -> Listening:
        await load()
        from core.server.app import application
        from core.server.gateway.app import PREFIX, Gateway
        from core.server.gateway.request import BODY_MAX
        from core.server.guard import Guard

        listener = bound(host, port)
        backend = self._backend(lambda: self._company.door)
        shared = self._shared()
        self._stack.push_async_callback(shared.connections.close)
        app = Guard(application(backend, Gateway(shared)), backend.body_max, {PREFIX: BODY_MAX})
        await self._stack.enter_async_context(running(app, listener, backend))
        shown = f"[{host}]" if ":" in host else host
        return Listening(f"http://{shown}:{listener.getsockname()[1]}")

    def _shared(self) -> "Shared":
        from core.runners import prices_of
        from core.server.gateway.gate import Gate
        from core.server.gateway.passing import Shared

        company = self._company
        gate = Gate(self._tokens, company.cooldowns, lambda: company.local_door, company.clock)
        return Shared(gate, prices_of(company.config.prices))

    def _backend(self, door: Callable[[], Door | None]) -> Backend:
        board = self._company.board
        return Backend(door, board.readers, lambda: board.writer, tokens=self._tokens)


async def load() -> None:
    """Import what serves. It takes a while: not on the loop, where keys wait."""
    for name in ("uvicorn", "core.server.app", "core.server.gateway.app"):
        await asyncio.to_thread(importlib.import_module, name)


def bound(host: str, port: int) -> socket.socket:
    """A listening socket on loopback. Raises Invalid for any other host, BoardError when the port cannot be had."""
    address = _loopback(host)
    if not 0 <= port <= 65535:
        raise Invalid(f"{port} is no port.", "Give 0 for a free one, or a number up to 65535.")
    # Named as TCP, so that the loop sends answers at once instead of waiting for an acknowledgement (40 ms).
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((str(address), port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise BoardError(f"Port {port} of {host} cannot be had: {error.strerror}.", "Give --port 0.") from None
    return listener


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(LOOPBACK if host == "localhost" else host)
        if address in (ipaddress.ip_address(LOOPBACK), ipaddress.ip_address("::1")):
            return address
    raise Invalid(
        f"{host[:80]!r} is not this machine alone; nothing listens.",
        "Use 127.0.0.1 or ::1. From elsewhere, use a tunnel of your own, e.g. ssh -L.",
    )
