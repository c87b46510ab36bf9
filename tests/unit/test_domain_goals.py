"""What identifies a goal's content, and what covers its must-haves (D-02, F10)."""

from hypothesis import given
from hypothesis import strategies as st

from core.domain.entities import Goal, MustHave
from core.domain.goals import canonical_hash, content_hash, is_reviewed
from tests.unit.facts import a

texts = st.text(max_size=20)
musts = st.lists(st.builds(MustHave, id=texts, text=texts, waived_by=st.sampled_from(["", "human"])), max_size=3)


@given(texts, texts, musts, st.lists(texts, max_size=3))
def test_the_hash_is_of_the_content_and_not_of_who_waived_what(
    title: str, description: str, must_haves: list[MustHave], constraints: list[str]
) -> None:
    hashed = content_hash(title, description, must_haves, constraints)
    unwaived = [MustHave(id=must["id"], text=must["text"], waived_by="") for must in must_haves]
    assert content_hash(title, description, unwaived, tuple(constraints)) == hashed
    assert content_hash(title + "x", description, must_haves, constraints) != hashed
    assert content_hash(title, description + "x", must_haves, constraints) != hashed
    assert content_hash(title, description, must_haves, [*constraints, ""]) != hashed


def test_what_moves_from_one_field_to_the_next_is_another_content() -> None:
    assert content_hash("ab", "", [], []) != content_hash("a", "b", [], [])
    assert content_hash("a", "", [], ["b", "c"]) != content_hash("a", "", [], ["bc"])


def test_the_order_of_a_payloads_fields_does_not_matter() -> None:
    assert canonical_hash({"a": 1, "b": [1, 2]}) == canonical_hash({"b": [1, 2], "a": 1})
    assert canonical_hash({"a": [1, 2]}) != canonical_hash({"a": [2, 1]})


def test_a_review_is_of_exactly_this_content_by_a_person() -> None:
    assert is_reviewed(a(Goal, content_hash="x", reviewed_by="human", reviewed_hash="x"))
    for values in ({"reviewed_by": "vera"}, {"reviewed_by": None}, {"reviewed_hash": "y"}, {"reviewed_hash": None}):
        assert not is_reviewed(a(Goal, **{"content_hash": "x", "reviewed_by": "human", "reviewed_hash": "x", **values}))
