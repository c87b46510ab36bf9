"""The shipped scenarios tell good behaviour from bad: each bad reply fails for its reason."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.domain.ceo_mode import CeoMode
from core.evals.contestants import read_replies
from core.evals.evaluation import evaluate
from tests.evals.world import DRAFT, HIRE, all_shipped, calls, replied, shipped, written

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "evals.md").read_text(encoding="utf-8")
NOTE = {"goal": "$goal", "body": "I see."}
REPORT = {"round": 1, "goal_clear": "Yes.", "covered": "All of it.", "next_step": "The report.", "decision": "report"}


def test_each_mode_of_the_ceo_has_three_states_or_more() -> None:
    counted = Counter(scenario.mode for scenario in all_shipped().values() if not scenario.begin.never)
    assert {mode: counted[mode] for mode in CeoMode if counted[mode] < 3} == {}


@pytest.mark.parametrize(
    "about",
    [
        "refill-", "mission-gate-", "dedupe-", "hire-", "organisation-", "round-review-", "claim-", "executor-",
        "reviewer-", "challenger-", "coordinator-", "planner-",
    ],
)  # fmt: skip
def test_there_are_scenarios_about(about: str) -> None:
    assert [scenario.name for scenario in all_shipped().values() if scenario.name.startswith(about)]


BAD: list[tuple[str, list[tuple[str, dict[str, Any]]], str]] = [
    ("team-building-first-run", [], "ProposeHire was done 0 times"),
    ("team-building-first-run", [("CreateGoal", DRAFT)], "CreateGoal was called; it must not be (nobody could work"),
    ("team-building-first-run", [("ProposeHire", {**HIRE, "role": "ceo"})], "there is one CEO"),
    ("team-building-hire-refused", [("ProposeHire", {**HIRE, "role": "challenger"})], "role is to be one of ['coord"),
    ("team-building-goal-asked", [("CreateGoal", DRAFT), ("AddComment", NOTE)], "CreateGoal was called"),
    ("team-building-nobody-reports", [("ProposeHire", {**HIRE, "role": "executor", "capabilities": ["charts"]})],
     "ada can do exactly that"),
    ("awaiting-hire-nothing-asked", [("ProposeHire", HIRE)], "ProposeHire was called; nothing was to be"),
    ("awaiting-hire-two-wait", [("CreateGoal", DRAFT)], "CreateGoal was called; nothing was to be"),
    ("awaiting-hire-question", [], "AddComment was done 0 times with the expected goal, not once"),
    ("awaiting-hire-question", [("AddComment", NOTE), ("AddComment", NOTE)], "AddComment was done twice"),
    ("awaiting-org-nothing-asked", [("CreateGoal", DRAFT)], "CreateGoal was called"),
    ("awaiting-org-question", [("AddComment", NOTE), ("ProposeHire", HIRE)], "only AddComment was to be"),
    ("awaiting-org-work-goes-on", [], "UnblockTask or AddComment was done 0 times"),
    ("operating-blocked-for-now", [("UnblockTask", {"task": 999})], "refused: "),
    ("operating-failed-task", [("CreateGoal", DRAFT)], "CreateTask or AddComment was done 0 times"),
    ("operating-draft-task-waits", [], "EnqueueTask or AddComment was done 0 times with the expected task"),
    ("operating-first-goal", [("CreateGoal", {**DRAFT, "must_haves": []})], "must_haves is to be (or hold) at least 1"),
    ("operating-first-goal", [("CreateGoal", DRAFT), ("DispatchGoal", {"goal": 1})], "DispatchGoal was called"),
    ("refill-after-a-refusal", [("CreateGoal", {**DRAFT, "title": "List the photos and account books"})],
     "the operator refused exactly that"),
    ("mission-gate-goal-asked", [("CreateGoal", DRAFT)], "there is no mission that it could follow from"),
    ("dedupe-second-draft-asked", [("CreateGoal", DRAFT), ("AddComment", NOTE)], "one draft at a time"),
    ("dedupe-draft-sent-back", [("AddComment", NOTE)], "EditGoal was done 0 times"),
    ("hire-asked", [("ProposeHire", {**HIRE, "slug": "mia", "name": "Mia", "role": "executor"})],
     "capabilities is to contain 'maps', but is []"),
    ("hire-asked-twice", [("ProposeHire", HIRE), ("AddComment", NOTE)], "Mia waits for the operator"),
    ("hire-sent-back", [("ProposeHire", {**HIRE, "max_runs": 8})], "max_runs is to be 1, but is 8"),
    ("organisation-asked", [("ProposeOrganisation", {"changes": [{"agent": "ada", "manager": "bob"}], "why": "w"})],
     "changes.0.agent is to be 'bob', but is 'ada'"),
    ("round-review-part-missing", [("ReviewRound", REPORT)], "decision is to be 'next_round', but is 'report'"),
    ("round-review-all-there", [("ReviewRound", {**REPORT, "decision": "stop"})], "but is 'stop'"),
    ("round-review-all-failed", [("ReviewRound", REPORT)], "M1 is not there"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "made", "reason"), BAD, ids=[f"{name}-{n}" for n, (name, _, _) in enumerate(BAD)])
async def test_a_bad_reply_fails_for_its_reason(
    tmp_path: Path, name: str, made: list[tuple[str, dict[str, Any]]], reason: str
) -> None:
    report = await replied(tmp_path, shipped(name), calls(*made))
    assert not report.ok
    assert reason in report.results[0].why


def test_every_scenario_of_a_run_of_the_ceo_has_a_bad_reply() -> None:
    asked = {
        scenario.name for scenario in all_shipped().values() if scenario.mode is not None and not scenario.begin.never
    }
    asked |= {name for name, _, _ in BAD if name.startswith("round-review-")}
    # The Chinese one differs from its English twin in the texts alone.
    assert asked - {name for name, _, _ in BAD} == {"refill-in-chinese"}


async def test_the_example_of_the_documentation_is_a_scenario_that_its_replies_pass(tmp_path: Path) -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    name = "awaiting-hire-question"
    example = written(tmp_path, blocks[0], name)
    cases = blocks[0].partition("[begin]")[0].replace("vera", "mira").replace('mode = "awaiting_hire"', "")
    case = written(tmp_path, cases.replace("mira ceo", "mira executor: maps") + blocks[1], "cases")
    assert (case.name, case.about) == ("cases-own-domain", "Maps are what Mira does.")
    path = tmp_path / "replies.toml"
    path.write_text(blocks[2], encoding="utf-8")
    place = tmp_path / "boards"
    place.mkdir()
    report = await evaluate([example], read_replies(path), place, repeat=2)
    # The reply is for the second repetition only.
    assert [run.passed for run in report.results[0].runs] == [False, True]
    assert example.members[1].capabilities == ("charts", "maps")
