"""What is told of, and when: tables over the pure rules. Nothing twice, nothing lost, nothing in the quiet hours."""

from typing import Any

import pytest

from core.domain.actors import HUMAN
from core.domain.entities import Event
from core.domain.inbox import InboxItem
from tui.notifying import (
    AWAY,
    EACH_MOST,
    TOGETHER_MS,
    Gathering,
    Mark,
    Notice,
    Telling,
    Watch,
    in_hours,
    minutes_of,
)

SEEN = Mark(10, frozenset({"review:goal:1"}))
FIRST = InboxItem("review:goal:1", "goal:1", "draft", "First", "it waits", 0)


def an_item(number: int, kind: str = "task") -> InboxItem:
    return InboxItem(f"wait:{kind}:{number}", f"{kind}:{number}", "blocked", f"Thing {number}", "it is blocked", 0)


def an_event(number: int, kind: str, actor: str = "system", entity: str = "tasks", about: int = 1,
             **changed: Any) -> Event:  # fmt: skip
    return Event(
        id=number,
        at=0,
        actor=actor,
        run_id=None,
        entity=entity,
        entity_id=about,
        kind=kind,
        changed=changed,
        cause=None,
    )


def keys(notices: list[Notice]) -> list[str]:
    return [notice.key for notice in notices]


# ------------------------------------------------------------- what is new


def test_an_item_is_told_once_and_again_only_when_it_came_back() -> None:
    watch = Watch(SEEN)
    assert keys(watch.look([FIRST, an_item(2)], {}, {})) == ["item:wait:task:2"]
    assert watch.look([FIRST, an_item(2)], {}, {}) == []
    assert watch.look([FIRST], {}, {}) == []
    assert keys(watch.look([FIRST, an_item(2)], {}, {})) == ["item:wait:task:2"]


def test_without_a_mark_it_begins_with_what_is_there() -> None:
    watch = Watch(None)
    assert watch.look([FIRST, an_item(2)], {}, {}) == []
    assert keys(watch.look([FIRST, an_item(2), an_item(3)], {}, {})) == ["item:wait:task:3"]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([], True),
        ([an_event(11, "TaskBlocked", "links", about=2)], True),
        ([an_event(11, "TaskResumed", HUMAN, about=2)], False),
        ([an_event(11, "TaskResumed", HUMAN, about=2), an_event(12, "TaskBlocked", "links", about=2)], True),
        # it waits since another thing was cancelled by the operator
        ([an_event(11, "TaskCancelled", HUMAN, about=7)], False),
        ([an_event(11, "TaskCancelled", HUMAN, about=7), an_event(12, "TaskBlocked", about=8)], True),
    ],
)  # fmt: skip
def test_what_follows_at_once_from_the_operators_own_act_is_known_to_them(events: list[Event], told: bool) -> None:
    watch = Watch(SEEN)
    watch.look([FIRST], {}, {})
    watch.hear(events)
    assert bool(watch.look([FIRST, an_item(2)], {}, {})) is told


def test_a_question_is_told_even_after_an_own_act() -> None:
    watch = Watch(SEEN)
    watch.look([FIRST], {}, {})
    watch.hear([an_event(11, "TaskResumed", HUMAN, about=2)])
    asked = InboxItem("approval:4", "task:2", "red_line", "May I?", "it asks", 0)
    assert keys(watch.look([FIRST, asked], {}, {})) == ["item:approval:4"]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (an_event(11, "GoalAccepted", HUMAN, "goals", 3), ("done", "G3", "is done", True)),
        (an_event(11, "GoalFailed", "system", "goals", 3, reason="no money"), ("failed", "G3", "no money", False)),
        (an_event(11, "RunFinished", "system", "runs", 5, exit_kind="stuck", detail="the same error 3 times"),
         ("stuck", "R5", "the same error 3 times", False)),
        (an_event(11, "RunFinished", "system", "runs", 5, exit_kind="done"), None),
        (an_event(11, "GoalCancelled", "system", "goals", 3), None),
        (an_event(10, "GoalFailed", "system", "goals", 3), None),
    ],
    ids=lambda each: each.kind if isinstance(each, Event) else "",
)  # fmt: skip
def test_ends_are_told_by_themselves(event: Event, told: tuple[str, str, str, bool] | None) -> None:
    watch = Watch(SEEN)
    watch.hear([event])
    notices = watch.look([FIRST], {}, {})
    if told is None:
        assert notices == []
    else:
        kind, tag, words, yours = told
        assert [(each.kind, each.tag, words in each.words, each.yours) for each in notices] == [
            (kind, tag, True, yours)
        ]
        watch.hear([event])
        assert watch.look([FIRST], {}, {}) == []


# ------------------------------------------------------------- how it is told


def some(count: int, kind: str = "waits") -> list[Notice]:
    return [
        Notice(f"item:{number}" if kind == "waits" else f"event:{number}", kind, f"T{number}", f"thing {number}",
               event=0 if kind == "waits" else number)
        for number in range(1, count + 1)
    ]  # fmt: skip


def waiting(count: int) -> set[str]:
    return {str(number) for number in range(1, count + 1)}


