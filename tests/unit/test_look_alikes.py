"""What looks like another command or path than it is, is named before a yes (S4-08)."""

from typing import Any

import pytest

from core.domain.look_alikes import is_unseen, look_alikes
from core.domain.permission_items import _hidden


def payload(place: str, text: str) -> dict[str, Any]:
    """A question that holds this text there."""
    held: dict[str, Any] = {"command": "", "folder": "/w", "files": [], "details": ""}
    if place in ("path", "difference"):
        return held | {"files": [{"path": "a.py", "difference": ""} | {place: text}]}
    return held | {place: text}


@pytest.mark.parametrize("place", ["command", "folder", "path"])
@pytest.mark.parametrize(
    "text",
    [
        "cat ∕etc∕passwd", "ls； id", "ls \u037e id", "/w/раss.py", "/w/а", "cd ‥/x", "l\u0338s", "ｌｓ", "ls –la",
        "ls ‘x’", "a⁄b", "aノb", "ls 一la", "a∶b", "a․b", "naïve.txt", "𝚕𝚜",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_may_look_like_another_sign_is_named(place: str, text: str) -> None:
    (line,) = _hidden(payload(place, text))
    assert "may look like another sign" in line[0]
    assert f"U+{ord(look_alikes(text)[0]):04X}" in line[0]


@pytest.mark.parametrize("place", ["command", "folder", "path", "difference", "details"])
@pytest.mark.parametrize(
    "char", ["\u2800", "\u200d", "\ufe0f", "\u3164", "\u00a0", "\u202e", "\x1b", "\u115f"], ids=ascii
)
def test_what_nobody_sees_is_counted(place: str, char: str) -> None:
    (line,) = _hidden(payload(place, f"rm{char}-rf"))
    assert "holds 1 hidden character, drawn as a mark" in line[0]
    assert is_unseen(char)


@pytest.mark.parametrize("place", ["command", "folder", "path", "difference", "details"])
@pytest.mark.parametrize("text", ["npm test -- a", "/w/报告/第二章.md", "/w/れぽーと".replace("ー", ""), "/w/보고서"])
def test_plain_names_and_those_of_other_scripts_are_no_matter(place: str, text: str) -> None:
    assert list(_hidden(payload(place, text))) == []


def test_what_it_says_and_a_difference_may_hold_letters_of_any_kind() -> None:
    assert list(_hidden(payload("details", "– naïve “words”\n\tа"))) == []
    assert list(_hidden(payload("difference", "+– naïve “words”\n+\tа"))) == []
