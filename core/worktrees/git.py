"""Runs git: no shell, no hooks, no pager, no questions, no network, a bounded answer within a bounded time."""

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.errors import Conflict

SOON_S, LONG_S = 30.0, 300.0
ANSWER_MAX = 4 * 1024 * 1024  # bytes
LIST_MAX = 64 * 1024 * 1024  # bytes of a list of all files: 500,000 long names
_WORDS_MAX = 64 * 1024
_PIECE, _LOOK_S = 64 * 1024, 0.2
_KEPT = (
    "PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
)  # fmt: skip
# What a repository's own settings could make git start, fetch or tidy away.
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.quotePath": "off",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "log.showSignature": "false",
    "diff.noprefix": "false",
    "diff.mnemonicPrefix": "false",
    "status.showUntrackedFiles": "all",
}


class GitFailed(Conflict):
    """git refused; the message ends with its own last line."""


@dataclass(frozen=True, slots=True)
class Said:
    """An answer of git. `is_cut` when it had more than was asked for."""

    code: int
    out: bytes
    errors: str
    is_cut: bool = False

    @property
    def text(self) -> str:
        """What it said, without the last line end; bytes that are no UTF-8 replaced."""
        return self.out.decode(errors="replace").removesuffix("\n")

    @property
    def last_words(self) -> str:
        """The last line that it said on standard error."""
        lines = [line.strip() for line in self.errors.splitlines() if line.strip()]
        told = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
        return told.removeprefix("fatal:").removeprefix("error:").strip() or f"it ended with code {self.code}"


def program() -> str | None:
    """Where git is."""
    return shutil.which("git")


def ask(
    folder: Path, *arguments: str, place: Mapping[str, str] | None = None, most: int = ANSWER_MAX,
    within_s: float = SOON_S, given: bytes = b"",
) -> Said:  # fmt: skip
    """git's answer in this folder, whatever it is. `place` names variables, e.g. GIT_DIR; `given` is what it reads.

    Raises GitFailed where git is missing, cannot be started or takes longer than `within_s`.
    """
    found = program()
    if found is None:
        raise GitFailed("git is not found on the PATH; nothing was changed.", "Install git.")
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    argv = [found, "--no-pager", *settings, *arguments]
    try:
        # A file, not a pipe: nobody has to write while git answers.
        with tempfile.TemporaryFile() as reads:
            reads.write(given)
            reads.seek(0)
            process = subprocess.Popen(
                argv, cwd=folder, env=_environment(place or {}), stdin=reads, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        why = (
            f"{folder} cannot be entered" if isinstance(error, (FileNotFoundError, NotADirectoryError)) else str(error)
        )
        raise GitFailed(f"git could not be started: {why}.", "Look whether the folder is there.") from None
    return _heard(process, arguments, most, within_s)


def must(folder: Path, *arguments: str, what: str, hint: str = "", place: Mapping[str, str] | None = None,
         most: int = ANSWER_MAX, within_s: float = SOON_S, given: bytes = b"") -> Said:  # fmt: skip
    """The same of a git that has to succeed, and to be heard to its end: nothing is decided on half an answer.

    `what` begins the message of GitFailed, e.g. `The tree was not made`.
    """
    said = ask(folder, *arguments, place=place, most=most, within_s=within_s, given=given)
    if said.code != 0:
        raise GitFailed(f"{what}: {said.last_words}.", hint)
    if said.is_cut:
        raise GitFailed(f"{what}: git answers with more than {most:,} bytes.", hint or "Do it with git itself.")
    return said


def _heard(process: "subprocess.Popen[bytes]", arguments: Sequence[str], most: int, within_s: float) -> Said:
    assert process.stdout is not None
    assert process.stderr is not None
    until = time.monotonic() + within_s
    out, words = bytearray(), bytearray()
    try:
        with process.stdout, process.stderr, selectors.DefaultSelector() as pipes:
            pipes.register(process.stdout, selectors.EVENT_READ, (out, most + 1))
            pipes.register(process.stderr, selectors.EVENT_READ, (words, _WORDS_MAX))
            while pipes.get_map() and len(out) <= most:
                has_ended, left = process.poll() is not None, until - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                ready = pipes.select(min(_LOOK_S, left))
                for key, _ in ready:
                    _take(pipes, key)
                if has_ended and not ready:
                    break  # whoever else holds its pipes is not waited for
        if len(out) <= most:
            process.wait(max(0.0, until - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise GitFailed(
            f"git {arguments[0]} took longer than {within_s:g} s and was ended.", "Try once more."
        ) from None
    finally:
        _kill(process)
        code = process.wait()
    is_cut = len(out) > most
    return Said(0 if is_cut else code, bytes(out[:most]), words.decode(errors="replace"), is_cut)


def _take(pipes: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    kept, most = key.data
    piece = os.read(key.fd, _PIECE)
    kept += piece[: most - len(kept)]
    if not piece:
        pipes.unregister(key.fileobj)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode is None and process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()


def _environment(place: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone must not fetch what it lacks
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "false",
        "LC_ALL": "C",
        **place,
    }
