"""The verdict on a task, by somebody who never ran it (S3-14, S3-18)."""

from pydantic import BaseModel, ConfigDict, Field

from core.commands.approvals import ask_anew
from core.commands.moves import move_task, never_ran
from core.commands.outputs import verify_again
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.domain.entities import Review, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import canonical_hash
from core.domain.lifecycles import TASK
from core.domain.limits import REVIEW_ATTEMPTS
from core.domain.states import ApprovalKind, RunKind, TaskStatus, Verdict


class Finding(BaseModel):
    """Concrete: what is wrong, where, and what to change it to (S2-22)."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    what: Text = Field(min_length=1)
    where: Text = Field(min_length=1)
    change: Text = Field(min_length=1)


class ReviewTask(Command):
    """Judge a submitted task; names the outputs that were opened."""

    who = letters("R")
    task: int
    verdict: Verdict
    summary: Text = Field(min_length=1, description="What is good, or what is wrong")
    findings: tuple[Finding, ...] = ()
    opened_outputs: tuple[int, ...] = Field(description="Ids of the outputs that the reviewer opened (F9)")
    dimensions: dict[str, str] = Field(default_factory=dict, description="Dimension → what was found (S2-19)")
    subject_hash: str | None = Field(None, description="Hash of the outputs that were judged; refused if they changed")


def subject_hash(act: Act, task: Task) -> str:
    """The hash of a task's outputs, in order."""
    rows = act.tx.all("SELECT id, sha256 FROM outputs WHERE task_id = :task ORDER BY id", task=task.id)
    return canonical_hash([[row["id"], row["sha256"]] for row in rows])


@handles(ReviewTask)
def review_task(act: Act, command: ReviewTask) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    agent, run = act.own_agent(), act.own_run()
    if run.kind != RunKind.REVIEW or run.task_id != task.id:
        raise Forbidden(f"R{run.id} was not started to review {task.name_tag}.", "A review run judges its own task.")
    if not never_ran(act, task, agent):
        raise Forbidden(f"{agent.name} worked on {task.name_tag} and cannot judge it.", "Somebody else must (S3-18).")
    if task.status != TaskStatus.REVIEW:
        raise Conflict(f"{task.name_tag} is {task.status}: ReviewTask is not possible.", TASK.hint(task.status))
    hashed = subject_hash(act, task)
    if command.subject_hash is not None and command.subject_hash != hashed:
        raise Conflict(f"The outputs of {task.name_tag} changed since you opened them.", "Open them again.")
    _check_verdict(act, task, command)
    if command.verdict == Verdict.APPROVED:
        # What an earlier attempt delivered may be gone: only the last one is approved.
        verify_again(act, task, "run_id = (SELECT max(run_id) FROM outputs WHERE task_id = :task)")
    refusals = task.review_attempts + (command.verdict != Verdict.APPROVED)
    review = tx.insert(
        Review, "TaskReviewed",
        subject="task", subject_id=task.id, subject_hash=hashed, reviewer=agent.slug, run_id=run.id,
        attempt=task.review_attempts + 1, verdict=command.verdict,
        dimensions={**command.dimensions, "summary": command.summary},
        findings=[finding.model_dump() for finding in command.findings], opened_outputs=command.opened_outputs,
        rebuttal="",
    )  # fmt: skip
    moved = _move_on(act, task, command, refusals)
    return {"id": review.id, "task": str(moved.status), "verdict": str(command.verdict)}


def _check_verdict(act: Act, task: Task, command: ReviewTask) -> None:
    outputs = {row["id"] for row in act.tx.all("SELECT id FROM outputs WHERE task_id = :task", task=task.id)}
    invented = [number for number in command.opened_outputs if number not in outputs]
    if invented or not command.opened_outputs:
        names = ", ".join(f"O{number}" for number in sorted(outputs))
        raise Invalid(
            f"A verdict names outputs of {task.name_tag} that were opened"
            + (f"; O{invented[0]} is none of them." if invented else "."),
            f"Its outputs are: {names}.",
        )
    if command.verdict != Verdict.APPROVED and not command.findings:
        raise Invalid(f"{command.verdict} needs a finding.", "Say what is wrong, where, and what to change it to.")


def _move_on(act: Act, task: Task, command: ReviewTask, refusals: int) -> Task:
    if command.verdict == Verdict.APPROVED:
        return move_task(act, task, TaskStatus.DONE, "ReviewTask", "TaskApproved", reason=command.summary)
    if refusals >= REVIEW_ATTEMPTS:
        moved = move_task(
            act, task, TaskStatus.WAITING_HUMAN, "ReviewTask", "TaskWaits",
            review_attempts=refusals, reason=command.summary,
        )  # fmt: skip
        ask_anew(
            act, ApprovalKind.QUESTION, f"task:{task.id}", f"{task.name_tag} was refused {refusals} times",
            {"what": "try_again", "why": command.summary, "on_reject": "cancel"},
        )  # fmt: skip
        return moved
    if command.verdict == Verdict.NEEDS_REVISION:
        return move_task(
            act, task, TaskStatus.WORKING, "ReviewTask", "TaskSentBack",
            review_attempts=refusals, reason=command.summary, current_run=None, fence=task.fence + 1,
        )  # fmt: skip
    return move_task(
        act, task, TaskStatus.PENDING, "ReviewTask", "TaskRejected",
        review_attempts=refusals, reason=command.summary, last_assignee_id=task.assignee_id, assignee_id=None,
    )  # fmt: skip
