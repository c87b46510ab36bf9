"""Well-formed tasks: an end state that can be checked, and the must-have that they serve (S2-33, S3-20)."""

import pytest

from core.domain.entities import Goal, Task
from core.domain.shape import missing_of
from tests.unit.facts import a

M1 = {"id": "M1", "text": "count", "waived_by": ""}


@pytest.mark.parametrize(
    ("musts", "end_state", "named", "lacks"),
    [
        ((), "counted", (), []),
        ((), "", (), ["end_state"]),
        ((), " \n", (), ["end_state"]),
        ((M1,), "counted", ("M1",), []),
        ((M1,), "counted", (), ["M1"]),
        ((M1,), "", (), ["end_state", "M1"]),
        (({**M1, "waived_by": "human"},), "counted", (), []),
    ],
)
def test_all_that_is_missing_is_named(
    musts: tuple[dict[str, str], ...], end_state: str, named: tuple[str, ...], lacks: list[str]
) -> None:
    said = missing_of(a(Task, end_state=end_state, must_haves=named), a(Goal, must_haves=musts))
    assert len(said) == len(lacks)
    assert all(word in words for word, words in zip(lacks, said, strict=True))
