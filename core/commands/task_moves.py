"""Moves of a task by others than its assignee: given to an agent, unblocked, resumed, cancelled, released."""

from pydantic import Field

from core.commands.bounds import require_no_endless_block
from core.commands.company import agent_by_slug
from core.commands.moves import move_task, release_task
from core.commands.registry import Act, Answer, Command, Reason, Slug, Text, handles, letters
from core.commands.shaping import clear_review
from core.domain.actors import Operator
from core.domain.entities import AgentRecord, Goal, Task
from core.domain.errors import Conflict
from core.domain.limits import LEASE_MS
from core.domain.states import AgentStatus, ApprovalKind, TaskStatus


class AssignTask(Command):
    """Give a pending task to an agent."""

    who = letters("HCS")
    example = {"task": 12, "agent": "ada"}
    task: int
    agent: Slug


@handles(AssignTask)
def assign_task(act: Act, command: AssignTask) -> Answer:
    task = act.tx.get(Task, command.task)
    act.require_own_goal(task.goal_id)
    agent = agent_by_slug(act, command.agent)
    if agent.status != AgentStatus.ACTIVE:
        raise Conflict(f"{agent.name} is {agent.status}.", "Choose an active agent.")
    if task.open_deps:
        raise Conflict(f"{task.name_tag} still waits for {task.open_deps} other task(s).", "Waive them, or wait.")
    task = move_task(
        act, task, TaskStatus.CLAIMED, "AssignTask", "TaskAssigned",
        assignee_id=agent.id, fence=task.fence + 1, lease_until=_lease(act),
    )  # fmt: skip
    return {"id": task.id, "assignee": agent.slug, "fence": task.fence}


def _lease(act: Act) -> int | None:
    # An operator's claim never expires silently (DESIGN §4).
    return None if isinstance(act.actor, Operator) else act.tx.now + LEASE_MS


class UnblockTask(Command):
    """What blocked a task is solved: it is pending again."""

    who = letters("SCHX")
    example = {"task": 12, "note": "The folder can be read now."}
    task: int
    note: Text = ""


@handles(UnblockTask)
def unblock_task(act: Act, command: UnblockTask) -> Answer:
    task = act.tx.get(Task, command.task)
    act.require_own_goal(task.goal_id)
    require_no_endless_block(act, task)
    task = move_task(
        act, task, TaskStatus.PENDING, "UnblockTask", "TaskUnblocked",
        assignee_id=None, last_assignee_id=task.assignee_id, reason=command.note,
    )  # fmt: skip
    return {"id": task.id, "status": str(task.status)}


class ResumeTask(Command):
    """Let a task that waited for a person go on."""

    who = letters("H")
    task: int
    note: Text = ""
    go_on: bool = Field(False, description="The agent that had it goes on where it stopped, instead of a new offer")


@handles(ResumeTask)
def resume_task(act: Act, command: ResumeTask) -> Answer:
    from core.commands.moves import cancel_questions

    task = act.tx.get(Task, command.task)
    target = TaskStatus.WORKING if command.go_on else TaskStatus.PENDING
    agent = act.tx.find(AgentRecord, task.assignee_id)
    if command.go_on and task.status == TaskStatus.WAITING_HUMAN:
        if agent is None or agent.status != AgentStatus.ACTIVE:
            raise Conflict(f"{task.name_tag} has no active agent that could go on.", "Leave go_on out.")
        task = move_task(
            act, task, target, "ResumeTask", "TaskResumed",
            reason=command.note, attempts=0, current_run=None, fence=task.fence + 1,
        )  # fmt: skip
    else:
        task = move_task(act, task, target, "ResumeTask", "TaskResumed", reason=command.note, attempts=0)
    # Letters and held words wait for an answer of their own.
    cancel_questions(act, f"task:{task.id}", but=frozenset({ApprovalKind.MAIL, ApprovalKind.EXCHANGE}))
    return {"id": task.id, "status": str(task.status)}


class CancelTask(Command):
    """End a task without a result."""

    who = letters("HCS")
    example = {"task": 12, "reason": "T15 delivers the same."}
    task: int
    reason: Reason


@handles(CancelTask)
def cancel_task(act: Act, command: CancelTask) -> Answer:
    task = act.tx.get(Task, command.task)
    act.require_own_goal(task.goal_id)
    clear_review(act, act.tx.get(Goal, task.goal_id))
    task = move_task(act, task, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled", reason=command.reason)
    return {"id": task.id, "status": str(task.status)}


class ReleaseTask(Command):
    """Take a claim back whose agent cannot work: the task is pending again."""

    who = letters("S")
    task: int
    why: Text


@handles(ReleaseTask)
def release_task_command(act: Act, command: ReleaseTask) -> Answer:
    task = release_task(act, act.tx.get(Task, command.task), command.why, costs_attempt=False)
    return {"id": task.id, "status": str(task.status)}
