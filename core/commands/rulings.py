"""What follows a disputed verdict: a rebuttal by the judged side, and the coordinator's ruling (C-07, S3-17)."""

from pydantic import Field

from core.commands.comments import AddComment, add_comment
from core.commands.moves import move_task, never_ran, require_current_run
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.commands.verdicts import reviews_of, settle, subject_hash
from core.commands.verified import require_delivered
from core.domain.entities import Review, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.lifecycles import TASK
from core.domain.limits import TEXT_MAX
from core.domain.reviewing import shown
from core.domain.states import CommentKind, RebuttalAnswer, ReviewStep, RunKind, TaskStatus, Verdict

_BEFORE_FACTS = 100  # characters of the comment that are not the facts


class RebutReview(Command):
    """Answer a refusal of your work once: ACCEPT it, or REJECT it (wholly or in PART) with facts.

    REJECT and PARTIAL bring the task back into review, where the reviewer answers.
    """

    who = letters("A")
    example = {"task": 12, "answer": "PARTIAL", "facts": "The link was left out, but the other 42 are there."}
    task: int
    answer: RebuttalAnswer
    facts: str = Field("", max_length=TEXT_MAX - _BEFORE_FACTS, description="What shows it; only ACCEPT needs none")


@handles(RebutReview)
def rebut_review(act: Act, command: RebutReview) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    _admit_judged(act, task)
    review = _judged_verdict(act, task)
    facts = command.facts.strip()
    if command.answer != RebuttalAnswer.ACCEPT and not facts:
        raise Invalid(f"{command.answer} needs facts.", "Say what shows that the finding is wrong (S3-17).")
    tx.update(review, "ReviewRebutted", rebuttal=facts, rebuttal_answer=command.answer, rebutted_by=act.label)
    body = f"{command.answer} to the verdict of {review.reviewer}: {facts}".removesuffix(": ")
    comment = add_comment(act, AddComment(task=task.id, kind=CommentKind.REBUTTAL, body=body))
    task = tx.get(Task, task.id)
    if command.answer != RebuttalAnswer.ACCEPT:
        task = move_task(
            act, task, TaskStatus.REVIEW, "RebutReview", "TaskRebutted",
            review_step=ReviewStep.REPLY, assignee_id=act.own_agent().id, reason=facts,
        )  # fmt: skip
    return {"id": task.id, "review": review.id, "comment": comment["id"], "status": str(task.status)}


def _admit_judged(act: Act, task: Task) -> None:
    """The judged side: by its current run when it is to revise, by any of its runs while nobody claimed it again."""
    agent = act.own_agent()
    if task.status == TaskStatus.WORKING:
        require_current_run(act, task)
    elif task.status == TaskStatus.PENDING and task.last_assignee_id != agent.id:
        raise Forbidden(f"{agent.name} was not the last to work on {task.name_tag}.", "The judged side answers (C-07).")
    TASK.require(task.name_tag, task.status, TaskStatus.REVIEW, "RebutReview", act.capacities)


def _judged_verdict(act: Act, task: Task) -> Review:
    """The refusal that this agent may answer now. Raises Conflict or Forbidden."""
    of_task = shown(reviews_of(act, task))
    if not of_task or of_task[-1].verdict == Verdict.APPROVED:
        raise Conflict(f"{task.name_tag} is {task.status}, and no verdict refused it.", "Go on with the work.")
    review = of_task[-1]
    if review.stage == ReviewStep.RULING:
        raise Conflict(f"{task.name_tag} is {task.status}: the coordinator has ruled on it.", "The ruling stands.")
    if any(one.rebuttal_answer for one in of_task if one.attempt == review.attempt):
        raise Conflict(f"The verdict on {task.name_tag} was answered already ({task.status}).", "Once a verdict.")
    author = act.tx.value("SELECT agent_id FROM runs WHERE id = (SELECT max(run_id) FROM outputs WHERE task_id = :t)",
                          t=task.id)  # fmt: skip
    if author != act.own_agent().id:
        raise Forbidden(f"The verdict on {task.name_tag} judged somebody else's work.", "The judged side answers.")
    if review.subject_hash != subject_hash(act, task):
        raise Conflict(
            f"The outputs of {task.name_tag} changed since the verdict; it is {task.status}.",
            "A rebuttal is about what was judged: hand the new work in instead.",
        )
    return review


class RuleTask(Command):
    """Decide a disputed verdict: what you say stands, and nobody answers it any more."""

    who = letters("C")
    example = {"task": 12, "verdict": "approved", "because": "I counted again: O17 names all 43 files."}
    task: int
    verdict: Verdict
    because: Text = Field(min_length=1, description="Which side is right, and by which fact")


@handles(RuleTask)
def rule_task(act: Act, command: RuleTask) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    agent, run = act.own_agent(), act.own_run()
    if run.kind != RunKind.RULE or run.task_id != task.id:
        raise Forbidden(f"R{run.id} was not started to rule on {task.name_tag}.", "A ruling has a run of its own.")
    if not never_ran(act, task, agent):
        raise Forbidden(f"{agent.name} worked on {task.name_tag} and cannot rule on it.", "Somebody else must (S3-18).")
    if task.status != TaskStatus.REVIEW or task.review_step != ReviewStep.RULING:
        raise Conflict(f"{task.name_tag} is {task.status} and waits for no ruling.", TASK.hint(task.status))
    if command.verdict == Verdict.APPROVED:
        require_delivered(act, task)
    disputed = reviews_of(act, task)[-1]
    # The refusal that a rebuttal disputed was counted when it was given.
    is_counted = disputed.stage == ReviewStep.REPLY
    review = tx.insert(
        Review, "TaskRuled",
        subject="task", subject_id=task.id, subject_hash=subject_hash(act, task), reviewer=agent.slug, run_id=run.id,
        attempt=disputed.attempt, verdict=command.verdict, dimensions={"summary": command.because}, findings=(),
        opened_outputs=(), rebuttal="", stage=ReviewStep.RULING,
    )  # fmt: skip
    task = settle(act, task, command.verdict, command.because, "RuleTask", is_counted=is_counted)
    return {"id": review.id, "task": str(task.status), "verdict": str(command.verdict)}
