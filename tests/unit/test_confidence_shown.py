"""How sure an agent says that it is stands in its comment's heading; a low one stands out (D-07)."""

import pytest

from core.domain.entities import Comment
from core.domain.states import CommentKind
from tui.panes.discussion import comment_block


def a_comment(confidence: float | None) -> Comment:
    return Comment(
        id=1, goal_id=1, task_id=1, author="vera", run_id=None, kind=CommentKind.REVIEW, body="The figures add up.",
        reply_to=None, confidence=confidence, created_at=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("confidence", "told"),
    [(0.9, ("confidence 0.9", "dim")), (0.6, ("confidence 0.6", "dim")), (0.4, ("confidence 0.4", "warn"))],
)
def test_it_is_told_and_a_low_one_stands_out(confidence: float, told: tuple[str, str]) -> None:
    assert told in comment_block(a_comment(confidence), ()).heading


def test_where_none_is_given_none_is_told() -> None:
    assert not any("confidence" in str(cell) for cell in comment_block(a_comment(None), ()).heading)
