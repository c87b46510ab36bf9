"""Marks on the inbox and one answer to all of them; and a machine in which items come, change and go meanwhile."""

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.domain.inbox_item import Choice, InboxItem
from core.domain.inbox_marks import (
    CHANGED,
    GONE,
    MUST_BE_READ,
    READ_ALONE,
    Marks,
    Part,
    batch,
    fingerprint,
    shown_hash,
    still_same,
)
from core.domain.inbox_snooze import HOUR_MS, HowLong, Snooze, end_of, refusal, sort
from core.domain.states import ApprovalKind

NOON = 1_767_268_800_000


def an_item(number: int = 1, kind: str = "blocked", says: str = "no network", **more: object) -> InboxItem:
    """Something that waits, with a yes, a no and a send-back."""
    hashed: dict[str, object] = {"approval": number, "payload_hash": f"{says}-{number}"}
    item = InboxItem(
        id=f"approval:{number}", entity=f"task:{number}", kind=kind, title=f"Thing {number}", why=says, since=NOON,
        choices=(
            Choice("a", "approve", "DecideApproval", {**hashed, "decision": "approved"}, "it goes on"),
            Choice("b", "reject", "DecideApproval", {**hashed, "decision": "rejected"}, "it ends", "note"),
            Choice("r", "send back", "DecideApproval", {**hashed, "decision": "sent"}, "told why", "note"),
        ),
    )  # fmt: skip
    return replace(item, **more)  # type: ignore[arg-type]


def marked(*items: InboxItem) -> Marks:
    marks = Marks()
    marks.set([item.id for item in items], {item.id: item for item in items})
    return marks


def answered(key: str, *items: InboxItem, read: bool = True) -> dict[str, str]:
    """What an answer does: the verb by item, or why it leaves one out."""
    found = batch(key, marked(*items).shown, items, lambda _shown: read)
    return {part.item.id: part.choice.verb for part in found.parts} | dict(found.left_out)


@pytest.mark.parametrize("key", ["a", "b", "r"])
def test_an_answer_is_for_all_marked_that_offer_it(key: str) -> None:
    ends = an_item(2, choices=(Choice("b", "end", "EndRound", {"round": 2}, "its tasks are cancelled", "reason"),))
    found = answered(key, an_item(1), ends, an_item(3))
    assert found["approval:1"] == found["approval:3"] == {"a": "approve", "b": "reject", "r": "send back"}[key]
    assert found["approval:2"] == ("end" if key == "b" else "it does not wait for that")


@pytest.mark.parametrize("kind", sorted(READ_ALONE))
def test_what_has_a_question_of_its_own_is_never_allowed_with_others(kind: str) -> None:
    assert answered("a", an_item(kind=kind))["approval:1"] == READ_ALONE[kind]
    assert answered("b", an_item(kind=kind))["approval:1"] == "reject"


@pytest.mark.parametrize("kind", sorted(MUST_BE_READ))
def test_what_must_be_read_is_allowed_only_when_it_was(kind: str) -> None:
    assert "not on your screen" in answered("a", an_item(kind=kind), read=False)["approval:1"]
    assert answered("a", an_item(kind=kind))["approval:1"] == "approve"
    assert answered("r", an_item(kind=kind), read=False)["approval:1"] == "send back"


def test_a_key_that_means_something_else_there_is_left_out() -> None:
    item = an_item(kind="budget")
    for_good = Choice("r", "raise for good", "RaiseBudget", {"micros": 5}, "more from now on")
    budget = replace(item, choices=(item.choices[0], for_good))
    assert answered("r", budget)["approval:1"] == "r means raise for good there: decide it alone"
    starts = replace(item, choices=(Choice("a", "start", "StartCompany", {}, "runs begin", undoable=False),))
    assert "cannot be taken back" in answered("a", starts)["approval:1"]
    answers = replace(item, choices=(Choice("a", "answer", "DecideApproval", {}, "it wakes who asked", "note"),))
    assert "words of its own" in answered("a", answers)["approval:1"]


def test_what_changed_or_went_since_it_was_marked_is_left_out() -> None:
    before, gone = an_item(1), an_item(2)
    marks = marked(before, gone)
    found = batch("a", marks.shown, [an_item(1, says="another reason")], lambda _shown: True)
    assert not found.parts
    assert dict(found.left_out) == {"approval:1": CHANGED, "approval:2": GONE}


def test_what_changed_since_the_question_is_left_out() -> None:
    one, other = an_item(1), an_item(2)
    parts = batch("a", marked(one, other).shown, [one, other], lambda _shown: True).parts
    again = still_same(parts, [one, an_item(2, says="another reason")])
    assert [part.item.id for part in again.parts] == ["approval:1"]
    assert again.left_out == (("approval:2", "it changed since you were asked"),)


def test_a_mark_keeps_what_the_item_said_when_it_was_set() -> None:
    marks = marked(an_item(1))
    changed = an_item(1, says="another reason")
    marks.set(["approval:1", "approval:2"], {"approval:1": changed, "approval:2": an_item(2)})
    assert marks.shown["approval:1"] == fingerprint(an_item(1))
    marks.drop(["approval:1"])
    assert "approval:1" not in marks
    assert len(marks) == 1


def test_the_hash_that_is_told_is_the_one_that_the_board_compares() -> None:
    item = an_item()
    assert shown_hash(item, item.choices[0]) == "no network-1"
    resume = Choice("a", "resume", "ResumeTask", {"task": 1}, "it is pending again")
    assert shown_hash(replace(item, choices=(resume,)), resume) == fingerprint(replace(item, choices=(resume,)))


