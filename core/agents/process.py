"""Child processes of runs: a group of their own, read line by line, ended whole and checked (F17)."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

LINE_LIMIT = 16 * 1024 * 1024
STDERR_KEPT = 16 * 1024
_LOOK_S = 0.02
_ALLOWED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")


def process_started(pid: int) -> int | None:
    """When a living process began (ms UTC), or None. With the pid it is the process's fingerprint (F3)."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return int(process.create_time() * 1000)
    except psutil.Error:
        return None


def same_process(pid: int | None, started: int | None) -> bool:
    """Whether this very process still lives; start times may differ by the clock's rounding."""
    if pid is None or started is None:
        return False
    found = process_started(pid)
    return found is not None and abs(found - started) <= 20


def kill_family(pid: int, started: int) -> int:
    """Kill a process, its group and all its descendants, if it is still the same one. Returns how many died."""
    if not same_process(pid, started):
        return 0
    family = [psutil.Process(pid)]
    with suppress(psutil.Error):
        family += family[0].children(recursive=True)
    with suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
    for process in family:
        with suppress(psutil.Error):
            process.kill()
    return len(family)


def kill_marked(mark: str, within_s: float) -> int:
    """Kill all processes that began with this entry (`NAME=value`) in their environment. Returns how many are left.

    For those whose parents are gone. It waits, so long; where there is no /proc it finds none.
    """
    until = time.monotonic() + within_s
    while (found := _marked(f"\0{mark}\0".encode())) and time.monotonic() < until:
        # Stopped first: what forks meanwhile would always be one ahead.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        time.sleep(_LOOK_S)
    return len(found)


def _marked(entry: bytes) -> list[int]:
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and int(name) != os.getpid():
            # Those of other people cannot be read; of the dead there is nothing.
            with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if entry in b"\0" + file.read():
                    found.append(int(name))
    return found


class Child:
    """One child process with its pipes."""

    def __init__(self, process: asyncio.subprocess.Process, started: int) -> None:
        self._process = process
        self.pid = process.pid
        self.started = started
        self._stderr = bytearray()
        self._drain = asyncio.create_task(self._drain_stderr())

    @classmethod
    async def start(cls, argv: Sequence[str], cwd: Path | None = None) -> "Child":
        """Start a program with an allow-listed environment and no standard input."""
        environment = {name: os.environ[name] for name in _ALLOWED if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=LINE_LIMIT,
        )
        return cls(process, process_started(process.pid) or 0)

    async def lines(self) -> AsyncIterator[bytes]:
        """Lines of standard output until it ends; a line over the limit is skipped, the reader lives."""
        assert self._process.stdout is not None
        while True:
            try:
                line = await self._process.stdout.readline()
            except ValueError:
                continue
            if not line:
                return
            yield line

    async def _drain_stderr(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(4096):
            self._stderr += chunk
            del self._stderr[:-STDERR_KEPT]

    @property
    def stderr(self) -> str:
        """The last words on standard error."""
        return self._stderr.decode(errors="replace").strip()

    async def wait(self) -> int:
        """The return code. Polled: waiting on the pipes hangs while a grandchild holds them."""
        while self._process.returncode is None:  # noqa: ASYNC110 - asyncio's own event never comes then
            await asyncio.sleep(0.01)
        return self._process.returncode

    async def end(self) -> None:
        """Kill whatever is left of it, whole, and make sure."""
        if self._process.returncode is None:
            kill_family(self.pid, self.started)
            with suppress(ProcessLookupError):
                self._process.kill()
            await self.wait()
        # Its group outlives it as long as a grandchild does.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._drain.cancel()
        await asyncio.wait([self._drain])
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()
