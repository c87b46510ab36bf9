"""The line to a program: one JSON-RPC message a line, whatever else it writes between them.

Session updates are taken in here, in their order and one after the other, so that a flood waits in the pipe and the
answer to a prompt comes after all that was told before it. Everything else goes to the SDK's connection; a request that
is too large for a person to look at is refused here, before anything is made of it.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from core.agents.process import LINE_LIMIT
from core.agents.programs.scripts import without_controls
from core.agents.programs.started import Program, Skipped

UPDATE = "session/update"
_AT_ONCE = 64 * 1024  # bytes of a line that are parsed, and compared if it tells a change, on the loop
_BESIDE = 20  # lines beside the protocol that are told
_SHORT = 300
_REQUEST_MAX = 1024 * 1024  # bytes of a request
_OPEN_MAX = 200  # requests of the program that wait for their answers
_INTERNAL, _INVALID = -32603, -32602
_MEMBER = re.compile(rb'\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,')

Message = dict[str, Any]


class Line:
    """The SDK's `Transport`. `take` is given each update, and whether it is a large one; `hear` a sign of life.

    `tell` gets words for the transcript: lines that are no messages, and those that were too long. `refused` is told
    why a request was refused here. `clean` takes secrets out of a text.
    """

    def __init__(
        self,
        program: Program,
        take: Callable[[Mapping[str, Any], bool], Awaitable[None]],
        hear: Callable[[], None],
        tell: Callable[[str], None],
        refused: Callable[[str], None],
        clean: Callable[[str], str],
    ) -> None:
        self._program = program
        self._lines = program.lines(LINE_LIMIT)
        self._take = take
        self._hear = hear
        self._tell = tell
        self._refused = refused
        self._clean = clean
        self._open = 0
        self._answered = asyncio.Event()
        self._beside = 0

    async def send(self, message: Message) -> None:
        """One message to the program; waits as long as it does not read."""
        try:
            await self._program.send(json.dumps(message).encode() + b"\n")
        finally:
            if "method" not in message:
                self._open -= 1
                self._answered.set()

    async def receive(self) -> Message | None:
        """The next request, answer or notification that is no update; None at the end of its output."""
        async for line in self._lines:
            self._hear()
            if isinstance(line, Skipped):
                self._tell(f"a line of {line.length:,} bytes was skipped: too long")
                await self._refuse(request_of(line.head), line.length)
                continue
            if len(line) > _REQUEST_MAX and (asked := request_of(line)) is not None:
                await self._refuse(asked, len(line))
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
                await self._admit(found)
                return found
        return None

    async def _refuse(self, asked: tuple[int | str, str] | None, length: int) -> None:
        """Answer a request that is too large by an error, which says so."""
        if asked is None:
            return
        number, method = asked
        why = f"a request of {length:,} bytes is too large to be put to the operator; at most {_REQUEST_MAX:,} are"
        self._refused(why)
        error = {"code": _INVALID, "message": f"{method[:100]}: {why}. Ask for less at once."}
        self._open += 1
        await self.send({"jsonrpc": "2.0", "id": number, "error": error})

    async def _admit(self, message: Message) -> None:
        """A program that asks and reads no answers is read no further: what waits for it must not grow without end."""
        if "method" not in message or "id" not in message:
            return
        self._open += 1
        while self._open > _OPEN_MAX:
            self._answered.clear()
            await self._answered.wait()

    async def close(self) -> None:
        """Nothing: the program is ended by whoever started it."""

    def _note(self, line: bytes) -> None:
        # Secrets go before it is cut: none is cut in two.
        said = self._clean(without_controls(line[:_AT_ONCE].decode(errors="replace"))).strip()[:_SHORT]
        if not said:
            return
        self._beside += 1
        if self._beside <= _BESIDE:
            self._tell(f"it wrote beside the protocol: {said}")
        elif self._beside == _BESIDE + 1:
            self._tell("it writes more beside the protocol; that is not shown")


def request_of(line: bytes) -> tuple[int | str, str] | None:
    """The id and the method of a request, of which only the beginning need be there; None where that has no both."""
    told: dict[str, Any] = {}
    at = len(line) - len(line.lstrip()) + 1
    while line[at - 1 : at] == b"{" or told:
        member = _MEMBER.match(line, at)
        if member is None:
            break
        try:
            told[member[1].decode()] = json.loads(member[2])
        except ValueError:
            return None
        at = member.end()
    number, method = told.get("id"), told.get("method")
    return (number, method) if isinstance(number, int | str) and isinstance(method, str) else None


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
            "message": words if isinstance(words, str) else json.dumps(error),
            "data": told.get("data"),
        }
    return isinstance(number, int)
