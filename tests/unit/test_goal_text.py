"""The goal's text: what a person reads back is what was there, and what cannot be understood is named by its line."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.goal_text import Draft, read_text, to_text

DRAFT = Draft(
    "Audit the folder",
    "What lies in it.\n\nconstraints: are named below\nconstraints:\n# not a comment",
    (("M1", "Every language", "count again"), ("M2", "Dead links — all of them", ""), ("M3", "Equal files", "a — b")),
    ("Change nothing\neven by accident", "# no network"),
    ("The wiki",),
)
LINES = st.text(st.sampled_from("ab #\\—:-M1é界\t "), max_size=12)
LINE = LINES.map(str.strip).filter(bool)
TEXTS = st.lists(LINE, max_size=3).map(tuple)


def test_a_goal_comes_back_as_it_was() -> None:
    assert read_text(to_text(DRAFT), ["M1", "M2", "M3"]) == (DRAFT, [])


@settings(deadline=None)
@given(
    title=LINE,
    description=st.lists(LINES, max_size=5).map(lambda lines: "\n".join(lines).strip("\n")),
    constraints=TEXTS,
    out=TEXTS,
    texts=st.lists(st.tuples(LINE.filter(lambda text: "\\—" not in text), LINE), max_size=3),
)
def test_any_goal_comes_back_as_it_was(
    title: str, description: str, constraints: tuple[str, ...], out: tuple[str, ...], texts: list[tuple[str, str]]
) -> None:
    musts = tuple((f"M{number}", text, verify) for number, (text, verify) in enumerate(texts, 1))
    draft = Draft(title, description, musts, constraints, out)
    assert read_text(to_text(draft), [must[0] for must in musts]) == (draft, [])


def test_only_what_differs_is_sent() -> None:
    changed = replace(DRAFT, title="Another", must_haves=(*DRAFT.must_haves[:2], ("", "New", "look")))
    assert changed.changes(DRAFT) == {
        "title": "Another",
        "must_haves": [
            {"id": "M1", "text": "Every language", "verify": "count again"},
            {"id": "M2", "text": "Dead links — all of them", "verify": ""},
            {"id": "", "text": "New", "verify": "look"},
        ],
    }
    assert DRAFT.changes(DRAFT) == {}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("must-haves:\nM1 a\n", 1, "no title"),
        ("title: a\nstray\n", 2, "belongs to no part"),
        ("title: a\nmust-haves:\nM9 b\n", 3, "no M9"),
        ("title: a\nmust-haves:\nM1 b\nM1 c\n", 4, "twice"),
        ("title: a\nmust-haves:\nM1\n", 3, "says nothing"),
        ("title: a\nmust-haves:\n — verify\n", 3, "says nothing"),
        ("title: a\nconstraints:\n  more of nothing\n", 3, "nothing stands above it"),
        (f"title: {'a' * 201}\n", 1, "at most 200"),
        (f"title: a\nmust-haves:\n{'b' * 201}\n", 3, "at most 200"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(text: str, line: int, words: str) -> None:
    draft, problems = read_text(text, ["M1"])
    assert draft is None
    assert (problems[0].line, words in problems[0].words) == (line, True), problems
    assert str(problems[0]).startswith(f"line {line}: ")


def test_a_new_must_have_needs_no_id() -> None:
    draft, _ = read_text("title: a\nmust-haves:\nM1 old\nA new one — look at it\n\\M2 motor turns\n", ["M1"])
    assert draft is not None
    assert draft.must_haves == (("M1", "old", ""), ("", "A new one", "look at it"), ("", "M2 motor turns", ""))
