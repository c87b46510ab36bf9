"""A reviewer challenges the decision about a round; the operator reads both sides and decides (S2-31, C-07)."""

from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.situations import a_finished_round, round_decided
from tests.flows.world import HOME, Office, an_office, press, ready, shown, wait, write
from tui.screens.confirm import Confirm

# Long: only by `make soak`.
pytestmark = pytest.mark.soak

FACTS = "O2 names no file with a dead link, and M2 asks for every one."


async def challenged(office: Office) -> int:
    """A decision to report, with what a reviewer holds against it and the coordinator's answer."""
    goal, coordinator = await a_finished_round(office)
    await round_decided(office, coordinator, "report")
    await office.end(coordinator)
    reviewer = await office.agent("reviewer", "mention", goal_id=goal)
    await office.do("ChallengeRound", reviewer, round=1, facts=FACTS)
    await office.end(reviewer)
    coordinator = await office.agent("coordinator", "mention", goal_id=goal)
    await office.do("AnswerChallenge", coordinator, approval=1, answer="REJECT", facts="There is no dead link.")
    await office.end(coordinator)
    office.clock.forward(15)
    return goal


async def test_a_challenge_is_upheld_after_a_question(tmp_path: Path, picture: Picture) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await challenged(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            assert "? challenge" in shown(app)
            await picture(pilot, "it-waits")
            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)
            assert "O2 names no file with a dead link" in shown(app)
            await picture(pilot, "the-question")
            await wait(pilot, office, 1)
            await press(pilot, "right", "enter")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "consumed"
            assert (await office.goal(goal)).reason == f"challenge upheld: {FACTS}"


async def test_a_challenge_is_dismissed_with_a_word(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await challenged(office)
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "b")
            await write(pilot, "There is none")
            await press(pilot, "enter")
            await wait(pilot, office, 6)
            assert (await office.approval()).status == "rejected"
            assert (await office.goal(goal)).reason == ""


async def test_no_field_of_an_act_is_left_out_of_the_question(tmp_path: Path) -> None:
    async with an_office(tmp_path / "c") as office:
        _, coordinator = await a_finished_round(office)
        act = {"before": "x", "after": "y", "findings": "z", "why": "w", "command": "rm -r all"}
        await office.do(
            "RequestApproval", coordinator, kind="red_line", entity="goal:1", title="May I?", payload=act
        )  # fmt: skip
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            await ready(pilot, office)
            await press(pilot, "a")
            assert isinstance(app.screen, Confirm)
            for name, value in act.items():
                assert f"{name}: {value}" in shown(app)
