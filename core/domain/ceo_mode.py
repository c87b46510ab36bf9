"""The one place that decides which mode the CEO is in, and why (S0-01…08). Derived, never stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.domain.entities import AgentRecord, Approval, Company
from core.domain.states import AgentStatus, ApprovalKind, ApprovalStatus, OrgStatus, Role


class CeoMode(StrEnum):
    """Exactly four (S0-02)."""

    TEAM_BUILDING = "team_building"
    AWAITING_HIRE = "awaiting_hire"
    AWAITING_ORG = "awaiting_org"
    OPERATING = "operating"


SLUGS = {mode: mode.value.replace("_", "-") for mode in CeoMode}


@dataclass(frozen=True, slots=True)
class CeoModeContext:
    """S0-03. `execution_mode` is informative: tools and mode are decoupled (S0-21)."""

    agent: AgentRecord
    company: Company
    active_agents: Sequence[AgentRecord]
    pending_approvals: Sequence[Approval]
    execution_mode: str = "interactive"


@dataclass(frozen=True, slots=True)
class CeoModeAnswer:
    """The mode and the facts that decided it, for people."""

    mode: CeoMode
    reasons: tuple[str, ...]


def resolve_ceo_mode(context: CeoModeContext) -> CeoModeAnswer:
    """The mode by S0-07's priority, first match wins. Raises ValueError for an agent that is no CEO (S0-04)."""
    if context.agent.role != Role.CEO:
        raise ValueError(f"resolve_ceo_mode was asked about {context.agent.slug}, whose role is {context.agent.role}")
    reports = [
        agent
        for agent in context.active_agents
        if agent.manager_id == context.agent.id and agent.status != AgentStatus.TERMINATED
    ]
    hires = [
        approval
        for approval in context.pending_approvals
        if approval.kind == ApprovalKind.HIRE_AGENT and approval.status == ApprovalStatus.PENDING
    ]
    team = f"{len(reports)} report{'' if len(reports) == 1 else 's'} to the CEO"
    waiting = f"{len(hires)} hire{'' if len(hires) == 1 else 's'} waiting for the operator"
    if not reports and not hires:
        return CeoModeAnswer(CeoMode.TEAM_BUILDING, (team, waiting))
    if not reports:
        return CeoModeAnswer(CeoMode.AWAITING_HIRE, (team, waiting))
    if context.company.org_status == OrgStatus.PENDING_REVIEW:
        return CeoModeAnswer(CeoMode.AWAITING_ORG, (team, "the organisation waits for the operator's review"))
    return CeoModeAnswer(CeoMode.OPERATING, (team, "the organisation is settled"))
