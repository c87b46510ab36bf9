"""What follows from a finished round, as a pure function of its facts."""

from typing import Any

import pytest

from core.agents.rehearsal.judging import judge
from core.agents.rehearsal.works import WORKS, beyond_us, largest_finding, wanted, work_of
from core.domain.entities import Goal, MustHave, Round, Task
from core.domain.records import decode
from core.domain.states import RoundDecision

MUSTS = [work.must_have for work in WORKS.values()]
FIRST = [kind for kind in WORKS if kind != "closer_look"]


def a_goal(musts: list[str] | None = None, waived: str = "", cap: int = 8) -> Goal:
    texts = MUSTS if musts is None else musts
    rows = [{"id": f"M{i}", "text": text, "waived_by": "human" if f"M{i}" == waived else ""}
            for i, text in enumerate(texts, 1)]  # fmt: skip
    return decode(Goal, {
        "id": 1, "title": "Audit", "description": "", "must_haves": rows, "constraints": [], "status": "active",
        "origin": "ceo", "created_by": "carla", "content_hash": "", "reviewed_by": None, "reviewed_at": None,
        "reviewed_hash": None, "split": 0, "round_cap": cap, "paused_at": None, "reason": "", "created_at": 0,
        "updated_at": 0, "version": 1,
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
        "end_state": "", "constraints": [], "must_haves": [f"M{list(WORKS).index(kind) + 1}"], "capabilities": [],
        "arguments": {"audit": kind, "version": version, **more}, "risk": "standard", "status": status,
        "block_kind": None, "reason": "the disk hums", "created_by": "orlo", "idempotency_key": None,
    }  # fmt: skip
    return decode(Task, {**values, "id": number})


def the_first_round(**status: str) -> list[Task]:
    return [a_task(at, kind, status.get(kind, "done")) for at, kind in enumerate(FIRST, 2)]


FIGURES = {
    "marks": {"top_files": [{"path": "full.py", "lines": 9}]},
    "history": {"largest": [{"path": "big.bin", "bytes": 99}]},
    "duplicates": {"groups": [["a", "b"]]},
}


def test_the_closer_look_gets_the_next_round() -> None:
    said = judge(a_goal(), a_round(), the_first_round(), 1, FIGURES)
    assert said.decision == RoundDecision.NEXT_ROUND
    assert [task["arguments"] for task in said.tasks] == [{"audit": "closer_look", "version": 1, "path": "full.py"}]
    assert said.tasks[0]["must_haves"] == ("M6",)
    assert "not yet: M6" in said.covered


def test_what_failed_is_tried_again_first() -> None:
    said = judge(a_goal(), a_round(), the_first_round(marks="failed", history="cancelled"), 1, FIGURES)
    assert [(task["arguments"]["audit"], task["retry_of"]) for task in said.tasks] == [("marks", 3), ("history", 4)]
    assert "the disk hums" in said.tasks[0]["intent"]


def test_with_all_covered_the_report_is_due() -> None:
    tasks = [*the_first_round(), a_task(7, "closer_look", path="full.py")]
    assert judge(a_goal(), a_round(2), tasks, 1, FIGURES).decision == RoundDecision.REPORT


def test_a_further_version_computes_all_anew_before_its_closer_look() -> None:
    tasks = [*the_first_round(), a_task(7, "closer_look", path="full.py")]
    again = [a_task(at, kind, version=2) for at, kind in enumerate(FIRST, 8)]
    said = judge(a_goal(), a_round(3), [*tasks, *again], 2, FIGURES)
    assert [task["arguments"]["version"] for task in said.tasks] == [2]
    assert len({task["idempotency_key"] for task in said.tasks}) == 1


def test_three_failures_end_at_the_operator() -> None:
    failed = [a_task(8, "duplicates", "failed"), a_task(9, "duplicates", "failed")]
    tasks = [*the_first_round(duplicates="failed"), *failed,
             a_task(10, "closer_look", path="full.py")]  # fmt: skip
    said = judge(a_goal(), a_round(4), tasks, 1, FIGURES)
    assert (said.decision, "M5" in said.next_step) == (RoundDecision.STOP, True)
    waived = judge(a_goal(waived="M5"), a_round(4), tasks, 1, FIGURES)
    assert waived.decision == RoundDecision.REPORT


def test_at_the_cap_no_round_is_opened() -> None:
    said = judge(a_goal(cap=1), a_round(1), the_first_round(), 1, FIGURES)
    assert (said.decision, said.tasks) == (RoundDecision.STOP, ())


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
