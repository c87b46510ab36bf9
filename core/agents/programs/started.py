"""A program under its reaper: its prompt goes in, its lines come out, and its end is told and checked (F17)."""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from core.agents.process import LINE_LIMIT, kill_family, kill_marked, process_started
from core.agents.programs import reaper

GRACE_S = 5.0
_CHUNK = 64 * 1024
_TURN = 50  # lines, then others have a turn on the loop
_HEAD = 1024  # bytes of a line that is skipped
_LINGER_S = 1.0  # after the end, so long a pipe that somebody still holds is listened to
_SPARE_S = 5.0
_FAMILY = "OPSROOM_FAMILY"  # the variable by which all that a program started is known, should its reaper be killed
_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Skipped:
    """In the place of a line that was longer than the limit: how many bytes it had, and the first of them."""

    length: int
    head: bytes = field(default=b"", compare=False)


@dataclass(frozen=True, slots=True)
class End:
    """How a program ended. `left` counts processes that could not be ended; `whole` says that all could be seen.

    `error` says why it could not be started or, if `ran`, why nobody knows how it ended.
    """

    code: int | None = None
    signal: int | None = None
    error: str = ""
    left: int = 0
    whole: bool = True
    ran: bool = True

    @property
    def words(self) -> str:
        """For people."""
        if self.error:
            return self.error
        if self.signal is not None:
            return f"it was ended by signal {self.signal}"
        return "it was stopped" if self.code is None else f"it ended with exit code {self.code}"


