"""What a run said and did, line by line, in `runs/<id>.jsonl`, and what it was told, in `runs/<id>.prompt.json`.

Written by one thread, never on the loop.
"""

import errno
import json
import logging
import os
import queue
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LOG = logging.getLogger(__name__)
Say = Callable[[str, dict[str, Any]], None]
SIZE_LIMIT = 8 * 1024 * 1024


class Transcripts:
    """All transcripts of one company. A transcript over the size limit ends with a mark."""

    def __init__(self, folder: Path, clock: Callable[[], int]) -> None:
        self._folder = folder
        self._clock = clock
        self._queue: queue.SimpleQueue[tuple[int, str] | tuple[Path, str] | threading.Event | None] = (
            queue.SimpleQueue()
        )
        self._has_warned = False
        self._sizes: dict[int, int] = {}
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
            line = json.dumps({"at": self._clock(), "kind": kind, **facts}, ensure_ascii=True)
            size = self._sizes.get(run_id, 0)
            if size > SIZE_LIMIT:
                return
            self._sizes[run_id] = size + len(line)
            if size + len(line) > SIZE_LIMIT:
                line = json.dumps({"at": self._clock(), "kind": "cut", "text": "the transcript is full"})
            self._queue.put((run_id, line))

        return say

    def keep_prompt(self, run_id: int, told: dict[str, Any]) -> None:
        """Keep what a run is told, readable by its owner alone; what was kept of it before is replaced."""
        self._queue.put((self.prompt_path(run_id), json.dumps(told, ensure_ascii=False, indent=1)))

    def close(self, run_id: int) -> None:
        """The run has ended."""
        self._sizes.pop(run_id, None)

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
                    _add(self.path(about), text)
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


def _add(path: Path, line: str) -> None:
    """A line more, never where a link leads and never into a pipe. Raises OSError."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        with open(descriptor, "ab", closefd=False) as file:
            file.write(_bytes(line))
    finally:
        os.close(descriptor)


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
