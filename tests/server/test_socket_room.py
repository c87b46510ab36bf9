"""A real room on a terminal: other processes act through it, also after it took a dead owner's board over."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.config import board_path
from tests.command_line import ARGV, environment, opsroom, started
from tui.cli import main
from tui.cli.status import owner_of


@contextlib.contextmanager
def a_room(
    home: Path, *words: object
) -> Iterator[tuple["subprocess.Popen[bytes]", Callable[[str], object], list[bytes]]]:
    """The process of a room, a function that presses keys, and what it wrote so far."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    room = subprocess.Popen([*ARGV, *map(str, words)], env=environment(home), stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    told: list[bytes] = []

    def read() -> None:
        # What the room paints is read as it comes.
        with contextlib.suppress(OSError):
            while select.select([master], [], [], 60)[0] and (chunk := os.read(master, 65536)):
                told.append(chunk)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield room, lambda keys: os.write(master, keys.encode()), told
    finally:
        room.kill()
        room.wait()
        reader.join(5)
        os.close(master)


def wait_until(true: Callable[[], object], seconds: float = 45) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.soak
def test_a_room_takes_a_dead_owners_board_over_and_others_act_through_it(tmp_path: Path) -> None:
    company = tmp_path / "acme"
    for words in (["init", str(company)], ["goal", "add", str(company), "First"], ["start", str(company)]):
        assert main(words) == 0
    owner = started(tmp_path, "run", company, "--headless", "--wait")
    wait_until((company / "board.sock").exists)
    with a_room(tmp_path, company) as (room, press, told):
        wait_until(lambda: b"First" in b"".join(told))
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
        wait_until(lambda: owner_pid(company) == room.pid)
        added = opsroom(tmp_path, "goal", "add", company, "Second", "--json")
        assert added.returncode == 0, added.stderr
        assert owner_pid(company) == room.pid
        wait_until(lambda: b"Second" in b"".join(told))
        press("q")
        assert room.wait(10) == 0
    assert not (company / "board.sock").exists()
    assert not (company / "opsroom.log").exists()
    assert owner_pid(company) is None


def test_a_polite_kill_restores_the_terminal_and_ends_whole(tmp_path: Path) -> None:
    company = tmp_path / "acme"
    assert main(["init", str(company)]) == 0
    with a_room(tmp_path, company) as (room, _press, told):
        wait_until((company / "board.sock").exists)
        room.send_signal(signal.SIGTERM)
        assert room.wait(10) == 143
        wait_until(lambda: b"\x1b[?1049l" in b"".join(told))
    assert not (company / "board.sock").exists()


def owner_pid(company: Path) -> int | None:
    owner = owner_of(board_path(company))
    return None if owner is None else int(owner["pid"])
