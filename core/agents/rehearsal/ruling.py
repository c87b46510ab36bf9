"""The coordinator rules where reviewers, or reviewer and author, do not agree: by computing it again itself."""

from core.agents.rehearsal.deliveries import deliveries_of
from core.agents.rehearsal.reviewer import judge
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import counted, cut
from core.agents.runner import Outcome
from core.domain.states import ReviewStep, TaskStatus, Verdict


async def rule(shift: Shift) -> Outcome:
    """One ruling; it stands."""
    task = await shift.task()
    if task.status != TaskStatus.REVIEW or task.review_step != ReviewStep.RULING:
        return no_reply(f"{task.name_tag} waits for no ruling")
    judged = await judge(shift, task, await deliveries_of(shift.desk.readers, shift.assignment.folder, [task]))
    if judged.verdict == Verdict.APPROVED:
        because = f"I computed {counted(len(judged.checked), 'figure')} again myself, and they are as delivered."
    else:
        first = judged.findings[0]
        because = f"I computed it again myself: {first['what']} ({first['where']}). The refusal is right."
    await shift.act("RuleTask", task=task.id, verdict=judged.verdict, because=cut(because, 2000))
    return Outcome(detail=f"ruled: {judged.verdict}")
