"""Anthropic messages: requests read, answers told (POST /v1/messages, /v1/messages/count_tokens)."""

import json
from typing import Any

from tests.models.script import Asked, Ids, Refuse, Tokens, Turn, pieces, texts

Object = dict[str, Any]
_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip
_STOP = {"length": "max_tokens", "filter": "refusal", "refusal": "refusal"}


def broken(body: Object, beta: str = "") -> str:
    """What of the protocol a request does not keep; empty if nothing. `beta` is its header `anthropic-beta`."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    roles = [message.get("role") for message in messages]
    if "system" in roles[: None if "mid-conversation" not in beta else 1]:
        return 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter.'
    marks = json.dumps([body.get("system"), body.get("tools"), messages]).count('"cache_control"')
    if marks > 4:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
    for number, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        if any(block["type"] == "text" and not block["text"] for block in blocks):
            return f"messages.{number}: text content blocks must be non-empty"
        called = {block["id"] for block in blocks if block["type"] == "tool_use"}
        after = next((each["content"] for each in messages[number + 1 :] if each["role"] != "system"), [])
        answered = {block.get("tool_use_id") for block in after if isinstance(block, dict)}
        if not called <= answered:
            missing = ", ".join(sorted(called - answered))
            return f"messages.{number}: `tool_use` ids were found without `tool_result` blocks after: {missing}."
    return ""


def reading(body: Object) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Names of tools, the last text of the user, and the results since."""
    said, results = "", list[str]()
    for message in body["messages"]:
        if message["role"] != "user":
            continue
        blocks = message["content"] if isinstance(message["content"], list) else []
        if text := texts(message["content"]):
            said, results = text, []
        results += [texts(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    return tuple(tool.get("name", "") for tool in body.get("tools") or ()), said, tuple(results)


def called(body: Object) -> tuple[str, ...]:
    """Names of the calls so far."""
    contents = (message["content"] for message in body["messages"] if isinstance(message["content"], list))
    return tuple(block["name"] for content in contents for block in content if block.get("type") == "tool_use")


def refusal(refuse: Refuse) -> Object:
    kind = refuse.code or _TYPES.get(refuse.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": refuse.message}, "request_id": "req_scripted"}


def whole(turn: Turn, asked: Asked, ids: Ids) -> Object:
    usage = {"usage": _usage(turn.usage or Tokens(0, 0, 0, 0))}
    return {**_head(asked, ids), "content": _blocks(turn, ids), "stop_reason": _stop(turn), **usage}


def frames(turn: Turn, asked: Asked, ids: Ids) -> list[bytes]:
    """The events of a stream, as they stand on the wire."""
    usage = _usage(turn.usage or Tokens(0, 0, 0, 0))
    begun = {**_head(asked, ids), "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    told = [_frame("message_start", message=begun)]
    for index, block in enumerate(_blocks(turn, ids)):
        told += _block(index, block, turn)
        if index == 0:
            told.append(_frame("ping"))
    delta = {"stop_reason": _stop(turn), "stop_sequence": None}
    told.append(_frame("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]}))
    return [*told, _frame("message_stop")]


def _block(index: int, block: Object, turn: Turn) -> list[bytes]:
    begin: Object
    if block["type"] == "tool_use":
        begin, name, field = {**block, "input": {}}, "input_json_delta", "partial_json"
        text = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        parts = ["", *pieces(text, turn.size)]
    elif block["type"] == "thinking":
        begin, name, field = {"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking"
        parts = pieces(block["thinking"], turn.size)
    else:
        begin, name, field = {"type": "text", "text": ""}, "text_delta", "text"
        parts = pieces(block["text"], turn.size)
    told = [_frame("content_block_start", index=index, content_block=begin)]
    told += [_frame("content_block_delta", index=index, delta={"type": name, field: part}) for part in parts]
    if block["type"] == "thinking":
        signed = {"type": "signature_delta", "signature": block["signature"]}
        told.append(_frame("content_block_delta", index=index, delta=signed))
    return [*told, _frame("content_block_stop", index=index)]


def _head(asked: Asked, ids: Ids) -> Object:
    told = {"id": ids.new("msg_"), "type": "message", "role": "assistant", "model": asked.model}
    return {**told, "stop_sequence": None}


def _blocks(turn: Turn, ids: Ids) -> list[Object]:
    blocks: list[Object] = []
    if turn.thought:
        blocks.append({"type": "thinking", "thinking": turn.thought, "signature": "c2lnbmVk"})
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    for call in turn.calls:
        given = call.arguments if isinstance(call.arguments, str) else dict(call.arguments)
        blocks.append({"type": "tool_use", "id": ids.new("toolu_"), "name": call.name, "input": given})
    return blocks


def _stop(turn: Turn) -> str:
    return _STOP.get(turn.finish, "tool_use" if turn.calls else "end_turn")


def _usage(tokens: Tokens) -> Object:
    return {
        "input_tokens": tokens.fresh,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": tokens.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": tokens.out,
        "service_tier": "standard",
    }


def _frame(kind: str, **facts: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **facts})}\n\n".encode()
