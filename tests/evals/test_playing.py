"""How a scenario is played: who begins the run, what is noted, how often, and what counts as not passed."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Desk, Outcome, Runner
from core.domain.ceo_mode import CeoMode
from core.domain.entities import Goal
from core.domain.errors import OpsroomError
from core.domain.states import RunKind, RunStatus
from core.evals.evaluation import evaluate
from core.evals.expecting import Call
from core.evals.founding import Boards
from core.evals.playing import Played, play
from core.evals.scenario import SHIPPED, Scenario
from core.prompting.templates import ceo_text, shipped_library
from tests.evals.world import DRAFT, FIRST, HIRE, calls, replied, shipped, written


class Acting:
    """A contestant that is a function."""

    kind = "test"
    model = "a function"

    def __init__(self, act: Any, *texts: str) -> None:
        self.act = act
        self._texts = texts
        self.seen: list[Assignment] = []

    def runner(self, scenario: Scenario, repetition: int, answers: Mapping[str, Mapping[str, Any]]) -> Runner:
        return self

    def texts(self, assignment: Assignment) -> tuple[str, ...]:
        return self._texts

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        self.seen.append(assignment)
        outcome: Outcome = await self.act(assignment, desk) or Outcome()
        return outcome


async def nothing(assignment: Assignment, desk: Desk) -> None:
    """A run without a call."""


async def played(folder: Path, scenario: Scenario, act: Any, *texts: str, seconds: float = 60.0) -> Played:
    place = folder / "board"
    place.mkdir()
    return await play(scenario, Acting(act, *texts), 1, place, seconds)


async def test_the_run_is_briefed_as_in_life(tmp_path: Path) -> None:
    contestant = Acting(nothing)
    await play(shipped("refill-in-chinese"), contestant, 1, tmp_path)
    assignment = contestant.seen[0]
    told = ceo_text(shipped_library(), CeoMode.OPERATING, "zh")
    assert all(part.text in assignment.prompt.system for part in told)
    assert assignment.run.brief["refill"]["mission"] == "整理档案馆的每一个文件夹"
    assert assignment.run.brief["cue"].startswith("没有进行中的目标")


async def test_an_agenda_is_the_one_that_the_ticker_found(tmp_path: Path) -> None:
    contestant = Acting(nothing)
    await play(shipped("operating-failed-task"), contestant, 1, tmp_path)
    assert [item["kind"] for item in contestant.seen[0].run.brief["agenda"]] == ["failed"]


async def test_calls_are_noted_in_order_done_or_refused_and_the_board_is_real(tmp_path: Path) -> None:
    drafts: list[Goal] = []

    async def act(assignment: Assignment, desk: Desk) -> None:
        for command, arguments in (("ProposeHire", HIRE), ("Dance", {"x": {1, 2}}), ("CreateGoal", {"colour": 1})):
            try:
                await desk.call(command, **arguments)
            except OpsroomError:
                continue
        await desk.call("CreateGoal", **DRAFT)
        drafts.extend(await desk.readers.entities(Goal, "true"))

    found = await played(tmp_path, written(tmp_path, FIRST), act)
    assert [(call.command, bool(call.refused)) for call in found.calls] == [
        ("ProposeHire", False), ("Dance", True), ("CreateGoal", True), ("CreateGoal", False),
    ]  # fmt: skip
    assert found.calls[0] == Call("ProposeHire", HIRE)
    assert "There is no command 'Dance'" in found.calls[1].refused
    assert found.passed
    assert [goal.title for goal in drafts] == ["List the maps"]


async def test_other_agents_do_nothing_meanwhile(tmp_path: Path) -> None:
    contestant = Acting(nothing)
    # Its ticks offer the other task to bob, who would be begun too.
    await play(shipped("operating-failed-task"), contestant, 1, tmp_path)
    assert [assignment.agent.slug for assignment in contestant.seen] == ["vera"]


async def fails(assignment: Assignment, desk: Desk) -> Outcome:
    await desk.call("ProposeHire", **HIRE)
    return Outcome(RunStatus.FAILED, "no_model", "the model is gone")


async def breaks(assignment: Assignment, desk: Desk) -> None:
    await desk.call("ProposeHire", **HIRE)
    raise ZeroDivisionError("by zero")


async def refused(assignment: Assignment, desk: Desk) -> None:
    await desk.call("ProposeHire", **HIRE)
    await desk.call("CreateGoal", title="x")


async def sleeps(assignment: Assignment, desk: Desk) -> None:
    await desk.call("ProposeHire", **HIRE)
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (fails, "the run failed: the model is gone"),
        (breaks, "the run failed: ZeroDivisionError: by zero"),
        (refused, "the run failed: A CEO's draft is not split"),
        (sleeps, "the run took too long and was ended"),
    ],
)
async def test_a_run_that_does_not_succeed_does_not_pass(tmp_path: Path, act: Any, reason: str) -> None:
    found = await played(tmp_path, written(tmp_path, FIRST), act, seconds=2.0)
    assert [why for why in found.why if reason in why] == list(found.why)
    assert len(found.why) == 1
    assert found.calls[0].command == "ProposeHire"


async def test_a_run_in_another_mode_does_not_pass(tmp_path: Path) -> None:
    scenario = written(tmp_path, FIRST.replace('["vera ceo"]', '["vera ceo", "ada executor under vera"]'))
    report = await replied(tmp_path, scenario, calls(("ProposeHire", HIRE)))
    assert report.results[0].why == f"the run began in the mode {CeoMode.OPERATING}, not in {CeoMode.TEAM_BUILDING}"


async def test_a_run_that_no_tick_begins_does_not_pass(tmp_path: Path) -> None:
    scenario = written(tmp_path, FIRST.replace('mission = "Know every folder"\n', ""))
    report = await replied(tmp_path, scenario, [])
    assert report.results[0].why == "no propose run of vera began"


async def test_what_the_agent_is_called_for_besides_does_not_come_between(tmp_path: Path) -> None:
    text = (SHIPPED / "operating-failed-task.toml").read_text(encoding="utf-8")
    text = text.partition("[begin]")[0] + (
        '[[steps]]\ndo = "AddComment"\n'
        'with = { goal = "$goal", kind = "question", body = "@vera what now?" }\n\n'
        '[begin]\nagent = "vera"\nrun = "heartbeat"\n\n[[expect]]\nonly = []\n'
    )
    contestant = Acting(nothing)
    found = await play(written(tmp_path, text), contestant, 1, tmp_path)
    assert found.passed
    assert [(each.agent.slug, each.run.kind) for each in contestant.seen] == [("vera", RunKind.HEARTBEAT)]


async def test_a_gate_that_does_not_hold_does_not_pass(tmp_path: Path) -> None:
    scenario = written(tmp_path, FIRST.replace('run = "propose"', 'run = "propose"\nnever = true'))
    report = await replied(tmp_path, scenario, calls(("ProposeHire", HIRE)))
    assert report.results[0].why == "a propose run of vera began; none was to"


async def test_time_passes_between_steps(tmp_path: Path) -> None:
    text = FIRST + "\n[[steps]]\nwait_minutes = 20\n"
    contestant = Acting(nothing)
    await play(written(tmp_path, text), contestant, 1, tmp_path)
    run = contestant.seen[0].run
    assert run.queued_at - contestant.seen[0].company.created_at >= 20 * 60_000


@pytest.mark.parametrize(("repeat", "passed", "ok"), [(1, 1, True), (2, 1, False), (3, 2, False)])
async def test_a_scenario_passes_when_every_repetition_does(tmp_path: Path, repeat: int, passed: int, ok: bool) -> None:
    replies = [*calls(("ProposeHire", HIRE), repetition=1), *calls(("ProposeHire", HIRE), repetition=3)]
    report = await replied(tmp_path, written(tmp_path, FIRST), replies, repeat)
    assert (report.results[0].passed, report.ok) == (passed, ok)
    assert len(report.results[0].runs) == repeat
    assert report.as_json()["scenarios"][0]["passed"] is ok


async def test_the_hash_of_the_prompts_is_that_of_the_texts_that_were_read(tmp_path: Path) -> None:
    scenario = written(tmp_path, FIRST)
    hashes = []
    for number, texts in enumerate(((), ("Be brief.",), ("Be brief.",), ("Be long.",))):
        place = tmp_path / str(number)
        place.mkdir()
        report = await evaluate([scenario], Acting(nothing, *texts), place)
        assert not [*place.iterdir()], "boards are gone afterwards"
        hashes.append(report.prompt_hash)
    assert [hashes.index(each) for each in hashes] == [0, 1, 1, 3]


async def test_the_hash_of_a_scenario_is_that_of_what_it_asks_for(tmp_path: Path) -> None:
    first = written(tmp_path, FIRST)
    assert first.hash == written(tmp_path, FIRST.replace("A first run.", "Said better."), "other").hash
    assert first.hash != written(tmp_path, FIRST.replace("Know every", "Know no"), "third").hash


async def test_who_begins_in_the_same_state_does_not_meet_what_others_did_there(tmp_path: Path) -> None:
    boards, drafts = Boards(tmp_path / "states"), []

    async def act(assignment: Assignment, desk: Desk) -> None:
        drafts.append(len(await desk.readers.entities(Goal, "true")))
        await desk.call("CreateGoal", **DRAFT)

    for number in range(2):
        place = tmp_path / str(number)
        place.mkdir()
        await play(written(tmp_path, FIRST), Acting(act), 1, place, boards=boards)
    assert drafts == [0, 0]
    assert len([*(tmp_path / "states").glob("state-*")]) == 1


async def test_what_a_run_is_told_is_its_prompt_and_the_answers_to_its_queries(tmp_path: Path) -> None:
    text = (SHIPPED / "operating-failed-task.toml").read_text(encoding="utf-8").partition("[[expect]]")[0]
    text += '[[expect]]\ntold = "never scanned"\n[[expect]]\nuntold = "\\"reviews\\""\n'
    scenario = written(tmp_path, text)

    async def looks(assignment: Assignment, desk: Desk) -> None:
        await desk.read("ReadTask", task=1)

    silent = await played(tmp_path, scenario, nothing)
    assert silent.why == ()
    place = tmp_path / "again"
    place.mkdir()
    looked = await play(scenario, Acting(looks), 1, place)
    assert (len(looked.calls), len(looked.why)) == (0, 1)
