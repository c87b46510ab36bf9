"""Since when and why agents are paused or gone, from the event that says so: the row tells only that they are."""

from dataclasses import dataclass

from core.blackboard.readers import Readers

_LAST = (
    "SELECT entity_id AS agent, at, coalesce(changed ->> '$.reason', '') AS reason FROM events WHERE id IN"
    " (SELECT max(id) FROM events WHERE entity = 'agents' AND kind IN ('AgentPaused', 'AgentRetired')"
    " AND entity_id IN (SELECT id FROM agents WHERE status <> 'active') GROUP BY entity_id)"
)


@dataclass(frozen=True, slots=True)
class Left:
    """An agent that is not at work: since when (ms UTC), and the reason that was given."""

    since: int
    reason: str


async def left_since(readers: Readers) -> dict[int, Left]:
    """By the agent's id, for those that are paused or have retired."""
    return {row["agent"]: Left(row["at"], row["reason"]) for row in await readers.all(_LAST)}
