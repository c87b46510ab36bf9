"""The tables as a fold of the events: for the room's memory, for the past, and to prove that nothing is missing."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

from core.blackboard.rows import changed_entity, columns, from_values, maker
from core.domain.entities import ENTITIES, Entity, Event
from core.domain.records import fields_of

E = TypeVar("E", bound=Entity)
_SHOWN = 100


class Tables:
    """All rows by table name and id, kept up to date by `apply`."""

    def __init__(self, entities: Iterable[Entity] = ()) -> None:
        self.rows: dict[str, dict[int, Entity]] = {name: {} for name in ENTITIES}
        for entity in entities:
            self.rows[entity.table][entity.id] = entity

    def apply(self, event: Event) -> Entity | None:
        """Take in one event; the row after it, or None when it concerns no row that is known here, or takes it away.

        Events of things that are no entities ("ticker"), and keys that are no fields, are left aside.
        """
        cls = ENTITIES.get(event.entity)
        if cls is None:
            return None
        rows = self.rows[event.entity]
        names = fields_of(cls)
        changed = {name: value for name, value in event.changed.items() if name in names}
        known = rows.get(event.entity_id)
        if "id" in changed and changed["id"] is None:
            rows.pop(event.entity_id, None)
            return None
        if "id" in changed:
            # Only a new row's event names its id; one of an older schema lacks what came later.
            entity = from_values(cls)({**cls.added, **changed})
        elif known is None:
            return None
        else:
            entity = changed_entity(known, changed) if changed else known
        rows[event.entity_id] = entity
        return entity

    def copy(self) -> "Tables":
        """The same rows in tables of their own; rows never change, so they are shared."""
        tables = Tables()
        tables.rows = {name: dict(rows) for name, rows in self.rows.items()}
        return tables

    def get(self, cls: type[E], entity_id: int | None) -> E | None:
        """The row, or None."""
        return cast("E | None", self.rows[cls.table].get(entity_id)) if entity_id is not None else None

    def all(self, cls: type[E]) -> list[E]:
        """Every row of a table, in the order in which they came."""
        return cast(list[E], list(self.rows[cls.table].values()))

    def __getitem__(self, cls: type[E]) -> dict[int, E]:
        return cast(dict[int, E], self.rows[cls.table])

    def __iter__(self) -> Iterator[Entity]:
        for rows in self.rows.values():
            yield from rows.values()

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.rows.values())


def fold(events: Iterable[Event]) -> Tables:
    """The tables after these events, from nothing."""
    tables = Tables()
    for event in events:
        tables.apply(event)
    return tables


def event_of(row: Iterable[Any]) -> Event:
    """An event from a row of its table, with its columns in their order."""
    number, at, actor, run_id, entity, entity_id, kind, changed, cause = row
    return Event(
        id=number,
        at=at,
        actor=actor,
        run_id=run_id,
        entity=entity,
        entity_id=entity_id,
        kind=kind,
        changed=json.loads(changed),
        cause=cause,
    )


def rebuild_and_compare(connection: sqlite3.Connection) -> list[str]:
    """What differs between the tables and the fold of all events, a line a difference; empty when they agree."""
    cursor = connection.execute(
        "SELECT id, at, actor, run_id, entity, entity_id, kind, changed, cause FROM events ORDER BY id"
    )
    tables = fold(event_of(row) for row in cursor)
    found: list[str] = []
    for name, cls in ENTITIES.items():
        found.extend(_differences(connection, cls, tables.rows[name]))
    if len(found) > _SHOWN:
        return [*found[:_SHOWN], f"and {len(found) - _SHOWN} more"]
    return found


def _differences(connection: sqlite3.Connection, cls: type[Entity], folded: dict[int, Entity]) -> Iterator[str]:
    names = fields_of(cls)
    left = dict(folded)
    for row in connection.execute(f"SELECT {columns(cls)} FROM {cls.table} ORDER BY id"):
        stored = maker(cls)(row)
        told = left.pop(stored.id, None)
        if told is None:
            yield f"{cls.table} {stored.id}: in the table, but no event tells of it"
        elif told != stored:
            for name in names:
                before, after = getattr(told, name), getattr(stored, name)
                if before != after:
                    yield f"{cls.table} {stored.id}: {name} is {after!r}, but the events say {before!r}"
    for number in left:
        yield f"{cls.table} {number}: events tell of it, but it is not in the table"
