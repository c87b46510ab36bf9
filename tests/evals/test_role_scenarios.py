"""Decisions of agents beside the CEO: each plausible bad answer fails for its reason (S3-30)."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from core.domain.states import Role
from core.evals.contestants import Reply, read_replies
from core.reading.offered import offered
from tests.evals.world import GOOD, all_shipped, replied, shipped, written

BAD: dict[str, list[dict[str, Any]]] = tomllib.loads((Path(__file__).parent / "bad.toml").read_text(encoding="utf-8"))
ROLES = {
    name: scenario
    for name, scenario in all_shipped().items()
    if scenario.mode is None and not name.startswith("round-review-")
}


@pytest.mark.parametrize(
    ("name", "told"),
    [pytest.param(name, told, id=f"{name}: {told['bad']}") for name, all_told in BAD.items() for told in all_told],
)
async def test_a_plausible_bad_answer_fails_for_its_reason(tmp_path: Path, name: str, told: dict[str, Any]) -> None:
    report = await replied(tmp_path, shipped(name), [Reply.model_validate(call) for call in told["calls"]])
    assert not report.ok
    assert told["fails"] in report.results[0].why


def test_every_role_decides_something_and_every_scenario_has_a_bad_answer() -> None:
    assert {scenario.group for scenario in ROLES.values()} == set(Role) - {Role.CEO}
    assert set(BAD) == set(ROLES)


def test_each_answer_to_a_broadcast_is_somebodys_right_one() -> None:
    calls = {name: {reply.call for reply in read_replies(GOOD)._replies[name]} for name in ROLES}
    matrix = {name: made for name, made in calls.items() if name.startswith("claim-matrix-")}
    assert [name for name, made in matrix.items() if "ClaimTask" in made]
    assert [name for name, made in matrix.items() if "AddComment" in made]
    assert [name for name, made in matrix.items() if made == {"AnswerOffer"}]


def test_what_a_good_agent_calls_is_offered_to_its_run() -> None:
    replies = read_replies(GOOD)._replies
    missing = {}
    for name, scenario in all_shipped().items():
        role = next(member.role for member in scenario.members if member.slug == scenario.begin.agent)
        lacking = {reply.call for reply in replies[name]} - offered(role, scenario.begin.run).names
        missing |= {name: lacking} if lacking else {}
    assert missing == {}


async def test_a_first_verdict_that_is_told_would_be_seen(tmp_path: Path) -> None:
    text = shipped("reviewer-second-look").written.path.read_text(encoding="utf-8")
    # The delivered text is what she is to look at: to hide that cannot be met.
    scenario = written(tmp_path, text.replace('untold = "splendid as a lighthouse"', 'untold = "hold the rail"'))
    report = await replied(tmp_path, scenario, [])
    assert "'hold the rail' was told" in report.results[0].why
