"""What a request is taken to use as long as its provider has told nothing: by the bytes of both ways. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from core.agents.models.conversation import Usage
from core.agents.models.providers import GatewayWire

TOKEN_BYTES = 4  # of a text: rather few, so rather many tokens
BLOB_BYTES = 64  # of a picture or a document in base64, which costs far less than a text as long
OUT_TOKENS = 4_096  # of an answer that may be longer: most are not, and what is held back holds others up
_BLOB_MIN = 8_192
_MOST = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_CHOICES = ("n", "candidateCount")
_STRING = r'"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"'
_SAID: Mapping[GatewayWire, re.Pattern[str]] = {
    "openai": re.compile(r'"(?:content|reasoning_content|reasoning|arguments|refusal|text)' + _STRING, re.DOTALL),
    "responses": re.compile(r'"delta' + _STRING, re.DOTALL),
    "anthropic": re.compile(r'"(?:text|thinking|partial_json)' + _STRING, re.DOTALL),
    "gemini": re.compile(r'"text' + _STRING, re.DOTALL),
}


def taken_of(body: Mapping[str, Any], content: bytes) -> Usage:
    """What a request of this body (`content` are its bytes) is taken to use until its answer tells it."""
    settings = body.get("generationConfig")
    named = {**body, **settings} if isinstance(settings, dict) else body
    most = min((each for name in _MOST if (each := _number(named.get(name)))), default=OUT_TOKENS)
    choices = max((_number(named.get(name)) for name in _CHOICES), default=0)
    return Usage(tokens_in_of(body, content), min(most, OUT_TOKENS) * min(max(choices, 1), 128))


def tokens_in_of(body: object, content: bytes) -> int:
    """The tokens of a request's body, by its bytes."""
    blobs = _blob_bytes(body) if len(content) > _BLOB_MIN else 0
    return tokens_of(len(content) - blobs) + blobs // BLOB_BYTES


def tokens_of(size: int) -> int:
    """The tokens of a text of so many bytes."""
    return -(-max(size, 0) // TOKEN_BYTES)


def said_bytes(wire: GatewayWire, event: str) -> int:
    """How many bytes of text an event of a stream brings."""
    return sum(len(said.encode(errors="replace")) for said in _SAID[wire].findall(event))


def _blob_bytes(body: object) -> int:
    """Bytes in long strings without any space: what no text is."""
    size, left = 0, [body]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += part.values()
        elif isinstance(part, list):
            left += part
        elif isinstance(part, str) and len(part) > _BLOB_MIN and part.isascii() and " " not in part[:_BLOB_MIN]:
            size += len(part)
    return size


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
