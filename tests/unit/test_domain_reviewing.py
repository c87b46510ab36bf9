"""What a task is judged by, what stands of earlier verdicts, and what the mechanical stage finds (S2-19…22, F8)."""

from typing import Any

import pytest

from core.domain.entities import Goal, Output, Review, Task
from core.domain.reviewing import criteria_of, required_dimensions, shown, standing, stricter, unnamed
from core.domain.states import Dimension, Risk, Verdict
from tests.unit.facts import a

MUSTS = ({"id": "M1", "text": "count", "waived_by": ""}, {"id": "M2", "text": "size", "waived_by": ""})
GOAL = a(Goal, must_haves=MUSTS)


def test_the_criteria_are_all_that_the_task_says_and_the_five_dimensions() -> None:
    task = a(Task, must_haves=("M2",), end_state="a table", constraints=("no network", "read only"))
    criteria = {criterion["id"]: criterion["text"] for criterion in criteria_of(task, GOAL)}
    assert list(criteria) == [
        "M2", "end_state", "constraint:1", "constraint:2", "handoff", "authenticity", *map(str, Dimension)
    ]  # fmt: skip
    assert (criteria["M2"], criteria["end_state"], criteria["constraint:2"]) == ("size", "a table", "read only")
    assert all(criteria.values())


def test_frozen_criteria_stay_whatever_the_task_says_now() -> None:
    frozen = ({"id": "end_state", "text": "as it was"},)
    assert criteria_of(a(Task, criteria=frozen, must_haves=("M1",)), GOAL) == frozen


@pytest.mark.parametrize(("risk", "count"), [(Risk.LOW, 2), (Risk.STANDARD, 5), (Risk.HIGH, 5)])
def test_risk_sets_how_deep_a_verdict_goes(risk: Risk, count: int) -> None:
    named = required_dimensions(risk)
    assert len(named) == count
    assert {Dimension.REQUIREMENT_COVERAGE, Dimension.ARTEFACT_AUTHENTICITY} <= set(named)


def test_of_two_refusals_the_one_that_asks_for_more_counts() -> None:
    revise, reject, approve = Verdict.NEEDS_REVISION, Verdict.REJECTED, Verdict.APPROVED
    assert stricter(revise, reject) == stricter(reject, revise) == reject
    assert stricter(approve, revise) == revise


def review(number: int, *findings: dict[str, Any], verdict: Verdict = Verdict.REJECTED, settled: bool = True) -> Review:
    return a(Review, id=number, verdict=verdict, findings=findings, settled=settled, reviewer=f"r{number}")


def test_what_stands_is_numbered_over_all_settled_refusals() -> None:
    known = [
        review(2, {"what": "b"}, {"what": "a again", "earlier": 1}, {"what": "new", "follow_up": 7}),
        review(1, {"what": "a", "earlier": None}),
        review(3, {"what": "small"}, verdict=Verdict.APPROVED),
        review(4, {"what": "secret"}, settled=False),
        review(5, {"what": "c"}),
    ]
    assert [(one.number, one.finding["what"], one.reviewer) for one in standing(known)] == [
        (1, "a", "r1"), (2, "b", "r2"), (3, "c", "r5")
    ]  # fmt: skip
    assert [one.id for one in shown(known)] == [2, 1, 3, 5]


@pytest.mark.parametrize(
    ("output", "handoff", "missing"),
    [
        ({"must_haves": ("M1",)}, "", ["M2"]),
        ({"must_haves": ("M1", "M2")}, "", []),
        ({"title": "M1 and M2"}, "", []),
        ({"summary": "covers M1", "content": '{"M2": 42}'}, "", []),
        ({"content": None, "title": "M1"}, "M2: see the table", []),
        ({"title": "M10, XM1, M1b, M1_2"}, "m2", ["M1", "M2"]),
        ({"title": "覆盖M1，以及M2。"}, "", []),
    ],
)
def test_a_must_have_is_named_by_an_output_or_as_a_word(
    output: dict[str, Any], handoff: str, missing: list[str]
) -> None:
    assert unnamed(("M1", "M2"), [a(Output, **output)], handoff) == missing
