"""What git knows of a folder, asked so that nothing of the folder's own can run or write."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

# Without these a folder's configuration could start programs, or git could refuse another's folder.
_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "off",
    "diff.relative": "false",
    "log.showRoot": "true",
    "log.showSignature": "false",
    "safe.directory": "*",
}
_KEPT = {"GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"}
_UNOPENED = re.compile(rb"^warning: could not open directory '(.*)/': ", re.MULTILINE)
_LOG = ["log", "--no-merges", "--full-history", "--no-color", "--no-notes"]


@dataclass(frozen=True)
class Listing:
    """git's two sorted lists of paths, NUL-ended in temporary files, and folders it could not open."""

    tracked: IO[bytes]
    untracked: IO[bytes]
    unopened: list[bytes]


def knows(folder: bytes, *, as_top: bool = False) -> bool:
    """Whether git is there and the folder is in a work tree of it (`as_top`: is the top of one).

    A folder which git itself ignores counts as unknown: whoever names it wants it read.
    """
    answer = _answer(folder, "rev-parse", "--is-inside-work-tree", "--show-prefix")
    if answer is None or not answer.startswith(b"true\n"):
        return False
    if answer == b"true\n\n":
        return True
    return not as_top and _answer(folder, "check-ignore", "-q", ".") is None


def listing(folder: bytes) -> Listing | None:
    """The files that git tracks or would track, relative to the folder; None when git fails.

    The lists go to temporary files: memory stays flat, and a failing git is known before the end.
    """
    with contextlib.ExitStack() as unless_listed:
        try:
            tracked = unless_listed.enter_context(tempfile.TemporaryFile())
            untracked = unless_listed.enter_context(tempfile.TemporaryFile())
            _fill(tracked, folder, "--cached")
            complaints = _fill(untracked, folder, "--others", "--exclude-standard")
        except (OSError, subprocess.CalledProcessError):
            return None
        unless_listed.pop_all()  # from here the reader closes them
        return Listing(tracked, untracked, _UNOPENED.findall(complaints))


def last_touched(folder: bytes) -> Iterator[tuple[bytes, int]]:
    """Each path of each commit, newest commit first, with the commit's time (seconds, UTC).

    Merges are left out: their changes are those of the commits they join. Paths come repeatedly.
    """
    # Raw records put a status before each path, so that no file name can look like a time.
    command = _command(folder, *_LOG, "--relative", "--raw", "-z", "--no-renames", "--no-ext-diff")
    if command is None:
        return
    with _stream([*command, "--format=/%ct", "--", "."]) as output:
        time, path_follows = 0, False
        for part in nul_fields(output):
            if path_follows:
                path_follows = False
                yield part, time
                continue
            part = part.lstrip(b"\n")
            path_follows = part.startswith(b":")
            if part.startswith(b"/"):
                time = int(part[1:])


def commit_times(folder: bytes, path: bytes, *, at_most: int | None = None) -> Iterator[int]:
    """The times of the commits which touched one path, newest first (seconds, UTC)."""
    limit = [] if at_most is None else [f"--max-count={at_most}"]
    command = _command(folder, *_LOG, *limit, "--format=%ct")
    if command is None:
        return
    with _stream([*command, "--", b":(literal)" + path]) as output:
        for line in output:
            yield int(line)


def nul_fields(stream: IO[bytes]) -> Iterator[bytes]:
    """The NUL-ended parts of a stream, read in pieces."""
    rest = b""
    while piece := stream.read(1 << 16):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest


class _stream:
    """The output of a running git, which is ended when its reader has had enough."""

    def __init__(self, command: list[str | bytes]) -> None:
        self._process = subprocess.Popen(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def _fill(output: IO[bytes], folder: bytes, *choice: str) -> bytes:
    command = _command(folder, "ls-files", "-z", *choice)
    if command is None:
        raise FileNotFoundError("git")
    done = subprocess.run(
        command,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        check=True,
    )
    output.seek(0)
    return done.stderr


def _answer(folder: bytes, *arguments: str) -> bytes | None:
    command = _command(folder, *arguments)
    if command is None:
        return None
    try:
        done = subprocess.run(command, env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def _command(folder: bytes, *arguments: str) -> list[str | bytes] | None:
    program = shutil.which("git")
    if program is None:
        return None
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    return [program, "--no-pager", *settings, "-C", folder, *arguments]


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return {
        **inherited,
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone must not fetch what it lacks
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
