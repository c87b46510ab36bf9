"""What follows from an answer, kind by kind; and the versions of what was sent back."""

import json
from typing import Any

import pytest

from core.domain.entities import Approval, Goal, Run, Task
from core.domain.inbox_item import Choice, InboxItem
from core.domain.inbox_preview import Ahead, preview
from core.domain.states import ApprovalKind, ApprovalStatus
from tests.unit.facts import a
from tui.panes.inbox_versions import blocks_of, versions_of

CHOICE = Choice("a", "approve", "DecideApproval", {}, "it goes on")


def an_item(kind: str, *choices: Choice) -> InboxItem:
    return InboxItem("approval:1", "goal:1", kind, "A title", "asked", 0, choices or (CHOICE,))


def asked(kind: ApprovalKind, **payload: Any) -> Approval:
    return a(
        Approval, kind=kind, status=ApprovalStatus.PENDING, payload=payload, payload_hash="ab" * 32, requested_by="ada"
    )


TASKS = tuple(a(Task, id=number, capabilities=("links",)) for number in range(2, 8))
RUN = a(Run, id=9)
GOAL = a(Goal, round_cap=6)


@pytest.mark.parametrize(
    ("kind", "ahead", "words"),
    [
        ("draft", Ahead(goal=GOAL, tasks=TASKS), ["d may then dispatch exactly this", "T2, T3, T4, T5 and 2 more"]),
        ("draft", Ahead(goal=GOAL, at_b=True), ["stage B may dispatch exactly this", "up to 6 rounds"]),
        ("dispatch", Ahead(goal=GOAL, tasks=TASKS[:1], at_once=7), ["discuss T2", "up to 8", "7 runs"]),
        ("report", Ahead(goal=GOAL), ["dispatches nothing", "called with your note"]),
        ("plan", Ahead(), ["silence is a yes"]),
        ("stopped", Ahead(queued=(RUN,)), ["at most 4 runs at once: R9"]),
        ("stalled", Ahead(tasks=TASKS[:2]), ["cancels T2, T3"]),
        ("blocked", Ahead(task=TASKS[0]), ["puts T2 on offer again", "can links"]),
        ("held", Ahead(task=a(Task, id=4)), ["puts T4 on offer again", "any executor"]),
        ("escalation", Ahead(tasks=TASKS[:1]), ["write the report", "cancels the goal and T2"]),
        ("red_line", Ahead(approval=asked(ApprovalKind.RED_LINE)), ["lets ada do exactly what", "abababab", "once"]),
        ("permission", Ahead(approval=asked(ApprovalKind.PERMISSION)), ["heard at once by the program", "abababab"]),
        ("hire_agent", Ahead(approval=asked(ApprovalKind.HIRE_AGENT)), ["hires exactly what"]),
        ("goal_change", Ahead(approval=asked(ApprovalKind.GOAL_CHANGE)), ["on the side of after"]),
        ("goal_failure", Ahead(approval=asked(ApprovalKind.GOAL_FAILURE), tasks=TASKS[:1]), ["ends the goal, with T2"]),
        (
            "question",
            Ahead(approval=asked(ApprovalKind.QUESTION, what="try_again", on_reject="cancel")),
            ["3 more attempts", "it is cancelled"],
        ),
        (
            "budget",
            Ahead(approval=asked(ApprovalKind.BUDGET, **{"raise": 5_000_000}), queued=(RUN,)),
            ["starts R9 and whatever else", "at most 5.00 USD more than now"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_each_kind_tells_what_follows(kind: str, ahead: Ahead, words: list[str]) -> None:
    told = " ".join(" ".join(line) for line in preview(an_item(kind), ahead))
    for each in words:
        assert each in told


@pytest.mark.parametrize(
    ("ahead", "costs"),
    [
        (Ahead(), "no budget bounds it; $ sets one"),
        (Ahead(is_free=True), "nothing: its agents call no model"),
        (
            Ahead(bounds=((7_000_000, "G1's budget in all"), (3_200_000, "the company's budget today"))),
            "at most 3.20 USD, what is left of the company's budget today; nothing starts beyond it",
        ),
        (Ahead(bounds=((-40_000, "the company's budget today"),)), "at most 0.00 USD, what is left"),
        (Ahead(bounds=((1, "the company's budget today"),), unmetered=True), "without a meter is not counted"),
    ],
)
def test_what_it_may_cost_at_most(ahead: Ahead, costs: str) -> None:
    assert costs in dict(preview(an_item("dispatch"), ahead))["costs"]
    assert "costs" not in dict(preview(an_item("stalled"), ahead))


def test_what_nobody_can_answer_has_nothing_to_follow() -> None:
    assert preview(InboxItem("lacking:1", "task:1", "no reviewer", "A title", "none is there", 0), Ahead()) == []


def event(at: int, actor: str = "ceo", note: str = "", **changed: object) -> dict[str, Any]:
    return {"at": at, "actor": actor, "note": note, "changed": json.dumps(changed)}


def test_the_versions_of_a_draft_are_what_it_said_when_it_went_back() -> None:
    first = {"title": "Audit", "description": "All of it", "status": "draft"}
    rows = [
        event(1, **first), event(2, title="Audit all"), event(3, "human", "Leave the links out"),
        event(4, status="draft"), event(5, description="Files only"), event(6, title="Audit the files"),
        event(7, "human", "Say which"), event(8, description="Files only"),
    ]  # fmt: skip
    found = versions_of(rows)
    assert [(each.content["title"], each.at, each.note, each.back_at) for each in found] == [
        ("Audit all", 2, "Leave the links out", 3), ("Audit the files", 6, "Say which", 7),
    ]  # fmt: skip
    third = versions_of([*rows, event(9, "vera", title="Audit the sources")])
    assert [(each.author, each.note) for each in third[2:]] == [("vera", "")]
    blocks = blocks_of(third)
    assert [block.heading[0] for block in blocks] == [(f"Version {n}", "strong") for n in (3, 2, 1)]
    drawn = "\n".join("".join(text for text, _ in line) for line in blocks[1].drawing.lines(100))  # type: ignore[union-attr]
    assert "Audit all" in drawn
    assert "Audit the files" in drawn
    assert "sent back by you" in blocks[1].body
    assert "Say which" in blocks[1].body
    assert "after your note: Leave the links out" in blocks[1].body


def test_what_was_never_sent_back_has_no_versions() -> None:
    assert versions_of([event(1, title="Audit"), event(2, title="Audit all")]) == []
    assert blocks_of(versions_of([event(1, title="Audit")])) == []


def test_one_that_went_back_twice_without_a_change_says_so() -> None:
    rows = [event(1, title="Audit"), event(2, "human", "Why?"), event(3, "human", "I asked why")]
    blocks = blocks_of(versions_of(rows))
    assert "Nothing in it differs" in blocks[0].body
