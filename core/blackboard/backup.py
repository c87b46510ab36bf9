"""A copy of a board in use, in one piece: a plain copy of the file would lose what is still in the log."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from core.blackboard.files import PRIVATE_FILE, board_error, missing, uri_of
from core.domain.errors import Conflict


def stamp_of(now_ms: int) -> str:
    """A time as it stands in file names: 20261130T091857Z."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_ms / 1000))


def backup(path: Path, target: Path, now: int) -> Path:
    """Copy the board to `target` (a file, or a folder that gets a dated file) and return the copy's path.

    Works while the owner writes, and blocks the calling thread for about 0.3 s per 100 MB. `now` is in ms UTC.
    Raises Conflict when the target exists, BoardFull, BoardReadOnly, BoardCorrupt or BoardError.
    """
    if not path.exists():
        raise missing(path)
    if target.is_dir():
        target = target / f"{path.name}.backup-{stamp_of(now)}"
    if target.exists():
        raise Conflict(f"{target} exists; no backup was made.", "Name another file: a backup never overwrites one.")
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        _copy(path, draft)
        _publish(draft, target)
    except (OSError, sqlite3.Error) as error:
        place = target if isinstance(error, OSError) or _is_about_target(error) else path
        raise board_error(error, place) from error
    finally:
        draft.unlink(missing_ok=True)
    return target


def _copy(path: Path, draft: Path) -> None:
    draft.unlink(missing_ok=True)
    # SQLite fills an empty file that is there, and so keeps its mode.
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))
    with contextlib.closing(sqlite3.connect(uri_of(path, "ro"), uri=True, isolation_level=None)) as connection:
        connection.execute("PRAGMA busy_timeout=5000")
        connection.execute("VACUUM INTO ?", (os.fsdecode(draft),))


def _publish(draft: Path, target: Path) -> None:
    _sync(draft)
    try:
        # A link, unlike a rename, never replaces a file that came meanwhile.
        os.link(draft, target)
    except FileExistsError:
        raise Conflict(f"{target} exists; no backup was made.", "Name another file.") from None
    except OSError:
        if target.exists():
            raise
        draft.rename(target)
    _sync(target.parent)


def _sync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_about_target(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
