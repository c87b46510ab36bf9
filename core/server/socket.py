"""The owner's socket: the whole server for other processes of the same user (mode 0600), without a token."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.errors import BoardReadOnly
from core.server.api import Backend

if TYPE_CHECKING:
    from starlette.types import ASGIApp

SOCKET_BODY_MAX = 4 * 1_048_576  # the operator's own programs may send long lists
HEAD_MAX = 65_536  # bytes of a request's head that has not come whole
CONNECTIONS_MAX = 200


def bind(path: Path) -> socket.socket:
    """A listening unix socket of mode 0600; a dead owner's is replaced. Raises BoardReadOnly."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise BoardReadOnly(f"No socket could be made at {path}: {error.strerror}.", "Check that folder.") from None
    finally:
        os.umask(before)
    return listener


@asynccontextmanager
async def socket_serving(backend: Backend, path: Path) -> AsyncIterator[None]:
    """Serve a backend on a unix socket, where a request without a token is the operator's."""
    from core.server.app import application

    listener = bind(path)
    ours = _number(path)
    try:
        async with running(application(backend), listener, backend):
            yield
    finally:
        await asyncio.to_thread(_remove, path, ours)


def _remove(path: Path, ours: int | None) -> None:
    # Who owns the board now may have put its own in this place.
    if ours is not None and _number(path) == ours:
        path.unlink(missing_ok=True)


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return path.stat().st_ino
    return None


def _is_fault(record: logging.LogRecord) -> bool:
    """A model's answer that broke off is passed on without its end, on purpose; the run's transcript tells of it."""
    return "without completing response" not in record.getMessage()


@asynccontextmanager
async def running(app: "ASGIApp", listener: socket.socket, backend: Backend) -> AsyncIterator[None]:
    """Answer what comes to a listening socket for as long as the context lasts; then close it."""
    import uvicorn

    from core.server.patient import patient

    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", http=patient({}), server_header=False,
        timeout_graceful_shutdown=1, h11_max_incomplete_event_size=HEAD_MAX, limit_concurrency=CONNECTIONS_MAX,
    )  # fmt: skip
    logging.getLogger("uvicorn.error").addFilter(_is_fault)
    server = uvicorn.Server(config)
    # Signals belong to the room, not to uvicorn.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    serve = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        # Streams end first: the server waits for what is open.
        backend.closing.set()
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serve
        listener.close()
