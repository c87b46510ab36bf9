"""Markdown files as sections: what is a heading, what is text, and that nothing of the text is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.sections import HEADING_MAX, HEADINGS_MAX, sections_of


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("", []),
        ("\n \n", []),
        ("only text\nof two lines", [("", "only text\nof two lines")]),
        ("before\n# One\na\n## Two ##\n\nb\n", [("", "before"), ("One", "a"), ("Two", "b")]),
        ("# C#\na\n#tag is text\n", [("C#", "a\n#tag is text")]),
        ("# One\r\na\r\n# Two\rb", [("One", "a"), ("Two", "b")]),
        ("Title\n=====\na\n\nSub title\n---\nb", [("Title", "a"), ("Sub title", "b")]),
        ("a\nb\n---\n- item\n---\nc\n\n---\nd", [("", "a\nb\n---\n- item\n---\nc\n\n---\nd")]),
        ("---\ntitle: x\n# no\n---\n# One\na", [("One", "a")]),
        ("---\nnever closed\n# One\na", [("", "---\nnever closed"), ("One", "a")]),
        ("# No text of its own\n## One\na", [("One", "a")]),
        ("# 安装\n步骤\n# 安装\n再来", [("安装", "步骤"), ("安装 (2)", "再来")]),
        ("# A\n1\n# A (2)\n2\n# A\n3", [("A", "1"), ("A (2)", "2"), ("A (3)", "3")]),
        ("#\na\n#\nb", [("", "a"), ("(2)", "b")]),
        ("    # code\na", [("", "    # code\na")]),
    ],
)
def test_headings_begin_sections(text: str, sections: list[tuple[str, str]]) -> None:
    assert sections_of(text, 1000) == sections


@pytest.mark.parametrize(
    "fenced",
    [
        "```sh\n# no\n```",
        "~~~\n# no\n```\n# no\n~~~~",
        "````\n```\n# no\n````",
        "- ```\n  # no\n  ```",
        "> ```\n> # no\n# no\n> ```",
        "1. ~~~ yaml\n# no\n   ~~~",
    ],
)
def test_headings_in_fences_are_text(fenced: str) -> None:
    assert sections_of(f"# One\n{fenced}\n# Two\nb", 1000) == [("One", fenced), ("Two", "b")]


def test_backticks_within_a_line_open_no_fence() -> None:
    assert sections_of("```x``` is code\n# One\na", 1000) == [("", "```x``` is code"), ("One", "a")]


def test_a_long_body_goes_on_between_its_paragraphs() -> None:
    text = "# Long\n" + "\n\n".join(f"{number} " + "x" * 28 for number in range(10))
    found = sections_of(text, 100)
    assert [heading for heading, _ in found] == ["Long", "Long (2)", "Long (3)", "Long (4)"]
    assert [body[0] for _, body in found] == ["0", "3", "6", "9"]
    assert "\n\n".join(body for _, body in found) == text.removeprefix("# Long\n")


def test_after_very_many_headings_the_rest_belongs_to_the_last() -> None:
    found = sections_of("".join(f"# H{number}\nx\n" for number in range(HEADINGS_MAX + 5)), 10_000)
    assert len(found) == HEADINGS_MAX
    assert found[-1][1].endswith(f"# H{HEADINGS_MAX + 4}\nx")


_PIECES = st.sampled_from(
    ["# ", "#", "```", "~~~", "---", "===", "- ", "> ", "\n", "\n\n", "\r\n", " ", "\t", "a", "字"]
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=60).map("".join), st.integers(4, 40))
def test_any_text_has_sections_with_places_of_their_own(text: str, most: int) -> None:
    found = sections_of(text, most)
    headings = [heading for heading, _ in found]
    assert len(set(headings)) == len(headings)
    assert all(0 < len(body) <= most and body.strip() for _, body in found)
    assert all(len(heading) <= HEADING_MAX + 20 and "\n" not in heading for heading in headings)
