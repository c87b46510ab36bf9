"""The log of events by a filter, page by page: newest first for people, oldest first for programs.

A page is looked for in stretches of the log, so that no read is long, its progress can be told, and it can be given up.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from core.blackboard.readers import Readers
from core.domain.entities import ENTITIES, Event
from core.domain.event_filter import ABOUT, EventFilter, Part
from core.domain.history import DECISIONS
from core.domain.records import fields_of

STRETCH = 20_000  # events that one read looks through
_TABLES = {
    "goal": "goals", "task": "tasks", "round": "rounds", "run": "runs", "agent": "agents", "question": "approvals",
}  # fmt: skip
_AT = "SELECT at FROM events WHERE id >= :id ORDER BY id LIMIT 1"
_DECISIONS = ", ".join(f"'{kind}'" for kind in sorted(DECISIONS))
Heard = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Page:
    """Events in the order they were asked for. `next` is where to go on (an event's number); None at the end."""

    events: tuple[Event, ...]
    next: int | None


class EventLog:
    """One filter over one board; the condition and the bounds of its times are worked out once."""

    def __init__(self, readers: Readers, wanted: EventFilter) -> None:
        self.wanted = wanted
        self._readers = readers
        self._where, self._values = condition(wanted)
        self._low: int | None = None

    async def older(self, before: int, limit: int, heard: Heard | None = None) -> Page:
        """At most `limit` events with a number below `before`, newest first.

        `heard` is told the number that the search has come down to. Raises BoardError.
        """
        low, high = await self._bounds()
        found: list[Event] = []
        last = await self._readers.last_event()
        place = min(before, (last if high is None else min(high, last)) + 1)
        while place > low and len(found) < limit:
            down_to = max(low, place - STRETCH)
            rows = await self._read(down_to, place, "DESC", limit - len(found))
            found += rows
            place = rows[-1].id if len(found) == limit else down_to
            if heard is not None:
                heard(place)
        return Page(tuple(found), place if place > low else None)

    async def newer(self, after: int, limit: int, heard: Heard | None = None) -> Page:
        """At most `limit` events with a number above `after`, oldest first. `next` is None when none are left now."""
        low, high = await self._bounds()
        last = await self._readers.last_event()
        high = last if high is None else min(high, last)
        found: list[Event] = []
        place = max(after, low - 1)
        while place < high and len(found) < limit:
            up_to = min(high, place + STRETCH)
            rows = await self._read(place + 1, up_to + 1, "ASC", limit - len(found))
            found += rows
            place = rows[-1].id if len(found) == limit else up_to
            if heard is not None:
                heard(place)
        return Page(tuple(found), place if place < high else None)

    async def _read(self, low: int, before: int, order: str, limit: int) -> list[Event]:
        where = f"id >= :low AND id < :before AND {self._where} ORDER BY id {order} LIMIT :limit"
        return await self._readers.events(where, low=low, before=before, limit=limit, **self._values)

    async def _bounds(self) -> tuple[int, int | None]:
        """The lowest number that may fit, and the highest if there is one. The board's time never runs backwards."""
        wanted = self.wanted
        if self._low is None:
            since = await self._first_at(wanted.since) if wanted.since is not None else 1
            self._low = max(since, wanted.first or 1)
        high = wanted.last
        if wanted.until is not None:
            until = await self._first_at(wanted.until + 1) - 1
            high = until if high is None else min(high, until)
        return self._low, high

    async def _first_at(self, at: int) -> int:
        """The number of the first event that happened then or later; one above the last when there is none."""
        low, high = 1, await self._readers.last_event() + 1
        while low < high:
            middle = (low + high) // 2
            found = await self._readers.value(_AT, id=middle)
            if found is not None and found < at:
                low = middle + 1
            else:
                high = middle
        return low


async def facts_before(readers: Readers, event: Event) -> dict[str, Any]:
    """What the fields that an event changed were before it; a field that no earlier event tells of is left out."""
    if "id" in event.changed or not event.changed:
        return {}
    names = list(event.changed)
    one = (
        "(SELECT changed -> :p{0} FROM events WHERE entity = :entity AND entity_id = :number AND id < :id"
        " AND json_type(changed, :p{0}) IS NOT NULL ORDER BY id DESC LIMIT 1) AS v{0}"
    )
    columns = ", ".join(one.format(place) for place in range(len(names)))
    paths = {f"p{place}": f'$."{name}"' for place, name in enumerate(names)}
    row = await readers.one(
        f"SELECT {columns}", entity=event.entity, number=event.entity_id, id=event.id, **paths
    ) or {}  # fmt: skip
    told = {name: row.get(f"v{place}") for place, name in enumerate(names)}
    return {name: json.loads(text) for name, text in told.items() if text is not None}


def condition(wanted: EventFilter) -> tuple[str, dict[str, Any]]:
    """A filter's parts as SQL over one row of `events`, with its parameters."""
    values: dict[str, Any] = {}
    said = []
    for place, part in enumerate(wanted.parts):
        name = f"w{place}"
        sql, value = _sql(part, name)
        if value is not None:
            values[name] = value
        said.append(f"NOT {sql}" if part.negated else sql)
    return " AND ".join(said) or "true", values


def _sql(part: Part, name: str) -> tuple[str, Any]:
    match part.key:
        case "is":
            return f"(kind IN ({_DECISIONS}))", None
        case "actor":
            return f"(actor LIKE :{name} ESCAPE '\\')", _like(part.value) + "%"
        case "kind":
            return f"(kind LIKE :{name} ESCAPE '\\')", f"%{_like(part.value)}%"
        case "":
            words = (
                f"(kind LIKE :{name} ESCAPE '\\' OR actor LIKE :{name} ESCAPE '\\' OR changed LIKE :{name} ESCAPE '\\')"
            )
            return words, f"%{_like(part.value)}%"
        case "agent" if not part.number:
            # 0 for nobody: with NULL among the pairs, the filter turned around would find nothing.
            return _about("agent", f"coalesce((SELECT id FROM agents WHERE slug = :{name}), 0)"), part.value
        case key:
            return _about(key, f":{name}"), part.number


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _about(key: str, number: str) -> str:
    """Events of a thing and of what belongs to it; `number` is SQL for its id."""
    pairs = " UNION ALL ".join([f"SELECT '{_TABLES[key]}', {number}", *_belonging(key, number)])
    sql = f"(entity, entity_id) IN ({pairs})"
    if key == "run":
        return f"({sql} OR run_id IS {number})"  # what was done by it
    if key == "agent":
        return f"({sql} OR actor IN (SELECT slug FROM agents WHERE id = {number}))"
    return f"({sql})"


def _belonging(key: str, number: str) -> Iterator[str]:
    """Queries for (entity, entity_id) of what belongs to a thing: its tasks, runs, comments, reviews, questions."""
    column = {"goal": "goal_id", "task": "task_id", "round": "round_id", "run": "run_id", "agent": "agent_id"}.get(key)
    if column is None:
        return
    tasks = f"SELECT id FROM tasks WHERE goal_id = {number}" if key == "goal" else f"SELECT {number}"
    for table, cls in ENTITIES.items():
        names = fields_of(cls)
        if key == "run" and table != "remarks":
            continue  # comments and outputs of a run come by the run that did them
        if column in names:
            yield f"SELECT '{table}', id FROM {table} WHERE {column} = {number}"
        if key == "goal" and "task_id" in names:
            yield f"SELECT '{table}', id FROM {table} WHERE task_id IN ({tasks})"
    if key in ("goal", "task"):
        yield f"SELECT 'reviews', id FROM reviews WHERE subject = 'task' AND subject_id IN ({tasks})"
        tags = f"SELECT 'task:' || id FROM tasks WHERE id IN ({tasks})"
        yield f"SELECT 'approvals', id FROM approvals WHERE entity IN ({tags})"
    if key == "goal":
        yield f"SELECT 'reviews', id FROM reviews WHERE subject = 'goal' AND subject_id = {number}"
    if key != "task":
        yield f"SELECT 'approvals', id FROM approvals WHERE entity = '{key}:' || {number}"
    if key in ("goal", "agent"):
        yield f"SELECT 'budgets', id FROM budgets WHERE scope = '{key}' AND scope_id = {number}"


assert _TABLES.keys() == ABOUT.keys()
