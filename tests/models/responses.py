"""OpenAI Responses: requests read, answers told (POST /v1/responses)."""

import json
from typing import Any

from tests.models import chat
from tests.models.script import CREATED, Asked, Ids, Refuse, Turn, pieces, texts

Object = dict[str, Any]
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_CUT = {"length": "max_output_tokens", "filter": "content_filter"}


def broken(body: Object) -> str:
    """What of the protocol a request does not keep; empty if nothing."""
    items = body.get("input")
    if not isinstance(items, (str, list)):
        return "Missing required parameter: 'input'."
    if isinstance(items, str):
        return ""
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    if missing := sorted(called - answered):
        return f"No tool output found for function call {missing[0]}."
    return ""


def reading(body: Object) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Names of tools, the last text of the user, and the results since."""
    items = body["input"]
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items
    said, results = "", list[str]()
    for item in items:
        if item.get("type") in _RESULTS:
            output = item.get("output")
            results.append(output if isinstance(output, str) else texts(output) or json.dumps(output))
        elif item.get("role") == "user":
            said, results = texts(item.get("content")), []
    return tuple(name for name, _ in _tools(body)), said, tuple(results)


def called(body: Object) -> tuple[str, ...]:
    """Names of the calls so far."""
    items = body["input"] if isinstance(body["input"], list) else []
    kinds = ("function_call", "custom_tool_call", "local_shell_call")
    return tuple(item.get("name", "") for item in items if item.get("type") in kinds)


def refusal(refuse: Refuse) -> Object:
    return chat.refusal(refuse)


def whole(turn: Turn, asked: Asked, ids: Ids) -> Object:
    return _response(turn, asked, ids.new("resp_"), _items(turn, asked, ids))


def frames(turn: Turn, asked: Asked, ids: Ids) -> list[bytes]:
    """The events of a stream, as they stand on the wire."""
    told: list[bytes] = []

    def event(kind: str, **facts: Any) -> None:
        data = {"type": kind, "sequence_number": len(told), **facts}
        told.append(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())

    items = _items(turn, asked, ids)
    done = _response(turn, asked, ids.new("resp_"), items)
    begun = {**done, "status": "in_progress", "incomplete_details": None, "output": [], "usage": None}
    event("response.created", response=begun)
    event("response.in_progress", response=begun)
    for index, item in enumerate(items):
        place = {"item_id": item["id"], "output_index": index}
        empty: Object = {"content": []} if item["type"] == "message" else {"arguments": ""}
        event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", **empty})
        if item["type"] == "message":
            part = item["content"][0]
            field = "refusal" if part["type"] == "refusal" else "text"
            name = "response.refusal" if field == "refusal" else "response.output_text"
            logs: Object = {} if field == "refusal" else {"logprobs": []}
            event("response.content_part.added", **place, content_index=0, part={**part, field: ""})
            for piece in pieces(part[field], turn.size):
                event(f"{name}.delta", **place, content_index=0, delta=piece, **logs)
            event(f"{name}.done", **place, content_index=0, **{field: part[field]}, **logs)
            event("response.content_part.done", **place, content_index=0, part=part)
        else:
            for piece in pieces(item["arguments"], turn.size):
                event("response.function_call_arguments.delta", **place, delta=piece)
            event(
                "response.function_call_arguments.done", **place, name=item["name"], arguments=item["arguments"]
            )  # fmt: skip
        event("response.output_item.done", output_index=index, item=item)
    event("response.incomplete" if turn.finish in _CUT else "response.completed", response=done)
    return told


def _tools(body: Object) -> list[tuple[str, str]]:
    """Names of tools with the namespace that holds them (codex groups the tools of an MCP server so)."""
    found: list[tuple[str, str]] = []
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":
            found += [(inner.get("name", ""), tool["name"]) for inner in tool.get("tools", ())]
        else:
            found.append((tool.get("name") or tool.get("type", ""), ""))
    return found


def _items(turn: Turn, asked: Asked, ids: Ids) -> list[Object]:
    items: list[Object] = []
    if turn.text or not turn.calls:
        part: Object = {"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}
        if turn.finish == "refusal":
            part = {"type": "refusal", "refusal": turn.text}
        items.append(
            {"type": "message", "id": ids.new("msg_"), "role": "assistant", "status": "completed", "content": [part]}
        )
    spaces = dict(_tools(asked.body))
    for call in turn.calls:
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        item = {"type": "function_call", "id": ids.new("fc_"), "call_id": ids.new("call_"), "status": "completed"}
        space = {"namespace": spaces[call.name]} if spaces.get(call.name) else {}
        items.append({**item, "name": call.name, "arguments": arguments, **space})
    return items


def _response(turn: Turn, asked: Asked, id: str, items: list[Object]) -> Object:
    reason = _CUT.get(turn.finish)
    told: Object = {
        "id": id,
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": asked.body.get("instructions"),
        "metadata": {},
        "model": asked.model,
        "output": items,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": asked.body.get("tools") or [],
        "top_p": 1.0,
        "usage": None,
    }
    if usage := turn.usage:
        told["usage"] = {
            "input_tokens": usage.total_in,
            "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.total_in + usage.out,
        }
    return told
