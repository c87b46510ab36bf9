"""Coverage: what an output of a done task names, or what a person waived; nothing is guessed (F10, S2-21, S2-24)."""

import pytest

from core.domain.coverage import Covered, cover
from core.domain.entities import Decision, Goal, Output, Task
from core.domain.states import TaskStatus
from tests.unit.facts import a

MUSTS = ({"id": "M1", "text": "count", "waived_by": ""}, {"id": "M2", "text": "sizes", "waived_by": "human"})
GOAL = a(Goal, must_haves=MUSTS)


def states(items: tuple[Covered, ...]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(item.id, item.state, item.outputs) for item in items]


@pytest.mark.parametrize("status", list(TaskStatus))
def test_only_outputs_of_done_tasks_count(status: TaskStatus) -> None:
    task, output = a(Task, status=status, must_haves=("M1",)), a(Output, goal_id=1, task_id=1, must_haves=("M1",))
    found = cover(GOAL, [task], [output], [])
    is_done = status == TaskStatus.DONE
    assert states(found.must_haves)[0] == ("M1", "covered" if is_done else "open", (1,) if is_done else ())
    assert [must.id for must in found.open_must_haves] == ([] if is_done else ["M1"])


def test_an_output_that_names_nothing_covers_nothing_whatever_its_task_is_for() -> None:
    task = a(Task, status=TaskStatus.DONE, must_haves=("M1",))
    assert cover(GOAL, [task], [a(Output, goal_id=1, task_id=1)], []).open_must_haves


def test_what_its_task_does_not_have_to_deliver_any_more_was_judged_by_nobody() -> None:
    task = a(Task, status=TaskStatus.DONE, must_haves=("M2",))
    assert cover(GOAL, [task], [a(Output, goal_id=1, task_id=1, must_haves=("M1",))], []).open_must_haves


def test_what_is_delivered_to_the_goal_itself_was_reviewed_by_nobody_and_covers_nothing() -> None:
    task = a(Task, status=TaskStatus.DONE)
    assert cover(GOAL, [task], [a(Output, goal_id=1, task_id=None, must_haves=("M1",))], []).open_must_haves


def test_a_waived_must_have_is_not_open_and_one_that_is_delivered_too_still_says_who_waived_it() -> None:
    task = a(Task, status=TaskStatus.DONE, must_haves=("M1", "M2"))
    found = cover(GOAL, [task], [a(Output, goal_id=1, task_id=1, must_haves=("M1", "M2"))], [])
    assert states(found.must_haves) == [("M1", "covered", (1,)), ("M2", "waived", (1,))]


def test_tasks_and_decisions_of_other_goals_are_left_aside() -> None:
    foreign = a(Task, goal_id=2, status=TaskStatus.DONE)
    found = cover(GOAL, [foreign], [a(Output, goal_id=2, task_id=1, must_haves=("M1",))], [a(Decision, goal_id=2)])
    assert (len(found.open_must_haves), found.decisions) == (1, ())


def test_a_decision_lands_in_an_output_of_a_done_task_or_is_waived() -> None:
    done, working = a(Task, id=1, status=TaskStatus.DONE), a(Task, id=2, status=TaskStatus.WORKING)
    outputs = [a(Output, id=5, goal_id=1, task_id=1), a(Output, id=6, goal_id=1, task_id=2)]
    decisions = [
        a(Decision, id=1, goal_id=1, covered_by=(5, 6)), a(Decision, id=2, goal_id=1, covered_by=(6,)),
        a(Decision, id=3, goal_id=1, waived_by="human"),
    ]  # fmt: skip
    found = cover(GOAL, [done, working], outputs, decisions)
    assert states(found.decisions) == [("1", "covered", (5,)), ("2", "open", ()), ("3", "waived", ())]
    assert [decision.id for decision in found.open_decisions] == ["2"]


def test_of_a_task_only_what_its_last_delivering_run_left_counts() -> None:
    done = a(Task, status=TaskStatus.DONE, must_haves=("M1", "M2"))
    outputs = [
        a(Output, id=1, goal_id=1, task_id=1, run_id=1, must_haves=("M1", "M2")),
        a(Output, id=2, goal_id=1, task_id=1, run_id=2, must_haves=("M1",)),
        a(Output, id=3, goal_id=1, task_id=1, run_id=2, must_haves=("M1",)),
    ]
    found = cover(
        GOAL,
        [done],
        outputs,
        [a(Decision, goal_id=1, covered_by=(1, 2)), a(Decision, id=2, goal_id=1, covered_by=(1,))],
    )
    assert states(found.must_haves) == [("M1", "covered", (2, 3)), ("M2", "waived", ())]
    assert states(found.decisions) == [("1", "covered", (2,)), ("2", "open", ())]


def test_what_each_task_delivered_last_counts_whichever_run_was_later() -> None:
    tasks = [a(Task, id=number, status=TaskStatus.DONE, must_haves=("M1",)) for number in (1, 2)]
    outputs = [
        a(Output, id=4, goal_id=1, task_id=1, run_id=1, must_haves=("M1",)),
        a(Output, id=5, goal_id=1, task_id=2, run_id=2, must_haves=("M1",)),
    ]
    assert states(cover(GOAL, tasks, outputs, []).must_haves)[0] == ("M1", "covered", (4, 5))
