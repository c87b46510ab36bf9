"""What a CEO sees before it proposes: the mission, what was finished and what was not, what was refused and why."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.readers import Readers
from core.domain.entities import Goal, Run
from core.domain.refill import REFILL_MAX, material
from core.domain.states import GoalStatus, RunKind
from core.refill import refill_material
from tests.unit.ticking import begun, tick
from tests.unit.world import World, a_company


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


async def seen(world: World) -> dict[str, Any]:
    """The material, read as the room reads."""
    readers = await Readers.open(world.folder / "board.db")
    try:
        return await refill_material(readers)
    finally:
        await readers.close()


def told(listed: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(goal["title"], goal["reason"]) for goal in listed]


async def finished(world: World, title: str) -> None:
    goal = await world.an_active_goal(title=title)
    done = {"status": GoalStatus.DONE, "reason": "well done"}
    await world.read(lambda tx: tx.update(tx.get(Goal, goal.id), "GoalAccepted", **done))


async def rejected(world: World, title: str, reason: str) -> None:
    draft = await world.a_goal(by="vera", reviewed=False, title=title)
    await world.operator("CancelGoal", goal=draft.id, reason=reason)


async def test_each_goal_is_told_where_it_belongs_with_its_reason_newest_first(world: World) -> None:
    await finished(world, "Audit one")
    await rejected(world, "Rewrite it all", "too large")
    stopped = await world.an_active_goal(title="Audit two")
    await world.operator("CancelGoal", goal=stopped.id, reason="not now")
    await rejected(world, "Rewrite a part", "still too large")
    mine = await world.a_goal(title="Mine")
    await world.operator("CancelGoal", goal=mine.id, reason="I think again")
    found = await seen(world)
    assert found["mission"] == "Know every folder"
    assert told(found["finished"]) == [("Audit one", "well done")]
    assert told(found["rejected"]) == [("Rewrite a part", "still too large"), ("Rewrite it all", "too large")]
    assert told(found["cancelled"]) == [("Mine", "I think again"), ("Audit two", "not now")]
    assert found["left_out"] == 0


async def test_what_is_archived_is_still_known_for_what_it_was(world: World) -> None:
    await finished(world, "Audit one")
    await rejected(world, "Rewrite it all", "too large")
    for goal in await world.all(Goal):
        await world.operator("ArchiveGoal", goal=goal.id)
    found = await seen(world)
    assert told(found["finished"]) == [("Audit one", "well done")]
    assert told(found["rejected"]) == [("Rewrite it all", "too large")]


async def test_a_recalled_goal_that_was_cancelled_is_no_rejected_draft(world: World) -> None:
    await world.operator("SetAutonomy", stage="B")
    goal = await world.a_goal(by="vera", reviewed=False)
    await world.system("DispatchGoal", goal=goal.id)
    await world.operator("RecallGoal", goal=goal.id)
    await world.operator("CancelGoal", goal=goal.id, reason="it ran wild")
    found = await seen(world)
    assert (told(found["rejected"]), told(found["cancelled"])) == ([], [(goal.title, "it ran wild")])


async def test_a_proposing_run_has_it_in_its_brief(world: World) -> None:
    await rejected(world, "Rewrite it all", "too large")
    await tick(world)
    vera = await begun(world, RunKind.PROPOSE, "vera")
    brief = (await world.find(Run, vera.run_id)).brief
    assert brief["refill"] == await seen(world)
    assert brief["refill"]["rejected"][0]["reason"] == "too large"


def row(number: int, **more: Any) -> dict[str, Any]:
    usual = {"id": number, "title": "t", "description": "d", "status": "done", "origin": "ceo", "reason": "r"}
    return {**usual, "dispatched": 1, "accepted": 1, **more}


def test_it_is_bounded_and_says_how_much_was_left_out() -> None:
    long = {"description": "描" * 10_000, "reason": "r" * 2_000}
    found = material("m" * 50_000, [row(number, **long) for number in range(100, 0, -1)])
    assert [goal["goal"] for goal in found["finished"]][:2] == ["G100", "G99"]
    assert len(found["finished"]) == REFILL_MAX
    assert found["left_out"] == 100 - REFILL_MAX
    assert len(str(found)) < 20_000


def test_a_young_company_has_nothing_to_tell_but_its_mission() -> None:
    assert material("Know", []) == {"mission": "Know", "finished": [], "cancelled": [], "rejected": [], "left_out": 0}
