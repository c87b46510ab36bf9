"""The reviewer: opens the outputs, recomputes a sample in another way, and says what it found."""

from typing import Any

from core.agents.rehearsal.deliveries import QUOTE, Delivery, approved_figures, deliveries_of
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.verdict import Judged, confidence, dimensions, summary
from core.agents.rehearsal.words import counted, cut, plain
from core.agents.rehearsal.works import ALL_WORKS, CHOICE, CLOSER_LOOK, largest_finding
from core.agents.runner import Outcome
from core.domain.entities import Review, Task
from core.domain.goals import canonical_hash
from core.domain.reviewing import END_STATE, standing
from core.domain.states import CommentKind, ReviewStep, TaskStatus, Verdict


async def review(shift: Shift) -> Outcome:
    """One verdict on the outputs as they are now: the first, a second one, or the reply to a rebuttal."""
    task = await shift.task()
    if task.status != TaskStatus.REVIEW or task.review_step == ReviewStep.RULING:
        return no_reply(f"{task.name_tag} is {task.status} and waits for no verdict")
    found = await deliveries_of(shift.desk.readers, shift.assignment.folder, [task])
    outputs = [delivery.output for delivery in found]
    hashed = canonical_hash([[output.id, output.sha256] for output in outputs])
    judged = await judge(shift, task, found)
    judged.settle()
    answer = await shift.act(
        "ReviewTask", task=task.id, verdict=judged.verdict, summary=summary(judged, task.review_step),
        findings=judged.findings, opened_outputs=[output.id for output in outputs], subject_hash=hashed,
        dimensions=dimensions(judged, outputs=len(outputs)),
    )  # fmt: skip
    # Before a second look nobody may read the first one (S2-20).
    if answer["settled"]:
        await say(shift, task, judged)
    return Outcome(detail=str(judged.verdict))


async def judge(shift: Shift, task: Task, found: list[Delivery]) -> Judged:
    """What is to be said of a task's deliveries, against the earlier verdicts that still stand."""
    reviews = await reviews_of(shift, task)
    judged = Judged(task, standing(reviews) if task.criteria else ())
    kind = str(task.arguments.get("audit", ""))
    figures = [delivery for delivery in found if delivery.kind != QUOTE]
    if not figures or figures[-1].kind != kind or not figures[-1].whole:
        refuse(judged, task, figures)
        return judged
    await recompute(shift, judged, kind, figures[-1], seed_of(shift, task, reviews))
    # An earlier attempt's quote is history; the newest is what goes out.
    for quote in [delivery for delivery in found if delivery.kind == QUOTE][-1:]:
        await check_quote(shift, judged, quote)
    return judged


async def reviews_of(shift: Shift, task: Task) -> list[Review]:
    """All verdicts on a task, oldest first."""
    return await shift.find(Review, "subject = 'task' AND subject_id = :task ORDER BY id", task=task.id)


def seed_of(shift: Shift, task: Task, reviews: list[Review]) -> int:
    """Which sample is drawn: later verdicts look at what the first one looked at, a second look at something else."""
    if task.review_step == ReviewStep.SECOND or not reviews:
        return shift.assignment.run.id
    return reviews[0].run_id or shift.assignment.run.id


async def say(shift: Shift, task: Task, judged: Judged) -> None:
    """The verdict in a comment too, with how sure it is."""
    words = {
        Verdict.APPROVED: "I approve it",
        Verdict.NEEDS_REVISION: "It needs a revision",
        Verdict.REJECTED: "I reject it",
    }
    what = f"{counted(len(judged.checked), 'figure')} computed again"
    finding = f"; {judged.findings[0]['what']} ({judged.findings[0]['where']})" if judged.findings else ""
    body = f"{words[judged.verdict]}: {what}{cut(finding, 600)}. [confidence: {confidence(judged)}]"
    await shift.act("AddComment", task=task.id, kind=CommentKind.REVIEW, body=body)


def refuse(judged: Judged, task: Task, figures: list[Delivery]) -> None:
    """There is nothing that could be judged: no JSON, other bytes than delivered, or another work."""
    where = f"O{figures[-1].output.id}" if figures else task.name_tag
    wanted = str(task.arguments.get("audit", "none"))
    if not figures:
        what = "There are no figures among its outputs."
    elif not figures[-1].whole:
        what = "The output is missing, or its bytes are not those that were delivered."
    elif not figures[-1].kind:
        what = "The output is no JSON object with a kind and a result."
    else:
        what = f"The output is about {plain(figures[-1].kind)}, the task asks for {plain(wanted)}."
    change = f"Deliver one JSON output of kind {plain(wanted)} with its result."
    judged.against(Verdict.REJECTED, what, where, change, "Without it nothing can be computed again.", END_STATE)


async def recompute(shift: Shift, judged: Judged, kind: str, figures: Delivery, seed: int) -> None:
    """Compute a sample again; the seed settles which."""
    if kind not in ALL_WORKS:
        refuse(judged, judged.task, [figures])
    elif kind == CHOICE:
        path, _why = largest_finding(await approved_figures(shift, await shift.goal()), frozenset())
        compare(judged, figures, {"what": "the largest finding", "claimed": figures.result.get("path"), "found": path})
    elif kind == CLOSER_LOOK and figures.result.get("path") is None:
        counted_again = (await shift.audit("inventory"))["total"]["files"]
        compare(judged, figures, {"what": "files in the folder", "claimed": 0, "found": counted_again})
    else:
        found = await shift.audit("recompute", kind=kind, claimed=figures.result, seed=seed)
        for check in found["checks"]:
            compare(judged, figures, check)


def compare(judged: Judged, figures: Delivery, check: dict[str, Any]) -> None:
    """One figure, claimed and found."""
    what = plain(str(check["what"]))
    judged.checked.append(what)
    if check["claimed"] != check["found"]:
        claimed, found = plain(str(check["claimed"])), plain(str(check["found"]))
        judged.against(
            Verdict.NEEDS_REVISION,
            f"claimed {cut(claimed, 200)}, found {cut(found, 200)}",
            f"O{figures.output.id}, {what}",
            f"Compute it again; {cut(found, 200)} is what another way of counting gives.",
            "Two ways of counting the same thing must agree.",
            judged.figures_criterion(),
        )


async def check_quote(shift: Shift, judged: Judged, quote: Delivery) -> None:
    """A quote went through the red line of publication, and must be word for word."""
    where, content = f"O{quote.output.id}, the quote", quote.content
    lines = {row["line"]: row["text"] for row in content.get("lines", [])}
    if not quote.output.publish:
        because = "Lines of the person's files go out only with their word."
        what = "It quotes lines past the red line of publication."
        judged.against(Verdict.REJECTED, what, where, "Deliver figures only.", because)
        return
    look = await shift.audit(CLOSER_LOOK, path=content["path"])
    found = {mark["line"]: mark["text"] for mark in look["first_marks"]}
    judged.checked.append(f"{counted(len(lines), 'quoted line')} word for word")
    if found != lines:
        what, because = "The quoted lines are not those of the file now.", "A quote is word for word."
        judged.against(Verdict.NEEDS_REVISION, what, where, "Quote anew.", because)
