"""Who reports to whom: changes that the CEO proposes and the operator decides, shown as the chart before and after."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.commands.approvals import answers, ask, consume_as_system
from core.commands.company import COMPANY_ID
from core.commands.registry import Act, Answer, Command, Reason, Slug, Text, build, handles, letters
from core.commands.telling import tell_author
from core.domain.entities import AgentRecord, Approval, Company
from core.domain.errors import Conflict, Invalid
from core.domain.mentions import nearest
from core.domain.organisation import ChartRow, changed_chart, chart_of, cycle_in, same_chart
from core.domain.states import AgentStatus, ApprovalKind, ApprovalStatus, OrgStatus

_ENTITY = f"company:{COMPANY_ID}"


class OrgChange(BaseModel):
    """What changes for one agent. What is left out stays."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    agent: Slug
    manager: Slug | Literal[""] | None = Field(None, description="Who it is to report to; empty: nobody")
    duties: Text | None = Field(None, max_length=2000, description="What it is responsible for")


class ProposeOrganisation(Command):
    """Ask the operator for other reporting lines and duties. Until they decide the organisation is under review."""

    who = letters("X")
    example = {"changes": ({"agent": "ida", "manager": "cora"},), "why": "The coordinator plans her work."}
    changes: tuple[OrgChange, ...] = Field(min_length=1, max_length=200)
    why: Reason = Field(description="What is better afterwards")


@handles(ProposeOrganisation)
def propose_organisation(act: Act, command: ProposeOrganisation) -> Answer:
    changes = [change.model_dump(mode="json", exclude_none=True) for change in command.changes]
    approval = _ask(act, {"changes": changes, "why": command.why})
    return {"id": approval.id, "payload_hash": approval.payload_hash}


def _ask(act: Act, payload: dict[str, Any]) -> Approval:
    payload = _with_charts(act, payload)
    approval = ask(act, ApprovalKind.ORG_CHANGE, _ENTITY, _title(payload), payload)
    review_organisation(act, OrgStatus.PENDING_REVIEW)
    return approval


def _title(payload: dict[str, Any]) -> str:
    names = ", ".join(dict.fromkeys(change["agent"] for change in payload["changes"]))
    return f"Reorganise {names}?"[:200]


def _with_charts(act: Act, payload: dict[str, Any]) -> dict[str, Any]:
    """The changes with the charts before and after them. Raises Invalid for changes that could not be."""
    asked = build(ProposeOrganisation, changes=payload.get("changes"), why=payload.get("why") or "no reason was given")
    changes = [change.model_dump(mode="json", exclude_none=True) for change in asked.changes]
    before = current_chart(act)
    _require_known(act, changes, before)
    after = changed_chart(before, changes)
    if same_chart(before, after):
        raise Invalid("This leaves the organisation as it is.", "Say who is to report to somebody else, or do what.")
    require_no_cycle(after)
    return {"before": before, "after": after, "changes": changes, "why": asked.why}


def current_chart(act: Act) -> list[ChartRow]:
    """The chart as it is now."""
    return chart_of(act.tx.select(AgentRecord, "true"))


def require_no_cycle(chart: Iterable[ChartRow]) -> None:
    """Raises Invalid when somebody would report to themselves, which names the circle."""
    circle = cycle_in(chart)
    if circle:
        raise Invalid(f"They would report in a circle: {' → '.join(circle)}.", "Let one of them report elsewhere.")


def _require_known(act: Act, changes: list[dict[str, Any]], chart: list[ChartRow]) -> None:
    known = [row["agent"] for row in chart]
    seen: set[str] = set()
    for change in changes:
        if change["agent"] in seen:
            raise Invalid(f"{change['agent']} is named twice.", "Say everything about an agent in one change.")
        seen.add(change["agent"])
        for slug in (change["agent"], change.get("manager")):
            if slug and slug not in known:
                retired = act.tx.select(AgentRecord, "slug = :slug", slug=slug)
                what = f"{slug} has retired" if retired else f"There is no agent {slug!r}"
                near = ", ".join(nearest(slug, known)) or ", ".join(known[:20])
                raise Invalid(f"{what}.", f"There are: {near}.")


@answers(ApprovalKind.ORG_CHANGE)
def answer_organisation(act: Act, approval: Approval) -> str:
    """Approved, it is carried out as shown; refused, all stays; sent back, it waits and the CEO is woken (S0-16)."""
    if approval.status == ApprovalStatus.REVISION_REQUESTED:
        tell_author(act, approval, "was sent back", wakes=True)
        return ""
    if approval.status == ApprovalStatus.APPROVED:
        _carry_out(act, approval)
        consume_as_system(act, approval)
    else:
        tell_author(act, approval, "was refused", wakes=False)
    review_organisation(act, OrgStatus.SETTLED)
    return "settled" if approval.status == ApprovalStatus.APPROVED else "as it was"


def _carry_out(act: Act, approval: Approval) -> None:
    changes = approval.payload.get("changes")
    if not changes:
        return
    if not same_chart(current_chart(act), approval.payload["before"]):
        raise Conflict(
            f"The organisation changed after {approval.name_tag} was asked: what it shows is not what would be.",
            "Edit it to see it against today's chart, or reject it.",
        )
    agents = {agent.slug: agent for agent in act.tx.select(AgentRecord, "status <> 'terminated'")}
    for row in approval.payload["after"]:
        agent, manager = agents[row["agent"]], agents.get(row["manager"])
        wanted = {"manager_id": manager.id if manager else None, "duties": row["duties"]}
        if any(getattr(agent, name) != value for name, value in wanted.items()):
            act.tx.update(agent, "AgentReassigned", **wanted)


def edited_organisation(act: Act, approval: Approval, payload: dict[str, Any]) -> dict[str, Any]:
    """The question with other changes or another reason, against the chart as it is now."""
    unknown = set(payload) - {"changes", "why", "before", "after"}
    if unknown:
        raise Invalid(f"A change of the organisation has no {', '.join(sorted(unknown))}.", "It has: changes, why.")
    merged = {**approval.payload, **payload}
    if "changes" not in merged:
        raise Conflict(f"{approval.name_tag} proposes no change that could be edited.", "Decide it.")
    fresh = _with_charts(act, merged)
    return {"title": _title(fresh), "payload": fresh}


def review_organisation(act: Act, status: OrgStatus) -> None:
    """Mark the organisation as waiting for the operator's review, or as settled (S0-07)."""
    company = act.tx.get(Company, COMPANY_ID)
    if company.org_status != status:
        waits = status == OrgStatus.PENDING_REVIEW
        act.tx.update(company, "OrganisationQuestioned" if waits else "OrganisationSettled", org_status=status)


class SettleOrganisation(Command):
    """Leave the organisation as it is: no further proposal is waited for after one was sent back."""

    who = letters("H")


@handles(SettleOrganisation)
def settle_organisation(act: Act, command: SettleOrganisation) -> Answer:
    for asked in act.tx.select(Approval, "kind = 'org_change' AND status = 'pending'"):
        raise Conflict(f"{asked.name_tag} asks for a change of it.", "Decide that.")
    review_organisation(act, OrgStatus.SETTLED)
    return {"org_status": str(OrgStatus.SETTLED)}


def reports_of(act: Act, agent: AgentRecord) -> list[AgentRecord]:
    """Who reports to an agent and has not retired."""
    return act.tx.select(
        AgentRecord, "manager_id = :id AND status <> :gone ORDER BY id", id=agent.id, gone=AgentStatus.TERMINATED
    )
