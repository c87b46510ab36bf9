"""Hires that wait for the operator's word: asked with all that they mean, edited, and carried out when approved."""

import json
from typing import Any

from pydantic import Field

from core.blackboard.queries import ALIVE_GOALS, LIVE_RUNS
from core.commands.approvals import answers, ask, consume_as_system
from core.commands.company import HireAgent, hire_agent, require_hireable
from core.commands.registry import Act, Answer, Command, Reason, Slug, Title, build, handles, letters
from core.commands.telling import tell_author
from core.domain import hiring as judged
from core.domain.budgets import DAY_MS, MONEY_MAX
from core.domain.entities import AgentRecord, Approval, Goal
from core.domain.errors import Conflict, Invalid
from core.domain.goals import canonical_hash
from core.domain.lifecycles import APPROVAL
from core.domain.limits import CAPABILITIES, PENDING_HIRES
from core.domain.states import ApprovalKind, ApprovalStatus, Role

HIRE_FIELDS = tuple(HireAgent.model_fields)
DERIVED = frozenset({"lacking", "still_lacking", "alike", "cost"})
_DAYS = 7


class ProposeHire(Command):
    """Ask the operator for another agent; it appears when they approve. One question a name (F13, F26)."""

    who = letters("X")
    example = {"slug": "ida", "name": "Ida", "role": "executor", "capabilities": ("count",), "why": "Nobody can count."}
    slug: Slug
    name: Title
    role: Role
    capabilities: tuple[Slug, ...] = Field((), max_length=CAPABILITIES)
    why: Reason = Field(description="What the company cannot do without it")
    runner: dict[str, Any] | None = Field(None, description="Runner kind and settings; your own if left out")
    max_runs: int = Field(1, ge=1, le=100, description="Runs at once")
    budget_micros: int = Field(0, ge=0, le=MONEY_MAX, description="Millionths of a US dollar a day; 0 = the company's")
    manager: Slug | None = Field(None, description="Slug of the agent it reports to; you if left out")


@handles(ProposeHire)
def propose_hire(act: Act, command: ProposeHire) -> Answer:
    ceo = act.own_agent()
    fields = command.model_dump(mode="json", exclude={"why"})
    fields |= {"manager": command.manager or ceo.slug, "runner": command.runner or dict(ceo.runner)}
    approval = _ask(act, build(HireAgent, **fields), command.why)
    return {"id": approval.id, "payload_hash": approval.payload_hash, "lacking": approval.payload["lacking"]}


def _hire_of(payload: dict[str, Any]) -> tuple[HireAgent, str]:
    """The hire in a payload, and the reason given for it. Raises Invalid for fields that no hire has."""
    why = payload.get("why", "")
    if not isinstance(why, str):
        raise Invalid("The reason for a hire is a text.", "Say in a few words why.")
    return build(HireAgent, **{name: each for name, each in payload.items() if name not in DERIVED | {"why"}}), why


def _ask(act: Act, hire: HireAgent, why: str) -> Approval:
    require_hireable(act, hire)
    waiting = _waiting(act)
    _require_new(hire, waiting)
    if len(waiting) >= PENDING_HIRES:
        raise Conflict(f"{len(waiting)} hires wait for the operator already.", "Wait for the answers.")
    return ask(act, ApprovalKind.HIRE_AGENT, _entity(hire), _title(hire), _payload(act, hire, why))


def _entity(hire: HireAgent) -> str:
    return f"hire:{hire.slug}"


def _title(hire: HireAgent) -> str:
    return f"Hire {hire.name} ({hire.slug}) as {hire.role}?"[:200]


def _waiting(act: Act) -> list[Approval]:
    return act.tx.select(Approval, "kind = 'hire_agent' AND status = 'pending' ORDER BY id")


def _require_new(hire: HireAgent, waiting: list[Approval]) -> None:
    """Raises Conflict for a hire that is asked already, be it under another name (F26)."""
    fields = hire.model_dump(mode="json")
    for other in waiting:
        known = other.payload
        if other.entity == _entity(hire) or known.get("slug") == hire.slug:
            raise Conflict(
                f"{other.name_tag} already asks this about {_entity(hire)}.", "Wait for the operator's answer."
            )
        if judged.same_name(str(known.get("name", "")), hire.name):
            raise Conflict(f"{other.name_tag} already asks for one of that name: {known['slug']}.", "Choose another.")
        if judged.same_hire(known, fields):
            raise Conflict(
                f"{other.name_tag} already asks for exactly that, as {known.get('slug')}.",
                "Wait for the answer, or ask for other capabilities.",
            )


