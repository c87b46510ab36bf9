"""Queries that no agent is offered: outputs together, the states of tasks, who is still to be woken (S2-34, S2-35)."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from core.aggregate import LIMIT, aggregate_outputs
from core.commands.registry import INTEGER_MAX
from core.domain.errors import Invalid, NotFound
from core.server.answers import answered
from core.server.api import Backend, guarded
from core.server.callers import Caller
from core.waiting import mentioned_agents, subtasks_status

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route


def reading_routes(backend: Backend) -> "list[Route]":
    """`GET` routes, named as in the sources (D-05), for whoever has a token. Each answers {"answer": …}."""
    from starlette.routing import Route

    readers = backend.require_readers()

    def route(path: str, look: "Callable[[Request], Awaitable[Any]]") -> Route:
        async def answer(request: "Request", _caller: Caller) -> "Response":
            return answered({"answer": await look(request)})

        return Route(path, guarded(backend, answer), methods=["GET"])

    async def of_task(request: "Request") -> Any:
        return await aggregate_outputs(readers, task=_id(request), limit=_limit(request))

    async def of_goal(request: "Request") -> Any:
        return await aggregate_outputs(readers, goal=_id(request), limit=_limit(request))

    async def task_status(request: "Request") -> Any:
        goal = _id(request)
        if await readers.value("SELECT 1 FROM goals WHERE id = :id", id=goal) is None:
            raise NotFound(f"There is no G{goal} on this board.", "List what there is and use an id from it.")
        return (await subtasks_status(readers)).get(goal, {})

    async def mentioned(_request: "Request") -> Any:
        return await mentioned_agents(readers)

    return [
        route("/api/tasks/{id:int}/outputs/aggregate", of_task),
        route("/api/goals/{id:int}/outputs/aggregate", of_goal),
        route("/api/goals/{id:int}/tasks/status", task_status),
        route("/api/mentions/agents", mentioned),
    ]


def _id(request: "Request") -> int:
    number: int = request.path_params["id"]
    if number > INTEGER_MAX:
        raise NotFound("No number on this board is so large.", "List what there is and use an id from it.")
    return number


def _limit(request: "Request") -> int:
    said = request.query_params.get("limit", str(LIMIT))
    if not said.isascii() or not said.isdigit() or len(said) > 6:
        raise Invalid(f"limit={said[:20]!r} is no number.", "Give a whole number, e.g. limit=50.")
    return int(said)
