"""Agreement with a baseline: what counts as the same behaviour, and how shares add up."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from core.commands import briefing
from core.domain.ceo_mode import CeoMode, CeoModeAnswer, CeoModeContext
from core.domain.errors import Invalid
from core.evals.baseline import agreement, asked_of, percent, read_baseline, write_baseline
from core.evals.contestants import read_replies
from core.evals.evaluation import evaluate
from core.evals.expecting import Call
from core.evals.playing import Played
from core.evals.report import Report, Result
from tests.evals.world import GOOD, shipped

NOTE = Call("AddComment", {"goal": 1, "body": "I see."})
GOAL = Call("CreateGoal", {"title": "List the maps", "split": False})


def run(*calls: Call, why: tuple[str, ...] = (), mode: str = "operating", ended: str = "succeeded") -> Played:
    return Played(calls, why, mode, ended)


def result(name: str, *runs: Played, group: str = "operating", hashed: str = "h") -> Result:
    return Result(name, group, hashed, runs)


def shares(folder: Path, before: list[Result], now: list[Result]) -> dict[str, Fraction]:
    """The agreement by group, by way of the file."""
    path = folder / "before.json"
    write_baseline(path, Report("recorded", "old", 1, tuple(before)))
    baseline = read_baseline(path)
    return dict(agreement(baseline, now, asked_of(baseline, None, None)).groups)


SAME = [
    (run(NOTE), run(Call("AddComment", {"goal": 1, "body": "Quite another text."})), True),
    (run(GOAL), run(Call("CreateGoal", {"title": "List the books", "split": False})), True),
    (run(GOAL), run(Call("CreateGoal", {"title": "List the maps", "split": True})), False),
    (run(NOTE), run(Call("AddComment", {"goal": 2, "body": "I see."})), False),
    (run(NOTE), run(Call("AddComment", {"goal": 1, "kind": "question", "body": "I see."})), False),
    (run(NOTE), run(Call("AddComment", {"goal": 1, "body": "I see."}, "refused")), False),
    (run(NOTE), run(), False),
    (run(NOTE), run(NOTE, NOTE), False),
    (run(NOTE, GOAL), run(GOAL, NOTE), False),
    (run(NOTE), run(NOTE, why=("too much",)), False),
    (run(NOTE), run(NOTE, mode="other"), False),
    (run(NOTE), run(NOTE, ended="failed"), False),
    (run(Call("Dance", {"x": "y"})), run(Call("Dance", {"x": "z"})), True),
]


@pytest.mark.parametrize(("before", "now", "is_same"), SAME)
def test_what_is_the_same_behaviour(tmp_path: Path, before: Played, now: Played, is_same: bool) -> None:
    assert shares(tmp_path, [result("a", before)], [result("a", now)]) == {"operating": Fraction(is_same)}


@pytest.mark.parametrize(
    ("before", "now", "share"),
    [
        ("aaab", "aabb", Fraction(3, 4)),
        ("ab", "ba", Fraction(1)),
        ("a", "aaab", Fraction(3, 4)),
        ("aabb", "ab", Fraction(1)),
        ("aaaa", "bbbb", Fraction(0)),
    ],
)
def test_repetitions_agree_as_far_as_their_shares_overlap(
    tmp_path: Path, before: str, now: str, share: Fraction
) -> None:
    kinds = {"a": run(NOTE), "b": run(GOAL)}
    old, new = (result("a", *(kinds[letter] for letter in letters)) for letters in (before, now))
    assert shares(tmp_path, [old], [new]) == {"operating": share}


def test_a_mode_agrees_as_its_scenarios_do_on_average_and_each_mode_for_itself(tmp_path: Path) -> None:
    before = [result("a", run(NOTE)), result("b", run(NOTE)), result("c", run(NOTE), group="other")]
    now = [result("a", run(NOTE)), result("b", run(GOAL)), result("c", run(NOTE), group="other")]
    assert shares(tmp_path, before, now) == {"operating": Fraction(1, 2), "other": Fraction(1)}


def test_the_bar_is_99_percent_of_each_mode_and_nothing_is_rounded_up(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    before = [result(f"s{number}", run(NOTE)) for number in range(100)]
    write_baseline(path, Report("recorded", "old", 1, tuple(before)))
    baseline = read_baseline(path)

    def compared(different: int) -> Any:
        now = [result(f"s{n}", run(GOAL) if n < different else run(NOTE)) for n in range(100)]
        return agreement(baseline, now, [])

    assert [compared(number).ok for number in (0, 1, 2)] == [True, True, False]
    assert [each.name for each in compared(2).differences] == ["s0", "s1"]
    assert (percent(Fraction(98999, 100_000)), percent(Fraction(1))) == (98.99, 100.0)


def test_a_scenario_that_is_gone_or_written_anew_does_not_agree_and_a_new_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    before = (result("gone", run(NOTE)), result("anew", run(NOTE)), result("kept", run(NOTE)))
    write_baseline(path, Report("recorded", "old", 1, before))
    baseline = read_baseline(path)
    now = [result("anew", run(NOTE), hashed="other"), result("kept", run(NOTE)), result("new", run(NOTE))]
    found = agreement(baseline, now, asked_of(baseline, None, None))
    assert found.groups == {"operating": Fraction(1, 3)}
    assert [(each.name, each.now) for each in found.differences] == [
        ("gone", "the scenario is gone"),
        ("anew", "the scenario was written anew; record a new baseline"),
    ]
    assert found.new == ("new",)


def test_only_what_was_asked_for_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    before = (result("a", run(NOTE)), result("b", run(NOTE), group="other"))
    write_baseline(path, Report("recorded", "old", 1, before))
    baseline = read_baseline(path)
    assert asked_of(baseline, None, "other") == ["b"]
    assert asked_of(baseline, "a", None) == ["a"]
    assert agreement(baseline, [result("b", run(NOTE), group="other")], ["b"]).groups == {"other": Fraction(1)}
    with pytest.raises(Invalid, match="none of these scenarios"):
        agreement(baseline, [result("z", run(NOTE))], [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{\n 3", "line 2: no valid JSON"),
        ("[]", "is no baseline: the file"),
        ('{"version": 1}', "is no baseline: runner"),
        (json.dumps({"version": 2, "runner": "", "model": "", "prompt_hash": "", "repeat": 1, "scenarios": []}),
         "of version 2"),
    ],
)  # fmt: skip
def test_a_broken_baseline_is_told(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "before.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid) as told:
        read_baseline(path)
    assert problem in told.value.message
    assert str(path) in told.value.message


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(Invalid, match="cannot be written"):
        write_baseline(tmp_path / "none" / "x.json", Report("recorded", "m", 1, ()))


async def test_an_altered_mode_is_below_the_bar_whatever_the_agents_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios = [shipped("operating-draft-task-waits"), shipped("awaiting-hire-two-wait")]

    async def evaluated(name: str) -> Report:
        place = tmp_path / name
        place.mkdir()
        return await evaluate(scenarios, read_replies(GOOD), place)

    path = tmp_path / "before.json"
    write_baseline(path, await evaluated("before"))
    baseline = read_baseline(path)
    assert agreement(baseline, (await evaluated("again")).results, []).ok

    def altered(context: CeoModeContext) -> CeoModeAnswer:
        return CeoModeAnswer(CeoMode.AWAITING_HIRE, ("altered",))

    monkeypatch.setattr(briefing, "resolve_ceo_mode", altered)
    found = agreement(baseline, (await evaluated("altered")).results, [])
    assert found.groups == {CeoMode.OPERATING: Fraction(0), CeoMode.AWAITING_HIRE: Fraction(1)}
    assert not found.ok


def test_other_prompts_are_told_by_scenario_and_one_that_was_not_played_before_is_none(tmp_path: Path) -> None:
    first, second = (Played((NOTE,), (), "operating", "succeeded", prompt_hash=text) for text in ("one", "two"))
    path = tmp_path / "before.json"
    write_baseline(path, Report("recorded", "old", 1, (result("a", first), result("b", first))))
    baseline = read_baseline(path)
    now = [result("a", first), result("b", second), result("new", second)]
    assert agreement(baseline, now, ["a", "b"]).other_prompts == ("b",)
