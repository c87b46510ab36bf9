"""Messages, as Anthropic and the servers compatible with it speak them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.agents.models.conversation import (
    Assistant,
    Finish,
    FinishReason,
    Message,
    ModelRequest,
    Piece,
    Text,
    Thought,
    ToolResult,
    Usage,
    User,
    count,
    tool_call,
)
from core.agents.models.errors import Failure, ModelError, failed_stream, unknown
from core.agents.models.sse import object_of

_MARK = {"type": "ephemeral"}
_STABLE_MARKS = 2  # of the four that a request may carry; one is the system text's, one the conversation's
_REASONS = {
    "end_turn": FinishReason.END,
    "stop_sequence": FinishReason.END,
    "tool_use": FinishReason.CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.CONTEXT,
    "refusal": FinishReason.REFUSAL,
    "pause_turn": FinishReason.PAUSED,
}
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip


class AnthropicWire:
    """The address of such a server ends before `/v1/messages`, e.g. in `.com`."""

    path = "/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def body(self, model: str, request: ModelRequest, without: frozenset[str], *, stream: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "max_tokens": request.max_tokens, "stream": stream}
        if request.temperature is not None and "temperature" not in without:
            body["temperature"] = request.temperature
        tools: list[dict[str, Any]] = [
            {"name": t.name, "description": t.about, "input_schema": dict(t.schema)} for t in request.tools
        ]
        choice = {"auto": "auto", "required": "any", "none": "none"}[request.choice]
        if tools:
            body["tool_choice"] = {"type": choice}
        if request.answer is not None:
            # An answer of a schema is a call of a tool with that schema; beside other tools the model may choose.
            schema = dict(request.answer.schema)
            body["tool_choice"] = {"type": "any"} if tools else {"type": "tool", "name": request.answer.name}
            tools.append({"name": request.answer.name, "description": "Gives the answer.", "input_schema": schema})
        if tools:
            body["tools"] = tools
        stable = [number for number, layer in enumerate(request.system) if layer.stable and layer.text]
        system: list[dict[str, Any]] = [{"type": "text", "text": layer.text} for layer in request.system]
        # A mark holds for all that stands before it, and tools stand before the system text.
        if stable:
            system[stable[-1]]["cache_control"] = dict(_MARK)
        elif tools:
            tools[-1]["cache_control"] = dict(_MARK)
        if texts := [block for block in system if block["text"]]:
            body["system"] = texts
        body["messages"] = _messages(request.messages)
        return body

    def lesson(self, told: str, tried: dict[str, Any], *, guess: bool) -> str | None:
        return "temperature" if "temperature" in tried and "temperature" in told and unknown(told) else None

    def reader(self, request: ModelRequest) -> "AnthropicReader":
        return AnthropicReader(len(request.messages), request.answer.name if request.answer else None)


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Neighbours of one role become one message: all results of a turn have to stand together."""
    told: list[dict[str, Any]] = []
    marks = 0
    for message in messages:
        role = "assistant" if isinstance(message, Assistant) else "user"
        blocks = _blocks(message)
        if isinstance(message, User) and message.stable and blocks and marks < _STABLE_MARKS:
            blocks[-1]["cache_control"] = dict(_MARK)
            marks += 1
        if told and told[-1]["role"] == role:
            told[-1]["content"] += blocks
        elif blocks:
            told.append({"role": role, "content": blocks})
    # A conversation that goes on is sent again each turn: the next turn reads what this one wrote to the cache.
    if len(told) > 1 and told[-1]["role"] == "user":
        told[-1]["content"][-1]["cache_control"] = dict(_MARK)
    return told


def _blocks(message: Message) -> list[dict[str, Any]]:
    """The blocks of a message; empty texts are refused by the provider and left out."""
    if isinstance(message, User):
        return [{"type": "text", "text": message.text}] if message.text else []
    if isinstance(message, ToolResult):
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [{**result, "is_error": True} if message.failed else result]
    blocks: list[dict[str, Any]] = []
    for thought in message.thoughts:
        if thought.hidden:
            blocks.append({"type": "redacted_thinking", "data": thought.hidden})
        elif thought.signature:
            blocks.append({"type": "thinking", "thinking": thought.text, "signature": thought.signature})
    if message.text:
        blocks.append({"type": "text", "text": message.text})
    calls = [{"type": "tool_use", "id": each.id, "name": each.name, "input": each.sendable()} for each in message.calls]
    return blocks + calls


@dataclass(slots=True)
class _Block:
    type: str
    id: str = ""
    name: str = ""
    text: str = ""


