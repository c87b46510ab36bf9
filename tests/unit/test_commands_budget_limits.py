"""Limits: budgets are set, raised once or for good, and of nothing that is not there."""

from typing import Any

import pytest

from core.domain.entities import Budget
from core.domain.errors import Conflict, Forbidden, Invalid, NotFound
from tests.unit.budgets import DAY_MS, choose, items, limit, question, queued, raised_once, ran, start
from tests.unit.world import World


async def test_raising_once_counts_only_in_its_period(world: World) -> None:
    await limit(world, 100)
    answer = await raised_once(world, 50)
    assert (answer["limit_micros"], answer["allowed_micros"]) == (100, 150)
    answer = await raised_once(world, 10)
    assert answer["allowed_micros"] == 160
    world.clock.advance(DAY_MS)
    await ran(world, 100)
    assert (await start(world, await queued(world)))["started"] is False
    answer = await raised_once(world, 5)
    assert answer["allowed_micros"] == 105, "what was granted the day before is over"


async def test_raising_for_good_counts_from_now_on(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    held = await queued(world)
    await start(world, held)
    await choose(world, (await items(world))[0], "r")
    assert (await world.all(Budget))[0].limit_micros == 200
    assert await items(world) == []
    assert (await start(world, held))["started"]


async def test_a_raise_that_is_not_enough_asks_anew(world: World) -> None:
    await limit(world, 100)
    await ran(world, 300)
    held = await queued(world)
    await start(world, held)
    await world.operator("RaiseBudget", scope="company", micros=50)
    assert await items(world) == []
    await start(world, held)
    assert (await question(world)).payload["limit"] == 150


async def test_a_goal_has_a_budget_in_all_that_never_begins_anew(world: World) -> None:
    goal, other = await world.an_active_goal(), await world.an_active_goal()
    await limit(world, 100, "goal", scope_id=goal.id, period="total")
    for _ in range(4):
        await ran(world, 25, goal_id=goal.id)
        world.clock.advance(40 * DAY_MS)
    held = await queued(world, goal_id=goal.id)
    assert (await start(world, held))["scope"] == "goal"
    assert (await start(world, await queued(world, "bob", goal_id=other.id)))["started"]
    assert (await question(world, f"goal:{goal.id}")).expires_at is None
    await choose(world, (await items(world))[0], "a")
    assert (await start(world, held))["started"]


async def test_the_budget_of_a_paused_agent_wakes_nobody(world: World) -> None:
    await limit(world, 100, "agent", slug="ada")
    await ran(world, 100)
    await world.operator("PauseAgent", agent="ada")
    await raised_once(world, 100, scope="agent", slug="ada")
    assert (await world.agent("ada")).status == "paused"
    assert await items(world) == []
    await world.operator("ResumeAgent", agent="ada")
    assert (await start(world, await queued(world)))["started"]


async def test_a_hire_with_a_budget_has_one(world: World) -> None:
    agent = await world.hire("dora", budget_micros=250)
    (budget,) = await world.all(Budget)
    assert (budget.scope, budget.scope_id, budget.limit_micros, budget.period) == ("agent", agent.id, 250, "day")


async def test_setting_a_budget(world: World) -> None:
    budget = await limit(world, 100)
    await raised_once(world, 50)
    again = await world.operator("SetBudget", scope="company", limit_micros=100)
    assert again == {"id": budget.id, "limit_micros": 100, "changed": False}
    assert (await world.find(Budget, budget.id)).extra_micros == 50
    await world.operator("SetBudget", scope="company", limit_micros=70, period="week")
    now = await world.find(Budget, budget.id)
    assert (now.limit_micros, now.period, now.extra_micros) == (70, "week", 0)
    await ran(world, 70)
    held = await queued(world)
    assert (await start(world, held))["started"] is False
    await world.operator("SetBudget", scope="company", limit_micros=0)
    assert (await start(world, held))["started"], "0 is no limit"
    assert await items(world) == []


@pytest.mark.parametrize(("arguments", "error"), [
    ({"scope": "agent"}, Invalid), ({"scope": "goal"}, Invalid), ({"scope": "agent", "slug": "nobody"}, Invalid),
    ({"scope": "goal", "scope_id": 99}, NotFound), ({"scope": "goal", "slug": "ada"}, Invalid),
    ({"scope": "agent", "scope_id": 5, "slug": "ada"}, Invalid), ({"scope": "universe"}, Invalid),
    ({"scope": "company", "limit_micros": -1}, Invalid), ({"scope": "company", "limit_micros": 10**15 + 1}, Invalid),
    ({"scope": "goal", "scope_id": 1}, Conflict),
])  # fmt: skip
async def test_a_budget_of_nothing_is_refused(arguments: dict[str, Any], error: type[Exception], world: World) -> None:
    goal = await world.a_goal()
    await world.operator("CancelGoal", goal=goal.id, reason="no")
    with pytest.raises(error):
        await world.operator("SetBudget", **{"limit_micros": 5, **arguments})
    assert await world.all(Budget) == []


async def test_what_has_no_budget_cannot_be_raised(world: World) -> None:
    with pytest.raises(Conflict, match="no budget of Ada"):
        await world.operator("RaiseBudget", scope="agent", slug="ada", micros=5)
    await limit(world, 10**15)
    with pytest.raises(Invalid, match="more than a budget can hold"):
        await world.operator("RaiseBudget", scope="company", micros=1)


async def test_agents_touch_no_budget(world: World) -> None:
    vera = await world.run("vera")
    for command, arguments in (
        ("SetBudget", {"scope": "company", "limit_micros": 0}),
        ("RaiseBudget", {"scope": "company", "micros": 1}),
        ("RecordCost", {"run": vera.run_id, "cost_micros": 0}),
    ):
        with pytest.raises(Forbidden):
            await world.do(vera, command, **arguments)
