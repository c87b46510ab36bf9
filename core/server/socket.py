"""The owner's socket: the command registry over HTTP, for other processes of the same user (mode 0600)."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.blackboard.readers import Readers
from core.commands.door import Door
from core.commands.registry import parse
from core.domain.actors import Operator
from core.domain.errors import BoardError, BoardReadOnly, Invalid, OpsroomError
from core.server.reading import body_of, reading_routes, status_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

BODY_MAX = 4 * 1_048_576
KEY_MAX = 200


def application(door: Callable[[], Door | None], readers: Readers | None = None) -> "Starlette":
    """`POST /api/commands/{name}` with the command's fields as JSON; `Idempotency-Key` makes it at most once.

    With `readers`, also the questions of `core.server.reading`.
    """
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def command(request: "Request") -> "Response":
        try:
            try:
                arguments = json.loads(await _body(request))
            except (ValueError, RecursionError):
                raise Invalid("The body is not JSON.", "Send the command's fields as a JSON object.") from None
            if not isinstance(arguments, dict):
                raise Invalid("The body is not a JSON object.", "Send the command's fields as a JSON object.")
            here = door()
            if here is None:
                raise BoardError("This room no longer owns the board; nothing was written.", "Try again.")
            key = request.headers.get("idempotency-key") or None
            if key is not None and len(key) > KEY_MAX:
                raise Invalid(f"An idempotency key has at most {KEY_MAX} characters.", "Send a shorter one.")
            answer = await here.execute(Operator(), parse(request.path_params["name"], arguments), key=key)
        except OpsroomError as error:
            return JSONResponse(body_of(error), status_of(error))
        return JSONResponse({"answer": answer})

    async def about(_request: "Request") -> "Response":
        return JSONResponse({"opsroom": True, "pid": os.getpid()})

    routes = [Route("/api/commands/{name}", command, methods=["POST"]), Route("/api/about", about)]
    return Starlette(routes=[*routes, *([] if readers is None else reading_routes(readers))])


async def _body(request: "Request") -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_MAX:
            raise Invalid(f"The body has more than {BODY_MAX // 1_048_576} MiB.", "Send less at once.")
    return bytes(body)


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
async def serving(door: Callable[[], Door | None], path: Path, readers: Readers | None = None) -> AsyncIterator[None]:
    """Serve the door on a unix socket for as long as the context lasts."""
    import uvicorn

    listener = bind(path)
    config = uvicorn.Config(application(door, readers), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    # Signals belong to the room, not to uvicorn.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    serve = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serve
        listener.close()
        await asyncio.to_thread(path.unlink, missing_ok=True)
