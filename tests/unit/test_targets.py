"""What in a text leads somewhere: only ids and names that the board has, and only where they stand alone."""

import pytest

from core.domain.entities import Approval, Goal, Run, Task
from tests.unit.facts import a, agent
from tui.projection import Projection
from tui.targets import exists, is_id, targets_in, typed, words_of


@pytest.fixture
def view() -> Projection:
    found = Projection()
    found.load(1, [
        a(Goal, id=12, title="Audit"), a(Task, id=3, goal_id=12, title="Count"), a(Task, id=345, goal_id=12),
        a(Run, id=7, agent_id=2), a(Approval, id=3, title="May I?"), agent(2, "ada-b"),
    ])  # fmt: skip
    return found


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("T3, T345. (G12) Q3: R7!", ["task:3", "task:345", "goal:12", "approval:3", "run:7"]),
        ("R1 is older than what is kept", ["run:1"]),
        ("T4 G3 R8 Q9 T0 T03", []),
        ("AT3 T3a T3-x R7-D2 1.T3 a/T3 #T3 T3.py", []),
        ("[@click=x]T3[/] \u202eT3\u202c", ["task:3", "task:3"]),
        ("@ada-b @Ada-B @ada-b- 请@ada-b看", ["agent:2"] * 4),
        ("me@ada-b.org @nobody @@ada-b", []),
        ("T" + "9" * 400 + " @" + "a" * 400, []),
        ("", []),
    ],
)
def test_only_what_stands_alone_and_is_there_is_a_target(view: Projection, text: str, refs: list[str]) -> None:
    found = targets_in(view, text)
    assert [each.ref for each in found] == refs
    for each in found:
        assert text[each.start : each.end].lstrip("@").lower().rstrip("-") in ("t3", "t345", "g12", "q3", "r7", "r1",
                                                                             "ada-b")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("T345", "task:345"), (" g12 ", "goal:12"), ("q3", "approval:3"), ("r7", "run:7"), ("A2", "agent:2"),
        ("ada-b", "agent:2"), ("@ADA-B", "agent:2"), ("T99", ""), ("ada", ""), ("", ""), ("@", ""), ("T3 T4", ""),
    ],
)  # fmt: skip
def test_what_is_typed_names_a_thing_or_none(view: Projection, text: str, ref: str) -> None:
    assert typed(view, text) == ref


def test_an_id_is_one_whether_the_board_has_it_or_not(view: Projection) -> None:
    assert is_id("t99")
    assert not is_id("audit")
    assert not exists(view, "run:8")
    assert words_of(view, "task:3") == "Count"
    assert words_of(view, "run:1") == "an old run"


def test_a_line_full_of_ids_has_a_bound(view: Projection) -> None:
    assert len(targets_in(view, "T3 " * 100_000)) == 200
