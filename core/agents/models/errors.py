"""What can go wrong between us and a model server, as kinds, and how a provider's refusal is read."""

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from core.agents.models.conversation import Usage
from core.agents.models.keys import Secret, scrub
from core.agents.models.waiting import told_until
from core.domain.errors import OpsroomError

_READ = 4000  # code points of what a server says that are looked at
_SHOWN = 400  # and that are shown, once secrets are out


class Failure(StrEnum):
    """The kinds of failure. RETRIED are worth another try as long as nothing of the answer was handed on."""

    KEY = "key"
    QUOTA = "quota"
    MODEL = "model"
    CONTEXT = "context"
    FILTER = "filter"
    REQUEST = "request"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    LOADING = "loading"
    SERVER = "server"
    UNREACHABLE = "unreachable"
    UNTRUSTED = "untrusted"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    GARBLED = "garbled"
    TOO_LARGE = "too_large"
    SILENT = "silent"
    TOO_LONG = "too_long"


RETRIED = frozenset({
    Failure.RATE_LIMITED, Failure.OVERLOADED, Failure.SERVER, Failure.UNREACHABLE, Failure.TRUNCATED, Failure.EMPTY,
    Failure.GARBLED, Failure.SILENT,
})  # fmt: skip

_HINTS = {
    Failure.KEY: "Check the key and where it comes from; it was not tried again.",
    Failure.QUOTA: "Top up the account or use another key; it was not tried again.",
    Failure.MODEL: "Check the name of the model and the address of the server.",
    Failure.CONTEXT: "Send less: shorten the prompt or the history.",
    Failure.FILTER: "Look at what was sent; the provider will refuse the same text again.",
    Failure.REQUEST: "Check the settings of this agent; the server refuses this request each time.",
    Failure.RATE_LIMITED: "Wait until the provider takes requests again.",
    Failure.OVERLOADED: "Try again later.",
    Failure.LOADING: "Wait until the server has loaded its model.",
    Failure.SERVER: "Try again later, or look at the server's log.",
    Failure.UNREACHABLE: "Check that the server runs and its address is right.",
    Failure.UNTRUSTED: "Check the address; the server's certificate is not one that this machine trusts.",
    Failure.TRUNCATED: "Try again; the cut answer was not used.",
    Failure.EMPTY: "Try again, or look at the server's log.",
    Failure.GARBLED: "Check that the address is that of a model server of this kind.",
    Failure.TOO_LARGE: "Lower the bound on tokens, or look at what the server sends.",
    Failure.SILENT: "Try again, or allow a longer silence for this server.",
    Failure.TOO_LONG: "Lower the bound on tokens, or allow a longer time for this server.",
}


class ModelError(OpsroomError):
    """A request to a model server failed.

    `status` is the HTTP status if there was one; `until` (ms UTC) is when the server said that it takes requests
    again; `partial` is the text that came before, `usage` what the server had counted by then; `stale` says
    that the connection was an old one, which the server may have closed before.
    """

    code = "model"

    def __init__(self, kind: Failure, message: str, *, status: int | None = None, until: int | None = None) -> None:
        super().__init__(message, _HINTS[kind])
        self.kind = kind
        self.status = status
        self.until = until
        self.partial = ""
        self.usage: Usage | None = None
        self.stale = False

    def clean(self, secrets: Iterable[Secret]) -> None:
        """Take the secrets out of the message, then all beyond its bound: a torn secret would not be found."""
        message = scrub(self.message, secrets)
        self.message = message if len(message) <= _SHOWN else message[: _SHOWN - 1] + "…"
        self.args = (self.message,)


class RateLimited(ModelError):
    """The provider takes no more requests for now, and we stopped asking. `until` (ms UTC) is always known."""

    code = "rate_limited"
    until: int

    def __init__(self, message: str, until: int, *, status: int | None = None) -> None:
        super().__init__(Failure.RATE_LIMITED, message, status=status, until=until)


