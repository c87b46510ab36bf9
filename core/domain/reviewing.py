"""Rules of reviews: criteria, what a verdict must say, what stands of earlier ones, and the mechanical stage.

Pure: commands and tick read the board, this decides (S2-18…22, F8, F9).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.entities import Criterion, Goal, Output, Review, Task
from core.domain.states import Dimension, Freedom, Risk, Verdict

HANDOFF = "handoff"
AUTHENTICITY = "authenticity"
END_STATE = "end_state"

# What each dimension asks, as the reviewer and the board read it (S2-19).
ASKS: Mapping[Dimension, str] = {
    Dimension.REQUIREMENT_COVERAGE: "Every must-have of the task is delivered; nothing was dropped without a word.",
    Dimension.DESIGN_CONSISTENCY: "What was made agrees with the plan, the decisions and the constraints.",
    Dimension.CODE_QUALITY: "What was made can be read, run and changed by somebody else.",
    Dimension.DIRECTION: "It leads to the goal above the task, and to nothing else.",
    Dimension.ARTEFACT_AUTHENTICITY: "What is claimed is really there, and is what it is said to be.",
}
# How freely each is judged: what can be checked leaves no room (S2-19, S2-23).
FREEDOM: Mapping[Dimension, Freedom] = {
    Dimension.REQUIREMENT_COVERAGE: Freedom.MID,
    Dimension.DESIGN_CONSISTENCY: Freedom.MID,
    Dimension.CODE_QUALITY: Freedom.LOW,
    Dimension.DIRECTION: Freedom.MID,
    Dimension.ARTEFACT_AUTHENTICITY: Freedom.LOW,
}
_ALWAYS = frozenset({Dimension.REQUIREMENT_COVERAGE, Dimension.ARTEFACT_AUTHENTICITY})
_STRICTNESS = (Verdict.APPROVED, Verdict.NEEDS_REVISION, Verdict.REJECTED)


@dataclass(frozen=True, slots=True)
class Standing:
    """A finding of an earlier refusal, with the number (from 1) by which later ones name it."""

    number: int
    finding: Mapping[str, Any]
    reviewer: str


def criteria_of(task: Task, goal: Goal) -> tuple[Criterion, ...]:
    """What a task is judged by: the frozen criteria, or what they will be if it is judged now."""
    if task.criteria:
        return task.criteria
    texts = {must["id"]: must["text"] for must in goal.must_haves}
    found = [Criterion(id=must, text=texts.get(must, "")) for must in task.must_haves]
    found.append(Criterion(id=END_STATE, text=task.end_state))
    found += [Criterion(id=f"constraint:{n}", text=text) for n, text in enumerate(task.constraints, 1)]
    found.append(Criterion(id=HANDOFF, text="The handoff says decisions and why, problems and advice."))
    found.append(Criterion(id=AUTHENTICITY, text=ASKS[Dimension.ARTEFACT_AUTHENTICITY]))
    found += [Criterion(id=str(dimension), text=text) for dimension, text in ASKS.items()]
    return tuple(found)


def required_dimensions(risk: Risk) -> tuple[Dimension, ...]:
    """What a verdict must say something about: all five, of low risk only what costs little (S2-19, S3-16)."""
    return tuple(dimension for dimension in Dimension if risk != Risk.LOW or dimension in _ALWAYS)


def stricter(one: Verdict, other: Verdict) -> Verdict:
    """The one that asks for more."""
    return max(one, other, key=_STRICTNESS.index)


def shown(reviews: Iterable[Review]) -> list[Review]:
    """The verdicts that a reviewer or an author may see: none that waits for a second look (S2-20)."""
    return [review for review in reviews if review.settled]


def standing(reviews: Iterable[Review]) -> list[Standing]:
    """The findings of settled refusals, numbered in their order; those that were repeated or became tasks are none."""
    found = [
        (finding, review.reviewer)
        for review in sorted(shown(reviews), key=lambda review: review.id)
        if review.verdict != Verdict.APPROVED
        for finding in review.findings
        if finding.get("earlier") is None and "follow_up" not in finding
    ]
    return [Standing(number, finding, reviewer) for number, (finding, reviewer) in enumerate(found, 1)]


def delivers(must_id: str, outputs: Iterable[Output], handoff: str) -> bool:
    """Whether a must-have is named: by an output itself, or as a word in its text or in the handoff."""
    word = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(must_id)}(?![A-Za-z0-9_])")
    return word.search(handoff) is not None or any(
        must_id in output.must_haves
        or any(word.search(text) for text in (output.title, output.summary, output.content or ""))
        for output in outputs
    )


def unnamed(must_haves: Sequence[str], outputs: Sequence[Output], handoff: str) -> list[str]:
    """The must-haves of a task that nothing delivered names (S2-21, S3-29)."""
    return [must_id for must_id in must_haves if not delivers(must_id, outputs, handoff)]
