"""What a command sees of the database: reads, and writes that record their event in the same transaction.

Every insert and update of an entity goes through `insert` or `update`, so the tables are a fold of the events.
"""

import sqlite3
from collections.abc import Mapping
from typing import Any, TypeVar

from core.blackboard.rows import as_json, changed_entity, columns, from_values, maker, per_class, stored
from core.blackboard.search import SEARCHED, place_of, words_of
from core.domain.entities import Entity, Event
from core.domain.errors import Conflict, NotFound
from core.domain.records import fields_of

E = TypeVar("E", bound=Entity)

COUNTED = frozenset({"goals", "tasks", "runs", "approvals", "rounds", "agents"})
_TIMES = frozenset({"created_at", "updated_at", "queued_at", "verified_at", "progress_at"})


class Transaction:
    """One command inside the writer's transaction. `now` is the board's time in ms and never runs backwards."""

    def __init__(self, connection: sqlite3.Connection, now: int) -> None:
        self.connection = connection
        self.now = now
        self.actor = "system"
        self.run_id: int | None = None
        self.cause: int | None = None
        self.events: list[Event] = []

    # Reads -------------------------------------------------------------------------------------------------

    def one(self, sql: str, **parameters: Any) -> dict[str, Any] | None:
        """The first row of a query as a dict, or None."""
        cursor = self.connection.execute(sql, parameters)
        row = cursor.fetchone()
        return None if row is None else dict(zip((c[0] for c in cursor.description), row, strict=True))

    def all(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        """All rows of a query as dicts."""
        cursor = self.connection.execute(sql, parameters)
        names = [c[0] for c in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def value(self, sql: str, **parameters: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def find(self, cls: type[E], entity_id: int | None) -> E | None:
        """The entity with this id, or None."""
        row = self.connection.execute(_by_id(cls), (entity_id,)).fetchone()
        return None if row is None else maker(cls)(row)

    def get(self, cls: type[E], entity_id: int) -> E:
        """The entity with this id. Raises NotFound."""
        found = self.find(cls, entity_id)
        if found is None:
            raise NotFound(
                f"There is no {cls.letter or cls.table + ' '}{entity_id} on this board.",
                "List what there is and use an id from it.",
            )
        return found

    def select(self, cls: type[E], where: str, **parameters: Any) -> list[E]:
        """Entities for a condition written by us (it may end with ORDER BY or LIMIT); values only as parameters."""
        cursor = self.connection.execute(f"SELECT {columns(cls)} FROM {cls.table} WHERE {where}", parameters)
        return [maker(cls)(row) for row in cursor]

    # Writes ------------------------------------------------------------------------------------------------

    def insert(self, cls: type[E], event: str, **values: Any) -> E:
        """A new row and its event. `id`, `version` and the usual times are filled in, as are fields that a later
        schema added; another field left out is None."""
        row = {**_usual(cls, self.now), **values}
        cursor = self.connection.execute(_insertion(cls, tuple(row)), [stored(value) for value in row.values()])
        row["id"] = cursor.lastrowid
        entity = from_values(cls)(row)
        self._count(cls, None, entity)
        self._index(cls, entity)
        self.record(event, cls.table, entity.id, row)
        return entity

    def update(
        self, entity: E, event: str, /, *, touch: bool = True, guard: str = "1 = 1",
        told: Mapping[str, Any] | None = None, **changes: Any,
    ) -> E:  # fmt: skip
        """Changed fields of a row and their event; compare-and-swap on `version`.

        `touch=False` keeps `updated_at` (bookkeeping that is no edit, S1-16).
        `told` are facts that the event tells beyond the row's fields, e.g. the mode of a CEO's run (C-13).
        `guard` is a further condition, written by us, that must hold in the same statement.
        Raises Conflict when somebody else changed the row after `entity` was read.
        """
        cls = type(entity)
        names = fields_of(cls)
        expected: int = getattr(entity, "version")  # noqa: B009 - not every Entity is mutable
        changes["version"] = expected + 1
        if touch and "updated_at" in names:
            changes["updated_at"] = self.now
        assigned = [stored(value) for value in changes.values()]
        cursor = self.connection.execute(_change(cls, tuple(changes), guard), (*assigned, entity.id, expected))
        if cursor.rowcount != 1:
            raise Conflict(f"{entity.name_tag} changed meanwhile; nothing was written.", "Read it again.")
        changed = changed_entity(entity, changes)
        self._count(cls, entity, changed)
        if any(name in SEARCHED.get(cls.table, ()) for name in changes):
            self._index(cls, changed)
        self.record(event, cls.table, entity.id, {**told, **changes} if told else changes)
        return changed

    def delete(self, entity: Entity, event: str) -> None:
        """Take a row away, with its words; its event names no id. Only for what the board keeps a copy of."""
        cls = type(entity)
        self.connection.execute(f"DELETE FROM {cls.table} WHERE id = ?", (entity.id,))
        if cls.table in SEARCHED:
            self.connection.execute("DELETE FROM search WHERE rowid = ?", (place_of(cls.table, entity.id),))
        self.record(event, cls.table, entity.id, {"id": None})

    def record(self, kind: str, entity: str, entity_id: int, changed: dict[str, Any]) -> Event:
        """Append an event. Used directly only for happenings that change no row (e.g. a heartbeat)."""
        cursor = self.connection.execute(
            "INSERT INTO events(at, actor, run_id, entity, entity_id, kind, changed, cause)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (self.now, self.actor, self.run_id, entity, entity_id, kind, as_json(changed), self.cause),
        )
        event = Event(
            id=cursor.lastrowid or 0,
            at=self.now,
            actor=self.actor,
            run_id=self.run_id,
            entity=entity,
            entity_id=entity_id,
            kind=kind,
            changed=changed,
            cause=self.cause,
        )
        self.events.append(event)
        return event

    # Kept beside the tables ----------------------------------------------------------------------------------

    def count(self, entity: str, *statuses: str) -> int:
        """How many rows of a table are in any of these statuses, from the kept counts."""
        marks = ", ".join("?" for _ in statuses)
        row = self.connection.execute(
            f"SELECT coalesce(sum(n), 0) FROM counts WHERE entity = ? AND status IN ({marks})",
            (entity, *statuses),
        ).fetchone()
        return int(row[0])

    def _count(self, cls: type[Entity], before: Entity | None, after: Entity) -> None:
        if cls.table not in COUNTED:
            return
        old = None if before is None else getattr(before, "status")  # noqa: B009
        new = getattr(after, "status")  # noqa: B009
        if old == new:
            return
        for status, step in ((old, -1), (new, 1)):
            if status is not None:
                self.connection.execute(
                    "INSERT INTO counts(entity, status, n) VALUES (?, ?, ?)"
                    " ON CONFLICT(entity, status) DO UPDATE SET n = n + excluded.n",
                    (cls.table, str(status), step),
                )

    def _index(self, cls: type[Entity], entity: Entity) -> None:
        names = SEARCHED.get(cls.table)
        if names is None:
            return
        text = "\n".join(value for name in names if (value := getattr(entity, name)))
        place = place_of(cls.table, entity.id)
        if getattr(entity, "version", 1) > 1:
            self.connection.execute("DELETE FROM search WHERE rowid = ?", (place,))
        self.connection.execute(
            "INSERT INTO search(rowid, words, entity, entity_id) VALUES (?, ?, ?, ?)",
            (place, words_of(text), cls.table, entity.id),
        )


def _usual(cls: type[Entity], now: int) -> dict[str, Any]:
    row: dict[str, Any] = {**dict.fromkeys(fields_of(cls)), **cls.added}
    for name in _TIMES & row.keys():
        row[name] = now
    if "version" in row:
        row["version"] = 1
    return row


# Texts of statements, made once: the connection finds a prepared statement by its text.


@per_class
def _by_id(cls: type[Entity]) -> str:
    return f"SELECT {columns(cls)} FROM {cls.table} WHERE id = ?"


@per_class
def _insertion(cls: type[Entity], names: tuple[str, ...]) -> str:
    return f"INSERT INTO {cls.table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


@per_class
def _change(cls: type[Entity], names: tuple[str, ...], guard: str) -> str:
    assignments = ", ".join(f"{name} = ?" for name in names)
    return f"UPDATE {cls.table} SET {assignments} WHERE id = ? AND version = ? AND ({guard})"
