"""What a tick notes: offers that went on, questions whose time is over, and its own troubles."""

from typing import Any

from pydantic import Field

from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.entities import Approval, Task
from core.domain.lifecycles import APPROVAL
from core.domain.states import (
    ApprovalStatus,
    TaskStatus,
)


class CountBroadcast(Command):
    """Note that a pending task was on offer for another tick (C-09)."""

    who = letters("S")
    tasks: tuple[int, ...]


@handles(CountBroadcast)
def count_broadcast(act: Act, command: CountBroadcast) -> Answer:
    for task_id in command.tasks:
        task = act.tx.get(Task, task_id)
        if task.status == TaskStatus.PENDING:
            act.tx.update(task, "TaskBroadcast", touch=False, broadcasts=task.broadcasts + 1, broadcast_at=act.tx.now)
    return {"tasks": list(command.tasks)}


class ExpireApproval(Command):
    """A question whose time is over ends as cancelled; silence never approves."""

    who = letters("S")
    approval: int


@handles(ExpireApproval)
def expire_approval(act: Act, command: ExpireApproval) -> Answer:
    approval = act.tx.get(Approval, command.approval)
    APPROVAL.require(approval.name_tag, approval.status, ApprovalStatus.CANCELLED, "CancelApproval", act.capacities)
    act.tx.update(approval, "ApprovalExpired", status=ApprovalStatus.CANCELLED, note="its time was over")
    return {"id": approval.id, "status": "cancelled"}


class NoteTick(Command):
    """Record something that the ticker did or could not do, e.g. a step that failed."""

    who = letters("S")
    kind: str = Field(pattern=r"^[A-Z][A-Za-z]+$")
    facts: dict[str, Any]


@handles(NoteTick)
def note_tick(act: Act, command: NoteTick) -> Answer:
    event = act.tx.record(command.kind, "ticker", int(command.facts.get("tick", 0)), command.facts)
    return {"event": event.id}
