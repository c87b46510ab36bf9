"""What an agent does with a task through its run: claim (S2-43), start, submit, fail, block, ask."""

from typing import Any, Literal

from pydantic import Field

from core.commands.approvals import ask
from core.commands.moves import move_task, require_current_run
from core.commands.redlines import start_gate
from core.commands.registry import Act, Answer, Command, Reason, Title, handles, letters
from core.commands.verified import require_delivered
from core.domain.entities import Offer, Task
from core.domain.errors import Conflict
from core.domain.lifecycles import TASK
from core.domain.limits import LEASE_MS
from core.domain.states import ApprovalKind, BlockKind, OfferAnswer, ReviewStep, TaskStatus


class ClaimTask(Command):
    """Take a pending task: compare-and-swap, one winner; at most one claim a run and one task an agent (S3-04)."""

    who = letters("A")
    example = {"task": 12}
    task: int


@handles(ClaimTask)
def claim_task(act: Act, command: ClaimTask) -> Answer:
    tx = act.tx
    run, agent = act.own_run(), act.own_agent()
    task = tx.get(Task, command.task)
    TASK.require(task.name_tag, task.status, TaskStatus.CLAIMED, "ClaimTask", act.capacities)
    if task.open_deps:
        raise Conflict(f"{task.name_tag} still waits for {task.open_deps} other task(s).", "Claim another one.")
    claimed = tx.value("SELECT task_id FROM offers WHERE run_id = :run AND answer = 'claim' LIMIT 1", run=run.id)
    if claimed is not None:
        raise Conflict(f"R{run.id} has claimed T{claimed} already.", "One claim a tick: finish that first.")
    held = tx.value(
        "SELECT id FROM tasks WHERE status IN ('claimed', 'working') AND assignee_id = :agent LIMIT 1", agent=agent.id
    )
    if held is not None:
        raise Conflict(f"You hold T{held} already.", "Finish that first.")
    task = move_task(
        act, task, TaskStatus.CLAIMED, "ClaimTask", "TaskClaimed",
        assignee_id=agent.id, fence=task.fence + 1, lease_until=tx.now + LEASE_MS,
    )  # fmt: skip
    _note_claim(act, task)
    return {"id": task.id, "fence": task.fence, "lease_until": task.lease_until}


def _note_claim(act: Act, task: Task) -> None:
    agent, run = act.own_agent(), act.own_run()
    offers = act.tx.select(
        Offer,
        "task_id = :task AND agent_id = :agent AND offer = :offer",
        task=task.id,
        agent=agent.id,
        offer=task.offer,
    )
    if offers:
        act.tx.update(offers[0], "OfferAnswered", answer=OfferAnswer.CLAIM, run_id=run.id)
    else:
        act.tx.insert(
            Offer, "OfferAnswered",
            task_id=task.id, agent_id=agent.id, offer=task.offer, run_id=run.id, answer=OfferAnswer.CLAIM,
        )  # fmt: skip


class StartTask(Command):
    """Begin to work on the claimed task, unless its tag is a red line: then it waits for the operator (S4-08)."""

    who = letters("A")
    reads_guardrails = True
    example = {"task": 12}
    task: int


@handles(StartTask)
def start_task(act: Act, command: StartTask) -> Answer:
    task = act.tx.get(Task, command.task)
    run = require_current_run(act, task)
    TASK.require(task.name_tag, task.status, TaskStatus.WORKING, "StartTask", act.capacities)
    gate = start_gate(act, task)
    if not gate["allowed"]:
        return {"id": task.id, "status": str(TaskStatus.WAITING_HUMAN), **gate}
    task = move_task(
        act, task, TaskStatus.WORKING, "StartTask", "TaskStarted", current_run=run.id, lease_until=act.tx.now + LEASE_MS
    )
    return {"id": task.id, "status": "working", "fence": task.fence}


class SubmitTask(Command):
    """Hand the task in for review: verified outputs that name its must-haves, and a fresh handoff (S3-08, S2-21)."""

    who = letters("A")
    example = {"task": 12}
    task: int


@handles(SubmitTask)
def submit_task(act: Act, command: SubmitTask) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    run = require_current_run(act, task)
    TASK.require(task.name_tag, task.status, TaskStatus.REVIEW, "SubmitTask", act.capacities)
    require_delivered(act, task, handoff_of=run.id)
    task = move_task(
        act, task, TaskStatus.REVIEW, "SubmitTask", "TaskSubmitted", reason="", review_step=ReviewStep.REVIEW
    )
    return {"id": task.id, "status": "review"}


class FailTask(Command):
    """Give the task up; the reason is required (S3-12)."""

    who = letters("A")
    example = {"task": 12, "reason": "There is no such folder: I looked for it below the whole home."}
    task: int
    reason: Reason


@handles(FailTask)
def fail_task(act: Act, command: FailTask) -> Answer:
    task = act.tx.get(Task, command.task)
    require_current_run(act, task)
    move_task(act, task, TaskStatus.FAILED, "FailTask", "TaskFailed", reason=command.reason)
    return {"id": task.id, "status": "failed"}


class BlockTask(Command):
    """Say what keeps the task from going on."""

    who = letters("A")
    example = {"task": 12, "block_kind": "needs_input", "reason": "It does not say which folder is meant."}
    task: int
    block_kind: BlockKind
    reason: Reason


@handles(BlockTask)
def block_task(act: Act, command: BlockTask) -> Answer:
    task = act.tx.get(Task, command.task)
    require_current_run(act, task)
    move_task(
        act, task, TaskStatus.BLOCKED, "BlockTask", "TaskBlocked", block_kind=command.block_kind, reason=command.reason
    )
    return {"id": task.id, "status": "blocked"}


class AskOperator(Command):
    """Put the task before the operator: a red line (S4-08) or a question. The run ends; the answer wakes the task."""

    who = letters("A")
    example = {"task": 12, "kind": "question", "title": "Which of two folders?", "payload": {"choices": ("a", "b")}}
    task: int
    kind: Literal["red_line", "question"]
    title: Title
    payload: dict[str, Any] = Field(description="Exactly what will be done if approved")


@handles(AskOperator)
def ask_operator(act: Act, command: AskOperator) -> Answer:
    task = act.tx.get(Task, command.task)
    require_current_run(act, task)
    task = move_task(act, task, TaskStatus.WAITING_HUMAN, "AskOperator", "TaskWaits", reason=command.title)
    approval = ask(act, ApprovalKind(command.kind), f"task:{task.id}", command.title, command.payload)
    return {"id": task.id, "approval": approval.id}


class AnswerOffer(Command):
    """Answer a broadcast for one task without claiming it (S3-02)."""

    who = letters("A")
    example = {"task": 12, "answer": "no_reply"}
    task: int
    answer: OfferAnswer


@handles(AnswerOffer)
def answer_offer(act: Act, command: AnswerOffer) -> Answer:
    if command.answer in (OfferAnswer.CLAIM, OfferAnswer.OPEN):
        raise Conflict("A claim is made by ClaimTask.", "Send ClaimTask, or answer observation or no_reply.")
    offers = act.tx.select(Offer, "run_id = :run AND task_id = :task", run=act.own_run().id, task=command.task)
    if not offers:
        raise Conflict(f"T{command.task} was not offered to this run.", "Answer only what the broadcast shows.")
    act.tx.update(offers[0], "OfferAnswered", answer=command.answer)
    return {"task": command.task, "answer": str(command.answer)}
