"""Reads off what an answer used while its bytes go by. It never holds them back, and takes no garbage for a count."""

from collections.abc import Mapping
from typing import Any

from core.agents.models.conversation import Usage, count
from core.agents.models.errors import ModelError
from core.agents.models.providers import GatewayWire
from core.agents.models.sse import Events
from core.server.bounded_json import TooManyParts, loads
from core.server.gateway.estimate import said_bytes, tokens_of

WHOLE_BYTES = 16 * 1024 * 1024  # of an answer that is not streamed: a longer one is passed, and not counted
COUNT_MAX = 100_000_000  # tokens of one answer: a larger count is a fault of the provider's, and none
VALUES_MAX = 100_000  # of the JSON that may tell it
_EVENT_WORDS = ("usage", "error")


class UsageReader:
    """Fed with the bytes of one answer; `usage` is what it told so far, None if nothing. `failed` is its last error."""

    def __init__(self, wire: GatewayWire, *, events: bool) -> None:
        self._wire = wire
        self._events = Events() if events else None
        self._whole: bytearray | None = None if events else bytearray()
        self._counts: dict[str, int] = {}
        self._said = 0
        self.failed: Mapping[str, Any] | None = None

    @property
    def usage(self) -> Usage | None:
        """All input, with what came from and went to the cache among it."""
        return usage_of(self._wire, self._counts) if self._counts else None

    @property
    def tokens_said(self) -> int:
        """About how many tokens its texts had so far, by their bytes."""
        return tokens_of(self._said)

    def feed(self, chunk: bytes) -> None:
        """More of the answer."""
        if self._events is not None:
            try:
                for data in self._events.feed(chunk):
                    self._take(data)
            except ModelError:  # an event without end is no usage
                self._events = None
            return
        self._said += len(chunk)
        if self._whole is not None:
            if len(self._whole) + len(chunk) > WHOLE_BYTES:
                self._whole = None
            else:
                self._whole += chunk

    def end(self) -> None:
        """No more comes. May take a while for a long answer: not for the loop."""
        if self._events is not None:
            for data in self._events.end():
                self._take(data)
        elif self._whole:
            self._take(bytes(self._whole).decode("utf-8", "replace"))
            self._whole = None

    @property
    def size(self) -> int:
        """Bytes that `end` has to read."""
        return len(self._whole or b"")

    def _take(self, data: str) -> None:
        if self._events is not None:
            self._said += said_bytes(self._wire, data)
        # Most events are pieces of text: they are not read.
        if not any(f'"{word}' in data for word in _EVENT_WORDS):
            return
        try:
            told = loads(data.encode(errors="replace"), VALUES_MAX)
        except (ValueError, RecursionError, TooManyParts):
            return
        for each in told if isinstance(told, list) else (told,):
            if isinstance(each, dict):
                self._object(each)

    def _object(self, told: Mapping[str, Any]) -> None:
        name = "usageMetadata" if self._wire == "gemini" else "usage"
        inner = told.get("response" if self._wire == "responses" else "message")
        for holder in (inner, told):
            if isinstance(holder, dict):
                if isinstance(usage := holder.get(name), dict):
                    self._counts |= _flat(usage)
                if isinstance(error := holder.get("error"), dict):
                    self.failed = error


def _flat(usage: Mapping[str, Any]) -> dict[str, int]:
    """Its counts, those of an inner object under `object.name`; what is no count is left out."""
    flat: dict[str, Any] = {}
    for name, value in usage.items():
        flat |= {f"{name}.{inner}": each for inner, each in value.items()} if isinstance(value, dict) else {name: value}
    return {
        name: value
        for name, value in flat.items()
        if (count(value) or (value == 0 and type(value) is int)) and value <= COUNT_MAX
    }


def usage_of(wire: GatewayWire, told: Mapping[str, int]) -> Usage | None:
    """The counts of a wire format as one; None where none of them is one that it has."""

    def sums(*names: str) -> int:
        return sum(told.get(name, 0) for name in names)

    match wire:
        case "openai":
            names = ("prompt_tokens", "completion_tokens")
            cached = sums("prompt_tokens_details.cached_tokens") or sums("prompt_cache_hit_tokens")
            read, write = min(cached, sums(names[0])), 0
            found = Usage(sums(names[0]), sums(names[1]), read, write)
        case "responses":
            names = ("input_tokens", "output_tokens")
            read = min(sums("input_tokens_details.cached_tokens"), sums(names[0]))
            found = Usage(sums(names[0]), sums(names[1]), read)
        case "anthropic":
            names = ("input_tokens", "output_tokens")
            read, write = sums("cache_read_input_tokens"), sums("cache_creation_input_tokens")
            found = Usage(sums(names[0]) + read + write, sums(names[1]), read, write)
        case "gemini":
            names = ("promptTokenCount", "candidatesTokenCount")
            asked = sums(names[0], "toolUsePromptTokenCount")
            read = min(sums("cachedContentTokenCount"), asked)
            found = Usage(asked, sums(names[1], "thoughtsTokenCount"), read)
    return found if any(name in told for name in names) else None
