"""The material of a CEO's next proposal, read from the board."""

from typing import Any

from core.blackboard.queries import ENDED_GOALS
from core.blackboard.readers import Readers
from core.domain.entities import Company
from core.domain.refill import REFILL_READ, material


async def refill_material(readers: Readers) -> dict[str, Any]:
    """What a PROPOSE run's brief holds as "refill"; see `core.domain.refill.material`."""
    companies = await readers.entities(Company, "id = 1")
    rows = await readers.all(ENDED_GOALS, limit=REFILL_READ)
    return material(companies[0].mission if companies else "", rows)
