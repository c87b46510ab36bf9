"""Chat completions: requests read, answers told (POST /v1/chat/completions)."""

import json
from typing import Any

from tests.models.script import CREATED, Asked, Ids, Refuse, Turn, pieces, texts

Object = dict[str, Any]
_FINISH = {"length": "length", "filter": "content_filter", "refusal": "stop"}


def broken(body: Object) -> str:
    """What of the protocol a request does not keep; empty if nothing."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "Invalid 'messages': empty array. Expected an array with minimum length 1."
    for number, message in enumerate(messages):
        if message.get("role") not in ("system", "developer", "user", "assistant", "tool"):
            return f"Invalid value: '{message.get('role')}' in messages[{number}].role."
        called = [call["id"] for call in message.get("tool_calls") or ()]
        answered = [each.get("tool_call_id") for each in messages[number + 1 : number + 1 + len(called)]]
        if sorted(called) != sorted(map(str, answered)):
            return (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
                f" 'tool_call_id': {called} were answered by {answered}."
            )
    if "stream_options" in body and not body.get("stream"):
        return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    names = [tool["function"]["name"] for tool in body.get("tools") or () if tool.get("type") == "function"]
    return "Tool names must be unique." if len(names) != len(set(names)) else ""


def reading(body: Object) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Names of tools, the last text of the user, and the results since."""
    said, results = "", list[str]()
    for message in body["messages"]:
        if message["role"] == "user":
            said, results = texts(message.get("content")), []
        elif message["role"] == "tool":
            results.append(texts(message.get("content")))
    tools = tuple(t["function"]["name"] if "function" in t else t.get("type", "") for t in body.get("tools") or ())
    return tools, said, tuple(results)


def called(body: Object) -> tuple[str, ...]:
    """Names of the calls so far."""
    calls = (call for message in body["messages"] for call in message.get("tool_calls") or ())
    return tuple(call.get("function", {}).get("name", "") for call in calls)


def refusal(refuse: Refuse) -> Object:
    kind = {429: "requests", 401: "invalid_request_error", 404: "invalid_request_error"}.get(refuse.status, "")
    kind = kind or ("server_error" if refuse.status >= 500 else "invalid_request_error")
    return {"error": {"message": refuse.message, "type": kind, "param": None, "code": refuse.code or None}}


def whole(turn: Turn, asked: Asked, ids: Ids) -> Object:
    message: Object = {"role": "assistant", "content": turn.text or None, "refusal": None, "annotations": []}
    if turn.finish == "refusal":
        message |= {"content": None, "refusal": turn.text}
    if turn.thought:
        message["reasoning_content"] = turn.thought
    if turn.calls:
        message["tool_calls"] = _calls(turn, ids)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
    told = {"id": ids.new("chatcmpl-"), "object": "chat.completion", "created": CREATED, "model": asked.model}
    return {**told, "choices": [choice], **({"usage": _usage(turn)} if turn.usage else {})}


def frames(turn: Turn, asked: Asked, ids: Ids) -> list[bytes]:
    """The events of a stream, as they stand on the wire."""
    with_usage = bool((asked.body.get("stream_options") or {}).get("include_usage")) and turn.usage is not None
    head = {"id": ids.new("chatcmpl-"), "object": "chat.completion.chunk", "created": CREATED, "model": asked.model}

    def chunk(delta: Object, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _frame({**head, "choices": [choice], **({"usage": None} if with_usage else {})})

    told = [chunk({"role": "assistant", "content": "" if turn.text else None, "refusal": None})]
    told += [chunk({"reasoning_content": piece}) for piece in pieces(turn.thought, turn.size)]
    field = "refusal" if turn.finish == "refusal" else "content"
    told += [chunk({field: piece}) for piece in pieces(turn.text, turn.size)]
    for index, call in enumerate(_calls(turn, ids)):
        arguments = call["function"]["arguments"]
        begin = {**call, "function": {**call["function"], "arguments": ""}}
        told.append(chunk({"tool_calls": [{"index": index, **begin}]}))
        for piece in pieces(arguments, turn.size):
            told.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    told.append(chunk({}, _finish(turn)))
    if with_usage:
        told.append(_frame({**head, "choices": [], "usage": _usage(turn)}))
    return [*told, b"data: [DONE]\n\n"]


def _finish(turn: Turn) -> str:
    return _FINISH.get(turn.finish, "tool_calls" if turn.calls else "stop")


def _calls(turn: Turn, ids: Ids) -> list[Object]:
    return [
        {
            "id": ids.new("call_"),
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
            },
        }
        for call in turn.calls
    ]


def _usage(turn: Turn) -> Object:
    assert turn.usage is not None
    usage = turn.usage
    return {
        "prompt_tokens": usage.total_in,
        "completion_tokens": usage.out,
        "total_tokens": usage.total_in + usage.out,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _frame(told: Object) -> bytes:
    return b"data: " + json.dumps(told).encode() + b"\n\n"
