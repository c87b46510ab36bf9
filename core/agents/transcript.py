"""What a run said and did, line by line, in `runs/<id>.jsonl`, and what it was told, in `runs/<id>.prompt.json`.

A file that is full becomes `<id>.1.jsonl`, the one before it `<id>.2.jsonl`: the newest lines are kept. Written by one
thread, never on the loop.
"""

import contextlib
import errno
import json
import logging
import os
import queue
import stat
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

_LOG = logging.getLogger(__name__)
Say = Callable[[str, dict[str, Any]], None]
SIZE_LIMIT = 8 * 1024 * 1024  # bytes of one file
FILES = 3  # of one run, the newest among them
WAITING = 20_000  # lines that wait to be written


class Transcripts:
    """All transcripts of one company. `size` is the most bytes of one file."""

    def __init__(self, folder: Path, clock: Callable[[], int], size: int = SIZE_LIMIT) -> None:
        self._folder = folder
        self._size = size
        self._dropped: dict[int, int] = {}
        self._clock = clock
        self._queue: queue.SimpleQueue[tuple[int, str] | tuple[Path, str] | threading.Event | None] = (
            queue.SimpleQueue()
        )
        self._has_warned = False
        self._thread = threading.Thread(target=self._write, name="transcripts", daemon=True)
        self._thread.start()

    def path(self, run_id: int) -> Path:
        """Where the transcript of a run lies."""
        return self._folder / f"{run_id}.jsonl"

    def prompt_path(self, run_id: int) -> Path:
        """Where what a run was told lies (`Prompt.to_json`)."""
        return prompt_path(self._folder, run_id)

    def opened(self, run_id: int) -> Say:
        """A function that adds a line to a run's transcript."""

        def say(kind: str, facts: dict[str, Any]) -> None:
            if self._queue.qsize() > WAITING:  # faster than the disk takes it: memory is worth more than all its lines
                self._dropped[run_id] = self._dropped.get(run_id, 0) + 1
                return
            if dropped := self._dropped.pop(run_id, 0):
                self._put(run_id, "cut", {"text": f"{dropped:,} lines came too fast and were not kept"})
            self._put(run_id, kind, facts)

        return say

    def _put(self, run_id: int, kind: str, facts: dict[str, Any]) -> None:
        line = json.dumps({"at": self._clock(), "kind": kind, **facts}, ensure_ascii=True)
        self._queue.put((run_id, line))

    def keep_prompt(self, run_id: int, told: dict[str, Any]) -> None:
        """Keep what a run is told, readable by its owner alone; what was kept of it before is replaced."""
        self._queue.put((self.prompt_path(run_id), json.dumps(told, ensure_ascii=False, indent=1)))

    def close(self, run_id: int) -> None:
        """The run has ended."""
        self._dropped.pop(run_id, None)

    def flush(self, timeout_s: float = 5.0) -> None:
        """Wait until what was said so far is written. Blocks; for the end of the program."""
        done = threading.Event()
        self._queue.put(done)
        done.wait(timeout_s)

    def stop(self) -> None:
        """End the writing thread after what was said so far. Blocks."""
        self._queue.put(None)
        self._thread.join(5.0)

    def _write(self) -> None:
        while True:
            item = self._queue.get()
            if item is None:
                return
            if isinstance(item, threading.Event):
                item.set()
                continue
            about, text = item
            # A full disk must not end the program, nor this thread; the board keeps the outcome.
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                if isinstance(about, Path):
                    _put(about, text)
                else:
                    _add(self._folder, about, text, self._size)
            except Exception as error:
                self._warn(about if isinstance(about, Path) else self.path(about), error)

    def _warn(self, path: Path, error: Exception) -> None:
        """Once: what is wrong with one file mostly is with all."""
        if self._has_warned:
            return
        self._has_warned = True
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        _LOG.warning(
            "runs/%s cannot be written: %s. The board keeps the outcome of the run, and what is said further is lost"
            " until that is mended. This is told once.", path.name, why,
        )  # fmt: skip


def prompt_path(runs: Path, run_id: int) -> Path:
    """Where in the folder `runs` that lies which a run was told."""
    return runs / f"{run_id}.prompt.json"


def kept_files(runs: Path, run_id: int) -> list[Path]:
    """Where the lines of a run may lie, oldest first; the last one is written now."""
    return [*(runs / f"{run_id}.{age}.jsonl" for age in range(FILES - 1, 0, -1)), runs / f"{run_id}.jsonl"]


def _add(runs: Path, run_id: int, line: str, most: int) -> None:
    """A line more, never where a link leads and never into a pipe. Raises OSError."""
    data, path = _bytes(line), runs / f"{run_id}.jsonl"
    with contextlib.suppress(FileNotFoundError):
        held = path.lstat()
        if stat.S_ISREG(held.st_mode) and held.st_size and held.st_size + len(data) > most:
            _rotate(kept_files(runs, run_id))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        with open(descriptor, "ab", closefd=False) as file:
            file.write(data)
    finally:
        os.close(descriptor)


def _rotate(files: list[Path]) -> None:
    """Each takes the place of the one before it; the oldest goes."""
    for older, newer in pairwise(files):
        with contextlib.suppress(FileNotFoundError):
            os.replace(newer, older)


def _bytes(text: str) -> bytes:
    # Half a character becomes its JSON escape, and is read as what it was.
    return (text + "\n").encode("utf-8", "backslashreplace")


def _put(path: Path, text: str) -> None:
    """Whole or not at all, and never where a link leads."""
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(_bytes(text))
    os.replace(part, path)
