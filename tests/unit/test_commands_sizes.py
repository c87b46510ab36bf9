"""Names that people can tell apart, and sizes that the board and its readers can bear (F26)."""

from typing import Any

import pytest

from core.domain.budgets import MONEY_MAX
from core.domain.entities import AgentRecord, Goal
from core.domain.errors import Conflict, Invalid
from core.domain.limits import CAPABILITIES, LINES_MAX, RUNNER_MAX, TEXT_MAX
from tests.unit.world import World

DORA: dict[str, Any] = {"slug": "dora", "name": "Dora", "role": "executor"}


@pytest.mark.parametrize("name", ["\u200b", "\u3164\u2060", "\ufe0f\u00ad"])
async def test_a_name_that_nobody_sees_is_refused(world: World, name: str) -> None:
    with pytest.raises(Invalid, match="no visible character"):
        await world.operator("HireAgent", **{**DORA, "name": name})
    with pytest.raises(Invalid, match="no visible character"):
        await world.operator("EditAgent", agent="ada", name=name)


@pytest.mark.parametrize("name", ["ADA", "A\u200bda", "Ad\u2060a\ufe0f", "\uff21da", "\u202eAda"])
async def test_what_nobody_sees_makes_no_other_name(world: World, name: str) -> None:
    with pytest.raises(Conflict, match="already has that name"):
        await world.operator("HireAgent", **{**DORA, "name": name})


@pytest.mark.parametrize("taken", ["human", "operator", "all", "everyone", "system", "ticker", "dispatcher"])
async def test_names_of_people_and_of_the_program_are_no_agents(world: World, taken: str) -> None:
    vera = await world.run("vera")
    for way in ({"slug": taken}, {"name": taken.title()}, {"name": f"{taken}\u200b"}):
        with pytest.raises(Invalid, match="reserved"):
            await world.operator("HireAgent", **{**DORA, **way})
        with pytest.raises(Invalid, match="reserved"):
            await world.do(vera, "ProposeHire", **{**DORA, **way}, why="nobody draws")
    assert not await world.all(AgentRecord, "slug = :slug", slug=taken)


@pytest.mark.parametrize(
    "more",
    [
        {"runner": {"kind": "rehearsal", "text": "y" * RUNNER_MAX}},
        {"capabilities": tuple(f"c{number}" for number in range(CAPABILITIES + 1))},
        {"budget_micros": MONEY_MAX + 1},
    ],
    ids=["runner", "capabilities", "budget"],
)
async def test_a_hire_has_a_size(world: World, more: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        await world.operator("HireAgent", **DORA, **more)
    with pytest.raises(Invalid):
        await world.do(await world.run("vera"), "ProposeHire", **DORA, **more, why="nobody draws")
    assert not await world.all(AgentRecord, "slug = 'dora'")


async def test_stage_b_has_no_more_than_a_budget_can_hold(world: World) -> None:
    with pytest.raises(Invalid, match="budget_micros"):
        await world.operator("SetAutonomy", stage="B", budget_micros=MONEY_MAX + 1)


@pytest.mark.parametrize("field", ["constraints", "out_of_scope"])
@pytest.mark.parametrize("lines", [("x",) * (LINES_MAX + 1), ("x" * (TEXT_MAX // 2 + 1),) * 2], ids=["many", "long"])
async def test_what_limits_a_goal_has_a_size(world: World, field: str, lines: tuple[str, ...]) -> None:
    goal = await world.a_goal()
    with pytest.raises(Invalid, match=field):
        await world.operator("CreateGoal", title="Another", **{field: lines})
    with pytest.raises(Invalid, match=field):
        await world.operator("EditGoal", goal=goal.id, **{field: lines})
    assert await world.all(Goal) == [goal]
