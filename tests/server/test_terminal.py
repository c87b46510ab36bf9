"""A real room on a terminal that is closed without a signal, or that nobody reads for a while (F19)."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import ARGV, environment, opsroom
from tests.server.test_socket_room import owner_pid, wait_until
from tui.cli import main


@contextlib.contextmanager
def a_terminal(home: Path, *words: object) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """The process of a room, and the other end of its terminal, which nobody reads by itself."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    room = subprocess.Popen([*ARGV, *map(str, words)], env=environment(home), stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    try:
        yield room, master
    finally:
        room.kill()
        room.wait()
        with contextlib.suppress(OSError):
            os.close(master)


def read(master: int, until: bytes, seconds: float = 45) -> bytes:
    """What comes from the room, until these bytes are in it."""
    told, deadline = b"", time.monotonic() + seconds
    while until not in told:
        assert time.monotonic() < deadline, f"{until!r} was not seen"
        if select.select([master], [], [], 0.1)[0]:
            told += os.read(master, 65536)
    return told


def test_a_room_whose_terminal_is_gone_ends_whole(tmp_path: Path) -> None:
    company = tmp_path / "acme"
    for words in (["init", str(company)], ["goal", "add", str(company), "First"]):
        assert main(words) == 0
    with a_terminal(tmp_path, company) as (room, master):
        read(master, b"First")
        os.close(master)
        assert room.wait(30) == 129
    assert owner_pid(company) is None
    assert not (company / "board.sock").exists()


@pytest.mark.soak
def test_a_terminal_that_nobody_reads_holds_nothing_up_and_is_painted_whole_afterwards(tmp_path: Path) -> None:
    company = tmp_path / "acme"
    for words in (["init", str(company)], ["goal", "add", str(company), "First"]):
        assert main(words) == 0
    with a_terminal(tmp_path, company) as (room, master):
        read(master, b"First")
        wait_until((company / "board.sock").exists)
        # A new look paints the whole screen; nobody reads it, until a hundred screens would lie in the way.
        for _ in range(60):
            os.write(master, b"?")
            time.sleep(0.02)
            os.write(master, b"\x1b")
            time.sleep(0.08)
        added = opsroom(tmp_path, "goal", "add", company, "Second", "--json")
        assert added.returncode == 0, added.stderr
        assert owner_pid(company) == room.pid
        read(master, b"Second")
        os.write(master, b"q")
        read(master, b"\x1b[?1049l")
        assert room.wait(30) == 0
