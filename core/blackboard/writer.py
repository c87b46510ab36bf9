"""The one writer: a thread with its own connection that commits whatever is queued in one transaction.

Each command has a savepoint of its own, so that a failing one harms no other. Nothing else writes to a board.
"""

import asyncio
import contextlib
import logging
import queue
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CoroutineType
from typing import Any, TypeVar

from core.blackboard.files import (
    Identity,
    board_error,
    check_identity,
    identity_of,
    log_identity,
    set_log_aside,
    uri_of,
)
from core.blackboard.transaction import Transaction
from core.domain.entities import Event
from core.domain.errors import BoardError, BoardReplaced

T = TypeVar("T")
Listener = Callable[[Sequence[Event]], None]
Command = Callable[[Transaction], Any]
Job = tuple[Command, "asyncio.Future[Any]"]
Answer = tuple["asyncio.Future[Any]", Any, BaseException | None]

BATCH_LIMIT = 512
BUSY_MS = 5_000
_CLOSE_BUSY_MS = 500
# SQLite lets go of the interpreter at every step. While the loop is busy each step then waits this long to get it back:
# with Python's 5 ms a command took half a second beside a busy screen, with 0.5 ms some 15 ms, at no cost when idle.
_SWITCH_S = 0.0005
_LOG = logging.getLogger(__name__)
_PRAGMAS = (
    f"busy_timeout={BUSY_MS}",
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "temp_store=MEMORY",
    "cache_size=-16000",
    "journal_size_limit=16777216",
)
# After these SQLite's own state is in doubt: the whole batch is given up, never just one command of it.
_FATAL = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_NOTADB})


def connect_for_writing(path: Path) -> sqlite3.Connection:
    """A connection with every setting of ours; the caller owns the board. Raises sqlite3.Error."""
    connection = sqlite3.connect(uri_of(path, "rw"), uri=True, isolation_level=None, cached_statements=512)
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


