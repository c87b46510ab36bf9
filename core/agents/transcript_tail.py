"""Reads a run's transcript while it grows: from near its end, line by line, across rotations, in bounded memory."""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from core.agents.transcript import kept_files

BEGIN_BYTES = 2 * 1024 * 1024  # before the end: where reading begins
READ_BYTES = 512 * 1024  # at once
LINE_MAX = 4 * 1024 * 1024  # a longer line is not read
TEXT_MAX = 20_000  # code points of one text

Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: when (ms UTC), what kind (`Told`, or text, call, read, outcome, cut), and its facts.

    Whatever is nested stands as JSON text; a text over TEXT_MAX ends with how much more there is.
    """

    at: int
    kind: str
    facts: Mapping[str, Fact] = field(default_factory=dict, hash=False)

    def text(self, name: str) -> str:
        """A fact as text; empty if there is none."""
        found = self.facts.get(name)
        return "" if found is None else str(found)


class Tail:
    """One reader of one run. All methods block: call them in a thread, never two at once."""

    def __init__(self, runs: Path, run_id: int, *, begin: int = BEGIN_BYTES) -> None:
        self._files = kept_files(runs, run_id)
        self._begin = begin
        self._file: BinaryIO | None = None
        self._rest = b""
        self._skipped = 0
        self._at = 0

    def read(self, most: int = READ_BYTES) -> list[Entry]:
        """What came since the last call, up to about so many bytes; empty when there is nothing more yet."""
        found: list[Entry] = []
        if self._file is None and not self._open_first(found):
            return found
        while most > 0 or not found:  # a long line is read to its end
            assert self._file is not None
            data = self._file.read(READ_BYTES)
            most -= len(data)
            if data:
                self._take(data, found)
            elif not self._go_on(found):
                break
        return found

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open_first(self, found: list[Entry]) -> bool:
        sizes = [(path, _size(path)) for path in self._files]
        there = [(path, size) for path, size in sizes if size is not None]
        if not there:
            return False
        left = self._begin
        place = len(there)
        while place and left > 0:
            place -= 1
            left -= there[place][1]
        if not self._open(there[place][0]):
            return False
        assert self._file is not None
        if left < 0:
            self._file.seek(-left)
            self._file.readline(LINE_MAX)
        if left < 0 or place:
            found.append(self._cut("earlier lines stand in the transcript alone: o opens all of it"))
        return True

    def _open(self, path: Path) -> bool:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return False
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return False
        self.close()
        self._file = open(descriptor, "rb")  # noqa: SIM115 - kept open between calls
        return True

    def _go_on(self, found: list[Entry]) -> bool:
        """At the end of a file: whether a newer one is there to go on with."""
        assert self._file is not None
        mine = os.fstat(self._file.fileno())
        if mine.st_size < self._file.tell():  # somebody emptied it
            self._file.seek(0)
            self._rest = b""
            return mine.st_size > 0
        there = [path for path in self._files if _size(path) is not None]
        own = next((place for place, path in enumerate(there) if _is(path, mine)), None)
        if own is None:
            if not there or not self._open(there[0]):
                return False
            found.append(self._cut("lines between were dropped: they came faster than they were read"))
            self._rest = b""
            return True
        return own + 1 < len(there) and self._open(there[own + 1])

    def _take(self, data: bytes, found: list[Entry]) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._skipped:
                found.append(self._cut(f"a line of {self._skipped + len(line):,} bytes is too long to be shown"))
                self._skipped = 0
            elif line.strip():
                found.append(self._entry(line))
        if self._skipped or len(rest) > LINE_MAX:
            self._skipped += len(rest)
            rest = b""
        self._rest = rest

    def _entry(self, line: bytes) -> Entry:
        try:
            told = json.loads(line)
            self._at = int(told["at"])
            facts = {str(name): _fact(value) for name, value in told.items() if name not in ("at", "kind")}
            return Entry(self._at, str(told.get("kind", "")), facts)
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return Entry(self._at, "unreadable", {"text": _clipped(line[:TEXT_MAX].decode(errors="replace"))})

    def _cut(self, text: str) -> Entry:
        return Entry(self._at, "cut", {"text": text})


def _fact(value: Any) -> Fact:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _clipped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _clipped(text: str) -> str:
    more = len(text) - TEXT_MAX
    return text if more <= 0 else f"{text[:TEXT_MAX]}… ({more:,} characters more)"


def _size(path: Path) -> int | None:
    try:
        return path.lstat().st_size
    except OSError:
        return None


def _is(path: Path, held: os.stat_result) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)
