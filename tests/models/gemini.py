"""Gemini: requests read, answers told (POST /v1beta/models/NAME:generateContent and :streamGenerateContent)."""

import json
from typing import Any

from tests.models.script import Asked, Ids, Refuse, Turn, pieces

Object = dict[str, Any]
_FINISH = {"length": "MAX_TOKENS", "filter": "SAFETY", "refusal": "SAFETY"}
_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip


def broken(body: Object) -> str:
    """What of the protocol a request does not keep; empty if nothing."""
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        return "* GenerateContentRequest.contents: contents is not specified"
    for number, content in enumerate(contents):
        called = sum("functionCall" in part for part in content.get("parts", ()))
        after = contents[number + 1].get("parts", ()) if number + 1 < len(contents) else ()
        answered = sum("functionResponse" in part for part in after)
        if called != answered and called:
            return f"The number of function response parts ({answered}) must equal that of the calls ({called})."
    return ""


def reading(body: Object) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Names of tools, the last text of the user, and the results since."""
    said, results = "", list[str]()
    for content in body["contents"]:
        if content.get("role") == "model":
            continue
        for part in content.get("parts", ()):
            if "functionResponse" in part:
                results.append(json.dumps(part["functionResponse"].get("response")))
            elif part.get("text"):
                said, results = part["text"], []
    declared = (each for tool in body.get("tools") or () for each in tool.get("functionDeclarations", ()))
    return tuple(each["name"] for each in declared), said, tuple(results)


def called(body: Object) -> tuple[str, ...]:
    """Names of the calls so far."""
    parts = (part for content in body["contents"] for part in content.get("parts", ()))
    return tuple(part["functionCall"].get("name", "") for part in parts if "functionCall" in part)


def refusal(refuse: Refuse) -> Object:
    status = refuse.code or _STATUS.get(refuse.status, "UNKNOWN")
    return {"error": {"code": refuse.status, "message": refuse.message, "status": status}}


def whole(turn: Turn, asked: Asked, ids: Ids) -> Object:
    return _told(_thoughts(turn) + _texts(turn, [turn.text]) + _calls(turn), turn, asked, ids.new("r"), last=True)


def frames(turn: Turn, asked: Asked, ids: Ids) -> list[bytes]:
    """The events of a stream with `alt=sse`, as they stand on the wire."""
    id = ids.new("r")
    parts = _thoughts(turn) + _texts(turn, pieces(turn.text, turn.size))
    told = [_told([part], turn, asked, id, last=False) for part in parts]
    told.append(_told(_calls(turn) or [{"text": ""}], turn, asked, id, last=True))
    return [b"data: " + json.dumps(each).encode() + b"\r\n\r\n" for each in told]


def _thoughts(turn: Turn) -> list[Object]:
    return [{"text": turn.thought, "thought": True}] if turn.thought else []


def _texts(turn: Turn, told: list[str]) -> list[Object]:
    return [{"text": text} for text in told if text]


def _calls(turn: Turn) -> list[Object]:
    """Arguments are objects in this format: a text that is none goes as a field."""
    return [
        {
            "functionCall": {
                "name": call.name,
                "args": {"text": call.arguments} if isinstance(call.arguments, str) else dict(call.arguments),
            }
        }
        for call in turn.calls
    ]


def _told(parts: list[Object], turn: Turn, asked: Asked, id: str, *, last: bool) -> Object:
    candidate: Object = {"content": {"role": "model", "parts": parts}, "index": 0}
    told: Object = {"candidates": [candidate], "modelVersion": asked.model, "responseId": id}
    if last:
        candidate["finishReason"] = _FINISH.get(turn.finish, "STOP")
    if last and turn.usage:
        told["usageMetadata"] = {
            "promptTokenCount": turn.usage.total_in,
            "candidatesTokenCount": turn.usage.out,
            "totalTokenCount": turn.usage.total_in + turn.usage.out,
            "cachedContentTokenCount": turn.usage.cache_read,
        }
    return told
