"""What follows from a finished round, as a pure function of its facts."""

from typing import Any

import pytest

from core.agents.rehearsal.judging import Ground, Judgement, judge
from core.agents.rehearsal.works import (
    CHOICE,
    WORKS,
    beyond_us,
    largest_finding,
    new_task,
    planned_kinds,
    serves,
    wanted,
    work_of,
)
from core.domain.coverage import Coverage, Covered
from core.domain.entities import Goal, MustHave, Round, Task
from core.domain.records import decode
from core.domain.states import RoundDecision

MUSTS = [work.must_have for work in WORKS.values()]
FIRST = [kind for kind in WORKS if kind != "closer_look"]


def a_goal(musts: list[str] | None = None, waived: str = "", cap: int = 8) -> Goal:
    texts = MUSTS if musts is None else musts
    rows = [{"id": f"M{i}", "text": text, "waived_by": "human" if f"M{i}" == waived else ""}
            for i, text in enumerate(texts, 1)]  # fmt: skip
    return decode(Goal, dict.fromkeys(Goal.__slots__) | {
        "id": 1, "title": "Audit", "description": "", "must_haves": rows, "constraints": [], "status": "active",
        "origin": "ceo", "created_by": "carla", "content_hash": "", "reviewed_by": None, "reviewed_at": None,
        "reviewed_hash": None, "split": 0, "round_cap": cap, "paused_at": None, "reason": "", "exploring": 0,
        "out_of_scope": [], "created_at": 0, "updated_at": 0, "version": 1,
    })  # fmt: skip


def a_round(number: int = 1) -> Round:
    return decode(Round, {
        "id": number, "goal_id": 1, "number": number, "status": "reviewing", "answers": {}, "decision": None,
        "open_tasks": 0, "total_tasks": 5, "review_attempts": 0, "progress_at": 0, "created_at": 0, "updated_at": 0,
        "version": 1,
    })  # fmt: skip


def a_task(number: int, kind: str, status: str = "done", version: int = 1, **more: Any) -> Task:
    values: dict[str, Any] = dict.fromkeys(Task.__slots__, 0) | {
        "id": number, "goal_id": 1, "round_id": 1, "parent_id": None, "retry_of": None, "title": kind, "intent": "",
        "end_state": "", "constraints": [], "must_haves": [f"M{[*WORKS, CHOICE].index(kind) + 1}"], "capabilities": [],
        "arguments": {"audit": kind, "version": version, **more}, "risk": "standard", "status": status,
        "block_kind": None, "reason": "the disk hums", "created_by": "orlo", "idempotency_key": None,
        "tags": [], "criteria": [], "review_step": "review",
    }  # fmt: skip
    return decode(Task, {**values, "id": number})


def the_first_round(**status: str) -> list[Task]:
    return [a_task(at, kind, status.get(kind, "done")) for at, kind in enumerate(FIRST, 2)]


FIGURES: dict[str, Any] = {
    "marks": {"top_files": [{"path": "full.py", "lines": 9}]},
    "history": {"largest": [{"path": "big.bin", "bytes": 99}]},
    "duplicates": {"groups": [["a", "b"]]},
}


def judged(
    goal: Goal, round_: Round, tasks: list[Task], version: int = 1, *, figures: Any = FIGURES, refused: bool = False
) -> Judgement:
    """What is said when each done task delivered what it names."""
    done = {must_id: (task.id,) for task in tasks if task.status == "done" for must_id in task.must_haves}
    covered = tuple(Covered(must["id"], must["text"], must["waived_by"], done.get(must["id"], ()))
                    for must in goal.must_haves)  # fmt: skip
    return judge(Ground(goal, round_, tasks, version, figures, Coverage(covered, ()), refused=refused))


def test_the_closer_look_gets_the_next_round() -> None:
    said = judged(a_goal(), a_round(), the_first_round())
    assert said.decision == RoundDecision.NEXT_ROUND
    assert [task["arguments"] for task in said.tasks] == [{"audit": "closer_look", "version": 1, "path": "full.py"}]
    assert said.tasks[0]["must_haves"] == ("M6",)
    assert "not yet: M6" in said.covered


def test_what_failed_is_tried_again_first() -> None:
    said = judged(a_goal(), a_round(), the_first_round(marks="failed", history="cancelled"))
    assert [(task["arguments"]["audit"], task["retry_of"]) for task in said.tasks] == [("marks", 3), ("history", 4)]
    assert "the disk hums" in said.tasks[0]["intent"]


def test_with_all_covered_the_report_is_due() -> None:
    tasks = [*the_first_round(), a_task(7, "closer_look", path="full.py")]
    assert judged(a_goal(), a_round(2), tasks).decision == RoundDecision.REPORT


