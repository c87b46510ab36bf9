"""Who a text calls, the nearest names, and exchanges that go round in circles (S2-02, S2-28, S2-29, F7)."""

import pytest

from core.domain.mentions import Said, as_note, exchange, named_in, nearest, wakes
from core.domain.states import CommentKind

KNOWN = ("ada", "bob", "bob-2", "cora", "rita")
Q = CommentKind.QUESTION


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("@bob", ["bob"]),
        ("@bob @ada @bob", ["bob", "ada"]),
        ("(@bob) @bob: @ada!", ["bob", "ada"]),
        ("请@bob看看", ["bob"]),
        ("请 @bob，看看", ["bob"]),
        ("。@bob。", ["bob"]),
        ("@bob-2 and @bob-", ["bob-2", "bob"]),
        ("mail x@bob.example, @@bob, _@bob", []),
        ("@bob_2", []),
        ("@Bob, @BOB-2 @bob", ["bob", "bob-2"]),
        (f"@{'a' * 41}", []),
        ("@", []),
    ],
)
def test_names_in_a_text(body: str, names: list[str]) -> None:
    assert named_in(body) == names


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("bobb", ["bob", "bob-2"]),
        ("Bob", ["bob", "bob-2"]),
        ("bob_2", ["bob-2", "bob"]),
        ("co", ["cora"]),
        ("rtia", ["rita"]),
        ("zzz", []),
        ("小明", []),
    ],
)
def test_the_nearest_names_of_one_that_nobody_has(name: str, near: list[str]) -> None:
    assert nearest(name, KNOWN) == near


def test_at_most_three_names_are_near() -> None:
    assert len(nearest("agent", [f"agent-{n}" for n in range(9)])) == 3


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("/note @bob did it", "@bob did it"),
        ("  /note\n@bob did it", "@bob did it"),
        ("/note", ""),
        ("/notes @bob", None),
        ("see /note @bob", None),
        ("@bob /note", None),
        ("", None),
    ],
)
def test_a_text_that_begins_with_the_word_is_a_note(body: str, note: str | None) -> None:
    assert as_note(body) == note


@pytest.mark.parametrize(
    ("body", "kind", "author", "names", "unknown", "operator"),
    [
        ("@bob and @ada", Q, "human", ("bob", "ada"), {}, False),
        ("I, @ada, ask @bob", Q, "ada", ("bob",), {}, False),
        ("@bobb?", Q, "human", (), {"bobb": ["bob", "bob-2"]}, False),
        ("请@bobb看看", Q, "ada", (), {"bobb": ["bob", "bob-2"]}, False),
        ("@小明看看 @bob", Q, "ada", ("bob",), {"小明看看": []}, False),
        ("@operator, @human: which?", Q, "ada", (), {}, True),
        ("@operator", Q, "human", (), {}, False),
        ("/note @bob @operator @bobb", Q, "ada", (), {}, False),
        ("@bob", CommentKind.NOTE, "human", (), {}, False),
        ("@bob", CommentKind.MAIL_INFORM, "ada", ("bob",), {}, False),
        ("@bobb", Q, "bob", (), {"bobb": ["bob-2"]}, False),
    ],
)
def test_whom_a_comment_calls(
    body: str, kind: CommentKind, author: str, names: tuple[str, ...], unknown: dict[str, list[str]], operator: bool
) -> None:
    called = wakes(body, kind, author, KNOWN)
    assert (called.names, dict(called.unknown), called.operator) == (names, unknown, operator)


def test_chosen_names_come_first_and_make_even_a_note_call() -> None:
    called = wakes("as @bob said", CommentKind.NOTE, "human", KNOWN, ("ada", "nobody"))
    assert called.names == ("ada", "bob")
    assert list(called.unknown) == ["nobody"]
    assert wakes("/note as @bob said", Q, "human", KNOWN, ("ada",)).names == ()


# Exchanges --------------------------------------------------------------------------------------------------------


def thread(words: str) -> list[Said]:
    """Words as `a>b`: who says something, and whom it wakes (`a>` nobody)."""
    said = []
    for number, word in enumerate(words.split(), 1):
        author, _, woken = word.partition(">")
        said.append(Said(number, author, frozenset(name for name in woken.split(",") if name)))
    return said


AGENTS = frozenset("abcd")


@pytest.mark.parametrize(
    ("words", "length"),
    [
        ("a>b b>a a>b b>a a>b", 0),
        ("a>b b>a a>b b>a a>b b>a", 6),
        ("c>a a>b b>a a>b b>a a>b b>a", 6),
        ("a>b b>a a>b human> b>a a>b b>a", 0),
        ("a>b b>a a>b system> b>a a>b b>a", 6),
        ("a>b b>a a> b> a>b b>a a>b b>a", 6),  # what wakes nobody neither counts nor breaks it
        ("a>b b>a a>b c>d b>a a>b b>a", 0),
        ("a>b b>a a>c b>a a>b b>a", 0),  # c has no say in it yet
        ("a>b,c b>a,c a>b b>a a>b b>a", 6),
        ("a>b b>c c>a a>b b>c c>a a>b b>c", 0),
        ("a>b b>c c>a a>b b>c c>a a>b b>c c>a", 9),
        ("a>b b>c c>d d>a a>b b>c c>d d>a a>b b>c c>d d>a", 12),
        ("a>b a>b a>b a>b a>b a>b", 0),  # nobody answers: that is no exchange
        ("", 0),
    ],
)
def test_agents_that_only_wake_each_other_are_found(words: str, length: int) -> None:
    assert len(exchange(thread(words), AGENTS)) == length


def test_an_exchange_begins_with_the_first_of_its_last_words() -> None:
    assert exchange(thread("c>a a>b b>a a>b b>a a>b b>a"), AGENTS)[0].id == 2