# The codes and texts by which providers and local servers tell that the prompt is longer than the model's window.
_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|request_too_large|context.?(length|window|size|limit)"
    r"|maximum (context|prompt) length|(input|prompt) (is )?too (long|large)|too large for model|model token limit"
    r"|input token count|too many (input )?tokens|reduce the length|context the overflows|request too large for",
    re.IGNORECASE,
)
# Larger than the whole allowance of a minute: told as 429, and waiting never helps.
_OVER_ALLOWANCE = re.compile(r"request too large for|context_length_exceeded", re.IGNORECASE)
_QUOTA = re.compile(
    r"insufficient_quota|billing_(error|not_active|hard_limit)|credit balance is too low"
    r"|insufficient.(balance|credits)",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content_filter|content_policy|responsible_ai|data_inspection_failed|prohibited_content", re.IGNORECASE
)
_MODEL = re.compile(r"model_not_found|model_not_exist|invalid model|model .{0,80}(not exist|not found)", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"not.{0,20}support|unsupported|unknown|unrecogni[sz]ed|unexpected|extra (inputs|fields)"
    r"|not (permitted|allowed)|deprecated",
    re.IGNORECASE,
)
_LOADING = re.compile(r"loading model|model is (currently )?loading", re.IGNORECASE)
_LIMITED = re.compile(r"rate_limit|resource_exhausted|too_many_requests", re.IGNORECASE)
_OVERLOADED = re.compile(r"overloaded|unavailable|insufficient_system_resource", re.IGNORECASE)


def refusal(status: int, body: str, headers: Mapping[str, str], now: int) -> ModelError:
    """What a refusal means: its status, its body (any text), its headers, and the time now (ms UTC)."""
    told = error_of(body)
    message, words = _message(told, body), f"{_codes(told)} {_message(told, body)}"
    until = told_until(headers, body, now)
    said = f"The model server answered {status}: {message}" if message else f"The model server answered {status}."
    return ModelError(_kind(status, words), said, status=status, until=until)


def failed_stream(told: Mapping[str, Any] | str) -> ModelError:
    """What an error means that a server sends in the middle of an answer, or in place of one with status 200."""
    error: dict[str, Any] = {"message": told} if isinstance(told, str) else dict(told)
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    message, words = _message(error, ""), f"{_codes(error)} {_message(error, '')}"
    kind = _kind(status, words)
    if kind is Failure.SERVER and _LIMITED.search(words):
        kind = Failure.RATE_LIMITED
    elif kind is Failure.SERVER and _OVERLOADED.search(words):
        kind = Failure.OVERLOADED
    return ModelError(kind, f"The model server broke its answer off: {message or 'it gave no reason'}")


def unknown(told: str) -> bool:
    """A refusal speaks of a field that the server does not know, rather than of its value."""
    return _UNKNOWN.search(told) is not None


def error_of(body: str) -> Mapping[str, Any]:
    """The error object in the body of a refusal; empty when there is none."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(told, list) and told:  # Gemini's compatible server wraps it into a list
        told = told[0]
    if not isinstance(told, dict):
        return {}
    error = told.get("error", told)
    return {"message": error} if isinstance(error, str) else error if isinstance(error, dict) else {}


def _kind(status: int, words: str) -> Failure:
    if status == 402 or _QUOTA.search(words):
        return Failure.QUOTA
    if (status in (400, 413, 422, 500) and _OVERFLOW.search(words)) or (
        status == 429 and _OVER_ALLOWANCE.search(words)
    ):
        return Failure.CONTEXT
    by_status = {401: Failure.KEY, 403: Failure.KEY, 404: Failure.MODEL, 429: Failure.RATE_LIMITED}
    if status == 404 or (status in (400, 403, 422) and _MODEL.search(words)):
        return Failure.MODEL
    if status in (400, 403, 422) and _FILTER.search(words):
        return Failure.FILTER
    if status == 503 and _LOADING.search(words):
        return Failure.LOADING
    if status in (503, 529):
        return Failure.OVERLOADED
    if status >= 500 or status in (408, 409, 425):
        return Failure.SERVER
    return by_status.get(status, Failure.REQUEST)


def _codes(error: Mapping[str, Any]) -> str:
    inner = error.get("innererror")
    more = inner.get("code", "") if isinstance(inner, dict) else ""
    return " ".join(str(error.get(name) or "") for name in ("code", "type", "status", "param")) + f" {more}"


def _message(error: Mapping[str, Any], body: str) -> str:
    told = error.get("message") or error.get("detail") or body
    return " ".join((told if isinstance(told, str) else json.dumps(told))[:_READ].split())
