"""Who may write: a lock that the kernel frees when its process dies, and a fenced lease for what runs late.

The lock decides on one machine; the lease's fence refuses the late write of a process that was taken for dead.
"""

import contextlib
import fcntl
import io
import json
import os
import time
from pathlib import Path
from typing import Any

from core.blackboard.files import beside, open_private
from core.blackboard.transaction import Transaction
from core.domain.errors import BoardOwned, Fenced


class Ownership:
    """The lock on `<board>.owner`. Keep it while writing; dropping the object frees it too."""

    def __init__(self, path: Path, file: io.FileIO) -> None:
        self.path = path
        self._file = file

    @classmethod
    def try_take(cls, path: Path, socket: str = "") -> "Ownership | None":
        """Own this board, or None when a living process does. `socket` is where others send their commands.

        Raises BoardReadOnly or BoardFull.
        """
        # The file object closes itself when dropped; not inherited by programs that we start (PEP 446).
        file = io.FileIO(open_private(beside(path, "owner")), "r+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        ownership = cls(path, file)
        ownership.announce(socket)
        return ownership

    def announce(self, socket: str) -> None:
        """Write down who owns the board, for other processes' messages and to be reached."""
        told = {"pid": os.getpid(), "started": time.time_ns() // 1_000_000, "socket": socket}
        # Words for people: a full disk must not keep anyone from owning the board.
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.write(json.dumps(told).encode())
            self._file.truncate()

    def release(self) -> None:
        """Let go of the board. May be called twice."""
        self._file.close()

    @staticmethod
    def holder(path: Path) -> dict[str, Any]:
        """What the last owner wrote down: {pid, started (ms), socket}; empty when nobody did. It may be dead."""
        try:
            told = json.loads(beside(path, "owner").read_bytes())
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}

    @staticmethod
    def describe_holder(path: Path) -> str:
        """Who owns the board, in words."""
        told = Ownership.holder(path)
        if not told.get("pid"):
            return "another process"
        since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(told.get("started", 0) / 1000))
        return f"process {told['pid']} (since {since})"

    @staticmethod
    def owned(path: Path) -> BoardOwned:
        """The error for a board that another process owns."""
        return BoardOwned(
            f"{path} is in use: {Ownership.describe_holder(path)} owns it.",
            "Send commands through it, or end it and try again.",
        )


def take_lease(tx: Transaction, name: str, owner: str, ttl_ms: int) -> int:
    """Take or renew a lease and return its fence: one higher on a take-over, the same on a renewal.

    It never waits for the other's time to run out: on one machine the lock on the file has decided before.
    """
    row = tx.one("SELECT owner, fence FROM leases WHERE name = :name", name=name)
    fence = 1 if row is None else row["fence"] + (row["owner"] != owner)
    tx.connection.execute(
        "INSERT INTO leases(name, owner, fence, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT(name)"
        " DO UPDATE SET owner = excluded.owner, fence = excluded.fence, expires_at = excluded.expires_at",
        (name, owner, fence, tx.now + ttl_ms),
    )
    return int(fence)


def check_lease(tx: Transaction, name: str, owner: str, fence: int) -> None:
    """Raises Fenced when the lease went to somebody else since `fence` was given."""
    row = tx.one("SELECT owner, fence FROM leases WHERE name = :name", name=name)
    if row is None or (row["owner"], row["fence"]) != (owner, fence):
        now = "nobody" if row is None or not row["owner"] else f"{row['owner']} (fence {row['fence']})"
        raise Fenced(
            f"The lease '{name}' of {owner} (fence {fence}) is over, {now} has it now; nothing was written.",
            "Stop; the new holder goes on.",
        )


def release_lease(tx: Transaction, name: str, owner: str) -> None:
    """Give the lease back. The row stays: a fence never counts from one again."""
    tx.connection.execute("UPDATE leases SET owner = '', expires_at = 0 WHERE name = ? AND owner = ?", (name, owner))
