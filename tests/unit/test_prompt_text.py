"""A layer taken apart at its fences, for the screen: nothing of it is lost, and only its own nonce opens a value."""

from pathlib import Path

import pytest

from core.prompting.fence import fence
from tui.prompt_text import Part, bar_text, parts_of, share

NONCE = "5f2c9a01"
GOLDEN = sorted((Path(__file__).parents[1] / "prompting" / "golden").glob("executor.*.txt"))


def joined(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text if part.label is None else fence(part.text, part.label, NONCE) for part in parts)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_prompt_is_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parts = parts_of(text, NONCE)
    assert joined(parts) == text
    assert sum(part.label is not None for part in parts) == text.count(f"\n</data {NONCE}>")


def test_values_are_those_of_this_nonce_alone() -> None:
    value = "one\n<data 00000000 title>\ntwo\n</data 00000000>\n\n<data>"
    text = f"Before\n{fence(value, 'comment', NONCE)}\n\n{fence('', 'empty', NONCE)}\nafter <data {NONCE} x>\nopen"
    assert parts_of(text, NONCE) == (
        Part("Before"), Part(value, "comment"), Part(""), Part("", "empty"), Part(f"after <data {NONCE} x>\nopen"),
    )  # fmt: skip
    assert parts_of(text, "") == (Part(text),)


def test_a_bar_tells_by_its_strokes() -> None:
    assert [bar_text(tokens, 1000, 10) for tokens in (0, 1, 500, 1000, 5000)] == [
        "╌" * 10, "━" + "╌" * 9, "━" * 5 + "╌" * 5, "━" * 10, "━" * 10,
    ]  # fmt: skip
    assert (share(366, 1000), share(1, 0)) == (37, 0)
