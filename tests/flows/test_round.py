"""The round: how those before it ended; what of the goal is covered, waived, or who is at it (S2-21, S2-24)."""

from pathlib import Path

import pytest

from tests.flows.conftest import Picture
from tests.flows.situations import round_decided
from tests.flows.world import (
    HOME,
    SMALL,
    TINY,
    WIDE,
    Office,
    a_goal_at_work,
    an_office,
    approved,
    at_work,
    handed_in,
    press,
    ready,
    settle,
    shown,
)

TASKS = [
    {"title": title, "intent": title, "end_state": "It can be seen.", "must_haves": [must]}
    for title, must in (("Name the ten largest files", "M1"), ("Follow the links of every page", "M2"))
]
DECIDED = ("Count sources only, never what make writes", "Fetch a page once a second at most")


async def a_second_round(office: Office) -> int:
    """The second round: one must-have is delivered, a task is at the other; one of two decisions is carried out."""
    goal = await a_goal_at_work(office)
    await handed_in(office, 2, "inventory")
    await approved(office, 2)
    for task in (3, 4, 5):
        await office.do("CancelTask", task=task, reason="not needed")
    coordinator = await office.agent("coordinator", "round_review", goal_id=goal, round_id=1)
    for text in DECIDED:
        await office.do("AddComment", coordinator, goal=goal, kind="decision", body=text)
    await round_decided(office, coordinator, "next_round", tasks=TASKS)
    await office.end(coordinator)
    inventory = await at_work(office, 6, "inventory")
    await office.do(
        "AddOutput", inventory, task=6, type="data", title="Largest files", summary="Ten.", content="1. a.bin",
        must_haves=["M1"], decisions=[1],
    )  # fmt: skip
    await office.do(
        "AddComment", inventory, task=6, kind="handoff", body="Ten files by du; build/ is left out, as was decided."
    )
    await office.do("SubmitTask", inventory, task=6)
    await office.end(inventory)
    await approved(office, 6, output=2)
    await at_work(office, 7, "links")
    office.clock.forward(30)
    return goal


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(WIDE, marks=pytest.mark.soak),
        HOME,
        pytest.param(SMALL, marks=pytest.mark.soak),
        pytest.param(TINY, marks=pytest.mark.soak),
    ],
    ids=["wide", "home", "small", "tiny"],
)
async def test_coverage_and_history_at_every_size(tmp_path: Path, picture: Picture, size: tuple[int, int]) -> None:
    async with an_office(tmp_path / "c") as office:
        goal = await a_second_round(office)
        app = office.app()
        async with app.run_test(size=size) as pilot:
            await ready(pilot, office)
            if size != TINY:
                assert "M1✓" in shown(app) or "✓ M1" in shown(app)
            await picture(pilot, "the-round")
            await office.do("WaiveMustHave", goal=goal, must_have="M2")
            await office.do("WaiveDecision", decision=2, reason="nothing is fetched any more")
            await settle(pilot)
            if size != TINY:
                assert "M2–" in shown(app) or "– M2" in shown(app)
            app.room.board.list.focus()
            app.room.board.list.move_to("round:2")
            await press(pilot, "enter")
            assert size == TINY or "waived by you" in shown(app)
            await picture(pilot, "waived")
