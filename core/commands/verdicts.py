"""What follows from a verdict on a task, whoever settles it: the reviewer, two of them, or the coordinator."""

from typing import Any

from core.commands.approvals import ask_anew
from core.commands.moves import move_task
from core.commands.registry import Act
from core.commands.tasks import NewTask, add_task
from core.domain.entities import Goal, Review, Task
from core.domain.goals import canonical_hash
from core.domain.limits import REVIEW_ATTEMPTS, TITLE_MAX
from core.domain.reviewing import standing
from core.domain.states import ApprovalKind, ReviewStep, TaskStatus, Verdict


def subject_hash(act: Act, task: Task) -> str:
    """The hash of a task's outputs, in order."""
    rows = act.tx.all("SELECT id, sha256 FROM outputs WHERE task_id = :task ORDER BY id", task=task.id)
    return canonical_hash([[row["id"], row["sha256"]] for row in rows])


def reviews_of(act: Act, task: Task) -> list[Review]:
    """All verdicts on a task, oldest first."""
    return act.tx.select(Review, "subject = 'task' AND subject_id = :task ORDER BY id", task=task.id)


def send_to_ruling(act: Act, task: Task, why: str) -> Task:
    """The coordinator decides what the reviewers, or reviewer and author, do not agree on (C-07)."""
    return act.tx.update(task, "TaskDisputed", review_step=ReviewStep.RULING, reason=why)


def settle(act: Act, task: Task, verdict: Verdict, why: str, by: str, *, is_counted: bool) -> Task:
    """Move a task by a verdict that stands (C-06). A refusal `is_counted` already when a rebuttal followed it.

    Every third refusal goes to the operator, whose yes lets the attempts start anew.
    """
    if verdict == Verdict.APPROVED:
        return move_task(
            act, task, TaskStatus.DONE, by, "TaskApproved", reason=why, review_step=ReviewStep.REVIEW
        )  # fmt: skip
    refusals = task.review_attempts + (not is_counted)
    changes: dict[str, Any] = {"review_attempts": refusals, "reason": why, "review_step": ReviewStep.REVIEW}
    if not is_counted and refusals % REVIEW_ATTEMPTS == 0:
        moved = move_task(act, task, TaskStatus.WAITING_HUMAN, by, "TaskWaits", **changes)
        _ask_operator(act, moved)
        return moved
    if verdict == Verdict.NEEDS_REVISION:
        return move_task(
            act, task, TaskStatus.WORKING, by, "TaskSentBack", current_run=None, fence=task.fence + 1, **changes
        )
    return move_task(
        act, task, TaskStatus.PENDING, by, "TaskRejected",
        last_assignee_id=task.assignee_id, assignee_id=None, **changes,
    )  # fmt: skip


def _ask_operator(act: Act, task: Task) -> None:
    findings = [{"number": one.number, "by": one.reviewer, **one.finding} for one in standing(reviews_of(act, task))]
    ask_anew(
        act, ApprovalKind.QUESTION, f"task:{task.id}", f"{task.name_tag} was refused {task.review_attempts} times",
        {"what": "try_again", "why": task.reason, "on_reject": "cancel", "findings": findings},
    )  # fmt: skip


def _is_deep(act: Act, task: Task) -> bool:
    above = act.tx.find(Task, task.parent_id)
    return above is not None and above.parent_id is not None


def keep_follow_ups(act: Act, task: Task, review: Review) -> None:
    """New findings of a later review, and those of an approval, become draft tasks instead of refusing (F8).

    Only once the verdict is settled: before, they would tell the second reviewer what the first one found. Those on a
    follow-up's follow-up stay words of the review: work must not breed work without a person (F23).
    """
    findings = [dict(finding) for finding in review.findings]
    if not any("follow_up" in finding for finding in findings) or _is_deep(act, task):
        return
    goal = act.tx.get(Goal, task.goal_id)
    for finding in findings:
        if "follow_up" in finding:
            criterion = str(finding["criterion"])
            new = NewTask(
                title=f"After {task.name_tag}: {finding['what']}"[:TITLE_MAX],
                intent=f"{finding['what']}\nWhere: {finding['where']}\nBecause: {finding['because']}",
                end_state=str(finding["change"]),
                must_haves=(criterion,) if criterion in task.must_haves else task.must_haves,
                capabilities=task.capabilities,
                risk=task.risk,
                tags=task.tags,
                parent=task.id,
            )
            finding["follow_up"] = add_task(act, goal, new, TaskStatus.DRAFT, None).id
    act.tx.update(review, "FollowUpsMade", findings=findings)
