"""Hires and changes of the organisation that wait for the operator's word: what their approvals carry out."""

from typing import Any

from core.commands.company import COMPANY_ID, HireAgent, hire_agent
from core.commands.registry import Act, build
from core.domain.entities import AgentRecord, Company
from core.domain.errors import Conflict, Invalid
from core.domain.states import OrgStatus, Role


def prepare_hire(act: Act, entity: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The whole hire that the operator is asked about. Raises Invalid or Conflict for one that could never be (F26)."""
    if entity != f"company:{COMPANY_ID}":
        raise Invalid(f"A hire is about the company, not about {entity}.", f"Ask about company:{COMPANY_ID}.")
    if "manager" not in payload and act.agent is not None and act.agent.role == Role.CEO:
        payload = {**payload, "manager": act.agent.slug}
    hire = build(HireAgent, **payload)
    taken = act.tx.select(AgentRecord, "slug = :slug OR name = :name", slug=hire.slug, name=hire.name)
    if taken:
        raise Conflict(
            f"{taken[0].name_tag} {taken[0].name} ({taken[0].slug}) already has that name.", "Choose another."
        )
    if hire.role == Role.CEO and act.tx.select(AgentRecord, "role = 'ceo' AND status <> 'terminated'"):
        raise Conflict("The company has a CEO.", "A company has one CEO.")
    return hire.model_dump(mode="json")


def carry_out_hire(act: Act, payload: dict[str, Any]) -> str:
    """The agent's row appears now, not before (C-14)."""
    return f"hired {hire_agent(act, build(HireAgent, **payload))['slug']}"


def review_organisation(act: Act, status: OrgStatus) -> None:
    """Mark the organisation as waiting for the operator's review, or as settled (S0-07)."""
    company = act.tx.get(Company, COMPANY_ID)
    if company.org_status != status:
        waits = status == OrgStatus.PENDING_REVIEW
        act.tx.update(company, "OrganisationQuestioned" if waits else "OrganisationSettled", org_status=status)
