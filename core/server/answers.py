"""What is sent back: JSON, errors with their status and the next act (S2-40), and bodies read within bounds."""

import asyncio
import json
import logging
import uuid
from typing import TYPE_CHECKING, Any

from core.domain.errors import BoardError, Conflict, Forbidden, Invalid, NotFound, OpsroomError
from core.server.bounded_json import loads

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

BODY_MAX = 1_048_576  # bytes of a request from outside
BODY_S = 30.0  # a body must have come by then
VALUES_MAX = 20_000  # of the JSON of one request: more would hold the room while it is read
NESTED_MAX = 64  # lists and objects in each other; the commands allow fewer
_LOG = logging.getLogger(__name__)


class Unauthorized(OpsroomError):
    """No token, or one that was never given (HTTP 401)."""

    code = "unauthorized"


class TooMany(OpsroomError):
    """More requests than one token may send (HTTP 429); `retry_s` says when to come back, None never."""

    code = "too_many"

    def __init__(self, message: str, hint: str = "", retry_s: int | None = None) -> None:
        super().__init__(message, hint)
        self.retry_s = retry_s


class TooLarge(OpsroomError):
    """A body beyond the bound (HTTP 413)."""

    code = "too_large"


class TooSlow(OpsroomError):
    """A body that did not come in time (HTTP 408)."""

    code = "too_slow"


class Gone(OpsroomError):
    """The client went away before its body had come; nobody reads the answer (HTTP 400)."""

    code = "gone"


class NotHere(OpsroomError):
    """No such address, or another method is meant (HTTP 404, 405)."""

    code = "not_here"


STATUS: tuple[tuple[type[OpsroomError], int], ...] = (
    (Gone, 400),
    (Unauthorized, 401),
    (TooSlow, 408),
    (TooLarge, 413),
    (TooMany, 429),
    (Conflict, 409),
    (NotFound, 404),
    (NotHere, 404),
    (Forbidden, 403),
    (Invalid, 422),
    (BoardError, 503),
)


def status_of(error: OpsroomError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def body_of(error: OpsroomError) -> dict[str, Any]:
    """An error as JSON: {"error": {"code", "message", "hint"}}."""
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}


def as_bytes(value: Any) -> bytes:
    """JSON as it is sent. Half characters, which JSON can name and UTF-8 cannot, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def answered(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> "Response":
    """A JSON response."""
    from starlette.responses import Response

    return Response(as_bytes(value), status, headers, media_type="application/json")


def refused(error: OpsroomError, status: int | None = None, headers: dict[str, str] | None = None) -> "Response":
    """The response for an error."""
    told = dict(headers or {})
    if isinstance(error, Unauthorized):
        told["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooMany) and error.retry_s is not None:
        told["Retry-After"] = str(error.retry_s)
    return answered(body_of(error), status or status_of(error), told)


def failed(error: Exception) -> "Response":
    """The response for a fault of ours: its number leads to the log, nothing of it goes out."""
    number = uuid.uuid4().hex[:12]
    _LOG.error("request %s failed", number, exc_info=error)
    told = body_of(OpsroomError("The server failed.", "Try once more; then tell the operator the request_id."))
    told["error"]["request_id"] = number
    return answered(told, 500)


async def body(request: "Request", most: int) -> bytes:
    """The request's body. Raises TooLarge, TooSlow or Gone."""
    from starlette.requests import ClientDisconnect

    found = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                found += chunk
                if len(found) > most:
                    raise TooLarge(f"The body has more than {most / 1_048_576:g} MiB.", "Send less at once.")
    except TimeoutError:
        raise TooSlow(f"The body did not come within {BODY_S:g} s.", "Send it again, in one piece.") from None
    except ClientDisconnect:
        raise Gone("The client went away.", "") from None
    return bytes(found)


def parsed(text: bytes) -> Any:
    """JSON from outside. Raises Invalid for what is none, has more values, or is nested deeper, than any command."""
    try:
        value = loads(text, VALUES_MAX)
    except (ValueError, RecursionError):
        raise Invalid("The body is not JSON.", "Send the fields as a JSON object.") from None
    if _deep(value):
        raise Invalid(f"The body is nested more than {NESTED_MAX} deep.", "Send flatter JSON.")
    return value


def fields(text: bytes) -> dict[str, Any]:
    """A JSON object from outside; nothing at all is an empty one. Raises Invalid."""
    value = parsed(text) if text.strip() else {}
    if not isinstance(value, dict):
        raise Invalid("The body is not a JSON object.", "Send the fields as a JSON object.")
    return value


def _deep(value: Any) -> bool:
    """Whether lists and objects are nested too deep. A level at a time: the depth is the sender's, not our stack's."""
    level = [value]
    for _ in range(NESTED_MAX + 1):
        level = [
            part
            for one in level
            if isinstance(one, (dict, list))
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
