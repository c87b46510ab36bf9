"""What a program writes to standard error: `runs/<id>.stderr`, capped, clean of secrets; its end is shown."""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path

from core.agents.models.keys import Secret, scrub
from core.agents.programs.scripts import without_controls
from core.agents.programs.started import Skipped

STDERR_MAX = 1024 * 1024
_SHOWN_LINES, _SHOWN = 10, 1500


class ErrorsFile:
    """Always read to its end, so that a noisy program never waits for us."""

    def __init__(self, path: Path, secrets: tuple[Secret, ...], limit: int = STDERR_MAX) -> None:
        self._path = path
        self._secrets = secrets
        self._left = limit
        self._last: deque[str] = deque(maxlen=_SHOWN_LINES)
        self._waits: list[str] = []
        self._waiting = 0

    async def drain(self, lines: AsyncIterator[bytes | Skipped]) -> None:
        """Read until the end."""
        async for line in lines:
            text = f"(a line of {line.length:,} bytes)" if isinstance(line, Skipped) else self._clean(line)
            if text.strip():
                self._last.append(text[:500])
            if self._left > 0:
                self._keep(text)
                if self._waiting > 64 * 1024 or self._left <= 0:
                    await self._write()
        await self._write()

    @property
    def shown(self) -> str:
        """The last lines."""
        return "\n".join(self._last)[-_SHOWN:]

    def _clean(self, line: bytes) -> str:
        return scrub(without_controls(line.decode(errors="replace")), self._secrets)

    def _keep(self, text: str) -> None:
        size = len(text) + 1
        self._left -= size
        self._waits.append(f"{text}\n" if self._left > 0 else "(the rest is not kept)\n")
        self._waiting += size

    async def _write(self) -> None:
        if self._waits:
            text, self._waits, self._waiting = "".join(self._waits), [], 0
            # A full disk must not end the run.
            with contextlib.suppress(OSError):
                await asyncio.to_thread(_append, self._path, text)


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
        file.write(text)
