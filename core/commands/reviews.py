"""The verdict on a task, by somebody who never ran it: mechanical, then semantic, then a second look (S2-20, S3-14)."""

from pydantic import BaseModel, ConfigDict, Field

from core.commands.moves import never_ran
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.commands.verdicts import (
    keep_follow_ups,
    reviews_of,
    send_to_ruling,
    settle,
    subject_hash,
)
from core.commands.verified import require_delivered, require_real
from core.domain.entities import AgentRecord, Goal, Review, Run, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.lifecycles import TASK
from core.domain.limits import FOLLOW_UPS_A_REVIEW
from core.domain.reviewing import criteria_of, required_dimensions, standing, stricter
from core.domain.states import Dimension, ReviewStep, Risk, RunKind, TaskStatus, Verdict


class Finding(BaseModel):
    """Concrete: what is wrong, where, what to change it to, because of what, and by which criterion (S2-22)."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    what: Text = Field(min_length=1)
    where: Text = Field(min_length=1)
    change: Text = Field(min_length=1)
    because: Text = Field(min_length=1)
    criterion: str = Field(min_length=1, max_length=200, description="Id of the criterion that it fails")
    earlier: int | None = Field(None, ge=1, description="Number of the finding of an earlier review that still stands")


class ReviewTask(Command):
    """Judge a submitted task; names the outputs that were opened."""

    who = letters("R")
    example = {
        "task": 12, "verdict": "needs_revision", "summary": "Counted again; links were not looked at.",
        "findings": ({
            "what": "42 is wrong", "where": "O17, first line", "change": "43", "because": "one link was left out",
            "criterion": "end_state",
        },),
        "opened_outputs": (17,), "dimensions": dict.fromkeys(Dimension, "What I found."),
    }  # fmt: skip
    task: int
    verdict: Verdict
    summary: Text = Field(min_length=1, description="What is good, or what is wrong; also what you could not check")
    findings: tuple[Finding, ...] = ()
    opened_outputs: tuple[int, ...] = Field(description="Ids of the outputs that the reviewer opened (F9)")
    dimensions: dict[Dimension, Text] = Field(
        default_factory=dict, description="Dimension → what was found; of low risk two are enough (S2-19)"
    )
    subject_hash: str | None = Field(None, description="Hash of the outputs that were judged; refused if they changed")


@handles(ReviewTask)
def review_task(act: Act, command: ReviewTask) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    agent, run = act.own_agent(), act.own_run()
    known = reviews_of(act, task)
    _admit_judge(act, task, agent, run, known)
    hashed = subject_hash(act, task)
    if command.subject_hash is not None and command.subject_hash != hashed:
        raise Conflict(f"The outputs of {task.name_tag} changed since you opened them.", "Open them again.")
    goal = tx.get(Goal, task.goal_id)
    is_later = _check_verdict(act, task, goal, command, known)
    if command.verdict == Verdict.APPROVED:
        require_delivered(act, task)
    if not task.criteria:
        task = tx.update(task, "CriteriaFrozen", touch=False, criteria=criteria_of(task, goal))
    is_first_of_two = task.review_step == ReviewStep.REVIEW and task.risk == Risk.HIGH
    review = tx.insert(
        Review, "TaskReviewed",
        subject="task", subject_id=task.id, subject_hash=hashed, reviewer=agent.slug, run_id=run.id,
        attempt=task.review_attempts + (task.review_step != ReviewStep.REPLY), verdict=command.verdict,
        dimensions={**{str(name): text for name, text in command.dimensions.items()}, "summary": command.summary},
        findings=_kept(command, is_later), opened_outputs=command.opened_outputs, rebuttal="",
        stage=task.review_step, settled=not is_first_of_two,
    )  # fmt: skip
    task = _move_on(act, task, review, known)
    return {
        "id": review.id, "task": str(task.status), "verdict": str(command.verdict),
        "settled": review.settled, "step": str(task.review_step),
    }  # fmt: skip


def _admit_judge(act: Act, task: Task, agent: AgentRecord, run: Run, known: list[Review]) -> None:
    """Who may judge now: its own review run, once, by somebody who never ran it nor gave the first verdict."""
    if run.kind != RunKind.REVIEW or run.task_id != task.id:
        raise Forbidden(f"R{run.id} was not started to review {task.name_tag}.", "A review run judges its own task.")
    if not never_ran(act, task, agent):
        raise Forbidden(f"{agent.name} worked on {task.name_tag} and cannot judge it.", "Somebody else must (S3-18).")
    if task.status != TaskStatus.REVIEW:
        raise Conflict(f"{task.name_tag} is {task.status}: ReviewTask is not possible.", TASK.hint(task.status))
    if task.review_step == ReviewStep.RULING:
        raise Conflict(f"{task.name_tag} is in review and waits for the coordinator's ruling.", "Your part is done.")
    if task.review_step == ReviewStep.SECOND and any(
        review.reviewer == agent.slug for review in known if not review.settled
    ):
        raise Forbidden(f"{agent.name} gave the first verdict on {task.name_tag}.", "The second is somebody else's.")
    if any(review.run_id == run.id for review in known):
        raise Conflict(f"R{run.id} has given its verdict; {task.name_tag} is in review anew.", "End this run.")


def _check_verdict(act: Act, task: Task, goal: Goal, command: ReviewTask, known: list[Review]) -> bool:
    """Whether earlier findings bind this verdict. Raises Invalid for what a verdict must not be."""
    _check_opened(act, task, command)
    told = [text for one in command.findings for text in (one.what, one.where, one.change)]
    require_real(act, [command.summary, *told])
    silent = [name for name in required_dimensions(task.risk) if not command.dimensions.get(name, "").strip()]
    if silent:
        raise Invalid(
            f"A verdict on a task of {task.risk} risk says something about {', '.join(silent)}.",
            "Name each in `dimensions` with what you found (S2-19).",
        )
    ids = [criterion["id"] for criterion in criteria_of(task, goal)]
    strange = [finding.criterion for finding in command.findings if finding.criterion not in ids]
    if strange:
        raise Invalid(
            f"{strange[0]!r} is no criterion of {task.name_tag}: they were frozen at its first review (F8)."
            if task.criteria
            else f"{strange[0]!r} is no criterion of {task.name_tag}.",
            f"They are: {', '.join(ids)}.",
        )
    stands = standing(known) if task.criteria else []
    named = [finding.earlier for finding in command.findings if finding.earlier is not None]
    unknown = [number for number in named if number > len(stands)]
    if unknown:
        raise Invalid(f"{task.name_tag} has no earlier finding {unknown[0]}.", f"It has {len(stands)} of them.")
    if command.verdict == Verdict.APPROVED:
        if named:
            raise Invalid(f"Finding {named[0]} still stands: that is no approval.", "Refuse, or leave it out.")
    elif not command.findings:
        raise Invalid(f"{command.verdict} needs a finding.", "Say what is wrong, where, and what to change it to.")
    elif stands and not named:
        numbers = "; ".join(f"{one.number}: {one.finding['what']}" for one in stands)[:500]
        raise Invalid(
            f"A later review refuses {task.name_tag} only for what an earlier one found (F8).",
            f"Name in `earlier` what still stands ({numbers}), or approve: new findings become tasks of their own.",
        )
    fresh = len(command.findings) - len(named)
    if (stands or command.verdict == Verdict.APPROVED) and fresh > FOLLOW_UPS_A_REVIEW:
        raise Invalid(
            f"At most {FOLLOW_UPS_A_REVIEW} new findings of a review become tasks; these are {fresh}.",
            "Keep what matters, and join what belongs together.",
        )
    return bool(stands)


def _check_opened(act: Act, task: Task, command: ReviewTask) -> None:
    rows = act.tx.all("SELECT id, must_haves, run_id FROM outputs WHERE task_id = :task ORDER BY id", task=task.id)
    outputs = {row["id"] for row in rows}
    invented = [number for number in command.opened_outputs if number not in outputs]
    if invented or not command.opened_outputs:
        names = ", ".join(f"O{number}" for number in sorted(outputs))
        raise Invalid(
            f"A verdict names outputs of {task.name_tag} that were opened"
            + (f"; O{invented[0]} is none of them." if invented else "."),
            f"Its outputs are: {names}.",
        )
    # What is said to deliver a must-have covers it once it is approved: nobody approves that unseen.
    last = [row for row in rows if row["run_id"] == rows[-1]["run_id"]]
    unseen = [row["id"] for row in last if row["must_haves"] != "[]" and row["id"] not in command.opened_outputs]
    if unseen and command.verdict == Verdict.APPROVED:
        raise Invalid(
            f"O{unseen[0]} is said to deliver a must-have of {task.name_tag}, and was not opened.",
            f"Open {', '.join(f'O{number}' for number in unseen[:20])} before you approve.",
        )


def _kept(command: ReviewTask, is_later: bool) -> list[dict[str, object]]:
    """The findings as the board keeps them; those that refuse nothing wait to become tasks (`follow_up` 0)."""
    kept = []
    for finding in command.findings:
        values = finding.model_dump()
        if command.verdict == Verdict.APPROVED or (is_later and finding.earlier is None):
            values["follow_up"] = 0
        kept.append(values)
    return kept


def _move_on(act: Act, task: Task, review: Review, known: list[Review]) -> Task:
    """One verdict moves a task; of high risk two that agree; a dispute goes to the coordinator (S2-20, C-07)."""
    if not review.settled:
        return act.tx.update(task, "TaskAwaitsSecondLook", review_step=ReviewStep.SECOND)
    first = next((one for one in known if not one.settled), None)
    if first is not None:
        first = act.tx.update(first, "VerdictSettled", settled=True)
        keep_follow_ups(act, task, first)
    keep_follow_ups(act, task, review)
    refuses = review.verdict != Verdict.APPROVED
    summary = review.dimensions["summary"]
    if first is not None and (first.verdict != Verdict.APPROVED) != refuses:
        why = f"{first.reviewer} says {first.verdict}, {review.reviewer} says {review.verdict}"
        return send_to_ruling(act, task, why)
    if task.review_step == ReviewStep.REPLY and refuses:
        return send_to_ruling(act, task, f"{review.reviewer} refuses it again after the rebuttal: {summary}")
    against = [one.reviewer for one in known if _stands_against(one, task, review)]
    if against:
        return send_to_ruling(act, task, f"{review.reviewer} approves after the rebuttal, {against[0]} refused")
    verdict = review.verdict
    if first is not None:
        verdict = stricter(first.verdict, verdict)
        if verdict == first.verdict != review.verdict:
            summary = first.dimensions["summary"]
    return settle(act, task, verdict, summary, "ReviewTask", is_counted=task.review_step == ReviewStep.REPLY)


def _stands_against(one: Review, task: Task, reply: Review) -> bool:
    """Whether the other one of two reviewers of high risk refused what this reply approves: no one word settles it."""
    return (
        task.risk == Risk.HIGH and task.review_step == ReviewStep.REPLY and reply.verdict == Verdict.APPROVED
        and one.attempt == reply.attempt and one.verdict != Verdict.APPROVED and one.reviewer != reply.reviewer
    )  # fmt: skip
