"""One reading of one folder: where it is, what was left out and why, and whom to tell.

Also how paths become text and back. Which files there are is told by `files`.
"""

import errno
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from core.agents.rehearsal.audit.shapes import Audited, LeftOut

Folder = bytes | str | os.PathLike[str]
Progress = Callable[[int, int | None, str], None]
"""Called with what is done, how much there is (None: unknown) and what is being done."""

FIRST_SKIPPED = 200
_READS_AS_ESCAPE = re.compile(rb"\\(?=x[0-9a-f]{2})")
_ESCAPE = re.compile(rb"\\x([0-9a-f]{2})")


class AuditError(Exception):
    """The audit cannot be done; the message is for people."""


def silent(done: int, total: int | None, what: str) -> None:
    """Tell nobody."""


def shown(path: bytes) -> str:
    r"""The path as text: bytes that are not UTF-8 become \xNN; `unshown` leads back."""
    return _READS_AS_ESCAPE.sub(rb"\\x5c", path).decode("utf-8", "backslashreplace")


def unshown(text: str) -> bytes:
    """The path which `shown` gave as this text."""
    return _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode("utf-8", "surrogatepass"))


def reason(error: OSError) -> str:
    """Why something could not be read, in words for people."""
    if isinstance(error, PermissionError):
        return "no permission to read"
    if isinstance(error, FileNotFoundError):
        return "vanished during the audit"
    if error.errno == errno.ELOOP:
        return "symbolic link loop"
    return (error.strerror or str(error) or type(error).__name__).lower()


@dataclass
class Survey:
    """A folder under audit (`root`, absolute bytes) and what is said of the reading of it."""

    root: bytes
    tell: Progress = silent
    git: bool = False
    notes: list[str] = field(default_factory=list)
    skipped_count: int = 0
    skipped_first: list[LeftOut] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Folder, tell: Progress = silent) -> "Survey":
        """Begin; raises AuditError when the folder is missing, no folder, or not readable."""
        return cls(checked(folder), tell)

    def at(self, path: bytes) -> bytes:
        """Where a relative path is on disk."""
        return os.path.join(self.root, path)

    def skip(self, path: bytes, why: str) -> None:
        """Count a file or folder that is not read; only the first 200 are kept."""
        self.skipped_count += 1
        if len(self.skipped_first) < FIRST_SKIPPED:
            self.skipped_first.append({"path": shown(path), "reason": why})

    def note(self, text: str) -> None:
        """Say once what a reader of the figures should know."""
        if text not in self.notes:
            self.notes.append(text)

    def audited(self) -> Audited:
        """What every result says of its reading."""
        return {
            "git": self.git,
            "notes": self.notes,
            "skipped": {"count": self.skipped_count, "first": self.skipped_first},
        }


def checked(folder: Folder) -> bytes:
    """The folder's real path; raises AuditError when it is missing, no folder, or not readable."""
    given = os.fsencode(folder)
    name = shown(given) or "(no name)"
    if not given or b"\0" in given:
        raise AuditError(f"{name} is not a folder's name.")
    root = os.path.realpath(given)
    if not os.path.lexists(root):
        raise AuditError(f"{name} does not exist.")
    if not os.path.isdir(root):
        raise AuditError(f"{name} is not a folder.")
    try:
        os.scandir(root).close()
    except OSError as error:
        raise AuditError(f"{name} cannot be read: {reason(error)}.") from error
    return root
