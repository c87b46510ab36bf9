"""Questions of the coordinator to the operator: each loop of the rehearsal ends here."""

from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.runner import Outcome
from core.domain.entities import Approval, Goal
from core.domain.states import ApprovalKind


async def give_up(shift: Shift, goal: Goal, why: str) -> Outcome:
    """Only a person ends a goal: ask, and end."""
    await shift.act(
        "RequestApproval", kind=ApprovalKind.GOAL_FAILURE, entity=f"goal:{goal.id}",
        title=f"{goal.name_tag} cannot be done here: give it up?", payload={"goal": goal.id, "why": why},
    )  # fmt: skip
    return no_reply(why)


async def ask(shift: Shift, entity: str, title: str) -> None:
    """A question to the operator, if it does not wait already."""
    pending = await shift.find(Approval, "entity = :entity AND status = 'pending'", entity=entity)
    if not pending:
        payload = {"what": "try_again", "why": title}
        await shift.act(
            "RequestApproval", kind=ApprovalKind.QUESTION, entity=entity, title=title[:200], payload=payload
        )
