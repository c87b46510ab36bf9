"""Drafts that the operator sent back and that came back changed: the room tells them from first ones."""

from collections.abc import Iterable, Mapping
from typing import Any

from core.domain.entities import Event

# Of each draft that was sent back: how often, and whether its text is another one since.
SENT_BACK = (
    "SELECT goal, times, EXISTS (SELECT 1 FROM events WHERE entity = 'goals' AND entity_id = goal AND id > sent"
    " AND changed ->> '$.content_hash' IS NOT NULL) AS back FROM (SELECT c.goal_id AS goal, count(*) AS times,"
    " max(e.id) AS sent FROM comments c JOIN events e ON e.entity = 'comments' AND e.entity_id = c.id"
    " AND e.kind = 'GoalSentToAuthor' WHERE c.goal_id IN (SELECT id FROM goals WHERE status = 'draft')"
    " GROUP BY c.goal_id)"
)


class CameBack:
    """Fed with events; `version` says which version of a draft waits."""

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        self._back: set[int] = set()

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Begin with what `SENT_BACK` found."""
        for row in rows:
            self._times[row["goal"]] = row["times"]
            if row["back"]:
                self._back.add(row["goal"])

    def hear(self, event: Event) -> None:
        """A draft is sent back, or its text changes."""
        if event.kind == "GoalSentToAuthor":
            goal = int(event.changed.get("goal_id") or 0)
            self._times[goal] = self._times.get(goal, 0) + 1
            self._back.discard(goal)
        elif event.entity == "goals" and event.entity_id in self._times and "content_hash" in event.changed:
            self._back.add(event.entity_id)

    def version(self, goal_id: int) -> int:
        """2 for a draft that came back once; 0 for one that was not sent back, or is with its author still."""
        return self._times[goal_id] + 1 if goal_id in self._back else 0
