"""What is on a heartbeat's agenda and what is not (S1-04, S1-21, S1-25)."""

from typing import Any

import pytest

from core.domain.agenda import AGENDA_MAX, Living, agenda, chosen, news
from core.domain.entities import Goal, Round, Task, TaskDep
from core.domain.states import BlockKind, GoalStatus, OnFail, RoundStatus, TaskStatus
from tests.unit.facts import NOW, a

REVIEWED = {"content_hash": "h", "reviewed_by": "human", "reviewed_hash": "h"}
GOAL = a(Goal, title="Audit", **REVIEWED)


def found(*tasks: Task, **more: Any) -> list[tuple[str, str]]:
    """The kinds and entities on the agenda of a living goal with these tasks."""
    living = Living(**{"goals": (GOAL,), "rounds": (a(Round),), "tasks": tasks, **more})
    return [(item.kind, item.entity) for item in agenda(living)]


def edge(task: int, on: int, **more: Any) -> TaskDep:
    return a(TaskDep, task_id=task, depends_on=on, on_fail=OnFail.CANCEL, **more)


BLOCKED = a(Task, status=TaskStatus.BLOCKED, block_kind=BlockKind.TRANSIENT, reason="no network", version=3)
FAILED = a(Task, id=2, status=TaskStatus.FAILED, reason="no such folder")


@pytest.mark.parametrize("status", [status for status in TaskStatus if status not in ("blocked", "failed", "draft")])
def test_what_goes_on_waits_for_a_person_or_is_over_is_not_on_it(status: TaskStatus) -> None:
    assert found(a(Task, status=status)) == []


def test_blocked_and_failed_tasks_are_on_it_with_their_reasons() -> None:
    items = agenda(Living(goals=(GOAL,), tasks=(BLOCKED, FAILED)))
    assert [(item.kind, item.entity, item.why) for item in items] == [
        ("blocked", "task:1", "blocked (transient): no network"),
        ("failed", "task:2", "failed: no such folder"),
    ]


def test_a_failed_task_that_is_tried_again_is_not_on_it() -> None:
    assert found(FAILED, a(Task, id=3, retry_of=2)) == []


def test_tasks_of_a_paused_or_of_another_goal_are_not_on_it() -> None:
    assert found(BLOCKED, goals=(a(Goal, paused_at=NOW),)) == []
    assert found(a(Task, goal_id=9, status=TaskStatus.BLOCKED)) == []


@pytest.mark.parametrize(
    ("urgent", "first", "is_on_it"), [(0, 1, True), (0, 4, True), (1, 2, True), (1, 1, False), (2, 4, False)]
)
def test_an_urgent_task_that_waits_for_a_less_urgent_one_is_a_conflict(urgent: int, first: int, is_on_it: bool) -> None:
    tasks = (a(Task, id=1, priority=urgent, open_deps=1), a(Task, id=2, priority=first))
    assert found(*tasks, edges=(edge(1, 2),)) == ([("priorities", "task:1")] if is_on_it else [])


@pytest.mark.parametrize("change", ["met", "at work"])
def test_what_no_longer_hinders_is_no_conflict(change: str) -> None:
    status = TaskStatus.WORKING if change == "at work" else TaskStatus.PENDING
    tasks = (a(Task, id=1, priority=0, open_deps=1), a(Task, id=2, priority=4, status=status))
    assert found(*tasks, edges=(edge(1, 2, met=change == "met"),)) == []


DRAFT = a(Task, id=5, status=TaskStatus.DRAFT, round_id=None, created_by="rita")


def test_a_draft_that_could_join_the_open_round_is_on_it() -> None:
    assert found(DRAFT) == [("draft", "task:5")]


@pytest.mark.parametrize(
    "more",
    [
        {"goals": (a(Goal, content_hash="h", reviewed_by=None),)},
        {"goals": (a(Goal, content_hash="changed", reviewed_by="human", reviewed_hash="h"),)},
        {"goals": (a(Goal, status=GoalStatus.PLANNING, **REVIEWED),)},
        {"rounds": ()},
        {"rounds": (a(Round, status=RoundStatus.REVIEWING),)},
    ],
    ids=["unreviewed", "changed since", "planning", "no round", "round over"],
)
def test_a_draft_that_nobody_may_enqueue_now_is_not_on_it(more: dict[str, Any]) -> None:
    assert found(DRAFT, **more) == []


def test_a_draft_that_was_sent_back_waits_for_its_author() -> None:
    assert found(a(Task, status=TaskStatus.DRAFT, round_id=1)) == []


STALLED = a(Round, id=4, status=RoundStatus.STALLED, answers={"stalled": "nothing can run"})


def test_a_stalled_round_is_on_it_unless_it_only_waits_for_people() -> None:
    assert found(rounds=(STALLED,)) == [("stalled", "round:4")]
    assert found(rounds=(STALLED,), only_people=frozenset({4})) == []


def test_planning_that_ended_with_one_task_is_on_it() -> None:
    assert found(single=frozenset({1})) == [("one_task", "goal:1")]
    only = a(Goal, must_haves=({"id": "M1", "text": "a figure", "waived_by": ""},), **REVIEWED)
    assert found(single=frozenset({1}), goals=(only,)) == []


def test_what_the_operator_was_asked_about_is_in_the_inbox_and_not_on_it() -> None:
    assert found(BLOCKED, FAILED, asked=frozenset({"task:1"})) == [("failed", "task:2")]


def test_it_is_bounded() -> None:
    items = agenda(Living(goals=(GOAL,), tasks=tuple(a(Task, id=n, status=TaskStatus.BLOCKED) for n in range(1, 200))))
    first = chosen(items, ())
    assert len(first) == AGENDA_MAX
    # What is new goes first, also when it stands beyond the first ones.
    told = [item.key for item in items[:-1]]
    assert news(items, told)
    assert chosen(items, told)[0] == items[-1]


def keys(*tasks: Task) -> list[str]:
    return [item.key for item in agenda(Living(goals=(GOAL,), tasks=tasks))]


def test_only_a_new_item_or_a_new_version_is_news() -> None:
    items = agenda(Living(goals=(GOAL,), tasks=(BLOCKED, FAILED)))
    assert news(items, ())
    assert news(items, keys(BLOCKED))
    assert not news(items, keys(BLOCKED, FAILED))
    assert not news(agenda(Living(goals=(GOAL,), tasks=(FAILED,))), keys(BLOCKED, FAILED))
    again = a(Task, status=TaskStatus.BLOCKED, block_kind=BlockKind.TRANSIENT, version=7)
    assert news(agenda(Living(goals=(GOAL,), tasks=(again,))), keys(BLOCKED))


def test_that_a_task_was_on_offer_once_more_is_no_news_of_a_conflict() -> None:
    def conflict(version: int) -> str:
        tasks = (a(Task, id=1, priority=0, open_deps=1, version=version), a(Task, id=2, priority=4, version=version))
        return agenda(Living(goals=(GOAL,), tasks=tasks, edges=(edge(1, 2),)))[0].key

    assert conflict(1) == conflict(9)
