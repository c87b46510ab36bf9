"""What the operator is asked when a budget is used up, and what each answer does."""

from typing import Any

import pytest

from core.domain.entities import Approval, Budget
from core.domain.errors import Invalid
from core.domain.states import ApprovalStatus
from tests.unit.budgets import DAY_MS, choose, items, limit, question, queued, ran, start, works_at_once
from tests.unit.world import World


async def test_the_operator_is_asked_once_with_the_figures(world: World) -> None:
    budget = await limit(world, 100)
    await ran(world, 100)
    runs = [await queued(world), await queued(world, "bob")]
    for _ in range(3):
        for run in runs:
            await start(world, run)
    asked = await question(world)
    payload = asked.payload
    assert {name: payload[name] for name in ("budget", "scope", "limit", "spent", "period", "raise", "run")} == {
        "budget": budget.id, "scope": "company", "limit": 100, "spent": 100, "period": "day", "raise": 100,
        "run": runs[0],
    }  # fmt: skip
    assert (await world.events()).count("ApprovalRequested") == 1
    (item,) = await items(world)
    assert [choice.verb for choice in item.choices] == ["raise once", "leave held", "raise for good", "stop all"]


@pytest.mark.parametrize(("scope", "more", "entity"), [
    ("company", {}, "company:1"), ("agent", {"slug": "ada"}, "agent:5"), ("goal", {"scope_id": 1}, "goal:1"),
])  # fmt: skip
async def test_a_yes_really_lets_the_held_run_start(
    scope: str, more: dict[str, Any], entity: str, world: World
) -> None:
    goal = await world.an_active_goal()
    await limit(world, 100, scope, **more)
    await ran(world, 100, goal_id=goal.id)
    held = await queued(world, goal_id=goal.id)
    answer = await start(world, held)
    assert (answer["started"], answer["scope"]) == (False, scope)
    decided = await choose(world, (await items(world))[0], "a")
    assert decided["status"] == "consumed" or decided["follow_up"] == "0.0001 USD more today"
    assert await items(world) == []
    assert (await start(world, held))["started"]
    assert (await world.agent("ada")).status == "active"
    assert await world.pending(entity) == []


async def test_a_yes_is_for_as_much_as_the_run_needs(world: World) -> None:
    await ran(world, 450)
    world.clock.advance(DAY_MS)
    await limit(world, 100)
    held = await queued(world)
    await start(world, held)
    asked = await question(world)
    assert (asked.payload["needs"], asked.payload["raise"]) == (450, 400)
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    assert (await start(world, held))["started"]


async def test_a_no_keeps_it_held_and_says_so_and_does_not_ask_again(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    held = await queued(world)
    await start(world, held)
    await choose(world, (await items(world))[0], "b")
    for _ in range(3):
        answer = await start(world, held)
        assert answer["started"] is False
        assert answer["why"].endswith("you said no to more")
    assert (await world.events()).count("ApprovalRequested") == 1
    (item,) = await items(world)
    assert item.why == f"you allowed no more (too much); held: R{held}"
    assert [choice.verb for choice in item.choices] == ["raise once", "raise for good", "stop all"]
    await choose(world, item, "a")
    assert (await start(world, held))["started"]
    assert await items(world) == []


async def test_after_a_no_the_next_period_begins_as_any_other(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    held = await queued(world)
    await start(world, held)
    await choose(world, (await items(world))[0], "b")
    world.clock.advance(DAY_MS)
    assert (await start(world, held))["started"]
    await world.system("FinishRun", run=held, status="succeeded", cost_micros=100)
    again = await queued(world)
    await start(world, again)
    assert (await question(world)).payload["spent"] == 100


async def test_a_question_ends_with_its_period(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    await start(world, await queued(world))
    asked = await question(world)
    assert asked.expires_at is not None
    assert 0 < asked.expires_at - world.clock() <= DAY_MS
    assert asked.expires_at % DAY_MS == 0


async def test_a_yes_that_comes_too_late_raises_nothing(world: World) -> None:
    await limit(world, 100)
    await ran(world, 100)
    await start(world, await queued(world))
    asked = await question(world)
    world.clock.advance(DAY_MS)
    answer = await world.operator("DecideApproval", approval=asked.id, decision="approved")
    assert answer["follow_up"] == "a new period has begun"
    assert (await world.all(Budget))[0].extra_micros == 0


@pytest.mark.parametrize(("scope", "more"), [("agent", {"slug": "ada"}), ("goal", {"scope_id": 1}), ("company", {})])
async def test_a_pause_settles_the_question(scope: str, more: dict[str, Any], world: World) -> None:
    goal = await world.an_active_goal()
    await limit(world, 100, scope, **more)
    await ran(world, 100, goal_id=goal.id)
    held = await queued(world, goal_id=goal.id)
    await start(world, held)
    await choose(world, (await items(world))[0], "d")
    assert await items(world) == []
    assert {each.status for each in await world.all(Approval)} == {ApprovalStatus.CANCELLED}


async def test_a_question_is_withdrawn_when_its_run_can_start_after_all(world: World) -> None:
    await works_at_once(world)
    await ran(world, 60)
    world.clock.advance(DAY_MS)
    await limit(world, 100)
    first, second = await queued(world), await queued(world)
    await start(world, first)
    assert (await start(world, second))["started"] is False
    await world.operator("KillRun", run=first)
    assert (await start(world, second))["started"]
    assert await items(world) == []


async def test_several_budgets_are_each_asked_about_and_the_widest_is_named(world: World) -> None:
    await limit(world, 100)
    await limit(world, 50, "agent", slug="ada")
    await ran(world, 100)
    answer = await start(world, await queued(world))
    assert answer["scope"] == "company"
    assert "budget of the company" in answer["why"]
    assert "budget of Ada" in answer["why"]
    assert {item.entity for item in await items(world)} == {"company:1", "agent:5"}


async def test_nobody_but_the_system_asks_about_a_budget(world: World) -> None:
    vera = await world.run("vera")
    with pytest.raises(Invalid, match="the system asks"):
        await world.do(vera, "RequestApproval", kind="budget", entity="company:1", title="More, please")
