"""The commands and queries over HTTP: the addresses of `table`, and the two general ones by name."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.agents.access import Heard
from core.agents.models.keys import scrub, scrubbed
from core.blackboard.readers import Readers
from core.blackboard.writer import Writer
from core.commands.door import Door
from core.commands.registry import REGISTRY, Answer, parse
from core.domain.actors import Operator
from core.domain.errors import BoardError, Invalid, OpsroomError
from core.reading.offered import told
from core.reading.registry import READS, read
from core.server import answers
from core.server.callers import Caller, Tokens, bearer, no_token
from core.server.table import ROWS, WORDS, Row

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    Endpoint = Callable[[Request], Awaitable[Response]]
    Look = Callable[[Request, Caller], Awaitable[Response]]

RUN_HEADER = "opsroom-run"


@dataclass(slots=True)
class Backend:
    """What the server works with. `door` gives None when this process lost the board.

    With `trusted` a request without a token is the operator's: on the socket that only this user can reach.
    """

    door: Callable[[], Door | None]
    readers: Readers | None = None
    writer: Callable[[], Writer | None] = lambda: None
    tokens: Tokens = field(default_factory=Tokens)
    trusted: bool = False
    body_max: int = answers.BODY_MAX
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    streams: int = 0

    def caller(self, request: "Request") -> Caller:
        """Who sends this. Raises Unauthorized, Fenced, Forbidden, TooMany."""
        token, said_run = bearer(request.headers.get("authorization")), request.headers.get(RUN_HEADER)
        if token is not None:
            return self.tokens.caller(token, said_run)
        if not self.trusted:
            raise no_token()
        caller = Caller(Operator())
        caller.require_run(said_run)
        return caller

    def require_readers(self) -> Readers:
        """Raises BoardError where nothing can be read."""
        if self.readers is None:
            raise BoardError("Nothing can be read here.", "Read the board with the command line.")
        return self.readers


async def call(
    backend: Backend, caller: Caller, name: str, arguments: dict[str, Any], key: str | None = None
) -> Answer:
    """Carry out a command or answer a query for a caller. Raises an OpsroomError; then nothing was written."""
    if caller.secrets:
        # The board, its events and the transcript are kept: no key of a program may get there by its own calls.
        arguments, key = scrubbed(arguments, caller.secrets), None if key is None else scrub(key, caller.secrets)
        arguments, key = backend.tokens.without_tokens([arguments, key])  # also those of others
    try:
        answer = await _carried_out(backend, caller, name, arguments, key)
    except OpsroomError as error:
        caller.tell(Heard(name, arguments, error=f"{error.code}: {error.message}"))
        raise
    caller.tell(Heard(name, arguments, answer))
    return answer


async def _carried_out(
    backend: Backend, caller: Caller, name: str, arguments: dict[str, Any], key: str | None
) -> Answer:
    caller.require(name)
    if name in READS:
        return await read(backend.require_readers(), caller.actor, name, arguments)
    command = parse(name, arguments)
    door = backend.door()
    if door is None:
        raise BoardError("This room no longer owns the board; nothing was written.", "Try again.")
    return await door.execute(caller.actor, command, key=caller.key(key))


def guarded(backend: Backend, look: "Look") -> "Endpoint":
    """An endpoint that knows its caller, and answers whatever is raised as JSON."""

    async def answer(request: "Request") -> "Response":
        try:
            return await look(request, backend.caller(request))
        except OpsroomError as error:
            return answers.refused(error)
        except Exception as error:
            return answers.failed(error)

    return answer


def api_routes(backend: Backend) -> "list[Route]":
    """The routes of the table, `POST /api/commands/{name}`, `POST /api/queries/{name}` and `GET /api`."""
    from starlette.routing import Route

    async def by_name(request: "Request", caller: Caller, kind: str) -> "Response":
        name = request.path_params["name"]
        if name not in (REGISTRY if kind == "command" else READS) and caller.run is None:
            known = ", ".join(sorted(REGISTRY if kind == "command" else READS))
            raise Invalid(f"There is no {kind} {name[:80]!r}.", f"Known: {known}.")
        arguments = answers.fields(await answers.body(request, backend.body_max))
        return answers.answered({"answer": await call(backend, caller, name, arguments, _key(request))})

    async def command(request: "Request", caller: Caller) -> "Response":
        return await by_name(request, caller, "command")

    async def query(request: "Request", caller: Caller) -> "Response":
        return await by_name(request, caller, "query")

    async def index(_request: "Request", caller: Caller) -> "Response":
        return answers.answered({"answer": await asyncio.to_thread(index_of, caller)})

    return [
        Route("/api", guarded(backend, index), methods=["GET"]),
        Route("/api/commands/{name}", guarded(backend, command), methods=["POST"]),
        Route("/api/queries/{name}", guarded(backend, query), methods=["POST"]),
        *(Route(row.path, guarded(backend, _look(backend, row)), methods=[row.method]) for row in ROWS),
    ]


def _look(backend: Backend, row: Row) -> "Look":
    async def look(request: "Request", caller: Caller) -> "Response":
        if row.method == "GET":
            arguments = _asked(request, row)
        else:
            _require_no_query(request)
            arguments = answers.fields(await answers.body(request, backend.body_max))
        for name, value in request.path_params.items():
            if name in arguments and str(arguments[name]) != value:
                raise Invalid(f"{name} is {value!r} in the address and something else beside it.", "Name it once.")
            arguments[name] = value
        return answers.answered({"answer": await call(backend, caller, row.name, arguments, _key(request))})

    return look


def _asked(request: "Request", row: Row) -> dict[str, Any]:
    """The fields of a query from what follows the question mark. Raises Invalid for one that is named twice."""
    arguments: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name in arguments:
            raise Invalid(f"{name[:80]!r} is named more than once.", "Name each field once.")
        arguments[name] = WORDS.get((row.name, name, value), value)
    return arguments


def _require_no_query(request: "Request") -> None:
    if request.url.query:
        raise Invalid("A command takes nothing after a question mark.", "Send the fields as a JSON object in the body.")


def _key(request: "Request") -> str | None:
    return request.headers.get("idempotency-key")


def index_of(caller: Caller) -> dict[str, Any]:
    """What this caller can send: {"you", "calls": [{name, about, method, path, example, fields}]}."""
    names = None if caller.run is None else caller.run.offered.names
    calls = [_told(row) for row in ROWS if names is None or row.name in names]
    return {
        "you": caller.label,
        "calls": calls,
        "errors": '{"error": {"code", "message", "hint"}}: the hint tells what to do',
    }


def _told(row: Row) -> dict[str, Any]:
    about = told(row.name, row.of.about, row.of.model)
    example = {name: value for name, value in row.of.example.items() if name not in row.in_path}
    return {"method": row.method, "path": row.path, **about, "example": example}