class Writer:
    """Takes commands from the loop, commits them in groups, and hands their events to listeners on the loop.

    `batches` and `commands` count the commits and the commands carried out so far.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], int],
        on_listener_error: Callable[[Exception], None] | None = None,
        batch_limit: int = BATCH_LIMIT,
    ) -> None:
        self.path = path
        self.batches = 0
        self.commands = 0
        self._clock = clock
        self._on_listener_error = on_listener_error
        self._batch_limit = batch_limit
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._listeners: list[Listener] = []
        self._opened: asyncio.Future[Identity] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._closing = False
        self._identity = Identity(0, 0)
        self._log: Identity | None = None
        self._replaced: BoardReplaced | None = None
        self._latest = 0
        self._behind = 0
        # A daemon: a program that failed before close() must end all the same.
        self._thread = threading.Thread(target=self._run, name="board-writer", daemon=True)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        clock: Callable[[], int],
        on_listener_error: Callable[[Exception], None] | None = None,
        batch_limit: int = BATCH_LIMIT,
    ) -> "Writer":
        """Start writing to an existing, migrated board. `clock` gives ms UTC and is called in the writer's thread.

        Raises BoardError and its kinds.
        """
        writer = cls(path, clock, on_listener_error, batch_limit)
        if sys.getswitchinterval() > _SWITCH_S:
            sys.setswitchinterval(_SWITCH_S)
        writer._thread.start()
        try:
            await asyncio.shield(writer._opened)
        except asyncio.CancelledError:
            writer._closing = True
            writer._queue.put(None)
            raise
        return writer

    async def submit(self, fn: Callable[[Transaction], T]) -> T:
        """Carry out one command and wait until it is on disk; its error is raised here, and then nothing of it stays.

        A caller that is cancelled stops waiting; the command itself still happens, whole.
        Raises BoardFull, BoardReadOnly, BoardReplaced, BoardCorrupt or BoardError when the board cannot be written.
        """
        if self._closing:
            raise BoardError("The board is closed; nothing was written.", "Open it again.")
        future: asyncio.Future[T] = self._loop.create_future()
        self._queue.put((fn, future))
        return await future

    def listen(self, callback: Listener) -> Callable[[], None]:
        """Hear of every batch's events in id order, on the loop, before its callers go on. Returns the unsubscribe."""
        self._listeners.append(callback)

        def unsubscribe() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return unsubscribe

    def check_identity(self) -> None:
        """Raises BoardReplaced when the file was deleted or replaced since it was opened. From then on it stays so."""
        if self._replaced is None:
            try:
                check_identity(self.path, self._identity)
            except BoardReplaced as error:
                self._replaced = error
                if self.path.exists():
                    set_log_aside(self.path, self._log)
        if self._replaced is not None:
            raise BoardReplaced(self._replaced.message, self._replaced.hint)

    async def close(self) -> None:
        """Carry out what is queued, fold the log into the file, and end the thread. May be called twice."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
        await asyncio.shield(self._ended)
        self._thread.join()

    # On the loop -------------------------------------------------------------------------------------------

    def _deliver(self, answers: list[Answer], events: tuple[Event, ...]) -> None:
        if events:
            for listener in tuple(self._listeners):
                try:
                    listener(events)
                except Exception as failure:
                    self._report(failure)
        for future, value, error in answers:
            if error is None:
                _succeed(future, value)
            else:
                _fail(future, error)

    def _report(self, error: Exception) -> None:
        if self._on_listener_error is None:
            _LOG.error("a listener of the board failed", exc_info=error)
            return
        try:
            self._on_listener_error(error)
        except Exception:
            _LOG.exception("the hook for listeners' errors failed")

    # In the thread -----------------------------------------------------------------------------------------

    def _post(self, callback: Callable[..., object], *arguments: Any) -> None:
        # The loop may be gone already when a program ends without close().
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    def _run(self) -> None:
        try:
            connection = self._connect()
        except BaseException as error:
            self._post(_fail, self._opened, board_error(error, self.path))
            self._post(_succeed, self._ended, None)
            return
        self._post(_succeed, self._opened, self._identity)
        going = True
        while going:
            jobs, going = self._take()
            if jobs:
                self._post(self._deliver, *self._commit(connection, jobs))
            # An idle writer holds no command and no row in memory.
            jobs = []
        self._finish(connection)
        self._post(_succeed, self._ended, None)

    def _connect(self) -> sqlite3.Connection:
        connection = connect_for_writing(self.path)
        self._identity, self._log = identity_of(self.path), log_identity(self.path)
        row = connection.execute("SELECT at FROM events ORDER BY id DESC LIMIT 1").fetchone()
        self._latest = 0 if row is None else row[0]
        return connection

    def _take(self) -> tuple[list[Job], bool]:
        """Whatever is queued now, at least one; False when the writer shall end after it."""
        jobs: list[Job] = []
        job = self._queue.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == self._batch_limit:
                return jobs, True
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                return jobs, True
        return jobs, False

    def _commit(self, connection: sqlite3.Connection, jobs: list[Job]) -> tuple[list[Answer], tuple[Event, ...]]:
        events: list[Event] = []
        try:
            self.check_identity()
            connection.execute("BEGIN IMMEDIATE")
            answers = [self._carry_out(connection, fn, future, events) for fn, future in jobs]
            connection.execute("COMMIT")
        except BaseException as error:
            # Nobody's command happened, so every caller is told, each with an exception of its own.
            with contextlib.suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            return [(future, None, board_error(error, self.path)) for _, future in jobs], ()
        self.batches += 1
        self.commands += len(jobs)
        return answers, tuple(events)

    def _carry_out(
        self, connection: sqlite3.Connection, fn: Command, future: "asyncio.Future[Any]", events: list[Event]
    ) -> Answer:
        tx = Transaction(connection, self._now())
        connection.execute("SAVEPOINT command")
        try:
            value = fn(tx)
            _refuse_coroutine(value)
            connection.execute("RELEASE command")
        except BaseException as error:
            if not connection.in_transaction or _primary_code(error) in _FATAL:
                raise
            connection.execute("ROLLBACK TO command")
            connection.execute("RELEASE command")
            return future, None, self._for_caller(error)
        if tx.events:
            self._latest = tx.now
            events.extend(tx.events)
        return future, value, None

    def _now(self) -> int:
        """The board's time: the wall's; while that is behind the last event, the last event's plus what has passed."""
        wall = self._clock()
        if wall >= self._latest:
            self._behind = 0
        elif wall + self._behind < self._latest:
            self._behind = self._latest - wall
        return wall + self._behind

    def _for_caller(self, error: BaseException) -> BaseException:
        if _primary_code(error) == sqlite3.SQLITE_FULL:
            return board_error(error, self.path)
        if isinstance(error, StopIteration):  # a future refuses it
            return RuntimeError(f"a command raised {error!r}")
        return error

    def _finish(self, connection: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._replaced is None:
                connection.execute(f"PRAGMA busy_timeout={_CLOSE_BUSY_MS}")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with contextlib.suppress(sqlite3.Error):
            connection.close()


def _refuse_coroutine(value: object) -> None:
    if type(value) is CoroutineType:
        value.close()
        raise TypeError("a command is a plain function: there is no await inside a transaction")


def _primary_code(error: BaseException) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _succeed(future: "asyncio.Future[Any]", value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: "asyncio.Future[Any]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