class AnthropicReader:
    """Reads events, or one whole message. The call of the tool `answer` is the text of the answer.

    `turn` makes ids for calls to which the server gave none.
    """

    def __init__(self, turn: int, answer: str | None) -> None:
        self._turn = turn
        self._answer = answer
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, int] = {}
        self._told = ""
        self._stopped = False

    @property
    def complete(self) -> bool:
        return bool(self._told) or self._stopped

    @property
    def usage(self) -> Usage | None:
        """Input without what came from or went to the cache is told apart; here it is one sum."""
        told = self._counts
        if not told:
            return None
        read, write = told.get("cache_read_input_tokens", 0), told.get("cache_creation_input_tokens", 0)
        return Usage(told.get("input_tokens", 0) + read + write, told.get("output_tokens", 0), read, write)

    def feed(self, data: str) -> Iterator[Piece]:
        told = object_of(data)
        kind = told.get("type")
        if kind == "error":
            error = told.get("error")
            error = error if isinstance(error, dict) else {"message": str(error)}
            raise failed_stream({"code": _STATUS.get(str(error.get("type")), 500), **error})
        if kind == "message_start" and isinstance(message := told.get("message"), dict):
            self._count(message.get("usage"))
        elif kind == "message":
            content = told.get("content")
            for number, block in enumerate(content if isinstance(content, list) else ()):
                yield from self._begin(number, block)
            self._stop(told)
        elif kind == "content_block_start":
            yield from self._begin(told.get("index"), told.get("content_block"))
        elif kind == "content_block_delta" and isinstance(delta := told.get("delta"), dict):
            yield from self._delta(self._blocks.get(_index(told.get("index"))), delta)
        elif kind == "message_delta":
            self._stop({**(told["delta"] if isinstance(told.get("delta"), dict) else {}), "usage": told.get("usage")})
        elif kind == "message_stop":
            self._stopped = True

    def _stop(self, told: Mapping[str, Any]) -> None:
        if isinstance(reason := told.get("stop_reason"), str):
            self._told = reason
        self._count(told.get("usage"))

    def _count(self, usage: object) -> None:
        """Later counts replace earlier ones: the provider tells running totals."""
        if isinstance(usage, dict):
            self._counts |= {name: count(value) for name, value in usage.items() if isinstance(value, int)}

    def _begin(self, index: object, told: object) -> Iterator[Piece]:
        if not isinstance(told, dict):
            return
        block = self._blocks[_index(index)] = _Block(str(told.get("type")))
        if block.type == "text" and isinstance(text := told.get("text"), str) and text:
            block.text = text
            yield Text(text)
        elif block.type == "tool_use":
            block.id, block.name = str(told.get("id") or ""), str(told.get("name") or "")
            # Streamed, the input begins as {} and comes in pieces; some servers give it whole at once.
            given = told.get("input") or ""
            block.text = given if isinstance(given, str) else json.dumps(given)
        elif block.type == "thinking":
            if text := str(told.get("thinking") or ""):
                yield Thought(text)
            if signature := str(told.get("signature") or ""):
                yield Thought("", signature)
        elif block.type == "redacted_thinking":
            yield Thought("", hidden=str(told.get("data") or ""))

    def _delta(self, block: _Block | None, delta: Mapping[str, Any]) -> Iterator[Piece]:
        kind = delta.get("type")
        if block is None:
            raise ModelError(Failure.GARBLED, "The server's answer goes on with a block that it never began.")
        if kind == "text_delta" and isinstance(text := delta.get("text"), str) and text:
            block.text += text
            yield Text(text)
        elif kind == "input_json_delta" and isinstance(part := delta.get("partial_json"), str):
            block.text += part
        elif kind == "thinking_delta" and isinstance(part := delta.get("thinking"), str) and part:
            yield Thought(part)
        elif kind == "signature_delta" and isinstance(part := delta.get("signature"), str):
            yield Thought("", signature=part)

    def end(self) -> Iterator[Piece]:
        if not self.complete:
            if self._blocks:
                raise ModelError(Failure.TRUNCATED, "The model server's answer ended in the middle.")
            raise ModelError(Failure.EMPTY, "The model server's answer holds no message.")
        reason = _REASONS.get(self._told, FinishReason.UNKNOWN)
        cut = reason in (FinishReason.LENGTH, FinishReason.CONTEXT)
        calls = [block for block in self._blocks.values() if block.type == "tool_use"]
        asked = [block for block in calls if block.name != self._answer]
        for block in calls:
            if block not in asked and block.text:
                yield Text(block.text)
        for number, block in enumerate(asked):
            yield tool_call(
                block.id or f"toolu_{self._turn}_{number}", block.name, block.text, cut=cut and block is calls[-1]
            )
        if self.usage is not None:
            yield self.usage
        if reason in (FinishReason.CALLS, FinishReason.END, FinishReason.UNKNOWN):
            reason = FinishReason.CALLS if asked else reason if reason is not FinishReason.CALLS else FinishReason.END
        yield Finish(reason, self._told)


def _index(value: object) -> int:
    return value if isinstance(value, int) else -1
