"""Seats, what is missing, and how a turn ends (S2-08, S2-30, C-16)."""

import pytest

from core.domain.discussion import goes_on, is_placeholder, missing, outcome_of, placeholder_key, seats
from core.domain.entities import Goal, MustHave, Task, Turn
from core.domain.limits import DISCUSSION_SEATS, DISCUSSION_TURNS
from core.domain.states import AgentStatus, TaskStatus, TurnOutcome
from tests.unit.facts import CORA, NOW, RITA, a, agent


def musts(*waived: bool) -> tuple[MustHave, ...]:
    return tuple(
        MustHave(id=f"M{n}", text="x", waived_by="human" if is_waived else "") for n, is_waived in enumerate(waived, 1)
    )


def task(*must_haves: str, **values: object) -> Task:
    return a(Task, **{"status": TaskStatus.DRAFT, "end_state": "counted", "must_haves": must_haves, **values})


WHOLE = task(end_state="", idempotency_key=placeholder_key(1))


@pytest.mark.parametrize(
    ("must_haves", "tasks", "lacks"),
    [
        ((), [], ["a task"]),
        ((), [WHOLE], []),
        ((), [task()], []),
        ((), [task(status=TaskStatus.CANCELLED)], ["a task"]),
        (musts(True), [WHOLE], []),  # all waived: nothing special is asked for
        (musts(False), [], ["a task for M1"]),
        (musts(False), [WHOLE], ["a task for M1"]),
        (musts(False), [task("M1", idempotency_key=placeholder_key(1))], ["a task for M1"]),
        (musts(False), [WHOLE, task("M1")], []),
        (musts(False, False), [task("M1")], ["a task for M2"]),
        (musts(False, False), [task("M1", "M2")], []),
        (musts(False, True), [task("M1")], []),
        (musts(False), [task("M1", end_state=" ")], ["a task for M1"]),
        (musts(False), [task("M1", status=TaskStatus.CANCELLED)], ["a task for M1"]),
        (musts(False), [task("M1"), task(end_state="")], []),  # a person's rough draft hinders nobody
    ],
)
def test_what_the_tasks_of_a_goal_lack(must_haves: tuple[MustHave, ...], tasks: list[Task], lacks: list[str]) -> None:
    assert missing(a(Goal, must_haves=must_haves), tasks) == lacks


def test_a_placeholder_stands_for_its_own_goal_only() -> None:
    assert is_placeholder(WHOLE)
    assert not is_placeholder(task(goal_id=2, idempotency_key=placeholder_key(1)))
    assert not is_placeholder(task(idempotency_key=None))


C, N, G = TurnOutcome.CONVERGED, TurnOutcome.NOT_CONVERGED, TurnOutcome.GOES_ON
LAST = DISCUSSION_TURNS


@pytest.mark.parametrize(
    ("number", "heard", "brought", "lacks", "outcome"),
    [
        (1, 2, 0, 0, C),
        (1, 2, 1, 0, G),
        (1, 2, 0, 1, G),
        (LAST - 1, 2, 1, 1, G),
        (LAST, 2, 1, 0, N),
        (LAST, 2, 0, 1, N),
        (LAST, 2, 0, 0, C),
        (1, 0, 0, 0, N),  # silence of those who could not speak is no consent
    ],
)
def test_how_a_turn_ends(number: int, heard: int, brought: int, lacks: int, outcome: TurnOutcome) -> None:
    assert outcome_of(number, heard, brought, lacks) == outcome


def test_seats_go_to_active_executors_with_distinct_capabilities_first() -> None:
    staff = [
        agent(1, capabilities=("count",)),
        agent(2, capabilities=("count",)),
        agent(3, capabilities=("write",)),
        agent(4, capabilities=("read",), status=AgentStatus.PAUSED),
        CORA, RITA,
    ]  # fmt: skip
    assert [each.id for each in seats(staff)] == [1, 3, 2]
    assert len(seats([agent(n) for n in range(1, 20)])) == DISCUSSION_SEATS
    late = [agent(n) for n in range(1, 20)] + [agent(30, capabilities=("write",))]
    assert 30 in [each.id for each in seats(late)]


@pytest.mark.parametrize(
    ("turn", "someone", "is_on"),
    [
        (None, True, True),
        (None, False, False),
        (a(Turn, outcome=TurnOutcome.OPEN, ended_at=None), False, True),
        (a(Turn, outcome=G, ended_at=NOW), True, True),
        (a(Turn, outcome=G, ended_at=NOW), False, False),
        *((a(Turn, outcome=outcome, ended_at=NOW), True, False) for outcome in (C, N, TurnOutcome.ENDED)),
    ],
)
def test_whether_a_goal_is_still_discussed(turn: Turn | None, someone: bool, is_on: bool) -> None:
    assert goes_on(turn, [agent(1)] if someone else [CORA, RITA]) == is_on
