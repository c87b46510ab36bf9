"""What is done to an answer's bytes on their way: a secret is taken out, and a chunk that nobody asked for. Pure."""

import re

from core.agents.models.keys import REMOVED
from core.server.bounded_json import TooManyParts, loads

_EVENT_END = re.compile(rb"\r?\n\r?\n|\r\r")
_VALUES_MAX = 100  # that chunk has some ten
HELD_BYTES = 1024 * 1024  # of an event that does not end: then it is passed as it is


class Scrubber:
    """Takes a secret out of bytes that come in any pieces. Holds back only what may be the begin of one."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """What can go on."""
        if not self._secret:
            return chunk
        text = (self._held + chunk).replace(self._secret, REMOVED.encode())
        keep = self._begin_at_end(text)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held

    def _begin_at_end(self, text: bytes) -> int:
        """How many bytes at the end are the begin of the secret."""
        most = min(len(text), len(self._secret) - 1)
        return next((size for size in range(most, 0, -1) if text.endswith(self._secret[:size])), 0)


class UsageHider:
    """Leaves out the last chunk of chat completions: the usage that the gateway asked for, and the program did not."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._looked = 0

    def feed(self, chunk: bytes) -> bytes:
        """The events that are whole now, as they came."""
        self._rest += chunk
        found = bytearray()
        while end := _EVENT_END.search(self._rest, self._looked):
            event = bytes(self._rest[: end.end()])
            del self._rest[: end.end()]
            self._looked = 0
            if not _is_usage_alone(event):
                found += event
        self._looked = max(0, len(self._rest) - 3)
        if len(self._rest) > HELD_BYTES:
            found += self.end()
        return bytes(found)

    def end(self) -> bytes:
        """What did not end as an event."""
        rest = bytes(self._rest)
        self._rest.clear()
        self._looked = 0
        return b"" if _is_usage_alone(rest) else rest


def _is_usage_alone(event: bytes) -> bool:
    if b'"usage"' not in event:
        return False
    data = b"\n".join(line[5:] for line in event.splitlines() if line.startswith(b"data:"))
    try:
        told = loads(data, _VALUES_MAX)
    except (ValueError, RecursionError, TooManyParts):
        return False
    return isinstance(told, dict) and told.get("choices") == [] and isinstance(told.get("usage"), dict)
