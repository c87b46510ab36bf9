"""The one application behind every way in: commands, queries, events, MCP, and what this server is."""

import asyncio
import os
from typing import TYPE_CHECKING

from core.server import answers, mcp
from core.server.answers import NotHere
from core.server.api import Backend, api_routes, guarded
from core.server.callers import Caller
from core.server.events import events
from core.server.openapi import document
from core.server.reading import reading_routes

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp


def application(backend: Backend, gateway: "ASGIApp | None" = None) -> "Starlette":
    """The server of a company (`docs/server.md`), with the way to models behind `/gateway` if it is given.

    Every answer is JSON but the stream of events, and what a model's provider says.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Mount, Route

    async def about(_request: "Request") -> "Response":
        return answers.answered({"opsroom": True, "pid": os.getpid()})

    async def openapi(_request: "Request", _caller: Caller) -> "Response":
        return answers.answered(await asyncio.to_thread(document))

    async def stream(request: "Request", caller: Caller) -> "Response":
        return await events(backend, request, caller)

    async def tools(request: "Request") -> "Response":
        return await mcp.endpoint(backend, request)

    app = Starlette(
        routes=[
            Route("/api/about", about, methods=["GET"]),
            Route("/api/openapi.json", guarded(backend, openapi), methods=["GET"]),
            Route("/api/events", guarded(backend, stream), methods=["GET"]),
            Route("/mcp", tools, methods=["POST"]),
            *api_routes(backend),
            *([] if backend.readers is None else reading_routes(backend)),
            *([] if gateway is None else [Mount("/gateway", gateway)]),
        ],
        exception_handlers={HTTPException: _not_here, Exception: _failed},
    )
    # An address with a slash too many is wrong, not elsewhere: a redirect would lose the body of a command.
    app.router.redirect_slashes = False
    return app


async def _not_here(request: "Request", error: Exception) -> "Response":
    status = getattr(error, "status_code", 404)
    if status == 405:
        allowed = ", ".join(sorted(_methods(request)))
        words = f"{request.method} is not meant here."
        return answers.refused(NotHere(words, f"Use {allowed}."), 405, {"Allow": allowed})
    hint = "GET /api lists what you can call; GET /api/openapi.json tells all of it."
    return answers.refused(NotHere("There is no such address.", hint), status)


def _methods(request: "Request") -> set[str]:
    """What the address takes: each of its methods has a route of its own."""
    from starlette.routing import Match, Route

    routes = [route for route in request.app.routes if isinstance(route, Route)]
    return {
        method for route in routes if route.matches(request.scope)[0] != Match.NONE for method in route.methods or ()
    }


async def _failed(_request: "Request", error: Exception) -> "Response":
    return answers.failed(error)
