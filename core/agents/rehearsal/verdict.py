"""A verdict as it grows, and how it is worded: findings by criterion, five dimensions, honest limits. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.agents.rehearsal.words import counted, cut, listed
from core.domain.entities import Task
from core.domain.reviewing import AUTHENTICITY, END_STATE, Standing
from core.domain.states import Dimension, ReviewStep, Verdict

FINDINGS_MAX = 20
SURE, QUITE_SURE = 0.9, 0.7
CHECKS_TO_BE_SURE = 5


@dataclass
class Judged:
    """The verdict so far. `standing` are the findings of earlier refusals, which a later one may name."""

    task: Task
    standing: Sequence[Standing] = ()
    verdict: Verdict = Verdict.APPROVED
    findings: list[dict[str, Any]] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)

    def against(
        self, verdict: Verdict, what: str, where: str, change: str, because: str, criterion: str = AUTHENTICITY
    ) -> None:
        """Note what is wrong; a rejection outweighs a revision."""
        if self.verdict != Verdict.REJECTED:
            self.verdict = verdict
        if len(self.findings) < FINDINGS_MAX:
            self.findings.append({
                "what": cut(what, 1000), "where": cut(where, 500), "change": cut(change, 1000),
                "because": cut(because, 1000), "criterion": criterion, "earlier": self.same_before(where, criterion),
            })  # fmt: skip

    def same_before(self, where: str, criterion: str) -> int | None:
        """The number of the standing finding that this one repeats: the same criterion and the same figure."""
        figure = where.partition(", ")[2]
        for one in self.standing:
            same = str(one.finding.get("where", "")).partition(", ")[2] == figure
            if same and one.finding.get("criterion") == criterion:
                return one.number
        return None

    def figures_criterion(self) -> str:
        """By what figures are judged: the must-have that they deliver, else the end state."""
        return self.task.must_haves[0] if self.task.must_haves else END_STATE

    def settle(self) -> None:
        """A later refusal stands on what an earlier one found (F8): wholly new findings refuse nothing."""
        if self.verdict == Verdict.APPROVED or not self.standing:
            return
        if all(finding["earlier"] is None for finding in self.findings):
            self.verdict = Verdict.APPROVED
            self.findings = self.findings[:5]


def confidence(judged: Judged) -> float:
    """How sure: a difference that was found is a fact; agreement is as sure as the sample is large."""
    if judged.verdict != Verdict.APPROVED or len(judged.checked) >= CHECKS_TO_BE_SURE:
        return SURE
    return QUITE_SURE


def summary(judged: Judged, step: ReviewStep) -> str:
    """What is good, or what is wrong; what was not looked at; how sure."""
    lead = {ReviewStep.REPLY: "After the rebuttal I computed it again. ", ReviewStep.SECOND: "A second look. "}
    if judged.verdict == Verdict.APPROVED:
        shown = listed([cut(what, 80) for what in judged.checked[:6]]) or "none"
        said = f"Recomputed in another way and equal: {counted(len(judged.checked), 'figure')}, among them {shown}."
        if judged.findings:
            said += f" {counted(len(judged.findings), 'new finding')}: work of its own, no ground to refuse this."
    else:
        first = judged.findings[0]
        said = f"{first['what']} ({first['where']}); {counted(len(judged.findings), 'finding')} in all."
    limits = "I drew a sample: what is not in it I have not seen, and what figures mean I cannot judge."
    return f"{lead.get(step, '')}{said} {limits} [confidence: {confidence(judged)}]"


def dimensions(judged: Judged, outputs: int) -> dict[str, str]:
    """The five dimensions, for figures (S2-19)."""
    task = judged.task
    state = "holds" if judged.verdict == Verdict.APPROVED else "see the findings"
    return {
        Dimension.REQUIREMENT_COVERAGE: f"{listed(list(task.must_haves)) or 'No must-have named'}: {state}.",
        Dimension.DESIGN_CONSISTENCY: f"{counted(len(task.constraints), 'constraint')}; of each output the kind is the"
        " one that the task asks for, and nothing of the folder was changed for it.",
        Dimension.CODE_QUALITY: "No code was delivered; the JSON can be read, and its figures have their names.",
        Dimension.DIRECTION: f"Part of G{task.goal_id}; the end state of the task is what was judged.",
        Dimension.ARTEFACT_AUTHENTICITY: f"{counted(outputs, 'output')} opened, and whole;"
        f" {counted(len(judged.checked), 'figure')} computed again.",
    }
