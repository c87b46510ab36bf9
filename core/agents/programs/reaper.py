"""Runs one program and leaves nothing of it: not a child, not what left its session (F17).

A process of its own, of the standard library alone: `python -I -S reaper.py CONTROL REPORT GRACE_S PARENT ARGV…`.
The end of the pipe CONTROL (a descriptor) asks it to end everything; so does the death of PARENT (a pid). On the pipe
REPORT it tells in one JSON object how the program ended: {"code" | "signal" | "error", "asked", "left", "by"}, where
`left` counts what could not be ended, and `by` is "descendants", or "group" where the system knows no subreaper.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
KILLING_S = 10.0  # so long what outlives SIGKILL (a hung disk) is waited for
LOOK_S = 0.02


def prctl(option: int, value: int) -> bool:
    """Whether the system did it; False where there is no prctl."""
    try:
        return int(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)) == 0
    except (OSError, AttributeError):
        return False


def descendants(root: int) -> set[int]:
    """Living processes below `root`, from /proc; zombies count only as a way to their own children."""
    parents: dict[int, int] = {}
    dead: set[int] = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name of a program may hold anything; what follows its last bracket may not.
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        parents[int(name)] = int(parent)
        if state in (b"Z", b"X"):
            dead.add(int(name))
    found: set[int] = set()
    level = {root}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level and pid not in found}
        found |= level
    return found - dead


class Reaper:
    """The program and everything that it started."""

    def __init__(self, control: int, grace_s: float, parent: int) -> None:
        self._control = control
        self._grace_s = grace_s
        self._parent = parent
        self.asked = False
        self.status: int | None = None
        self.error = ""
        self.program = 0
        self.sees_all = prctl(PR_SET_CHILD_SUBREAPER, 1) and os.path.isdir(f"/proc/{os.getpid()}")
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        self._woken, wakes = os.pipe()
        for end in (self._woken, wakes):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def _stop(self, _number: int, _frame: object) -> None:
        self.asked = True

    def start(self, argv: list[str]) -> None:
        """Start the program in a session of its own; it has our standard streams, and we let go of them."""
        told, tells = os.pipe()
        me = os.getpid()
        self.program = os.fork()
        if self.program == 0:
            _become(argv, tells, me)
        os.close(tells)
        self.error = os.read(told, 1000).decode(errors="replace")
        os.close(told)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)

    def watch(self) -> None:
        """Wait until the program has ended, or its end is asked for."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN | select.POLLHUP)
        poll.register(self._woken, select.POLLIN)
        while self._reap() and not self.asked:
            # The bound is for a parent whose death nobody tells.
            ready = {found for found, _event in poll.poll(1000)}
            self._drain()
            if self._control in ready or os.getppid() != self._parent:
                self.asked = True

    def end_all(self) -> int:
        """SIGTERM, then after the grace SIGKILL, until none is left. How many are left all the same."""
        asked: set[int] = set()
        until = time.monotonic() + self._grace_s
        while (living := self._living()) and time.monotonic() < until:
            for pid in living - asked:
                self._send(pid, signal.SIGTERM)
                self._send(pid, signal.SIGCONT)
            asked |= living
            self._pause()
        until = time.monotonic() + KILLING_S
        while (living := self._living()) and time.monotonic() < until:
            # Stopped first: what forks meanwhile would always be one ahead.
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in living:
                    self._send(pid, number)
            self._pause()
        self._reap()
        return len(self._living())

    def _living(self) -> set[int]:
        self._reap()
        if self.sees_all:
            return descendants(os.getpid())
        try:
            os.killpg(self.program, 0)
        except (ProcessLookupError, PermissionError):
            return set()
        return {-self.program}

    def _send(self, pid: int, number: signal.Signals) -> None:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def _pause(self) -> None:
        select.select([self._woken], [], [], LOOK_S)
        self._drain()

    def _drain(self) -> None:
        try:
            while os.read(self._woken, 4096):
                pass
        except BlockingIOError:
            return

    def _reap(self) -> bool:
        """Take in whatever has died. Whether the program itself still lives."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self.program:
                self.status = status
        return self.status is None


def _become(argv: list[str], tells: int, parent: int) -> None:
    """In the child: be the program. Never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        # If even the reaper is killed, at least the program itself goes with it.
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)
        os.execvp(argv[0], argv)
    except BaseException as error:
        os.write(tells, (getattr(error, "strerror", None) or str(error) or "unknown").encode()[:1000])
        os._exit(127)


def main(arguments: list[str]) -> int:
    """Run one program to its end."""
    control, report, grace_s, parent = (
        int(arguments[0]), int(arguments[1]), float(arguments[2]), int(arguments[3])
    )  # fmt: skip
    for end in (control, report):
        os.set_inheritable(end, False)
    reaper = Reaper(control, grace_s, parent)
    reaper.start(arguments[4:])
    reaper.watch()
    left = reaper.end_all()
    told: dict[str, object] = {"asked": reaper.asked, "left": left, "by": "descendants" if reaper.sees_all else "group"}
    if reaper.error:
        told["error"] = reaper.error
    elif reaper.status is not None and os.WIFSIGNALED(reaper.status):
        told["signal"] = os.WTERMSIG(reaper.status)
    elif reaper.status is not None:
        told["code"] = os.WEXITSTATUS(reaper.status)
    try:
        os.write(report, json.dumps(told).encode())
    except OSError:
        return 1  # nobody listens any more
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
