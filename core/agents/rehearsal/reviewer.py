"""The reviewer: opens the outputs, recomputes a sample in another way, and says what it found."""

from dataclasses import dataclass, field
from typing import Any

from core.agents.rehearsal.deliveries import QUOTE, Delivery, deliveries_of
from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.words import counted, cut, listed, plain
from core.agents.rehearsal.works import CLOSER_LOOK, WORKS
from core.agents.runner import Outcome
from core.domain.entities import Approval, Task
from core.domain.goals import canonical_hash
from core.domain.states import ApprovalStatus, Verdict

FINDINGS_MAX = 20


@dataclass
class Judged:
    """A verdict as it grows."""

    verdict: Verdict = Verdict.APPROVED
    findings: list[dict[str, str]] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)

    def against(self, verdict: Verdict, what: str, where: str, change: str) -> None:
        """Note what is wrong; a rejection outweighs a revision."""
        if self.verdict != Verdict.REJECTED:
            self.verdict = verdict
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append({"what": cut(what, 1000), "where": cut(where, 500), "change": cut(change, 1000)})


async def review(shift: Shift) -> Outcome:
    """One verdict on the outputs as they are now."""
    task = await shift.task()
    found = await deliveries_of(shift.desk.readers, shift.assignment.folder, [task])
    outputs = [delivery.output for delivery in found]
    hashed = canonical_hash([[output.id, output.sha256] for output in outputs])
    kind = str(task.arguments.get("audit", ""))
    judged = Judged()
    figures = [delivery for delivery in found if delivery.kind != QUOTE]
    if not figures or figures[-1].kind != kind or not figures[-1].whole:
        refuse(judged, task, figures)
    else:
        await recompute(shift, judged, kind, figures[-1])
        for quote in (delivery for delivery in found if delivery.kind == QUOTE):
            await check_quote(shift, judged, quote)
    await shift.act(
        "ReviewTask", task=task.id, verdict=judged.verdict, summary=summary(judged), findings=judged.findings,
        opened_outputs=[output.id for output in outputs], subject_hash=hashed,
        dimensions=dimensions(task, judged, outputs=len(outputs)),
    )  # fmt: skip
    return Outcome(detail=str(judged.verdict))


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
    judged.against(Verdict.REJECTED, what, where, f"Deliver one JSON output of kind {plain(wanted)} with its result.")


async def recompute(shift: Shift, judged: Judged, kind: str, figures: Delivery) -> None:
    """Compute a sample again; the run's id settles which, so that a second look sees the same."""
    if kind not in WORKS:
        refuse(judged, await shift.task(), [figures])
        return
    if kind == CLOSER_LOOK and figures.result.get("path") is None:
        counted_again = (await shift.audit("inventory"))["total"]["files"]
        compare(judged, figures, {"what": "files in the folder", "claimed": 0, "found": counted_again})
        return
    found = await shift.audit("recompute", kind=kind, claimed=figures.result, seed=shift.assignment.run.id)
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
        )


async def check_quote(shift: Shift, judged: Judged, quote: Delivery) -> None:
    """A quote needs its used approval for exactly these lines, and must be word for word."""
    where, content = f"O{quote.output.id}", quote.content
    lines = {row["line"]: row["text"] for row in content.get("lines", [])}
    approvals = await shift.find(Approval, "id = :id", id=content.get("approval"))
    allowed = approvals[0].payload if approvals and approvals[0].status == ApprovalStatus.CONSUMED else {}
    if allowed.get("path") != content.get("path") or sorted(allowed.get("lines", [])) != sorted(lines):
        judged.against(Verdict.REJECTED, "It quotes lines that no approval allows.", where, "Deliver figures only.")
        return
    look = await shift.audit(CLOSER_LOOK, path=content["path"])
    found = {mark["line"]: mark["text"] for mark in look["first_marks"]}
    judged.checked.append(f"{counted(len(lines), 'quoted line')} word for word")
    if found != lines:
        judged.against(Verdict.NEEDS_REVISION, "The quoted lines are not those of the file now.", where, "Quote anew.")


def summary(judged: Judged) -> str:
    """What is good, or what is wrong."""
    if judged.verdict == Verdict.APPROVED:
        shown = listed([cut(what, 80) for what in judged.checked[:6]])
        return f"Recomputed in another way and equal: {counted(len(judged.checked), 'figure')}, among them {shown}."
    first = judged.findings[0]
    return f"{first['what']} ({first['where']}); {counted(len(judged.findings), 'finding')} in all."


def dimensions(task: Task, judged: Judged, outputs: int) -> dict[str, str]:
    """The review dimensions that apply to figures: coverage, direction, authenticity (S2-19)."""
    state = "holds" if judged.verdict == Verdict.APPROVED else "see the findings"
    return {
        "requirement_coverage": f"{listed(list(task.must_haves)) or 'no must-have'}: {state}",
        "direction": f"Part of G{task.goal_id}; the end state of the task is what was judged.",
        "artefact_authenticity": f"{counted(outputs, 'output')} opened; {len(judged.checked)} figures computed again.",
    }
