"""What the operator writes: kinds by the first word, names completed, what was written before, what became of it."""

import pytest

from core.domain.errors import Invalid
from core.domain.states import CommentKind
from tui.letters import Letter, Past, complete, read_letter, told

NAMES = ("scout", "scribe", "vera")


@pytest.mark.parametrize(
    ("typed", "letter"),
    [
        ("hello", Letter(CommentKind.DIALOGUE, "hello")),
        ("/note hello", Letter(CommentKind.NOTE, "hello")),
        ("/mail  @vera when?", Letter(CommentKind.MAIL_REQUEST, "@vera when?")),
        ("/inform @vera done", Letter(CommentKind.MAIL_INFORM, "@vera done")),
        ("/object no", Letter(CommentKind.OBJECTION, "no")),
        ("/decide docs", Letter(CommentKind.DECISION, "docs")),
        ("/ask which?", Letter(CommentKind.QUESTION, "which?")),
        ("/tmp/x is large", Letter(CommentKind.DIALOGUE, "/tmp/x is large")),
        (" /note is a word", Letter(CommentKind.DIALOGUE, "/note is a word")),
        ("one⏎two", Letter(CommentKind.DIALOGUE, "one\ntwo")),
        ("/note", Letter(CommentKind.NOTE, "")),
    ],
)
def test_the_first_word_chooses_the_kind(typed: str, letter: Letter) -> None:
    assert read_letter(typed) == letter


def test_an_unknown_first_word_is_no_text() -> None:
    with pytest.raises(Invalid, match="no /mial") as refused:
        read_letter("/mial @vera")
    assert "/mail" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "done", "others"),
    [
        ("ask @ve", "ask @vera ", []),
        ("ask @s", "ask @sc", ["@scout", "@scribe"]),
        ("ask @sc", "ask @sc", ["@scout", "@scribe"]),
        ("@", "@", ["@scout", "@scribe", "@vera"]),
        ("/ma", "/mail ", []),
        ("a@ve", "a@ve", ()),
        ("ask @zz", "ask @zz", ()),
        ("plain", "plain", ()),
    ],
)
def test_names_and_kinds_are_completed(text: str, done: str, others: list[str]) -> None:
    assert complete(text, len(text), NAMES) == (done, len(done), others)


def test_a_name_is_completed_in_the_middle() -> None:
    assert complete("ask @ve now", 7, NAMES) == ("ask @vera now", 9, [])


def test_what_became_of_a_comment() -> None:
    assert told({"wakes": [], "unknown": {}, "asked": None, "held": []}) == "woke nobody"
    answer = {"wakes": ["vera"], "unknown": {"scot": ["scout"]}, "asked": 3, "held": ["scribe"]}
    assert told(answer) == ("woke vera · held back: scribe · unknown @scot — did you mean @scout? · you are asked: Q3")


def test_the_past_goes_back_and_forth_and_keeps_what_is_being_written() -> None:
    past = Past()
    for line in ("one", "two", "two", " "):
        past.keep(line)
    assert [past.step(-1, "now"), past.step(-1, "two"), past.step(-1, "one")] == ["two", "one", None]
    assert [past.step(1, "one"), past.step(1, "two"), past.step(1, "now")] == ["two", "now", None]
