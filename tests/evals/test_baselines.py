"""What the agents do in the shipped scenarios is what the committed baselines say, mode by mode (S0-18, S0-19)."""

import json
from pathlib import Path

import pytest

from core.domain.ceo_mode import CeoMode
from core.evals.baseline import BAR, agreement, asked_of, read_baseline
from tests.evals.baselines import NAMES, PLACE, played, texts
from tests.evals.world import all_shipped


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "replies" else pytest.mark.soak) for name in NAMES]
)
async def test_the_agents_do_what_they_did(name: str, tmp_path: Path) -> None:
    baseline = read_baseline(PLACE / f"{name}.json")
    report = await played(name, tmp_path)
    if name == "replies":
        # Played once for both questions: each good reply passes, and the board refuses none of its calls.
        assert {result.name: result.why for result in report.results if not result.ok} == {}
        assert [call for result in report.results for call in result.runs[0].calls if call.refused] == []
    found = agreement(baseline, report.results, asked_of(baseline, None, None))
    why = "meant so? python -m tests.evals.baselines, and look at the difference before you commit it"
    assert {each.name: (each.before, each.now) for each in found.differences} == {}, why
    assert {group: share for group, share in found.groups.items() if share < BAR} == {}
    assert found.new == (), why
    assert set(found.groups) >= set(CeoMode)


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_knows_every_scenario_and_no_place(name: str) -> None:
    path = PLACE / f"{name}.json"
    baseline = read_baseline(path)
    assert {each.name: each.hash for each in baseline.scenarios} == {
        name: each.hash for name, each in all_shipped().items()
    }  # fmt: skip
    assert "/tmp" not in path.read_text(encoding="utf-8")


def test_the_texts_of_each_mode_are_those_that_were_evaluated_last() -> None:
    known = json.loads((PLACE / "texts.json").read_text(encoding="utf-8"))
    assert known == texts(), (
        "a mode's text or cue changed: compare what a model does with it (opsroom eval --runner chat --against FILE),"
        " then python -m tests.evals.baselines"
    )
