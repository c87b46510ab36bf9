"""The CEO without a team: the next one of the rehearsal staff that lacks is proposed, nobody who was refused."""

from typing import Any

from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.staff import STAFF, Member
from core.agents.runner import Outcome
from core.domain.entities import AgentRecord, Approval
from core.domain.hiring import same_name
from core.domain.states import ApprovalStatus, Role

_WHY = {
    Role.COORDINATOR: "Nobody plans the work, reviews its rounds or reports.",
    Role.REVIEWER: "Nobody looks at what was done before it counts.",
}


async def propose_hire(shift: Shift) -> Outcome:
    """One hire for the operator, whom the staff lacks and the operator has not refused."""
    agents = await shift.find(AgentRecord, "true ORDER BY id")
    asked = await shift.find(Approval, "kind = 'hire_agent' ORDER BY id")
    member = next((each for each in STAFF if _lacks(each, agents) and not _was_refused(each, asked)), None)
    if member is None:
        return no_reply("whom the rehearsal company could need is there, or the operator did not want them")
    await shift.act("ProposeHire", **_fields(member))
    return Outcome(detail=f"{member.slug} waits for the operator")


async def propose_again(shift: Shift) -> bool:
    """A hire that was sent back is proposed anew, with one run at once and the operator's note; once."""
    asked = await shift.find(
        Approval, "kind = 'hire_agent' AND requested_by = :slug ORDER BY id", slug=shift.slug
    )  # fmt: skip
    last = {str(each.payload["slug"]): each for each in asked}
    for slug, each in last.items():
        if each.status == ApprovalStatus.REVISION_REQUESTED:
            kept = {name: each.payload[name] for name in ("name", "role", "capabilities", "budget_micros", "manager")}
            why = f"{each.payload['why']} The operator said: “{each.note}”"
            await shift.act("ProposeHire", slug=slug, why=why[:2000], max_runs=1, **kept)
            return True
    return False


def _lacks(member: Member, agents: list[AgentRecord]) -> bool:
    taken = any(agent.slug == member.slug or same_name(agent.name, member.name) for agent in agents)
    there = any(agent.role == member.role and set(member.capabilities) <= set(agent.capabilities) for agent in agents)
    return member.role != Role.CEO and not taken and not there


def _was_refused(member: Member, asked: list[Approval]) -> bool:
    return any(
        each.status == ApprovalStatus.REJECTED
        and each.payload.get("role") == member.role
        and set(each.payload.get("capabilities", ())) == set(member.capabilities)
        for each in asked
    )


def _fields(member: Member) -> dict[str, Any]:
    why = _WHY.get(member.role, f"Nobody can do this: {', '.join(member.capabilities)}.")
    return {
        "slug": member.slug, "name": member.name, "role": member.role, "capabilities": member.capabilities,
        "max_runs": 1, "why": why,
    }  # fmt: skip
