"""What meets an expectation, and what does not: call, never and only; how often; with which arguments."""

from typing import Any

import pytest

from core.domain.states import TaskStatus
from core.evals.expecting import Call, Expectation, Seen, broken

MADE = Call("CreateGoal", {"title": "List the Maps", "must_haves": ["a list", "a count"], "split": False})
AGAIN = Call("CreateGoal", {"title": "List the books", "must_haves": ["a list"], "split": True})
REFUSED = Call("CreateGoal", {"title": "List the maps"}, "There is a draft already.")
NOTE = Call("AddComment", {"goal": 3, "body": "I see."})
PLAN = Call(
    "OpenRound", {"goal": 3, "tasks": [{"title": "A", "must_haves": ["M1"]}, {"title": "B", "must_haves": ["M2"]}]}
)


@pytest.mark.parametrize(
    ("expected", "calls", "is_met"),
    [
        ({"call": "CreateGoal"}, [MADE], True),
        ({"call": "CreateGoal"}, [MADE, AGAIN], True),
        ({"call": "CreateGoal"}, [NOTE], False),
        ({"call": "CreateGoal"}, [REFUSED], False),
        ({"call": ["CreateGoal", "AddComment"]}, [NOTE], True),
        ({"call": ["CreateGoal", "AddComment"]}, [], False),
        ({"call": "CreateGoal", "times": 1}, [MADE], True),
        ({"call": "CreateGoal", "times": 1}, [REFUSED, MADE], True),
        ({"call": "CreateGoal", "times": 1}, [MADE, AGAIN], False),
        ({"call": "CreateGoal", "at_most": 1}, [], True),
        ({"call": "CreateGoal", "at_most": 1}, [MADE, AGAIN], False),
        ({"call": "CreateGoal", "at_least": 2}, [MADE], False),
        ({"call": "CreateGoal", "times": 1, "with": {"split": False}}, [MADE, AGAIN], True),
        ({"call": "CreateGoal", "tried": True, "times": 1}, [REFUSED, MADE], False),
        ({"call": "CreateGoal", "tried": True, "at_least": 2}, [REFUSED, MADE], True),
        ({"never": "CreateGoal"}, [NOTE], True),
        ({"never": "CreateGoal"}, [REFUSED], False),
        ({"never": "CreateGoal", "with": {"split": True}}, [MADE], True),
        ({"only": []}, [], True),
        ({"only": []}, [NOTE], False),
        ({"only": ["AddComment"]}, [NOTE, NOTE], True),
        ({"only": ["AddComment"]}, [NOTE, REFUSED], False),
    ],
)
def test_calls(expected: dict[str, Any], calls: list[Call], is_met: bool) -> None:
    assert (broken([Expectation.model_validate(expected)], calls) == []) is is_met


@pytest.mark.parametrize(
    ("wanted", "call", "is_met"),
    [
        ({"title": "List the Maps"}, MADE, True),
        ({"title": "List the maps"}, MADE, False),
        ({"title": {"contains": "maps"}}, MADE, True),
        ({"title": {"contains": "books"}}, MADE, False),
        ({"title": {"lacks": "books"}}, MADE, True),
        ({"title": {"lacks": "MAPS"}}, MADE, False),
        ({"title": {"matches": "^List"}}, MADE, True),
        ({"title": {"matches": "^list"}}, MADE, False),
        ({"title": {"one_of": ["List the Maps", "x"]}}, MADE, True),
        ({"title": {"contains": "list", "lacks": "maps"}}, MADE, False),
        ({"must_haves": {"contains": "a count"}}, MADE, True),
        ({"must_haves": {"contains": "a"}}, MADE, False),
        ({"must_haves": {"at_least": 2}}, MADE, True),
        ({"must_haves": {"at_least": 3}}, MADE, False),
        ({"must_haves": {"at_most": 1}}, MADE, False),
        ({"goal": {"at_most": 3}}, NOTE, True),
        ({"must_haves.1": "a count"}, MADE, True),
        ({"must_haves.2": "a count"}, MADE, False),
        ({"tasks.*.must_haves": {"contains": "M2"}}, PLAN, True),
        ({"tasks.*.must_haves": {"contains": "M3"}}, PLAN, False),
        ({"tasks.*.must_haves": {"lacks": "M1"}}, PLAN, False),
        ({"tasks.*.must_haves": {"lacks": "M3"}}, PLAN, True),
        # What a call leaves out is what the command takes for it.
        ({"explore": False}, MADE, True),
        ({"round_cap": 3}, Call("CreateGoal", {"title": "x", "round_cap": 3}), True),
        ({"round_cap": {"at_least": 4}}, Call("CreateGoal", {"title": "x", "round_cap": 3}), False),
    ],
)
def test_arguments(wanted: dict[str, Any], call: Call, is_met: bool) -> None:
    expected = Expectation.model_validate({"call": call.command, "with": wanted})
    assert (broken([expected], [call]) == []) is is_met


@pytest.mark.parametrize(
    ("expected", "told", "problem"),
    [
        ({"told": "Box 7"}, ["a box", "Of BOX 7 nothing is left."], []),
        ({"told": "Box 7"}, ["Box", "7"], ["'Box 7' was not told"]),
        ({"untold": "Box 7"}, ["Box", "7"], []),
        ({"untold": "Box 7", "why": "she is to count"}, ["", "a box 7"], ["'Box 7' was told (she is to count)"]),
    ],
)
def test_what_a_run_was_told(expected: dict[str, Any], told: list[str], problem: list[str]) -> None:
    assert broken([Expectation.model_validate(expected)], [], Seen(told)) == problem


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ("waiting_human", []),
        (["blocked", "waiting_human"], []),
        ("review", ["T1 is waiting_human in the end, not review"]),
        (["review", "failed"], ["T1 is waiting_human in the end, not review or failed"]),
    ],
)
def test_how_a_task_ended(status: Any, problem: list[str]) -> None:
    seen = Seen((), {1: TaskStatus.WAITING_HUMAN})
    assert broken([Expectation.model_validate({"task": 1, "status": status})], [], seen) == problem
    missing = broken([Expectation.model_validate({"task": 2, "status": status})], [], seen)
    assert missing[0].startswith("T2 is not there in the end")


def test_the_reason_names_what_was_wanted_what_was_and_why_it_matters() -> None:
    expected = Expectation.model_validate(
        {"call": "CreateGoal", "with": {"split": False, "title": {"contains": "maps"}}, "why": "a draft is not split"}
    )
    assert broken([expected], [AGAIN]) == [
        "CreateGoal was done 0 times with the expected split, title, not at least once:"
        " split is to be False, but is True; title is to contain 'maps', but is 'List the books' (a draft is not split)"
    ]
    assert broken([expected], [REFUSED]) == [
        "CreateGoal was done 0 times with the expected split, title, not at least once:"
        " refused: There is a draft already. (a draft is not split)"
    ]