def test_a_further_version_computes_all_anew_before_its_closer_look() -> None:
    tasks = [*the_first_round(), a_task(7, "closer_look", path="full.py")]
    again = [a_task(at, kind, version=2) for at, kind in enumerate(FIRST, 8)]
    said = judged(a_goal(), a_round(3), [*tasks, *again], 2)
    assert [task["arguments"]["version"] for task in said.tasks] == [2]
    assert len({task["idempotency_key"] for task in said.tasks}) == 1


def three_failures() -> list[Task]:
    failed = [a_task(8, "duplicates", "failed"), a_task(9, "duplicates", "failed")]
    return [*the_first_round(duplicates="failed"), *failed, a_task(10, "closer_look", path="full.py")]


def test_after_three_failures_the_operator_is_asked_whether_the_goal_may_do_without() -> None:
    said = judged(a_goal(), a_round(4), three_failures())
    assert (said.decision, "M5" in said.next_step) == (RoundDecision.ADJUST_GOAL, True)
    assert said.tasks == ()
    assert said.goal_change is not None
    assert [must["id"] for must in said.goal_change["must_haves"]] == ["M1", "M2", "M3", "M4", "M6"]
    assert "M5" in said.goal_change["why"]
    waived = judged(a_goal(waived="M5"), a_round(4), three_failures())
    assert (waived.decision, waived.goal_change) == (RoundDecision.REPORT, None)


def test_a_change_that_was_refused_is_not_asked_for_again() -> None:
    said = judged(a_goal(), a_round(4), three_failures(), refused=True)
    assert (said.decision, said.goal_change) == (RoundDecision.STOP, None)


def test_where_nothing_was_delivered_the_goal_is_to_be_given_up() -> None:
    tasks = [a_task(number, "duplicates", "failed") for number in (2, 3, 4)]
    said = judged(a_goal(["Exact duplicates"]), a_round(3), tasks)
    assert (said.decision, said.goal_change) == (RoundDecision.STOP, None)


def test_at_the_cap_no_round_is_opened() -> None:
    said = judged(a_goal(cap=1), a_round(1), the_first_round())
    assert (said.decision, said.tasks) == (RoundDecision.STOP, ())


def test_the_approved_choice_settles_which_file_is_looked_at() -> None:
    figures = {**FIGURES, CHOICE: {"path": "chosen.py", "finding": "it is the worst"}}
    chosen = judged(a_goal(), a_round(), [*the_first_round(), a_task(7, CHOICE)], figures=figures)
    assert chosen.tasks[0]["arguments"]["path"] == "chosen.py"
    # One that failed, or one for an earlier version of the report, settles nothing.
    failed = judged(a_goal(), a_round(), [*the_first_round(), a_task(7, CHOICE, "failed")], figures=figures)
    assert failed.tasks[0]["arguments"]["path"] == "full.py"


def test_a_step_names_the_must_have_that_it_serves() -> None:
    look_only = a_goal([WORKS["closer_look"].must_have])
    assert planned_kinds(look_only) == ["marks", "history", CHOICE]
    assert {serves(look_only, kind) for kind in planned_kinds(look_only)} == {("M1",)}
    assert new_task(look_only, "marks", 1)["arguments"]["step"] is True
    assert "step" not in new_task(a_goal(), "marks", 1)["arguments"]


def test_the_largest_finding_is_what_the_figures_say() -> None:
    assert largest_finding(FIGURES, frozenset())[0] == "full.py"
    assert largest_finding(FIGURES, frozenset({"full.py"}))[0] == "big.bin"
    assert largest_finding(FIGURES, frozenset({"full.py", "big.bin"}))[0] == "a"
    assert largest_finding({}, frozenset()) == (None, "the folder holds no file to look at")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((work.must_have, work.kind) for work in WORKS.values()),
        ("Which languages are used?", "inventory"),
        ("Every FIXME", "marks"),
        ("The oldest files", "history"),
        ("Is the README complete?", "documentation"),
        ("Needless copies", "duplicates"),
        ("A closer look at whatever is worst", "closer_look"),
    ],
)
def test_a_must_have_is_known_by_its_words(text: str, kind: str) -> None:
    work = work_of(MustHave(id="M1", text=text, waived_by=""))
    assert work is not None
    assert work.kind == kind


def test_what_nobody_can_do_is_named() -> None:
    goal = a_goal(["World peace", MUSTS[1]])
    assert [must["text"] for must in beyond_us(goal)] == ["World peace"]
    assert wanted(goal) == {"marks": ("M2",)}
    assert list(wanted(a_goal([]))) == list(WORKS)
