"""Server-sent events out of bytes that come in any pieces, bounded. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

from core.agents.models.errors import Failure, ModelError

_END = re.compile(rb"\r\n|\n|\r")
SHOWN_BYTES = 4000
EVENT_BYTES = 8 * 1024 * 1024


class Events:
    """Reads the data of events; `feed` bytes as they come, `end` when no more come.

    Lines end at CR, LF or CRLF only: U+2028 and the like are part of a text, so str.splitlines would tear events.
    """

    def __init__(self, event_bytes: int = EVENT_BYTES) -> None:
        self._bound = event_bytes
        self._rest = bytearray()
        self._looked = 0
        self._data: list[bytes] = []
        self._size = 0
        self.seen = False

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of each event that is whole now. Raises ModelError when one event is over the bound."""
        self._rest += chunk
        while (line := self._line()) is not None:
            yield from self._take(line)
        if len(self._rest) + self._size > self._bound:
            raise ModelError(Failure.TOO_LARGE, f"One event of the answer is over {self._bound:,} bytes.")

    def end(self) -> Iterator[str]:
        """What stands after the last line end; some servers send no empty line after the last event."""
        yield from self._take(bytes(self._rest))
        self._rest.clear()
        yield from self._take(b"")

    def _line(self) -> bytes | None:
        found = _END.search(self._rest, self._looked)
        # A CR at the very end may be half of a CRLF.
        if found is None or (found[0] == b"\r" and found.end() == len(self._rest)):
            self._looked = len(self._rest) if found is None else found.start()
            return None
        line = bytes(self._rest[: found.start()])
        del self._rest[: found.end()]
        self._looked = 0
        return line

    def _take(self, line: bytes) -> Iterator[str]:
        if not line:
            if self._data:
                yield b"\n".join(self._data).decode("utf-8", "replace")
            self._data.clear()
            self._size = 0
            return
        name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        self.seen = self.seen or name in (b"", b"data", b"event", b"id", b"retry")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)


def object_of(text: str) -> dict[str, Any]:
    """A JSON object. Raises ModelError (garbled) when it is none."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if isinstance(told, dict):
        return told
    raise ModelError(Failure.GARBLED, f"The server's answer is no JSON object: {text[:SHOWN_BYTES]!r}")