def _payload(act: Act, hire: HireAgent, why: str) -> dict[str, Any]:
    """The whole hire, why, and what it means: what is lacking without it, who is idle and alike, what it may cost."""
    tx = act.tx
    agents = tx.select(AgentRecord, "status <> 'terminated' ORDER BY id")
    wanted = judged.asked_for(_asked_by_tasks(act), _must_haves(act), hire.capabilities)
    missing = judged.lacking(agents, wanted)
    busy = frozenset(
        row["agent"]
        for row in tx.all(
            f"SELECT agent_id AS agent FROM runs WHERE {LIVE_RUNS} UNION SELECT assignee_id FROM tasks"
            " WHERE status IN ('claimed', 'working')"
        )
    )
    spent = tx.one(
        "SELECT coalesce(sum(cost_micros), 0) AS micros, count(DISTINCT agent_id) AS agents FROM runs JOIN agents"
        " ON agents.id = agent_id WHERE ended_at >= :since AND cost_micros > 0 AND role = :role",
        since=tx.now - _DAYS * DAY_MS, role=hire.role,
    ) or {"micros": 0, "agents": 0}  # fmt: skip
    each = spent["micros"] // max(1, spent["agents"])
    return {
        **hire.model_dump(mode="json"), "why": why,
        "lacking": [name for name in missing if name in hire.capabilities],
        "still_lacking": [name for name in missing if name not in hire.capabilities],
        "alike": judged.alike(agents, busy, hire.role, hire.capabilities),
        "cost": judged.cost_words(hire.budget_micros, hire.max_runs, each, _DAYS),
    }  # fmt: skip


def _asked_by_tasks(act: Act) -> set[str]:
    rows = act.tx.all(
        "SELECT DISTINCT capabilities FROM tasks WHERE status NOT IN ('done', 'failed', 'cancelled')"
        " AND capabilities <> '[]'"
    )
    return {name for row in rows for name in json.loads(row["capabilities"])}


def _must_haves(act: Act) -> list[str]:
    goals = act.tx.select(Goal, ALIVE_GOALS)
    return [must["text"] for goal in goals for must in goal.must_haves if not must["waived_by"]]


@answers(ApprovalKind.HIRE_AGENT)
def answer_hire(act: Act, approval: Approval) -> str:
    """Approved, the agent's row appears, not before (C-14); else who asked reads why, and is woken to ask anew."""
    if approval.status != ApprovalStatus.APPROVED:
        again = approval.status == ApprovalStatus.REVISION_REQUESTED
        tell_author(act, approval, "was sent back" if again else "was refused", wakes=again)
        return ""
    hire, _ = _hire_of(approval.payload)
    try:
        hired = hire_agent(act, hire)
    except (Conflict, Invalid) as problem:
        # The world went on while it waited. Nothing is written; the question stays for the operator.
        raise Conflict(
            f"{approval.name_tag} cannot be carried out any more: {problem.message}",
            "Edit the hire and approve it then, or reject it.",
        ) from None
    consume_as_system(act, approval)
    return f"hired {hired['slug']}"


class EditApproval(Command):
    """Change what is asked before you decide: a hire that waits, or a change of the organisation."""

    who = letters("H")
    approval: int
    payload: dict[str, Any] = Field(description="Fields of the hire, or changes and why; what is left out stays")
    payload_hash: str | None = Field(None, description="Hash of what the person saw; refused if it differs")


@handles(EditApproval)
def edit_approval(act: Act, command: EditApproval) -> Answer:
    from core.commands.organisation import edited_organisation

    approval = act.tx.get(Approval, command.approval)
    if approval.kind not in (ApprovalKind.HIRE_AGENT, ApprovalKind.ORG_CHANGE):
        raise Conflict(
            f"{approval.name_tag} asks something that cannot be edited ({approval.kind}).",
            "Only a hire and a change of the organisation can; decide this one.",
        )
    APPROVAL.require(approval.name_tag, approval.status, ApprovalStatus.PENDING, "EditApproval", act.capacities)
    if command.payload_hash is not None and command.payload_hash != approval.payload_hash:
        raise Conflict(f"{approval.name_tag} changed since you read it.", "Read it again, then edit it.")
    edited = _edited_hire if approval.kind == ApprovalKind.HIRE_AGENT else edited_organisation
    changes = edited(act, approval, command.payload)
    changes["payload_hash"] = canonical_hash(changes["payload"])
    changed = changes["payload_hash"] != approval.payload_hash
    if changed:
        # What was asked stays readable in the event.
        approval = act.tx.update(approval, "ApprovalEdited", told={"asked": approval.payload}, **changes)
    return {"id": approval.id, "payload_hash": approval.payload_hash, "changed": changed}


def _edited_hire(act: Act, approval: Approval, payload: dict[str, Any]) -> dict[str, Any]:
    hire, why = _hire_of({**approval.payload, **payload})
    require_hireable(act, hire)
    _require_new(hire, [other for other in _waiting(act) if other.id != approval.id])
    return {"entity": _entity(hire), "title": _title(hire), "payload": _payload(act, hire, why)}
