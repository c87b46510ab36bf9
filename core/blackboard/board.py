"""A board: its readers, its writer when this process owns it, and its followers."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from core.blackboard.files import (
    Identity,
    board_error,
    check_identity,
    check_writable,
    create_file,
    identity_of,
    missing,
    opening_lock,
    uri_of,
)
from core.blackboard.follow import Follower
from core.blackboard.migrations import SCHEMA_VERSION, check_version, migrate
from core.blackboard.owner import Ownership
from core.blackboard.readers import Readers
from core.blackboard.writer import Listener, Writer, connect_for_writing

Role = Literal["owner", "reader", "auto"]


def prepare(path: Path, now_ms: int, *, create: bool, role: Role) -> Ownership | None:
    """Create and migrate the file as far as needed, and take ownership if the role asks for it. Blocks.

    None when the role is `reader`, or `auto` while a living process owns the board.
    Raises BoardOwned for `owner` then, and the other kinds of BoardError.
    """
    if not path.exists():
        if not create:
            raise missing(path)
        create_file(path)
    if role != "reader":
        check_writable(path)
    with opening_lock(path):
        ownership = None if role == "reader" else Ownership.try_take(path)
        try:
            if role == "owner" and ownership is None:
                raise Ownership.owned(path)
            _bring_up_to_date(path, now_ms, ownership)
        except BaseException:
            if ownership is not None:
                ownership.release()
            raise
    return ownership


def _bring_up_to_date(path: Path, now_ms: int, ownership: Ownership | None) -> None:
    if _version(path) == SCHEMA_VERSION:
        return
    # Nobody may change the schema under an owner of an older program.
    guard = ownership or Ownership.try_take(path)
    if guard is None:
        raise Ownership.owned(path)
    try:
        check_writable(path)
        with contextlib.closing(connect_for_writing(path)) as connection:
            migrate(connection, path, now_ms)
    except sqlite3.Error as error:
        raise board_error(error, path) from error
    finally:
        if guard is not ownership:
            guard.release()


def _version(path: Path) -> int:
    try:
        with contextlib.closing(sqlite3.connect(uri_of(path, "ro"), uri=True)) as connection:
            connection.execute("PRAGMA busy_timeout=5000")
            return check_version(connection, path)
    except sqlite3.Error as error:
        raise board_error(error, path) from error


class Board:
    """Made by `Board.open`. `writer` is None while another process owns the board."""

    def __init__(
        self, path: Path, clock: Callable[[], int], readers: Readers, identity: Identity, ownership: Ownership | None
    ) -> None:
        self.path = path
        self.readers = readers
        self.writer: Writer | None = None
        self._clock = clock
        self._identity = identity
        self._ownership = ownership
        self._followers: list[Follower] = []
        self._taking = asyncio.Lock()
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, clock: Callable[[], int], create: bool = False, role: Role = "auto") -> "Board":
        """Open a board, make it first if `create` and it is missing. `clock` gives ms UTC, from any thread.

        `owner` insists on writing (BoardOwned when another process does), `auto` owns the board if nobody does,
        `reader` only reads. Raises BoardError when there is no board, and its kinds.
        """
        ownership = await _in_thread(path, clock(), create, role)
        readers: Readers | None = None
        try:
            identity = identity_of(path)
            readers = await Readers.open(path)
            board = cls(path, clock, readers, identity, ownership)
            if ownership is not None:
                board.writer = await Writer.open(path, clock=clock)
        except BaseException:
            if readers is not None:
                await readers.close()
            if ownership is not None:
                ownership.release()
            raise
        return board

    @property
    def is_owner(self) -> bool:
        """Whether this process writes."""
        return self.writer is not None

    async def try_own(self) -> bool:
        """Take the board over when its owner is gone; followers go on without a gap. True when this process owns it.

        Raises BoardReplaced, or what opening the writer raises.
        """
        async with self._taking:
            if self.writer is not None:
                return True
            if self._closed:
                return False
            self.check_identity()
            ownership = await _in_thread(self.path, self._clock(), False, "auto")
            if ownership is None:
                return False
            try:
                self.writer = await Writer.open(self.path, clock=self._clock)
            except BaseException:
                ownership.release()
                raise
            self._ownership = ownership
            for follower in self._followers:
                follower.wake()
            return True

    def follow(self, callback: Listener, after: int | None = None) -> Callable[[], None]:
        """Hear of every event with an id above `after` once, in order, on the loop. Returns the unsubscribe.

        None means from now on. In the owner the events of a command come before its caller goes on; elsewhere the
        file is looked at each 250 ms. A callback that raises is logged and called again for the next events.
        """
        follower = Follower(self.readers, lambda: self.writer, callback, after)
        self._followers.append(follower)
        follower.start()

        def unsubscribe() -> None:
            follower.stop()
            if follower in self._followers:
                self._followers.remove(follower)

        return unsubscribe

    def check_identity(self) -> None:
        """Raises BoardReplaced when the file was deleted or replaced since it was opened."""
        if self.writer is not None:
            self.writer.check_identity()
        else:
            check_identity(self.path, self._identity)

    async def close(self) -> None:
        """Carry out what is queued, close everything, and let the board go. May be called twice."""
        self._closed = True
        async with self._taking:
            await self._close()

    async def _close(self) -> None:
        followers, self._followers = self._followers, []
        try:
            for follower in followers:
                await follower.stop_reading()
            # The writer leaves last, so that SQLite clears the log away; its last events are still heard.
            await self.readers.close()
            if self.writer is not None:
                await self.writer.close()
        finally:
            for follower in followers:
                follower.stop()
            if self._ownership is not None:
                self._ownership.release()


async def _in_thread(path: Path, now_ms: int, create: bool, role: Role) -> Ownership | None:
    task = asyncio.ensure_future(asyncio.to_thread(prepare, path, now_ms, create=create, role=role))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # The thread goes on: what it takes meanwhile must not stay taken.
        task.add_done_callback(_let_go)
        raise


def _let_go(task: "asyncio.Future[Ownership | None]") -> None:
    if not task.cancelled() and task.exception() is None and (ownership := task.result()) is not None:
        ownership.release()
