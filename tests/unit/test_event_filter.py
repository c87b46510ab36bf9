"""The history's filter in words: what each part means, and what is refused with a hint."""

import pytest

from core.domain.entities import Event
from core.domain.errors import Invalid
from core.domain.event_filter import EventFilter, Part, about, parse_events
from core.domain.history import DECISIONS, is_decision, note_of
from tests.command_line import ROOT

NOON = 1_767_268_800_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("", ()),
        ("Dead links", (Part("", "dead"), Part("", "links"))),
        ("actor:zhaoyun", (Part("actor", "zhaoyun"),)),
        ("actor:me", (Part("actor", "human"),)),
        ("kind:TaskSubmitted", (Part("kind", "tasksubmitted"),)),
        ("goal:G3", (Part("goal", "G3", number=3),)),
        ("goal:3", (Part("goal", "G3", number=3),)),
        ("t12", (Part("task", "T12", number=12),)),
        ("question:q7", (Part("question", "Q7", number=7),)),
        ("agent:zhaoyun", (Part("agent", "zhaoyun"),)),
        ("agent:A2", (Part("agent", "A2", number=2),)),
        ("-actor:system", (Part("actor", "system", negated=True),)),
        ("!dead", (Part("", "dead", negated=True),)),
        ("is:dec", (Part("is", "decision"),)),
        ("task:", ()),
        ("-", (Part("", "-"),)),
        ("\x1b[31m:x", (Part("", "\x1b[31m:x"),)),
        ("扫描", (Part("", "扫描"),)),
    ],
)
def test_parts(typed: str, parts: tuple[Part, ...]) -> None:
    assert parse_events(typed, NOON) == EventFilter(parts)


@pytest.mark.parametrize(
    ("typed", "since", "until"),
    [
        ("since:2h", NOON - 2 * HOUR, None),
        ("since:90s until:1m", NOON - 90_000, NOON - 60_000),
        ("since:3d", NOON - 72 * HOUR, None),
        ("since:2026-01-01T09:30+00:00", NOON - 9_000_000, None),
        ("since:1w since:1h", NOON - HOUR, None),
    ],
)
def test_times(typed: str, since: int | None, until: int | None) -> None:
    assert parse_events(typed, NOON) == EventFilter((), since, until)


def test_a_day_ends_with_its_last_moment_and_events_are_named_by_number() -> None:
    day = parse_events("since:2026-01-01 until:2026-01-01", NOON)
    assert day.since is not None
    assert day.until is not None
    assert day.until - day.since == 24 * HOUR - 1
    assert parse_events("since:#5 until:#9", NOON) == EventFilter(first=5, last=9)
    assert parse_events("until:12:30", NOON).until == parse_events("since:12:30", NOON).since


@pytest.mark.parametrize(
    "typed",
    ["colour:red", "since:tomorrow", "since:2026-13-01", "-since:2h", "goal:T3", "is:late", "since:99:99",
     "goal:" + "9" * 30, "agent:a/b", "goal:²"],
)  # fmt: skip
def test_what_means_nothing_is_refused_with_a_hint(typed: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_events(typed, NOON)
    assert refused.value.hint


def test_a_thing_has_a_filter_for_all_that_is_about_it() -> None:
    assert about("task:12") == "task:T12"
    assert about("approval:3") == "question:Q3"
    assert about("hire:scout") == about("company:1") == about("") == ""


@pytest.mark.parametrize(
    ("kind", "changed", "note", "decides"),
    [
        ("GoalCancelled", {"status": "cancelled", "reason": "too dear"}, "too dear", True),
        ("ApprovalApproved", {"status": "approved", "note": "go on", "decided_by": "human"}, "go on", True),
        ("TaskReviewed", {"verdict": "needs_revision", "dimensions": {"summary": "Count again."}},
         "needs revision: Count again.", True),
        ("RoundReviewed", {"decision": "report", "answers": {"1": "All is there."}}, "report: All is there.", True),
        ("TaskStarted", {"status": "working", "reason": ""}, "", False),
        ("GoalReviewed", {"reviewed_by": "human", "reason": 5}, "", True),
    ],
)  # fmt: skip
def test_notes(kind: str, changed: dict[str, object], note: str, decides: bool) -> None:
    event = Event(id=1, at=NOON, actor="human", run_id=None, entity="goals", entity_id=1, kind=kind, changed=changed,
                  cause=None)  # fmt: skip
    assert (note_of(event), is_decision(event)) == (note, decides)


def test_every_kind_of_a_decision_is_one_that_commands_write() -> None:
    told = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "core" / "commands").glob("*.py"))
    assert {kind for kind in DECISIONS if f'"{kind}"' not in told} == set()