class Program:
    """One running program. `pid` and `started` are the fingerprint of its reaper, below which everything of it is."""

    def __init__(
        self, process: asyncio.subprocess.Process, started: int, control: int, report: int, grace_s: float, mark: str
    ) -> None:
        self._process = process
        self._mark = mark
        self.pid = process.pid
        self.started = started
        self._control: int | None = control
        self._report: int | None = report
        self._grace_s = grace_s
        self._feeding: asyncio.Task[None] | None = None
        self._end: End | None = None
        self._ended = asyncio.Lock()  # both its reader and whoever ends it wait for its end

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], grace_s: float = GRACE_S
    ) -> "Program":
        """Start it, with this environment and no other. That it cannot be started is told by its end."""
        orders, control = os.pipe()
        report, tells = os.pipe()
        mark = f"{os.getpid()}-{time.monotonic_ns()}-{next(_NUMBERS)}"
        command = [sys.executable, "-I", "-S", reaper.__file__, str(orders), str(tells), str(grace_s), str(os.getpid())]
        try:
            process = await asyncio.create_subprocess_exec(
                *command, *argv, cwd=cwd, env={**environment, _FAMILY: mark}, pass_fds=(orders, tells),
                start_new_session=True, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
        except BaseException:
            os.close(control)
            os.close(report)
            raise
        finally:
            os.close(orders)
            os.close(tells)
        return cls(process, process_started(process.pid) or 0, control, report, grace_s, mark)

    def feed(self, prompt: bytes) -> None:
        """Write the prompt to its standard input, as fast as it reads, and close that."""
        self._feeding = asyncio.create_task(self._feed(prompt))

    async def _feed(self, prompt: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        # It need not read what it is told.
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(prompt)
            await stdin.drain()
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.close()
            await stdin.wait_closed()

    async def send(self, data: bytes) -> None:
        """Write to its standard input, which stays open; waits as long as it does not read. Never raises."""
        stdin = self._process.stdin
        assert stdin is not None
        if stdin.is_closing():
            return  # each write into nothing would be a warning in the log
        with suppress(BrokenPipeError, ConnectionResetError, RuntimeError):
            stdin.write(data)
            await stdin.drain()

    def close_input(self) -> None:
        """Nothing more is sent: for a program that goes on until then."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def lines(self, limit: int = LINE_LIMIT) -> AsyncIterator[bytes | Skipped]:
        """Lines of its standard output, without their ends; those over the limit are skipped with a mark."""
        assert self._process.stdout is not None
        return self._lines(self._process.stdout, limit)

    def errors(self, limit: int = _CHUNK) -> AsyncIterator[bytes | Skipped]:
        """The same of its standard error."""
        assert self._process.stderr is not None
        return self._lines(self._process.stderr, limit)

    async def _lines(self, stream: asyncio.StreamReader, limit: int) -> AsyncIterator[bytes | Skipped]:
        waiting = bytearray()
        skipped, head = 0, b""
        while chunk := await self._read(stream):
            *ended, rest = chunk.split(b"\n")
            for number, part in enumerate(ended, 1):
                length = skipped + len(waiting) + len(part)
                if length > limit:
                    yield Skipped(length, head or bytes(waiting[:_HEAD]) + part[:_HEAD])
                else:
                    waiting += part
                    yield bytes(waiting).rstrip(b"\r")
                waiting.clear()
                skipped, head = 0, b""
                # A chunk can be of very many short lines.
                if number % _TURN == 0:
                    await asyncio.sleep(0)
            waiting += rest
            if skipped + len(waiting) > limit:
                head = head or bytes(waiting[:_HEAD])
                skipped += len(waiting)
                waiting.clear()
            # A flood must not keep the loop for itself.
            await asyncio.sleep(0)
        if skipped:
            yield Skipped(skipped + len(waiting), head)
        elif waiting:
            yield bytes(waiting)

    async def _read(self, stream: asyncio.StreamReader) -> bytes:
        while True:
            try:
                async with asyncio.timeout(_LINGER_S):
                    return await stream.read(_CHUNK)
            except TimeoutError:
                if self._process.returncode is not None:
                    return b""

    async def wait(self) -> End:
        """How it ended, once nothing of it is left."""
        # Polled: waiting on the pipes hangs while a grandchild holds them.
        while self._process.returncode is None:  # noqa: ASYNC110 - asyncio's own event never comes then
            await asyncio.sleep(0.01)
        async with self._ended:
            if self._end is None:
                self._end = self._told()
            if self._end is None:
                self._end = await asyncio.to_thread(self._looked_for)
            await self._let_go()
        return self._end

    async def end(self) -> End:
        """End it and all that it started, and make sure. Whoever is cancelled meanwhile: its end goes on."""
        if self._control is not None:
            os.close(self._control)
            self._control = None
        return await asyncio.shield(asyncio.ensure_future(self._ending()))

    async def _ending(self) -> End:
        try:
            async with asyncio.timeout(self._grace_s + reaper.KILLING_S + _SPARE_S):
                return await self.wait()
        except TimeoutError:
            await asyncio.to_thread(kill_family, self.pid, self.started)
            return await self.wait()

    def _told(self) -> End | None:
        if self._report is None:
            return None
        told = os.read(self._report, 4096)
        os.close(self._report)
        self._report = None
        if not told:
            return None
        facts = json.loads(told)
        whole, error = facts["by"] == "descendants", facts.get("error", "")
        return End(facts.get("code"), facts.get("signal"), _why(error), facts["left"], whole, ran=not error)

    def _looked_for(self) -> End:
        """Its reaper was killed, and its program with it: what those leave is known by its environment alone."""
        left = kill_marked(f"{_FAMILY}={self._mark}", reaper.KILLING_S)
        why = "its supervisor was killed, and it with that; of what it had started, all that could be found was ended"
        return End(error=why, left=left, whole=False)

    async def _let_go(self) -> None:
        if self._control is not None:
            os.close(self._control)
            self._control = None
        if self._feeding is not None:
            self._feeding.cancel()
            await asyncio.wait([self._feeding])

    def close(self) -> None:
        """Let go of its pipes, whoever holds the other ends."""
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()


def _why(error: str) -> str:
    return f"it could not be started: {error}" if error else ""
