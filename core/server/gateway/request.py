"""A program's request made into the provider's: its model, its headers, and the run's token in none of it. Pure."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from core.agents.models.conversation import Usage
from core.agents.models.keys import REMOVED
from core.domain.errors import Invalid
from core.server.bounded_json import loads
from core.server.gateway.estimate import taken_of
from core.server.gateway.passage import Passage
from core.server.gateway.wires import Route, key_headers, target_of

VALUES_MAX = 100_000  # of a body's JSON: a thousand messages with their tools have a tenth of it
BODY_MAX = 32 * 1_048_576  # bytes: long conversations, pictures among them
_LOOKED_AT = frozenset({"model", "stream", "stream_options", "background"})
_TOKEN_HEADERS = ("x-api-key", "x-goog-api-key")
# What is passed: what APIs and their clients need. Others choose who pays, another method, or another tenant.
_HEADERS = frozenset({
    "accept", "accept-language", "content-type", "user-agent", "anthropic-version", "anthropic-beta",
    "anthropic-dangerous-direct-browser-access", "openai-beta", "idempotency-key", "x-app", "x-client-request-id",
    "x-goog-api-client", "originator", "session_id", "session-id", "conversation_id", "conversation-id", "version",
})  # fmt: skip
_HEADER_FAMILIES = ("x-stainless-", "x-codex-")
_PARAMETERS = frozenset({
    "alt", "$alt", "beta", "api-version", "limit", "after", "before", "after_id", "before_id", "order", "pageSize",
    "pageToken", "client_version",
})  # fmt: skip
# Fields by which some servers take another model, another's conversation or another price than the one that was asked.
_AROUND_MODELS = frozenset({
    "models", "route", "fallbacks", "preset", "prompt", "conversation", "previousresponseid", "servicetier",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """What goes to the provider. `model` is the one that is asked there, `taken` what the request is taken to use.

    `hides_usage`: the gateway asked for a chunk of usage that the program did not ask for.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    content: bytes
    model: str
    taken: Usage
    hides_usage: bool = False

    def without_usage(self) -> "Asked":
        """The same for a server that does not know `stream_options`."""
        body = json.loads(self.content)
        body.pop("stream_options", None)
        return replace(self, content=_dumped(body), hides_usage=False)


def tokens_of(headers: Iterable[tuple[str, str]], query: str) -> list[str]:
    """Whatever stands where a program puts its key: a bearer token, x-api-key, x-goog-api-key, or ?key=."""
    found = []
    for name, value in headers:
        if name == "authorization" and value[:7].lower() == "bearer ":
            found.append(value[7:].strip())
        elif name in _TOKEN_HEADERS:
            found.append(value.strip())
    found += [value for name, value in parse_qsl(query) if name == "key"]
    return [each for each in found if each]


def asked_of(
    passage: Passage, route: Route, method: str, headers: list[tuple[str, str]], query: str, content: bytes, token: str
) -> Asked:
    """The request as the provider gets it. Takes a while for a long body. Raises Invalid."""
    model, taken, hides = route.model, Usage(), False
    if token in model:
        raise Invalid("The address holds the token of the run.", "Name a model there.")
    if method == "POST":
        content, model, taken, hides = _changed(passage, route, content, token)
    elif token in route.path:
        raise Invalid("The address holds the token of the run.", "Leave it out.")
    elif model:
        model = passage.provider.asked_instead(model)
    key = passage.key.reveal() if passage.key else ""
    kept = [(name, value) for name, value in headers if _passes(name) and token not in value]
    ours = {"accept-encoding": "identity", **key_headers(route.wire, key)}
    parameters = [
        (name, value)
        for name, value in parse_qsl(query, keep_blank_values=True)
        if name in _PARAMETERS and token not in value
    ]
    target = target_of(passage.provider.url, route, model) + (f"?{urlencode(parameters)}" if parameters else "")
    return Asked(method, target, (*kept, *ours.items()), content, model, taken, hides)


def _passes(name: str) -> bool:
    return name in _HEADERS or (name.startswith(_HEADER_FAMILIES) and len(name) <= 40)


def _changed(passage: Passage, route: Route, content: bytes, token: str) -> tuple[bytes, str, Usage, bool]:
    """The body, its model, what it is taken to use, and whether usage is asked for that the program did not ask for.

    Raises Invalid.
    """
    try:
        body = loads(content, VALUES_MAX)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Invalid("The request's body is no JSON object.", "Send what the provider's API asks for.")
    _require_plain(body)
    if passage.provider.models:
        _require_no_way_around(body)
    said = route.model or body.get("model")
    if not isinstance(said, str) or not said:
        raise Invalid("The request names no model.", "Send its name as `model`.")
    model = passage.provider.asked_instead(said)
    if token in said:
        raise Invalid("The model's name holds the token of the run.", "Name a model.")
    if route.model:
        body.pop("model", None)  # the address names it
    else:
        body["model"] = model
    hides = route.wire == "openai" and bool(body.get("stream")) and not _asks_usage(body)
    if hides:
        options = body.get("stream_options")
        body["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
    # Written anew: a field that stands twice could be one thing here and another at the provider.
    # What a model was shown of its own environment may come back as a part of the conversation.
    told = _dumped(body).replace(token.encode(), REMOVED.encode())
    return told, model, taken_of(body, told), hides


def _require_plain(body: dict[str, Any]) -> None:
    """Raises Invalid for what could not be metered, or for fields that some servers read as one of these."""
    if body.get("background"):
        raise Invalid("A request in the background could not be metered.", "Leave `background` out.")
    for name in body:
        if name.lower() in _LOOKED_AT and name not in _LOOKED_AT:
            raise Invalid(f"The field {name!r} is not written as the API has it.", f"Write {name.lower()!r}.")


def _require_no_way_around(body: dict[str, Any]) -> None:
    """Raises Invalid for what could ask another model than those that are allowed."""
    for name, value in body.items():
        if name.lower().replace("_", "") in _AROUND_MODELS and value is not None and value not in ("auto", "default"):
            raise Invalid(
                f"The field {name!r} could ask another model, or at another price, than those that are allowed here.",
                "Leave it out.",
            )


def _asks_usage(body: dict[str, Any]) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))


def _dumped(body: dict[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a model may have said half a character, which no UTF-8 holds
        return json.dumps(body, separators=(",", ":")).encode("ascii")
