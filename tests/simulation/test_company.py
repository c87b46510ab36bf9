"""Whole lives of goals under many seeds: everything ends or waits for a person, and nothing is done twice."""

from pathlib import Path

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.domain.entities import Goal
from core.domain.states import GOAL_FINAL, GoalStatus
from core.simulation.agents import GOOD, HARD, USUAL
from core.simulation.simulator import Simulation, a_simulation

STEPS = 30


async def two_goals(simulation: Simulation) -> list[int]:
    made = []
    for number in (1, 2):
        answer = await simulation.operator(
            "CreateGoal", title=f"Audit {number}", must_haves=("count", "search"), round_cap=3
        )
        await simulation.operator("DispatchGoal", goal=answer["id"])
        made.append(answer["id"])
    return made


async def live(simulation: Simulation) -> None:
    """The person answers at random; later with yes, and the agents behave: then everything ends."""
    for step in range(STEPS * 5):
        if step == STEPS:
            simulation.agents.habits = GOOD
        await simulation.step()
        await simulation.check_nothing_is_forgotten()
        if step % 3 == 2:
            await simulation.end_hanging()
            await simulation.decide_all(kindly=step > STEPS)
        alive = await simulation.board.readers.entities(Goal, "status NOT IN ('done', 'failed', 'cancelled')")
        if not alive:
            return
    goals = await simulation.board.readers.entities(Goal, "true")
    _, plan = await simulation.ticker.look()
    raise AssertionError(f"{goals}\n{plan}\n{await simulation.inbox()}")


SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (0, *range(2, 40)))]


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_goal_ends_whatever_its_agents_do(seed: int, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, seed, HARD if seed % 2 else USUAL) as simulation:
        await two_goals(simulation)
        await live(simulation)
        assert await simulation.read(lambda tx: rebuild_and_compare(tx.connection)) == []
        assert {goal.status for goal in await simulation.board.readers.entities(Goal, "true")} <= GOAL_FINAL


async def test_good_agents_finish_a_goal_to_the_operators_yes(tmp_path: Path) -> None:
    async with a_simulation(tmp_path) as simulation:
        await two_goals(simulation)
        for _ in range(STEPS):
            await simulation.step()
            await simulation.decide_all(kindly=True)
        goals = await simulation.board.readers.entities(Goal, "true")
        assert {goal.status for goal in goals} == {GoalStatus.DONE}
