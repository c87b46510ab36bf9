"""Command lines as processes without the cost of starting Python: forked from one that has imported the program.

A command line that opens a company spends most of its second in imports. The zygote imports once for a whole test
process; what it forks is a process as any other: with its own arguments, environment, folder and streams, and with the
end that Python gives it.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# What the command lines import only when they need it.
NEEDED = ("core.company", "core.headless", "core.rehearsal", "core.runners", "core.server.doors")
REQUEST_MAX = 1 << 20  # bytes
CODE_MAX = 32  # bytes of a number


class Zygote:
    """The process that forks command lines, as the test process sees it."""

    def __init__(self, python: str) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [python, "-m", "tests.zygote", str(theirs.fileno())], pass_fds=[theirs.fileno()], cwd=ROOT,
                stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip
        atexit.register(self.close)

    def close(self) -> None:
        """End it: it goes when nobody can ask any more."""
        self._control.close()
        self._process.wait(30)

    def run(
        self, arguments: Sequence[str], env: Mapping[str, str], cwd: Path, timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run one command line to its end, without a terminal. Raises TimeoutExpired after it was killed."""
        request = json.dumps({"arguments": list(arguments), "env": dict(env), "cwd": os.fspath(cwd)}).encode()
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with (
            answers, os.fdopen(os.memfd_create("out"), "rb") as out, os.fdopen(os.memfd_create("err"), "rb") as err,
        ):  # fmt: skip
            with theirs, open(os.devnull, "rb") as nothing:
                fds = [one.fileno() for one in (nothing, out, err, theirs)]
                socket.send_fds(self._control, [request], fds)
            answers.settimeout(timeout)
            pid = int(answers.recv(CODE_MAX))
            try:
                code = os.waitstatus_to_exitcode(int(answers.recv(CODE_MAX)))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None
            return subprocess.CompletedProcess(list(arguments), code, _text(out.fileno()), _text(err.fileno()))


def _text(fd: int) -> str:
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, encoding="utf-8", errors="surrogateescape", closefd=False) as file:
        return file.read()


def serve(control: socket.socket) -> bool:
    """Fork a command line for each request until nobody can ask any more; true in what was forked."""
    signal.signal(signal.SIGCHLD, _let_go)
    while True:
        request, fds, _, _ = socket.recv_fds(control, REQUEST_MAX, 4)
        if not request:
            return False
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            if _forked(socket.socket(fileno=fds.pop())):
                _become(json.loads(request), fds)
                return True
        for fd in fds:
            os.close(fd)


def _forked(answers: socket.socket) -> bool:
    """True in a new process; the one before tells its number and how it ended."""
    with answers:
        pid = os.fork()
        if pid == 0:
            return True
        answers.send(b"%d" % pid)
        answers.send(b"%d" % os.waitpid(pid, 0)[1])
    os._exit(0)


def _let_go(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(request: dict[str, Any], fds: list[int]) -> None:
    """Make of this process what the request asks for, as Python would have started it."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv[1:] = request["arguments"]


if __name__ == "__main__":
    from tui.cli import main
    from tui.cli.table import SUBCOMMANDS

    for name in {row.handler.partition(":")[0] for row in SUBCOMMANDS}.union(NEEDED):
        importlib.import_module(name)
    # What is imported stays: it is neither looked through for garbage nor copied by that.
    gc.freeze()
    sys.exit(main() if serve(socket.socket(fileno=int(sys.argv[1]))) else 0)
