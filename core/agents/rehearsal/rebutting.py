"""The judged side: was the refusal right? Computed again and equal, it is answered with that fact; else accepted."""

from typing import Any

from core.agents.rehearsal.deliveries import QUOTE, Delivery, deliveries_of
from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.words import cut, listed, named, plain
from core.domain.entities import Review, Task
from core.domain.reviewing import shown
from core.domain.states import RebuttalAnswer, ReviewStep, Verdict


async def refusal_of(shift: Shift, task: Task) -> Review | None:
    """The verdict that sent the task back, if the last one did."""
    found = await shift.find(Review, "subject = 'task' AND subject_id = :task ORDER BY id", task=task.id)
    known = shown(found)
    return known[-1] if known and known[-1].verdict != Verdict.APPROVED else None


async def answer_review(shift: Shift, task: Task, refusal: Review, content: dict[str, Any]) -> RebuttalAnswer | None:
    """Answer the refusal, once: REJECT when the newly computed `content` is equal to what was delivered, else ACCEPT.

    None when it cannot be answered any more: a ruling stands, or somebody else's work was judged.
    """
    delivered = await figures_delivered(shift, task)
    if refusal.verdict != Verdict.NEEDS_REVISION or refusal.stage == ReviewStep.RULING or refusal.rebuttal_answer:
        return None
    if delivered is None or delivered.output.created_by != shift.slug:
        return None
    if await is_answered(shift, task, refusal):
        return None
    about_figures = all(
        str(finding["where"]).startswith(f"{delivered.output.name_tag},") for finding in refusal.findings
    )
    if about_figures and delivered.whole and delivered.content == content:
        figures = listed([named(str(finding["where"]), 80) for finding in refusal.findings[:3]])
        facts = (
            f"Computed again in a run of its own ({shift.assignment.run.name_tag}): all of it is equal to"
            f" {delivered.output.name_tag}, sha256 {delivered.output.sha256[:12]}, also {figures}."
        )
        await shift.act("RebutReview", task=task.id, answer=RebuttalAnswer.REJECT, facts=facts)
        return RebuttalAnswer.REJECT
    first = cut(plain(str(refusal.findings[0]["what"])), 300) if refusal.findings else "the finding"
    facts = f"Computed again: the finding is right ({first}). I deliver it anew."
    await shift.act("RebutReview", task=task.id, answer=RebuttalAnswer.ACCEPT, facts=facts)
    return RebuttalAnswer.ACCEPT


async def is_answered(shift: Shift, task: Task, refusal: Review) -> bool:
    """Whether this attempt's verdict was answered before: that is possible once."""
    return bool(
        await shift.find(
            Review,
            "subject = 'task' AND subject_id = :task AND attempt = :attempt AND rebuttal_answer <> '' LIMIT 1",
            task=task.id, attempt=refusal.attempt,
        )
    )  # fmt: skip


async def figures_delivered(shift: Shift, task: Task) -> Delivery | None:
    """The newest figures of the task."""
    found = await deliveries_of(shift.desk.readers, shift.assignment.folder, [task])
    return next((delivery for delivery in reversed(found) if delivery.kind != QUOTE), None)
