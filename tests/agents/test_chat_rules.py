"""When a run goes in circles, and what it owes: the rules alone."""

import pytest

from core.agents.owing import is_no_reply, owed_by
from core.agents.stuck import Stuck
from core.domain.states import Role, RunKind
from core.reading.offered import COMMANDS, MENTIONED, offered

Steps = tuple[tuple[str, str, bool], ...]


def told(steps: Steps) -> list[int]:
    """After which steps, each in a turn of its own, it is said to be stuck."""
    stuck = Stuck()
    return [turn for turn, (act, result, failed) in enumerate(steps, 1) if stuck.note(turn, act, result, failed=failed)]


READ, OTHER = ("read", "same", False), ("list", "same", False)


@pytest.mark.parametrize(
    ("steps", "when"),
    [
        ((READ,) * 4, [4]),
        ((READ, READ, OTHER, READ, READ), []),
        (tuple(("read", str(turn), False) for turn in range(9)), []),
        ((("submit", "no handoff", True),) * 3, [3]),
        ((("submit", "no", True), ("claim", "no", True), ("start", "no", True)), [3]),
        ((("submit", "no", True), READ, ("submit", "no", True), READ, ("submit", "no", True)), []),
        ((READ, OTHER) * 3, [6]),
        ((READ, OTHER, READ, OTHER, READ, ("list", "new", False), READ, OTHER), []),
        ((("submit", "", True), ("claim", "", True), ("start", "", True), ("post", " \n", True)), []),
        ((("submit", "", True),) * 4, [4]),
    ],
)
def test_what_counts_as_stuck(steps: Steps, when: list[int]) -> None:
    assert told(steps) == when


def test_what_is_asked_twice_in_one_turn_counts_once() -> None:
    stuck = Stuck()
    assert [stuck.note(1, "submit", "no", failed=True) for _ in range(9)] == [""] * 9
    assert stuck.note(2, "submit", "no", failed=True) == ""
    assert "the same error 3 times" in stuck.note(3, "submit", "no", failed=True)


def test_the_reason_is_never_empty() -> None:
    stuck = Stuck()
    assert [stuck.note(turn, " ", "", failed=True) for turn in range(4)][3].endswith("4 times: an act without a name")


@pytest.mark.parametrize("kind", RunKind)
def test_every_run_can_give_what_it_owes(kind: RunKind) -> None:
    roles = MENTIONED if kind == RunKind.MENTION else [role for role in Role if offered(role, kind).commands]
    assert roles
    known = {name for names in COMMANDS.values() for name in names} | {n for names in MENTIONED.values() for n in names}
    for role in roles:
        assert owed_by(role, kind).commands <= known
    assert any(owed_by(role, kind).commands & offered(role, kind).names for role in roles)


def test_only_words_alone_are_no_reply() -> None:
    assert all(is_no_reply(text) for text in ("NO_REPLY", " **NO_REPLY**.", "Not mine.\nNO_REPLY"))
    assert not any(is_no_reply(text) for text in ("", "I could answer NO_REPLY but will not", "no reply"))
