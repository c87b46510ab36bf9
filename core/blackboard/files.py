"""The board's file on disk: made for its owner's eyes only, the same file as when it was opened, on a disk that locks.

Nothing here opens the database file itself: closing a second descriptor would drop SQLite's locks on it.
"""

import contextlib
import fcntl
import os
import pwd
import sqlite3
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.domain.errors import BoardCorrupt, BoardError, BoardFull, BoardReadOnly, BoardReplaced

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_OPENING_WAIT_S = 30.0
_NETWORK_TYPES = {
    "nfs",
    "nfs4",
    "cifs",
    "smb",
    "smb2",
    "smb3",
    "smbfs",
    "afs",
    "afpfs",
    "9p",
    "ceph",
    "glusterfs",
    "lustre",
} | {"davfs", "webdav", "drvfs", "vboxsf", "prl_fs"}
_LOCAL_FUSE = frozenset({"fuseblk", "fusectl", "fuse.lxcfs", "fuse.portal"})
_SYNCED_NAMES = ("dropbox", "onedrive", "google drive", "my drive", "nextcloud", "owncloud", "mobile documents")
_SYNC_MARKS = (".stfolder", ".dropbox", ".owncloudsync.log")


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file this is, whatever its name: device and inode."""

    device: int
    inode: int


def identity_of(path: Path) -> Identity:
    """The identity of the file that has this name now. Raises FileNotFoundError."""
    found = os.stat(path)
    return Identity(found.st_dev, found.st_ino)


def check_identity(path: Path, opened: Identity) -> None:
    """Raises BoardReplaced when `path` no longer names the file that was opened."""
    try:
        now = identity_of(path)
    except FileNotFoundError:
        raise BoardReplaced(
            f"{path} was deleted or moved while it was open; writing stopped.",
            "Put the file back or restore a backup, then open the board again.",
        ) from None
    if now != opened:
        raise BoardReplaced(
            f"{path} was replaced by another file while it was open; writing stopped.",
            "Close every Opsroom on this board, decide which file is the right one, then open it again.",
        )


def log_identity(path: Path) -> Identity | None:
    """The identity of the write-ahead log beside the board, or None."""
    try:
        return identity_of(path.with_name(f"{path.name}-wal"))
    except FileNotFoundError:
        return None


def set_log_aside(path: Path, ours: Identity | None) -> None:
    """Keep the log of a file that was replaced away from the file that took its place.

    SQLite would play the old log into the new file and damage it. A log that is not `ours` is left alone.
    """
    if ours is None or log_identity(path) != ours:
        return
    for end in ("-shm", "-wal"):
        place = path.with_name(path.name + end)
        with contextlib.suppress(OSError):
            place.rename(place.with_name(f"{place.name}.replaced-{ours.inode}"))


def beside(path: Path, ending: str) -> Path:
    """A file that lies beside the board, e.g. `board.db.owner`."""
    return path.with_name(f"{path.name}.{ending}")


def uri_of(path: Path, mode: str) -> str:
    """The SQLite URI of a board; `mode` is rw or ro (never rwc: SQLite would make a file that all can read)."""
    return f"{path.absolute().as_uri()}?mode={mode}"


def create_file(path: Path) -> bool:
    """Make an empty private file, and its folder when missing. False when the file is already there.

    Raises BoardReadOnly or BoardFull.
    """
    try:
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE))
    except FileExistsError:
        return False
    except OSError as error:
        raise board_error(error, path) from error
    return True


def open_private(path: Path) -> int:
    """A descriptor of a small file beside the board, made 0600 when missing. Raises BoardReadOnly or BoardFull."""
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        raise board_error(error, path) from error


@contextlib.contextmanager
def opening_lock(path: Path, wait_s: float = _OPENING_WAIT_S) -> Iterator[None]:
    """Only one process at a time creates, migrates or opens a board. Blocks up to `wait_s` seconds.

    Raises BoardError when another process keeps the lock for longer.
    """
    descriptor = open_private(beside(path, "opening"))
    try:
        deadline = time.monotonic() + wait_s
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise BoardError(
                    f"Another process has been opening {path} for more than {wait_s:.0f} s.",
                    "See whether an Opsroom hangs or is suspended there, end it, and try again.",
                )
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_writable(path: Path) -> None:
    """Raises BoardReadOnly when this user cannot write the file, or its folder (where -wal and -shm live)."""
    if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)):
        raise read_only(path)


def read_only(path: Path) -> BoardReadOnly:
    """The error for a board that cannot be written: who owns what, with which mode, and the cure."""
    places = ", ".join(_ownership(place) for place in (path, path.parent) if place.exists())
    return BoardReadOnly(
        f"{path} cannot be written by {_user_name(os.geteuid())}: {places}.",
        f"SQLite writes beside the file too: give yourself write permission on both (chmod u+rw {path.name};"
        f" chmod u+rwx on its folder), or copy the board with `opsroom backup` to a folder of yours.",
    )


def _ownership(place: Path) -> str:
    found = place.stat()
    kind = "folder" if stat.S_ISDIR(found.st_mode) else "file"
    return f"the {kind} belongs to {_user_name(found.st_uid)} with mode {stat.S_IMODE(found.st_mode):04o}"


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def board_error(error: BaseException, path: Path) -> BoardError:
    """What an error of SQLite or of the system means for the board, in words for people."""
    if isinstance(error, BoardError):
        return type(error)(error.message, error.hint)
    if isinstance(error, OSError):
        return _of_system(error, path)
    # The low byte is the primary code; the rest says which system call it was.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
        return BoardReplaced(f"{path} was moved while it was open; writing stopped.", "Open the board again.")
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return full(path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        what = "is not a database" if code == sqlite3.SQLITE_NOTADB else "is damaged"
        return BoardCorrupt(f"{path} {what} ({error}); nothing was written.", "Restore the newest backup of it.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return read_only(path) if path.exists() else missing(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BoardError(f"Another program keeps {path} locked; nothing was written.", "Close it and try again.")
    return BoardError(f"The database {path} failed: {error}; nothing was written.", "See `opsroom doctor`.")


def _of_system(error: OSError, path: Path) -> BoardError:
    if error.errno in (28, 122):  # ENOSPC, EDQUOT
        return full(path)
    if error.errno in (1, 13, 30):  # EPERM, EACCES, EROFS
        return read_only(path)
    return BoardError(f"{path}: {error.strerror or error}.", "See `opsroom doctor`.")


def full(path: Path) -> BoardFull:
    """The error for a disk without space."""
    return BoardFull(
        f"No space is left for {path}: this change was not made; everything acknowledged before is kept.",
        "Free some space; Opsroom goes on by itself.",
    )


def missing(path: Path) -> BoardError:
    """The error for a board that is not there."""
    return BoardError(f"There is no board at {path}.", "Make one with `opsroom init DIR`, or name another folder.")


def _is_full(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.statvfs(path.parent).f_bavail == 0
    return False


def file_system_warning(path: Path) -> str | None:
    """Why this is a bad place for a board (network or synced folder) and the cure, or None when it is a good one."""
    kind = file_system_type(path)
    if kind in _NETWORK_TYPES or (kind.startswith("fuse") and kind not in _LOCAL_FUSE):
        return (
            f"{path} lies on a {kind} file system, where file locks are not safe and a board can be damaged."
            " Keep the company on a local disk, and take others in through the server."
        )
    for folder in path.absolute().parents:
        named = folder.name.lower().startswith(_SYNCED_NAMES)
        if named or any((folder / mark).exists() for mark in _SYNC_MARKS):
            return (
                f"{path} lies in the synced folder {folder}, which copies the database's files one by one and makes"
                " conflicted copies. Keep the company outside it, and sync the files of `opsroom backup`."
            )
    return None


def file_system_type(path: Path) -> str:
    """The type of the file system that holds `path` (`ext4`, `nfs4`, `fuse.sshfs`), or an empty text."""
    import psutil  # on use: start-up does not need it

    place = path.absolute()
    while not place.exists():
        place = place.parent
    place = place.resolve()
    best, kind = -1, ""
    for partition in psutil.disk_partitions(all=True):
        mount = Path(partition.mountpoint)
        # Of several mounts on one place the last one is seen.
        if (mount == place or mount in place.parents) and len(mount.parts) >= best:
            best, kind = len(mount.parts), partition.fstype
    return kind
