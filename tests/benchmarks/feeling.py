"""From a key, and from a change of the board, to its paint: the room on a real terminal beside a bare Textual app."""

import asyncio
import contextlib
import fcntl
import os
import pty
import random
import socket
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import page
from tests.benchmarks.seeding import seed

KEYS, TOUCHES = 90, 40  # thrice down and up again: the cursor ends where it began
RATE = 1_000
SIZES = (100, 10_000, 100_000)
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Times:
    """Milliseconds, sorted."""

    each: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.each)

    @property
    def p95(self) -> float:
        return self.each[min(len(self.each) - 1, int(len(self.each) * 0.95))]


class Watched:
    """One program on a terminal of its own."""

    def __init__(self, *words: object) -> None:
        ours, theirs = socket.socketpair()
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        kind, *more = map(str, words)
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.watched", kind, str(theirs.fileno()), *more],
            stdin=slave, stdout=slave, stderr=slave, pass_fds=[theirs.fileno()],
            env=os.environ | {"TERM": "xterm-256color", "XDG_CONFIG_HOME": more[0] if more else "/nonexistent",
                              "XDG_STATE_HOME": more[0] if more else "/nonexistent"},
        )  # fmt: skip
        os.close(slave)
        theirs.close()
        ours.settimeout(PATIENCE_S)
        self._ours, self._lines = ours, ours.makefile("r", encoding="utf-8")
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(self.master, 65536):
                pass

    def press(self, key: str) -> int:
        """When it was pressed, ns."""
        now = time.monotonic_ns()
        os.write(self.master, key.encode())
        return now

    def order(self, *words: object) -> None:
        """See `watched`."""
        self._ours.sendall((" ".join(map(str, words)) + "\n").encode())

    def hear(self, kind: str, having: str = "") -> list[str]:
        """The next line of a kind that has this in it, and what came before it is forgotten."""
        while True:
            words = self.hear_any()
            if words[0] == kind and any(having in word for word in words[1:]):
                return words[1:]

    def hear_any(self) -> list[str]:
        """The next line."""
        words = self._lines.readline().split()
        if not words:
            raise SystemExit("The measured program ended by itself.")
        return words

    def end(self) -> None:
        """End it; it has nothing to keep."""
        self._program.kill()
        self._program.wait()
        os.close(self.master)


@contextlib.contextmanager
def watched(*words: object) -> Iterator[tuple[Watched, int, int]]:
    """The program once it is ready; ms from its start until then, and its KiB."""
    begun = time.monotonic_ns()
    program = Watched(*words)
    try:
        at, size = program.hear("ready")
        yield program, (int(at) - begun) // 1_000_000, int(size)
    finally:
        program.end()


def keys_of_bare(program: Watched) -> Times:
    """Each key changes one line."""
    found = []
    for number in range(1, KEYS + 1):
        pressed = program.press("j")
        at, _ = program.hear("paint", str(number))
        found.append((int(at) - pressed) / 1e6)
        time.sleep(_between())
    return Times(sorted(found))


def keys_of_room(program: Watched) -> Times:
    """Each key moves the cursor a row, down and up again."""
    found, showing = [], ["goal:1", "round:1", *(f"task:{number}" for number in range(1, 15))]
    way = [*showing[1:], *reversed(showing[:-1])]
    for number in range(KEYS):
        target = way[number % len(way)]
        down = number % len(way) < len(showing) - 1
        pressed = program.press("j" if down else "k")
        at, *_ = program.hear("paint", f"{target}_")
        found.append((int(at) - pressed) / 1e6)
        time.sleep(_between())
    return Times(sorted(found))


def touches_of_room(program: Watched) -> Times:
    """Each change of a task in sight, from its commit to its paint."""
    found = []
    for number in range(TOUCHES):
        program.order("touch", f"Touched{number}x")
        done, painted = 0, 0
        while not (done and painted):
            words = program.hear_any()
            if words[0] == "done":
                done = int(words[1])
            elif words[0] == "paint" and f"Touched{number}x" in words[2]:
                painted = int(words[1])
        found.append(max(0, painted - done) / 1e6)
        time.sleep(_between())
    return Times(sorted(found))


def _between() -> float:
    # so that the keys do not fall in step with the flushes
    return random.Random(time.monotonic_ns()).uniform(0.02, 0.09)


def _row(name: str, times: Times, bare: Times) -> list[str]:
    found = [
        name, f"{times.median / bare.median:.1f}", f"{times.p95 / bare.p95:.1f}", f"{times.median:.1f}",
        f"{times.p95:.1f}",
    ]  # fmt: skip
    print(f"{found[0]:<36} {found[1]:>6} × {found[2]:>6} × {found[3]:>8} ms {found[4]:>8} ms", flush=True)
    return found


def measure(folder: Path) -> None:
    """Print median and p95 of all, and write them into docs/performance.md."""
    with watched("bare") as (program, start, size):
        bare, bare_start, bare_size = keys_of_bare(program), start, size
    rows = [_row("a key of the bare app", bare, bare)]
    starts = [["bare app", "1.0", "1.0", str(bare_start), str(bare_size // 1024)]]
    reached = []
    for tasks in SIZES:
        place, name = folder / str(tasks), f"{tasks:,} tasks"
        asyncio.run(seed(place, tasks))
        with watched("room", place) as (program, start, size):
            starts.append([name, f"{start / bare_start:.1f}", f"{size / bare_size:.1f}", str(start), str(size // 1024)])
            rows.append(_row(f"{name}: key", keys_of_room(program), bare))
            rows.append(_row(f"{name}: change", touches_of_room(program), bare))
            program.order("load", RATE)
            time.sleep(1)
            before, begun = _made(program), time.monotonic()
            rows.append(_row(f"{name}: key under load", keys_of_room(program), bare))
            rows.append(_row(f"{name}: change under load", touches_of_room(program), bare))
            rate = (_made(program) - before) / (time.monotonic() - begun)
            program.order("memory")
            grown = int(program.hear("memory")[0]) // 1024
            reached.append(f"{name}: {rate:,.0f} changes a second, {grown} MiB then")
    heads = ("", "median ×", "p95 ×", "median ms", "p95 ms")
    shown = ("", "time ×", "memory ×", "ms", "MiB")
    load = "The load reached: " + "; ".join(reached) + "."
    first = "From the start of the process until the board is shown, and memory then:"
    page.write("\n\n".join((page.machine(), page.table(heads, rows), load, first, page.table(shown, starts))))
    print(load)


def _made(program: Watched) -> int:
    program.order("made")
    return int(program.hear("made")[0])
