"""Chat completions, as OpenAI and the servers compatible with it speak them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.agents.models.conversation import (
    Finish,
    FinishReason,
    Message,
    ModelRequest,
    Piece,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Usage,
    User,
    count,
    tool_call,
)
from core.agents.models.errors import Failure, ModelError, failed_stream, unknown
from core.agents.models.sse import object_of

_REASONS = {
    "stop": FinishReason.END,
    "eos": FinishReason.END,
    "tool_calls": FinishReason.CALLS,
    "function_call": FinishReason.CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.CONTEXT,
    "content_filter": FinishReason.FILTER,
}
# What a refusal names, and the field to do without then; "max_tokens" gives way to its newer name.
_LESSONS = {
    "stream_options": ("stream_options", "include_usage"),
    "max_tokens": ("max_completion_tokens",),
    "response_format": ("response_format", "json_schema"),
    "temperature": ("temperature",),
}


class OpenAIWire:
    """The address of such a server ends before `/chat/completions`."""

    path = "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, request: ModelRequest, without: frozenset[str], *, stream: bool) -> dict[str, Any]:
        system = [layer.text for layer in request.system]
        body: dict[str, Any] = {"model": model, "messages": [], "stream": stream}
        if stream and "stream_options" not in without:
            body["stream_options"] = {"include_usage": True}
        body["max_completion_tokens" if "max_tokens" in without else "max_tokens"] = request.max_tokens
        if request.temperature is not None and "temperature" not in without:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [
                {"type": "function", "function": {"name": t.name, "description": t.about, "parameters": dict(t.schema)}}
                for t in request.tools
            ]
            body["tool_choice"] = request.choice
        if request.answer is not None and "response_format" in without:
            schema = json.dumps(request.answer.schema, ensure_ascii=False)
            system.append(f"Answer with one JSON object of this schema and nothing else: {schema}")
        elif request.answer is not None:
            told = {
                "name": request.answer.name,
                "schema": dict(request.answer.schema),
                "strict": _strict(request.answer.schema),
            }
            body["response_format"] = {"type": "json_schema", "json_schema": told}
        if system:
            body["messages"].append({"role": "system", "content": "\n\n".join(system)})
        body["messages"] += [_told(message) for message in request.messages]
        return body

    def lesson(self, told: str, tried: dict[str, Any], *, guess: bool) -> str | None:
        for name, words in _LESSONS.items():
            if name in tried and any(word in told for word in words) and (name == "response_format" or unknown(told)):
                return name
        # Some strict servers name no field: this is the one that older ones do not know.
        return "stream_options" if guess and "stream_options" in tried else None

    def reader(self, request: ModelRequest) -> "OpenAIReader":
        return OpenAIReader(len(request.messages))


def _strict(schema: object) -> bool:
    """Strict schemas have to close every object and require all its fields."""
    if isinstance(schema, list):
        return all(_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if isinstance(fields := schema.get("properties"), Mapping) or schema.get("type") == "object":
        required = schema.get("required")
        closed = schema.get("additionalProperties") is False
        if not closed or set(fields or ()) != set(required if isinstance(required, list) else ()):
            return False
    return all(_strict(part) for part in schema.values())


def _told(message: Message) -> dict[str, Any]:
    if isinstance(message, User):
        return {"role": "user", "content": message.text}
    if isinstance(message, ToolResult):
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    told: dict[str, Any] = {"role": "assistant", "content": message.text or (None if message.calls else "")}
    if message.calls:
        told["tool_calls"] = [_told_call(call) for call in message.calls]
        # Servers that think between calls want their own words back; those that do not think never sent any.
        if thought := "".join(each.text for each in message.thoughts if each.signature == "reasoning_content"):
            told["reasoning_content"] = thought
    return told


def _told_call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(call.sendable())
    return {**call.kept, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    text: str = ""
    kept: dict[str, Any] = field(default_factory=dict)


class OpenAIReader:
    """Reads chunks, or one whole completion. `turn` makes ids for calls to which the server gave none."""

    def __init__(self, turn: int) -> None:
        self._turn = turn
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._told = ""
        self._done = False
        self._said = False
        self._refused = False
        self.usage: Usage | None = None

    @property
    def complete(self) -> bool:
        return bool(self._told) or (self._done and bool(self._said or self._calls))

    def feed(self, data: str) -> Iterator[Piece]:
        if data.strip() == "[DONE]":
            self._done = True
            return
        told = object_of(data)
        if told.get("error"):
            error = told["error"]
            raise failed_stream(error if isinstance(error, (dict, str)) else str(error))
        if isinstance(usage := told.get("usage"), dict):
            self.usage = _usage(usage)
        choices = told.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                yield from self._choice(choice)

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[Piece]:
        if isinstance(error := choice.get("error"), dict):
            raise failed_stream(error)
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            if reason in ("error", "insufficient_system_resource"):
                raise failed_stream({"message": reason, "code": reason})
            self._told = reason

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        for name in ("reasoning_content", "reasoning"):
            if isinstance(thought := delta.get(name), str) and thought:
                yield Thought(thought, signature=name)
                break
        for name in ("content", "refusal"):
            if text := _text(delta.get(name)):
                self._said = True
                self._refused = self._refused or name == "refusal"
                yield Text(text)
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else ():
            if isinstance(part, dict):
                self._call(part)

    def _call(self, part: Mapping[str, Any]) -> None:
        function = part["function"] if isinstance(part.get("function"), dict) else {}
        id, name, arguments = part.get("id") or "", function.get("name") or "", function.get("arguments")
        call = self._place(part.get("index"), str(id), bool(name))
        call.id = call.id or str(id)
        call.name = call.name or str(name)
        call.text += arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        if isinstance(extra := part.get("extra_content"), dict):
            call.kept["extra_content"] = extra

    def _place(self, index: object, id: str, named: bool) -> _Call:
        """The call that a part belongs to: by index; but some servers give all calls index 0, or none at all."""
        if isinstance(index, int):
            known = self._at.get(index)
        else:
            known = next((call for call in self._calls if id and call.id == id), None)
            known = known or (self._calls[-1] if self._calls and not named else None)
        if known is None or (named and id and known.id and known.id != id):
            known = _Call()
            self._calls.append(known)
        if isinstance(index, int):
            self._at[index] = known
        return known

    def end(self) -> Iterator[Piece]:
        if not self.complete:
            if self._said or self._calls:
                raise ModelError(Failure.TRUNCATED, "The model server's answer ended in the middle.")
            raise ModelError(Failure.EMPTY, "The model server's answer holds no choice.")
        reason = _REASONS.get(self._told, FinishReason.UNKNOWN)
        for number, call in enumerate(self._calls):
            last = number == len(self._calls) - 1
            cut = last and reason in (FinishReason.LENGTH, FinishReason.CONTEXT)
            yield tool_call(call.id or f"call_{self._turn}_{number}", call.name, call.text, call.kept, cut=cut)
        if self.usage is not None:
            yield self.usage
        if self._calls and reason in (FinishReason.END, FinishReason.UNKNOWN):
            reason = FinishReason.CALLS
        yield Finish(FinishReason.REFUSAL if self._refused else reason, self._told)


def _text(content: object) -> str:
    """The text of a content: a string, or parts of which some are texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part["text"] for part in parts if isinstance(part, dict) and part.get("type") == "text" and "text" in part]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(told: Mapping[str, Any]) -> Usage:
    details = told.get("prompt_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    cached = cached or count(told.get("prompt_cache_hit_tokens"))
    tokens_in = count(told.get("prompt_tokens"))
    return Usage(tokens_in, count(told.get("completion_tokens")), min(cached, tokens_in))
