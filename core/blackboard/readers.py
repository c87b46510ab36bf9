"""Reading: a few read-only connections, and every read is over before its rows are looked at.

A read transaction that stays open would let the write-ahead log grow without limit.
"""

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from core.blackboard.files import board_error, uri_of
from core.blackboard.fold import event_of
from core.blackboard.rows import maker
from core.blackboard.search import SEARCHED, query_of, snippet_of
from core.domain.entities import (
    AgentRecord,
    Approval,
    Budget,
    Company,
    Decision,
    Entity,
    Event,
    Experience,
    Goal,
    Output,
    Review,
    Round,
    Run,
    Task,
    TaskDep,
    Turn,
)
from core.domain.errors import BoardError
from core.domain.records import fields_of

E = TypeVar("E", bound=Entity)
RowMaker = Callable[[sqlite3.Cursor, tuple[Any, ...]], Any]

POOL = 2
RECENT_RUNS = 500
_EVENTS = "SELECT id, at, actor, run_id, entity, entity_id, kind, changed, cause FROM events"
_EVENTS_AFTER = f"{_EVENTS} WHERE id > :after ORDER BY id LIMIT :limit"
_LAST_EVENT = "SELECT coalesce(max(id), 0) FROM events"
_SEARCH = "SELECT entity, entity_id FROM search WHERE search MATCH :query ORDER BY rank LIMIT :limit"
_SHOWN_RUNS = (
    "id IN (SELECT id FROM runs WHERE status IN ('queued', 'starting', 'running')"
    f" UNION SELECT id FROM (SELECT id FROM runs ORDER BY id DESC LIMIT {RECENT_RUNS}))"
)
# What the room keeps in memory, referred-to rows first.
_KEPT: tuple[tuple[type[Entity], str], ...] = (
    (Company, "true"),
    (AgentRecord, "true"),
    (Goal, "true"),
    (Round, "true"),
    (Task, "true"),
    (TaskDep, "true"),
    (Run, _SHOWN_RUNS),
    (Approval, "true"),
    (Output, "true"),
    (Review, "true"),
    (Turn, "true"),
    (Decision, "true"),
    (Budget, "true"),
    (Experience, "true"),
)


