"""Who else works here."""

from core.agents.rehearsal.shift import Shift
from core.domain.entities import AgentRecord


async def holders(shift: Shift, role: str = "executor") -> list[AgentRecord]:
    """The active agents of a role, oldest first."""
    return await shift.find(AgentRecord, "role = :role AND status = 'active' ORDER BY id", role=role)


async def holder_of(shift: Shift, capability: str) -> AgentRecord | None:
    """The first active executor that has a capability."""
    return next((agent for agent in await holders(shift) if capability in agent.capabilities), None)