@pytest.mark.parametrize(
    ("item", "how_long", "why"),
    [
        (an_item(), HowLong.HOUR, ""),
        (an_item(kind=ApprovalKind.RED_LINE), HowLong.HOUR, "red line"),
        (an_item(kind=ApprovalKind.PERMISSION, urgent=True), HowLong.CHANGE, "red line"),
        (an_item(kind=ApprovalKind.PERMISSION), HowLong.HOUR, ""),
        (an_item(kind="plan", until=NOON + 300_000), HowLong.HOUR, "window"),
        (an_item(kind="plan", until=NOON + 300_000), HowLong.CHANGE, "window"),
        (an_item(kind="plan", until=NOON + HOUR_MS), HowLong.HOUR, ""),
        (an_item(kind="budget", lapses=NOON + HOUR_MS - 1), HowLong.HOUR, "period"),
        (an_item(kind="budget", lapses=NOON + HOUR_MS), HowLong.HOUR, ""),
        (an_item(kind="budget", lapses=NOON + HOUR_MS), HowLong.TOMORROW, "period"),
        (an_item(kind="budget"), HowLong.CHANGE, ""),
    ],
)
def test_what_may_be_put_off(item: InboxItem, how_long: HowLong, why: str) -> None:
    said = refusal(item, end_of(how_long, NOON, NOON + 20 * HOUR_MS))
    assert (why in said) if why else not said


def test_a_snooze_ends_by_time_or_when_the_item_changes() -> None:
    item = an_item()
    an_hour = {item.id: Snooze(item.id, fingerprint(item), NOON + HOUR_MS)}
    assert sort([item], an_hour, NOON + HOUR_MS - 1).asleep == (item,)
    assert sort([item], an_hour, NOON + HOUR_MS).back == ((item, "its time is up"),)
    for changed in (
        an_item(says="another reason"), replace(item, title="Other"), replace(item, since=NOON + 1),
        replace(item, choices=item.choices[:1]),
    ):  # fmt: skip
        assert sort([changed], an_hour, NOON).back == ((changed, "it changed"),)
        assert sort([changed], an_hour, NOON).awake == (changed,)
    until_change = {item.id: Snooze(item.id, fingerprint(item), None)}
    assert sort([item], until_change, NOON + 10**12).asleep == (item,)


KINDS = ["blocked", "draft", "report", "plan", "budget", *READ_ALONE]
NUMBERS = st.integers(1, 6)


class MarksAndSnoozes(RuleBasedStateMachine):
    """A person marks, puts off, asks and agrees, while the board changes what they look at."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOON
        self.board: dict[str, InboxItem] = {}
        self.seen: set[str] = set()
        self.marks = Marks()
        self.snoozes: dict[str, Snooze] = {}
        self.asked: tuple[Part, ...] = ()
        self.held: tuple[Part, ...] = ()
        self.listed: dict[str, str] = {}
        self.agreed: dict[str, str] = {}

    @rule(number=NUMBERS, kind=st.sampled_from(KINDS), says=st.sampled_from("xyz"))
    def comes_or_changes(self, number: int, kind: str, says: str) -> None:
        until = self.now + 300_000 if kind == "plan" else None
        self.board[f"approval:{number}"] = an_item(number, kind, says, until=until)

    @rule(number=NUMBERS)
    def goes(self, number: int) -> None:
        self.board.pop(f"approval:{number}", None)

    @rule(seconds=st.integers(1, 4_000))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds * 1000

    @rule(number=NUMBERS, read=st.booleans())
    def is_marked(self, number: int, read: bool) -> None:
        name = f"approval:{number}"
        if name in self.board:
            if read:
                self.seen.add(fingerprint(self.board[name]))
            self.marks.set({*self.marks.shown, name}, self.board)

    @rule(number=NUMBERS, how_long=st.sampled_from(HowLong))
    def is_put_off(self, number: int, how_long: HowLong) -> None:
        item = self.board.get(f"approval:{number}")
        until = end_of(how_long, self.now, self.now + 20 * HOUR_MS)
        if item is not None and not refusal(item, until):
            self.snoozes[item.id] = Snooze(item.id, fingerprint(item), until)

    @rule(key=st.sampled_from("abr"))
    def a_key_asks(self, key: str) -> None:
        self.asked = batch(key, self.marks.shown, self.board.values(), self.seen.__contains__).parts
        self.listed = {part.item.id: shown_hash(part.item, part.choice) for part in self.asked}

    @precondition(lambda self: self.asked)
    @rule()
    def the_answer_is_yes(self) -> None:
        self.held, self.asked = still_same(self.asked, self.board.values()).parts, ()
        self.agreed = self.listed

    @precondition(lambda self: self.held)
    @rule()
    def what_is_held_is_sent(self) -> None:
        for part in still_same(self.held, self.board.values()).parts:
            now = self.board[part.item.id]
            choice = next(each for each in now.choices if each.key == part.choice.key)
            assert shown_hash(now, choice) == self.agreed[part.item.id]
            assert choice == part.choice
            if choice.key == "a":
                assert now.kind not in READ_ALONE
                assert now.kind not in MUST_BE_READ or fingerprint(now) in self.seen
        self.held = ()

    @invariant()
    def nothing_sleeps_that_must_not(self) -> None:
        found = sort(self.board.values(), self.snoozes, self.now)
        assert {item.id for item in (*found.awake, *found.asleep)} == set(self.board)
        for item in found.asleep:
            snooze = self.snoozes[item.id]
            assert fingerprint(item) == snooze.shown
            assert snooze.until is None or self.now < snooze.until
            assert item.kind != ApprovalKind.RED_LINE
            assert item.until is None or self.now < item.until


TestMarksAndSnoozes = MarksAndSnoozes.TestCase
TestMarksAndSnoozes.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
