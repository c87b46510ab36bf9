"""The board as it was after any of its events: tables folded from the events, off the loop, with progress, stoppable.

Forwards from tables that were kept on the way, or backwards from the board as it is: there only what was touched since
is folded anew, by its own events. So the near past is there at once, and a step costs a step.
"""

import contextlib
import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.blackboard.files import board_error, uri_of
from core.blackboard.fold import Tables
from core.blackboard.rows import maker
from core.domain.entities import ENTITIES, Entity, Event
from core.domain.records import fields_of

PAGE = 2_000  # events a read
SPREAD = 16  # tables kept over the whole log
NEAR_KEPT = 4  # tables kept of the last places
BACK_COSTS = 50  # an event that is taken back costs as much as so many that are folded
# An output's text is read when somebody looks at it.
_CHANGED = (
    "CASE WHEN entity = 'outputs' AND json_type(changed, '$.content') = 'text'"
    " THEN json_replace(changed, '$.content', '') ELSE changed END"
)
_FORWARDS = f"SELECT id, entity, entity_id, {_CHANGED} FROM events WHERE id > ? AND id <= ? ORDER BY id LIMIT {PAGE}"
_TOUCHED = "SELECT DISTINCT entity, entity_id FROM events WHERE id > ? AND id <= ?"
_OF_ONE = (
    f"SELECT id, entity, entity_id, {_CHANGED} FROM events WHERE entity = ? AND entity_id = ? AND id <= ? ORDER BY id"
)


class Stopped(Exception):
    """Whoever asked for the past does not want it any more; what was folded so far is kept for the next time."""


@dataclass(slots=True)
class Folding:
    """How far a fold is: read by the one who waits while another thread writes; `stopped` goes the other way."""

    done: int = 0
    total: int = 0
    stopped: bool = False

    def step(self, by: int = 1) -> None:
        """Count what is done. Raises Stopped."""
        self.done += by
        if self.stopped:
            raise Stopped


class Past:
    """Folds one board's log. Blocks: call it in a thread, one call at a time. `tables` are those that are folded."""

    def __init__(self, path: Path, tables: Collection[str] = frozenset(ENTITIES)) -> None:
        self._path = path
        self._wanted = frozenset(tables)
        self._spread: dict[int, Tables] = {0: Tables()}
        self._near: dict[int, Tables] = {}

    def at(self, number: int, folding: Folding | None = None) -> Tables:
        """The rows after the event with this number, in tables of the caller's own. Raises Stopped and BoardError."""
        folding = folding or Folding()
        try:
            with contextlib.closing(
                sqlite3.connect(uri_of(self._path, "ro"), uri=True, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA busy_timeout=5000")
                return self._nearest(connection, number, folding)
        except sqlite3.Error as error:
            raise board_error(error, self._path) from error

    def _nearest(self, connection: sqlite3.Connection, number: int, folding: Folding) -> Tables:
        last = connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0]
        below = max(at for at in (*self._spread, *self._near) if at <= number)
        above = min((at for at in (*self._spread, *self._near) if at >= number), default=None)
        if above is None and number <= last and (last - number) * BACK_COSTS < number - below:
            above = self._keep_now(connection)
        if above is not None and (above == number or (above - number) * BACK_COSTS < number - below):
            tables = self._backwards(connection, self._kept(above), above, number, folding)
        else:
            tables = self._forwards(connection, self._kept(below), below, number, last, folding)
        return self._keep(number, tables)

    def _kept(self, place: int) -> Tables:
        return (self._near if place in self._near else self._spread)[place].copy()

    def _keep_now(self, connection: sqlite3.Connection) -> int:
        """Read the tables as they are and keep them; the number of the last event that they hold."""
        connection.execute("BEGIN")
        try:
            last = int(connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()[0])
            self._keep(last, Tables(self._rows(connection)))
        finally:
            connection.execute("ROLLBACK")
        return last

    def _rows(self, connection: sqlite3.Connection) -> Iterable[Entity]:
        for name in self._wanted:
            cls = ENTITIES[name]
            columns = ", ".join(
                "CASE WHEN content IS NOT NULL THEN '' END" if name == "outputs" and column == "content" else column
                for column in fields_of(cls)
            )
            yield from map(maker(cls), connection.execute(f"SELECT {columns} FROM {name} ORDER BY id"))

    def _forwards(
        self, connection: sqlite3.Connection, tables: Tables, place: int, number: int, last: int, folding: Folding
    ) -> Tables:
        span = max(5 * PAGE, last // SPREAD)
        folding.total, folding.done = number - place, 0
        changes = _Changes()
        try:
            while place < number:
                # What is spread is kept at exactly these places, wherever a fold began.
                up_to = min(number, (place // span + 1) * span)
                rows = connection.execute(_FORWARDS, (place, up_to)).fetchall()
                changes.take(row for row in rows if row[1] in self._wanted)
                before, place = place, rows[-1][0] if len(rows) == PAGE else up_to
                if place % span == 0:
                    changes.put_into(tables)
                    self._keep_spread(place, tables)
                folding.step(place - before)
        except Stopped:
            changes.put_into(tables)
            self._keep(place, tables)
            raise
        changes.put_into(tables)
        return tables

    def _backwards(
        self, connection: sqlite3.Connection, tables: Tables, above: int, number: int, folding: Folding
    ) -> Tables:
        touched = [each for each in connection.execute(_TOUCHED, (number, above)) if each[0] in self._wanted]
        folding.total, folding.done = len(touched), 0
        for entity, entity_id in touched:
            changes = _Changes()
            rows = connection.execute(_OF_ONE, (entity, entity_id, number))
            while page := rows.fetchmany(PAGE):
                changes.take(page)
                folding.step(0)
            tables.rows[entity].pop(entity_id, None) if not changes.found else changes.put_into(tables)
            folding.step()
        return tables

    def _keep(self, place: int, tables: Tables) -> Tables:
        self._near.pop(place, None)
        self._near[place] = tables.copy()
        while len(self._near) > NEAR_KEPT:
            del self._near[next(iter(self._near))]
        return tables

    def _keep_spread(self, place: int, tables: Tables) -> None:
        self._spread[place] = tables.copy()
        while len(self._spread) > 2 * SPREAD:
            places = sorted(self._spread)
            crowded = min(range(1, len(places)), key=lambda each: places[each] - places[each - 1])
            del self._spread[places[crowded]]


class _Changes:
    """What many events change, put together before rows are made of it: a row costs more than its event."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], dict[str, Any]] = {}

    def take(self, rows: Iterable[tuple[int, str, int, str]]) -> None:
        for _, entity, entity_id, text in rows:
            changed: dict[str, Any] = json.loads(text)
            known = self.found.get((entity, entity_id))
            if known is None or "id" in changed:
                self.found[(entity, entity_id)] = changed
            elif known.get("id", entity_id) is not None:
                known.update(changed)

    def put_into(self, tables: Tables) -> None:
        for (entity, entity_id), changed in self.found.items():
            tables.apply(
                Event(id=0, at=0, actor="", run_id=None, entity=entity, entity_id=entity_id, kind="", changed=changed,
                      cause=None)
            )  # fmt: skip
        self.found = {}
