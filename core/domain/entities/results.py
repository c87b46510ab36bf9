"""What was delivered, what was said of it, and what was decided."""

from dataclasses import dataclass
from typing import Any, ClassVar

from core.domain.entities.base import Entity
from core.domain.states import OutputType, ReviewStep, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Output(Entity):
    """A delivered thing. Small content lies in `content`, a larger one in the company's folder at `path`.

    `must_haves` are those that it delivers; `publish` marks what is to leave the company.
    """

    table: ClassVar[str] = "outputs"
    letter: ClassVar[str] = "O"
    added: ClassVar[dict[str, Any]] = {"must_haves": (), "publish": False}
    goal_id: int
    task_id: int | None
    run_id: int | None
    type: OutputType
    title: str
    summary: str
    content: str | None
    path: str | None
    sha256: str
    size: int
    verified_at: int
    created_by: str
    must_haves: tuple[str, ...]
    publish: bool
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(Entity):
    """A verdict. One that is not `settled` waits for a second, by somebody who must not see it."""

    table: ClassVar[str] = "reviews"
    added: ClassVar[dict[str, Any]] = {
        "stage": ReviewStep.REVIEW,
        "settled": True,
        "rebuttal_answer": "",
        "rebutted_by": "",
    }
    subject: str
    subject_id: int
    subject_hash: str
    reviewer: str
    run_id: int | None
    attempt: int
    verdict: Verdict
    dimensions: dict[str, str]
    findings: tuple[dict[str, Any], ...]
    opened_outputs: tuple[int, ...]
    rebuttal: str
    stage: ReviewStep
    settled: bool
    rebuttal_answer: str
    rebutted_by: str
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Entity):
    """What was decided in a discussion; `covered_by` are the outputs that carry it out."""

    table: ClassVar[str] = "decisions"
    added: ClassVar[dict[str, Any]] = {"waived_by": ""}
    goal_id: int
    task_id: int | None
    comment_id: int | None
    text: str
    covered_by: tuple[int, ...]
    created_by: str
    waived_by: str
    created_at: int
    version: int