class Readers:
    """A small pool of connections to one board. Every method raises BoardError and its kinds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._all: list[aiosqlite.Connection] = []
        self._free: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        self._watch: aiosqlite.Connection | None = None
        self._closed = False

    @classmethod
    async def open(cls, path: Path, pool: int = POOL) -> "Readers":
        """Connections to an existing, migrated board."""
        readers = cls(path)
        try:
            # data_version compares on one connection only, so it has one of its own.
            readers._watch = await readers._connect()
            for _ in range(pool):
                readers._free.put_nowait(await readers._connect())
        except BaseException as error:
            await readers.close()
            if isinstance(error, sqlite3.Error):
                raise board_error(error, path) from error
            raise
        return readers

    async def all(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        """All rows of a query as dicts."""
        rows: list[dict[str, Any]] = await self._fetch(sql, parameters, _dicts())
        return rows

    async def one(self, sql: str, **parameters: Any) -> dict[str, Any] | None:
        """The first row of a query as a dict, or None."""
        rows = await self.all(sql, **parameters)
        return rows[0] if rows else None

    async def value(self, sql: str, **parameters: Any) -> Any:
        """The first column of the first row, or None."""
        rows = await self._fetch(sql, parameters, None)
        return rows[0][0] if rows else None

    async def entities(self, cls: type[E], where: str, **parameters: Any) -> list[E]:
        """Entities for a condition written by us (it may end with ORDER BY or LIMIT); values only as parameters."""
        rows: list[E] = await self._fetch(_select(cls, where), parameters, _entities(cls))
        return rows

    async def events_after(self, event_id: int, limit: int = 1000) -> list[Event]:
        """The events that follow this one, oldest first, at most `limit`."""
        events: list[Event] = await self._fetch(_EVENTS_AFTER, {"after": event_id, "limit": limit}, _event)
        return events

    async def events(self, where: str, **parameters: Any) -> list[Event]:
        """Events for a condition written by us (it may end with ORDER BY or LIMIT); values only as parameters."""
        found: list[Event] = await self._fetch(f"{_EVENTS} WHERE {where}", parameters, _event)
        return found

    async def last_event(self) -> int:
        """The id of the newest event; 0 on a new board."""
        return int(await self.value(_LAST_EVENT))

    async def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        if self._closed or self._watch is None:
            raise _closed()
        try:
            rows = list(await self._watch.execute_fetchall("PRAGMA data_version"))
        except (sqlite3.Error, ValueError) as error:
            raise self._mapped(error) from error
        return int(rows[0][0])

    async def search(self, text: str, limit: int = 50) -> list[dict[str, Any]]:
        """Rows in which every word of `text` occurs, best first: {entity, entity_id, snippet}. No word, no rows."""
        query = query_of(text)
        hits = await self.all(_SEARCH, query=query, limit=limit) if query else []
        wanted: dict[str, list[int]] = {}
        for hit in hits:
            wanted.setdefault(hit["entity"], []).append(hit["entity_id"])
        texts = {table: await self._texts(table, ids) for table, ids in wanted.items()}
        return [{**hit, "snippet": snippet_of(texts[hit["entity"]][hit["entity_id"]], text)} for hit in hits]

    async def snapshot(self) -> tuple[int, list[Entity]]:
        """The last event's id, and all rows which the room keeps in memory, as they were at that event.

        Outputs come without their content (empty where there is one); runs are the live and the last 500.
        """
        # A caller that is cancelled must not leave the read transaction open on a shared connection.
        return await asyncio.shield(asyncio.ensure_future(self._snapshot()))

    async def close(self) -> None:
        """Close every connection. May be called twice."""
        self._closed = True
        open_now, self._all = self._all, []
        for connection in open_now:
            with contextlib.suppress(sqlite3.Error, ValueError):
                await connection.close()

    async def _texts(self, table: str, ids: list[int]) -> dict[int, str]:
        # The index holds pairs of characters; people want the sentence.
        text = " || char(10) || ".join(f"coalesce({name}, '')" for name in SEARCHED[table])
        sql = f"SELECT id, {text} AS text FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))"
        return {row["id"]: row["text"] for row in await self.all(sql, ids=json.dumps(ids))}

    async def _snapshot(self) -> tuple[int, list[Entity]]:
        found: list[Entity] = []
        async with self._borrowed() as connection:
            connection.row_factory = None
            await connection.execute_fetchall("BEGIN")
            try:
                rows = list(await connection.execute_fetchall(_LAST_EVENT))
                for cls, where in _KEPT:
                    connection.row_factory = _entities(cls)  # type: ignore[assignment]
                    found.extend(await connection.execute_fetchall(_select(cls, where, light=True)))  # type: ignore[arg-type]
            finally:
                await connection.rollback()
        return int(rows[0][0]), found

    async def _fetch(self, sql: str, parameters: dict[str, Any], make: RowMaker | None) -> list[Any]:
        async with self._borrowed() as connection:
            # Rows are made in the connection's thread, in the same hop.
            connection.row_factory = make  # type: ignore[assignment]
            return list(await connection.execute_fetchall(sql, parameters))

    @contextlib.asynccontextmanager
    async def _borrowed(self) -> AsyncIterator[aiosqlite.Connection]:
        if self._closed:
            raise _closed()
        connection = await self._free.get()
        try:
            yield connection
        except (sqlite3.Error, ValueError) as error:
            raise self._mapped(error) from error
        finally:
            self._free.put_nowait(connection)

    async def _connect(self) -> aiosqlite.Connection:
        # Read-only also keeps the last reader that leaves from checkpointing: only the writer does that.
        connection = aiosqlite.connect(uri_of(self.path, "ro"), uri=True, isolation_level=None, cached_statements=256)
        # Its thread would keep a crashed program alive for ever.
        connection._thread.daemon = True
        await connection
        self._all.append(connection)
        for pragma in ("busy_timeout=5000", "query_only=1", "wal_autocheckpoint=0", "cache_size=-8000"):
            await connection.execute_fetchall(f"PRAGMA {pragma}")
        return connection

    def _mapped(self, error: Exception) -> Exception:
        if isinstance(error, sqlite3.DatabaseError) and not _is_ours(error):
            return board_error(error, self.path)
        # aiosqlite says ValueError when its connection was closed meanwhile.
        return _closed() if self._closed and isinstance(error, ValueError) else error


def _is_ours(error: sqlite3.DatabaseError) -> bool:
    # Wrong SQL or a wrong parameter is a fault of the program, not of the board.
    return isinstance(error, sqlite3.ProgrammingError) or getattr(error, "sqlite_errorcode", 1) == sqlite3.SQLITE_ERROR


def _closed() -> BoardError:
    return BoardError("The board is closed.", "Open it again.")


def _select(cls: type[Entity], where: str, light: bool = False) -> str:
    columns = ", ".join(
        "CASE WHEN content IS NOT NULL THEN '' END" if light and name == "content" else name for name in fields_of(cls)
    )
    return f"SELECT {columns} FROM {cls.table} WHERE {where}"


def _dicts() -> RowMaker:
    # Of each cursor anew: one that was given up may still run when its connection is used again.
    of: list[Any] = [None, []]

    def make(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
        if of[0] is not cursor:
            of[:] = [cursor, [column[0] for column in cursor.description]]
        return dict(zip(of[1], row, strict=True))

    return make


def _entities(cls: type[Entity]) -> RowMaker:
    make = maker(cls)
    return lambda _cursor, row: make(row)


def _event(_cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> Event:
    return event_of(row)