def told(tellings: list[Telling]) -> list[tuple[str, str]]:
    return [(each.title, each.words) for each in tellings]


def test_one_thing_is_told_at_once_and_with_its_words() -> None:
    gathering = Gathering()
    gathering.take(some(1))
    assert told(gathering.due(1000, quiet=False, waiting=waiting(1))) == [("T1 waits for you", "thing 1")]
    assert gathering.due(10**9, quiet=False, waiting=waiting(1)) == []


def test_a_burst_is_one_telling_and_says_what_there_was_of_each() -> None:
    gathering = Gathering()
    gathering.take([*some(50), *some(1, "failed")])
    (only,) = gathering.due(1000, quiet=False, waiting=waiting(50))
    assert only.title == "51 things at once"
    assert only.words == "50 wait for you (T1, T2, T3, T4, T5 …); 1 goal has failed (T1)"
    assert len(only.notices) == 51


def test_what_comes_close_behind_is_told_together() -> None:
    gathering = Gathering()
    gathering.take(some(1))
    assert len(gathering.due(1000, quiet=False, waiting=waiting(9))) == 1
    for number, notice in enumerate(some(9)[1:]):
        gathering.take([notice])
        assert gathering.due(1000 + number, quiet=False, waiting=waiting(9)) == []
    late = gathering.due(1000 + TOGETHER_MS, quiet=False, waiting=waiting(9))
    assert [each.title for each in late] == ["8 things at once"]


def test_few_at_once_are_told_each() -> None:
    gathering = Gathering()
    gathering.take(some(EACH_MOST))
    assert len(gathering.due(0, quiet=False, waiting=waiting(EACH_MOST))) == EACH_MOST


def test_while_it_is_quiet_nothing_is_told_and_at_its_end_all_that_still_holds_as_one() -> None:
    gathering = Gathering()
    gathering.take([*some(2), *some(1, "done")])
    for now in range(0, 10**6, 10**5):
        assert gathering.due(now, quiet=True, waiting=waiting(2)) == []
    assert gathering.held == 3
    assert told(gathering.due(10**7, quiet=False, waiting={"2"})) == [
        ("While you were not to be disturbed: 2 things", "1 waits for you (T2); 1 goal is done (T1)")
    ]
    gathering.take(some(1))
    assert told(gathering.due(10**8, quiet=False, waiting=waiting(1))) == [("T1 waits for you", "thing 1")]


def test_nothing_is_told_of_a_quiet_time_without_news() -> None:
    gathering = Gathering()
    assert gathering.due(0, quiet=True, waiting=()) == []
    assert gathering.due(1, quiet=False, waiting=()) == []


def test_what_was_held_back_when_the_room_ended_is_told_at_the_next_start() -> None:
    watch, gathering = Watch(SEEN), Gathering()
    watch.hear([an_event(20, "GoalFailed", "system", "goals", 3)])
    gathering.take(watch.look([FIRST, an_item(2)], {}, {}))
    gathering.due(0, quiet=True, waiting={"wait:task:2"})
    mark = gathering.mark(watch.mark)
    assert mark == Mark(19, SEEN.items)

    again, later = Watch(mark), Gathering(since=AWAY)
    again.hear([an_event(20, "GoalFailed", "system", "goals", 3)])
    later.take(again.look([FIRST, an_item(2)], {}, {}))
    (only,) = later.due(0, quiet=False, waiting={"wait:task:2"})
    assert (only.title, len(only.notices)) == ("While you were away: 2 things", 2)
    assert later.mark(again.mark) == Mark(20, frozenset({"review:goal:1", "wait:task:2"}))


def test_the_operators_own_act_is_told_to_other_subscribers_only() -> None:
    own = Notice("event:3", "done", "G1", "is done", event=3, yours=True)
    room, webhook = Gathering(), Gathering(skips_yours=False)
    room.take([own])
    webhook.take([own])
    assert room.due(0, quiet=False, waiting=()) == []
    assert len(webhook.due(0, quiet=False, waiting=())) == 1


# ------------------------------------------------------------- quiet hours


@pytest.mark.parametrize(
    ("span", "minute", "quiet"),
    [
        ("22:00-07:00", 21 * 60 + 59, False), ("22:00-07:00", 22 * 60, True), ("22:00-07:00", 0, True),
        ("22:00-07:00", 6 * 60 + 59, True), ("22:00-07:00", 7 * 60, False), ("9:30-10:00", 9 * 60 + 30, True),
        ("9:30-10:00", 10 * 60, False),
    ],
)  # fmt: skip
def test_hours_may_go_over_midnight(span: str, minute: int, quiet: bool) -> None:
    assert in_hours(minute, [minutes_of(span)]) is quiet


@pytest.mark.parametrize("span", ["", "22:00", "22-07", "24:00-07:00", "22:60-07:00", "22:00-22:00", "٢٢:00-07:00",
                                  "a:bb-c:dd", "22:00-07:00-08:00", "-1:00-07:00", "22:0-07:00"])  # fmt: skip
def test_what_are_no_hours_is_refused_in_words(span: str) -> None:
    with pytest.raises(ValueError, match="hours"):
        minutes_of(span)
