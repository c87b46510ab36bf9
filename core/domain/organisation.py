"""Who reports to whom, as a chart of plain rows; and what a change makes of it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.domain.entities import AgentRecord
from core.domain.states import AgentStatus

ChartRow = dict[str, Any]
"""{"agent", "name", "role", "manager" (a slug or None), "duties"}"""


def chart_of(agents: Iterable[AgentRecord]) -> list[ChartRow]:
    """The rows of all agents that are not retired, oldest first."""
    known = {agent.id: agent for agent in agents if agent.status != AgentStatus.TERMINATED}
    return [
        {
            "agent": agent.slug, "name": agent.name, "role": str(agent.role),
            "manager": known[agent.manager_id].slug if agent.manager_id in known else None, "duties": agent.duties,
        }
        for agent in sorted(known.values(), key=lambda agent: agent.id)
    ]  # fmt: skip


def changed_chart(chart: Sequence[ChartRow], changes: Iterable[Mapping[str, Any]]) -> list[ChartRow]:
    """The chart after the changes: {"agent", "manager" (None: as it is, "": nobody), "duties" (None: as they are)}."""
    rows = {row["agent"]: dict(row) for row in chart}
    for change in changes:
        row = rows[change["agent"]]
        if change.get("manager") is not None:
            row["manager"] = change["manager"] or None
        if change.get("duties") is not None:
            row["duties"] = change["duties"]
    return list(rows.values())


def same_chart(one: Iterable[Mapping[str, Any]], other: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the same agents report to the same ones with the same duties; names on the door do not count."""
    return _lines(one) == _lines(other)


def _lines(chart: Iterable[Mapping[str, Any]]) -> set[tuple[Any, ...]]:
    return {(row["agent"], row.get("manager"), row.get("duties", "")) for row in chart}


def cycle_in(chart: Iterable[Mapping[str, Any]]) -> list[str]:
    """Agents that would report to themselves, directly or through others, from one to itself; empty if none do."""
    managers = {row["agent"]: row["manager"] for row in chart}
    done: set[str] = set()
    for start in managers:
        path: list[str] = []
        slug: str | None = start
        while slug is not None and slug not in done and slug not in path:
            path.append(slug)
            slug = managers.get(slug)
        if slug is not None and slug in path:
            return [*path[path.index(slug) :], slug]
        done.update(path)
    return []


def differences(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """What changes, a line each, for people."""
    was = {row["agent"]: row for row in before}
    lines = []
    for row in after:
        old = was.get(row["agent"], {})
        if old.get("manager") != row["manager"]:
            lines.append(
                f"{row['agent']} reports to {row['manager'] or 'nobody'} (was {old.get('manager') or 'nobody'})"
            )
        if old.get("duties", "") != row["duties"]:
            lines.append(f"{row['agent']}: {row['duties'] or 'no duties of its own'}")
    return lines


def drawn(chart: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """The rows from the top down, each below its manager, with its depth. Every row comes exactly once."""
    known = {row["agent"] for row in chart}
    below: dict[str | None, list[Mapping[str, Any]]] = {}
    for row in chart:
        below.setdefault(row["manager"] if row["manager"] in known else None, []).append(row)
    lines: list[tuple[int, Mapping[str, Any]]] = []
    seen: set[str] = set()
    # Rows of a circle have no top: they follow at the end.
    for first in (*below.get(None, ()), *chart):
        waiting = [(0, first)]
        while waiting:
            depth, row = waiting.pop()
            if row["agent"] in seen:
                continue
            seen.add(row["agent"])
            lines.append((depth, row))
            waiting += [(depth + 1, each) for each in reversed(below.get(row["agent"], []))]
    return lines
