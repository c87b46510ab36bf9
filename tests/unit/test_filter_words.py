"""The filter of the lists: words and `key:value`, a minus turns a part around, wrong ones are said."""

import pytest

from core.domain.errors import Invalid
from tui.filter_words import examples, parse_words

KEYS = {"status": ("stuck", "needs you"), "agent": (), "goal": ()}
ROW = ("G12 Count the Links", {"status": ("needs you",), "agent": ("links", "ada"), "goal": ("G12",)})


@pytest.mark.parametrize(
    ("typed", "fits"),
    [
        ("", True),
        ("count", True),
        ("COUNT links", True),
        ("count nothing", False),
        ("-count", False),
        ("-nothing !nobody", True),
        ("-", False),
        ("status:needs_you", True),
        ("status:n", True),
        ("status:stuck", False),
        ("-status:stuck", True),
        ("status:", True),
        ("agent:li", True),
        ("agent:ada count", True),
        ("agent:rita", False),
        ("goal:G12", True),
        ("goal:12", True),
        ("goal:G1", False),
        ("goal:1", False),
    ],
)
def test_a_row_is_meant_or_not(typed: str, fits: bool) -> None:
    assert parse_words(typed, KEYS).fits(*ROW) is fits


@pytest.mark.parametrize(
    ("typed", "said"), [("mood:x", "There is no filter 'mood' here."), ("status:merry", "There is no status 'merry'.")]
)
def test_what_means_nothing_is_said_with_what_would(typed: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_words(f"links {typed}", KEYS)
    assert refused.value.message == said
    assert "stuck" in refused.value.hint


def test_a_key_without_a_value_for_the_row_does_not_fit() -> None:
    assert not parse_words("goal:3", KEYS).fits("anything", {})
    assert parse_words("-goal:3", KEYS).fits("anything", {})


def test_the_examples_name_every_key() -> None:
    assert examples(KEYS) == "Write words, status:stuck, agent:…, goal:…; a minus in front turns it around."
