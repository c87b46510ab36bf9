"""What the gateway passes: the addresses of each wire format, where its key stands, and how it tells an error. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from core.agents.models.providers import GatewayWire
from core.domain.errors import Fenced, Invalid, OpsroomError
from core.server.answers import STATUS, NotHere


class Spent(OpsroomError):
    """The run may ask no model any more: a budget or a limit of its own is used up (HTTP 402)."""

    code = "used_up"


class Upstream(OpsroomError):
    """The provider cannot be asked, or gave no answer (HTTP 502, or 504 for one that is silent)."""

    code = "provider"

    def __init__(self, message: str, hint: str = "", status: int = 502) -> None:
        super().__init__(message, hint)
        self.status = status


@dataclass(frozen=True, slots=True)
class Route:
    """An address that is passed on. `model` is the one that the address names ("" where the body does).

    `paid` requests use tokens; `path` is where they go, behind the provider's `url`, with @MODEL@ for that model.
    """

    wire: GatewayWire
    path: str
    paid: bool = True
    model: str = ""


PASSED = (
    "POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens,"
    " /v1beta/models/MODEL:generateContent, :streamGenerateContent, :countTokens; GET /v1/models, /v1beta/models"
)
_POSTS: Mapping[str, Route] = {
    "/v1/chat/completions": Route("openai", "/v1/chat/completions"),
    "/v1/responses": Route("responses", "/v1/responses"),
    "/v1/messages": Route("anthropic", "/v1/messages"),
    "/v1/messages/count_tokens": Route("anthropic", "/v1/messages/count_tokens", paid=False),
}
_GEMINI = re.compile(r"/v1beta/models/([A-Za-z0-9._@-]{1,200}):(generateContent|streamGenerateContent|countTokens)")
_LISTED = re.compile(r"/(v1|v1beta)/models((?:/[A-Za-z0-9._:@-]{1,200}){0,4})")


def route_of(method: str, path: str, wires: tuple[GatewayWire, ...]) -> Route:
    """What is asked by this address of a provider with these wires. Raises NotHere for whatever is not passed."""
    found = _route(method, path, wires)
    if found is None:
        raise NotHere(f"{method} {path[:200]} is not passed on to models.", f"Passed are: {PASSED}.")
    if found.wire not in wires:
        raise NotHere(
            f"This provider is not asked in the format of {path[:200]}.", f"It speaks: {', '.join(wires)}."
        )  # fmt: skip
    return found


def _route(method: str, path: str, wires: tuple[GatewayWire, ...]) -> Route | None:
    if method == "POST":
        if found := _GEMINI.fullmatch(path):
            model, act = found[1], found[2]
            return Route("gemini", f"/v1beta/models/@MODEL@:{act}", act != "countTokens", model)
        return _POSTS.get(path)
    listed = _LISTED.fullmatch(path) if method == "GET" else None
    if listed is None or any(part in (".", "..") for part in path.split("/")):
        return None
    if listed[1] == "v1beta":
        return Route("gemini", path, paid=False)
    others: list[GatewayWire] = [each for each in wires if each != "gemini"]
    wire = others[0] if others else "openai"
    return Route(wire, path, paid=False)


def wire_of(path: str, wires: tuple[GatewayWire, ...] = ("openai",)) -> GatewayWire:
    """In whose words an error is told: by the address, else by what the provider speaks first."""
    if path.startswith("/v1beta"):
        return "gemini"
    if path.startswith("/v1/messages"):
        return "anthropic"
    return "openai" if path.startswith(("/v1/chat", "/v1/responses")) else wires[0]


def target_of(url: str, route: Route, model: str) -> str:
    """The provider's address; a version that stands in `url` and in the path stands once."""
    path = route.path.replace("@MODEL@", quote(model, safe=""))
    version = f"/{path.split('/')[1]}"
    return url.rstrip("/").removesuffix(version) + path


def key_headers(wire: GatewayWire, key: str) -> dict[str, str]:
    """Where the provider looks for its key."""
    if not key:
        return {}
    match wire:
        case "anthropic":
            return {"x-api-key": key}
        case "gemini":
            return {"x-goog-api-key": key}
        case _:
            return {"authorization": f"Bearer {key}"}


# What APIs of models answer otherwise than ours does.
_STATUS: tuple[tuple[type[OpsroomError], int], ...] = ((Spent, 402), (Fenced, 401), (Invalid, 400), *STATUS)
_ANTHROPIC = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error",
    504: "timeout_error",
}  # fmt: skip
_OPENAI = {402: "insufficient_quota", 429: "rate_limit_exceeded", 401: "invalid_api_key"}
_GEMINI_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION", 403: "PERMISSION_DENIED",
    404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip


def status_of(error: OpsroomError) -> int:
    """The HTTP status by which a program learns of an error."""
    if isinstance(error, Upstream):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def body_of(wire: GatewayWire, error: OpsroomError) -> bytes:
    """An error in the wire's own shape, so that programs show its words."""
    status, words = status_of(error), f"Opsroom: {error}"
    told: dict[str, Any]
    match wire:
        case "anthropic":
            told = {"type": "error", "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": words}}
        case "gemini":
            told = {"error": {"code": status, "message": words, "status": _GEMINI_STATUS.get(status, "UNKNOWN")}}
        case _:
            kind = "invalid_request_error" if status < 500 else "server_error"
            code = _OPENAI.get(status, error.code)
            told = {"error": {"message": words, "type": kind, "param": None, "code": code}}
    return json.dumps(told).encode()
