"""A terminal multiplexer of our own as a real terminal: keys go in, the screen and the bytes come out."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.command_line import environment

PATIENCE_S = 45.0
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not there: apt-get install tmux")


def until(true: Callable[[], object], what: Callable[[], str]) -> None:
    """Wait until something holds; `what` tells what was there instead."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            pytest.fail(f"it did not happen in time; there is:\n{what()}")
        time.sleep(0.1)


class Terminal:
    """One window of a tmux server of its own."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._socket = f"opsroom-test-{os.getpid()}-{home.name}"[:60]
        self.bytes = home / "terminal.bytes"
        self.opened: list[psutil.Process] = []

    def tmux(self, *words: str, check: bool = True) -> str:
        """What tmux says."""
        argv = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        done = subprocess.run(argv, env=environment(self._home, LC_ALL="C.UTF-8"), capture_output=True, text=True,
                              timeout=30, check=False)  # fmt: skip
        assert done.returncode == 0 or not check, done.stderr
        return done.stdout

    def open(self, *command: str) -> None:
        """A window of 120 by 40 with this command in it; what it writes is kept."""
        self.tmux("new-session", "-d", "-x", "120", "-y", "40", *command)
        pids = self.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()
        self.opened += [psutil.Process(int(pid)) for pid in pids]
        self.tmux("pipe-pane", "-o", f"cat >> {self.bytes}")

    def press(self, *keys: str) -> None:
        """Press keys by their tmux names."""
        self.tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    @property
    def screen(self) -> str:
        """What is seen now."""
        return self.tmux("capture-pane", "-p", check=False)

    def shows(self, *texts: str, gone: str = "") -> str:
        """Wait until all of this is seen (and this is not); the screen then."""

        def holds() -> bool:
            screen = self.screen
            return all(text in screen for text in texts) and (not gone or gone not in screen)

        until(holds, lambda: self.screen)
        return self.screen

    def close(self) -> None:
        """Close the window as a person does: its programs lose their terminal."""
        self.tmux("kill-server", check=False)


@contextlib.contextmanager
def a_terminal(home: Path) -> Iterator[Terminal]:
    """A terminal that is closed at the end; what was opened in it ends, also a company that goes on."""
    terminal = Terminal(home)
    try:
        yield terminal
    finally:
        terminal.close()
        for process in terminal.opened:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
