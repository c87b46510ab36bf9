"""What stage B leaves to a person, in the tick and in the command that acts; and what it goes on counting (D-01)."""

from typing import Any

import pytest

from core.blackboard.queries import STAGE_B_SPENT
from core.domain.entities import Goal, Task
from core.domain.errors import Conflict
from core.domain.states import GoalStatus, RunKind
from tests.unit.ticking import look, tick
from tests.unit.world import World


async def a_draft(world: World) -> Goal:
    """The company is at stage B, and the CEO has made a draft."""
    await world.operator("SetAutonomy", stage="B")
    return await world.a_goal(by="vera", reviewed=False)


async def sent_back(world: World, goal: Goal) -> None:
    await world.operator("ReviseGoal", goal=goal.id, note="smaller")


async def reviewed(world: World, goal: Goal) -> None:
    await world.operator("ReviewGoal", goal=goal.id)


async def talked_over(world: World, goal: Goal) -> None:
    await world.operator("ExploreGoal", goal=goal.id)


async def at_it(world: World, goal: Goal) -> None:
    await world.run("vera", RunKind.MENTION, goal_id=goal.id)


async def without_a_task(world: World, goal: Goal) -> None:
    (task,) = await world.all(Task, "goal_id = :g", g=goal.id)
    await world.operator("CancelTask", task=task.id, reason="no")


@pytest.mark.parametrize(
    ("way", "why"),
    [
        (sent_back, "you spoke about it"),
        (reviewed, "you reviewed it"),
        (talked_over, "talked over"),
        (at_it, "still at it"),
        (without_a_task, "no draft task"),
    ],
)
async def test_what_a_person_has_taken_in_hand_is_held_and_refused(world: World, way: Any, why: str) -> None:
    goal = await a_draft(world)
    await way(world, goal)
    held = [each.why for each in (await look(world)).held if each.entity == f"goal:{goal.id}"]
    assert len(held) == 1
    assert why in held[0]
    assert "DispatchGoal" not in await tick(world)
    # A tick that looked before it happened sends the command all the same.
    with pytest.raises(Conflict, match=why):
        await world.system("DispatchGoal", goal=goal.id)
    assert (await world.goal(goal.id)).status == GoalStatus.DRAFT


async def test_what_a_recalled_goal_has_cost_today_stays_stage_bs(world: World) -> None:
    goal = await a_draft(world)
    await world.system("DispatchGoal", goal=goal.id, discussion=False)
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.finish(cora, cost_micros=700_000)
    world.clock.advance(1_000)
    await world.operator("RecallGoal", goal=goal.id)
    world.clock.advance(1_000)
    await world.operator("ReviewGoal", goal=goal.id)
    await world.operator("DispatchGoal", goal=goal.id, discussion=False)
    assert await spent(world) == 700_000
    # What it costs from now on is the person's.
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.finish(cora, cost_micros=200_000)
    assert await spent(world) == 700_000


async def spent(world: World) -> int:
    return int(await world.read(lambda tx: tx.value(STAGE_B_SPENT, since=0)))
