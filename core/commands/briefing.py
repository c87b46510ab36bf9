"""What a CEO's run is told at its start: its mode, its first words, and what it proposes from (S0-13, C-13)."""

from typing import Any

from core.blackboard.queries import ENDED_GOALS, PENDING_APPROVALS
from core.commands.company import COMPANY_ID
from core.commands.registry import Act
from core.domain.actors import HUMAN
from core.domain.ceo_mode import CeoModeContext, Trigger, ceo_mode_cue, resolve_ceo_mode
from core.domain.entities import AgentRecord, Approval, Company, Run
from core.domain.refill import REFILL_READ, material
from core.domain.states import Role, RunKind

_TRIGGERS = {
    RunKind.HEARTBEAT: Trigger.HEARTBEAT,
    RunKind.PROPOSE: Trigger.IDLE,
    RunKind.MENTION: Trigger.MENTION,
}


def briefed(act: Act, run: Run, agent: AgentRecord) -> dict[str, Any]:
    """What the start of a run adds to it: nothing, or for a CEO its brief and what the event tells of its mode."""
    if agent.role != Role.CEO:
        return {}
    tx = act.tx
    company = tx.get(Company, COMPANY_ID)
    context = CeoModeContext(
        agent=agent,
        company=company,
        active_agents=tx.select(AgentRecord, "status <> 'terminated' ORDER BY id"),
        pending_approvals=tx.select(Approval, f"{PENDING_APPROVALS} ORDER BY id"),
    )
    answer = resolve_ceo_mode(context)
    brief = {
        **run.brief,
        "mode": str(answer.mode),
        "cue": ceo_mode_cue(answer.mode, _trigger(act, run), company.locale),
    }
    if run.kind == RunKind.PROPOSE:
        brief["refill"] = material(company.mission, tx.all(ENDED_GOALS, limit=REFILL_READ))
    return {"brief": brief, "told": {"mode": str(answer.mode), "reasons": list(answer.reasons)}}


def _trigger(act: Act, run: Run) -> Trigger:
    """What the run was begun by; a word of the operator is a call of the operator."""
    trigger = _TRIGGERS.get(run.kind, Trigger.OPERATOR)
    if trigger != Trigger.MENTION:
        return trigger
    author = act.tx.value(
        "SELECT author FROM mentions JOIN comments ON comments.id = comment_id WHERE mentions.run_id = :run LIMIT 1",
        run=run.id,
    )
    return Trigger.OPERATOR if author == HUMAN else trigger
