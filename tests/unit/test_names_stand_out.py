"""The names in a comment stand out: those that somebody has, and those that nobody has (S2-37)."""

import pytest

from tui.panes.discussion import named

AGENTS = ("ada", "bob", "bob-2")


def toned(text: str, width: int = 60) -> list[tuple[str, str]]:
    return [(piece, tone) for line in named(text, AGENTS).lines(width) for piece, tone in line if tone is not None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@ada and @bob-2, please", [("@ada", "name"), ("@bob-2", "name")]),
        ("请@ada看看", [("@ada", "name")]),
        ("@bobb?", [("@bobb", "unknown")]),
        ("@operator, which?", [("@operator", "name")]),
        ("ada@bob.example is an address", []),
        ("nobody is named", []),
    ],
)
def test_a_name_is_set_apart_and_nothing_else(text: str, found: list[tuple[str, str]]) -> None:
    assert toned(text) == found


def test_the_text_stays_as_it_was_written() -> None:
    text = "first @ada then [bold]@nobody[/bold] and on"
    assert ["".join(piece for piece, _ in line) for line in named(text, AGENTS).lines(80)] == [text]


def test_a_name_stands_out_in_each_line_that_holds_one() -> None:
    assert toned("@ada " + "word " * 10 + "@bob", width=30) == [("@ada", "name"), ("@bob", "name")]
