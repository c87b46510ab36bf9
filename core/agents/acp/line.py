"""The line to a program: one JSON-RPC message a line, whatever else it writes between them.

Session updates are taken in here, in their order and one after the other, so that a flood waits in the pipe and the
answer to a prompt comes after all that was told before it. Everything else goes to the SDK's connection.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from core.agents.process import LINE_LIMIT
from core.agents.programs.scripts import without_controls
from core.agents.programs.started import Program, Skipped

UPDATE = "session/update"
_AT_ONCE = 64 * 1024  # bytes of a line that are parsed, and compared if it tells a change, on the loop
_BESIDE = 20  # lines beside the protocol that are told
_SHORT = 300
_INTERNAL = -32603

Message = dict[str, Any]


class Line:
    """The SDK's `Transport`. `take` is given each update, and whether it is a large one; `hear` a sign of life.

    `tell` gets words for the transcript: lines that are no messages, and those that were too long.
    """

    def __init__(
        self,
        program: Program,
        take: Callable[[Mapping[str, Any], bool], Awaitable[None]],
        hear: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        self._program = program
        self._lines = program.lines(LINE_LIMIT)
        self._take = take
        self._hear = hear
        self._tell = tell
        self._beside = 0

    async def send(self, message: Message) -> None:
        """One message to the program; waits as long as it does not read."""
        await self._program.send(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Message | None:
        """The next request, answer or notification that is no update; None at the end of its output."""
        async for line in self._lines:
            self._hear()
            if isinstance(line, Skipped):
                self._tell(f"a line of {line.length:,} bytes was skipped: too long")
                continue
            large = len(line) > _AT_ONCE
            found = await asyncio.to_thread(_message, line) if large else _message(line)
            if found is None:
                self._note(line)
            elif found.get("method") == UPDATE and "id" not in found:
                params = found.get("params")
                update = params.get("update") if isinstance(params, dict) else None
                if isinstance(update, dict):
                    await self._take(update, large)
            elif _is_sound(found):
                return found
        return None

    async def close(self) -> None:
        """Nothing: the program is ended by whoever started it."""

    def _note(self, line: bytes) -> None:
        said = without_controls(line[: 4 * _SHORT].decode(errors="replace")).strip()[:_SHORT]
        if not said:
            return
        self._beside += 1
        if self._beside <= _BESIDE:
            self._tell(f"it wrote beside the protocol: {said}")
        elif self._beside == _BESIDE + 1:
            self._tell("it writes more beside the protocol; that is not shown")


def _message(line: bytes) -> Message | None:
    """The JSON-RPC message that a line is; None for anything else."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_sound(message: Message) -> bool:
    """Whether the connection can work with it; an error is put into its form."""
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, int | str | None):
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    error = message.get("error")
    if "error" in message and not isinstance(message.get("result"), dict):
        told = error if isinstance(error, dict) else {}
        code, words = told.get("code"), told.get("message")
        message["error"] = {
            "code": code if isinstance(code, int) else _INTERNAL,
            "message": words if isinstance(words, str) else json.dumps(error)[:1000],
            "data": told.get("data"),
        }
    return isinstance(number, int)
