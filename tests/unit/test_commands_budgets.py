"""Budgets hold before a run starts: what is reserved, and what a pause, a loss or an end frees (F24)."""

from typing import Any

import pytest

from core.domain.entities import Run
from core.domain.errors import Invalid
from core.domain.limits import FIRST_RUN_MICROS
from core.domain.states import RunStatus
from tests.unit.budgets import DAY_MS, items, limit, queued, ran, spent, start, works_at_once
from tests.unit.world import World


async def test_125_of_100_is_never_spent(world: World) -> None:
    await limit(world, 100)
    for _ in range(4):
        await ran(world, 25)
    fifth = await queued(world)
    answer = await start(world, fifth)
    assert (answer["started"], answer["scope"], answer["used_up"]) == (False, "company", True)
    assert "0.0001 USD of 0.0001 USD" in answer["why"]
    assert (await world.find(Run, fifth)).status == RunStatus.QUEUED
    assert await spent(world) == 100


async def test_what_does_not_fit_into_the_rest_is_held_and_what_does_starts(world: World) -> None:
    await ran(world, 60)
    await ran(world, 10, "bob")
    await limit(world, 100)
    large, small = await queued(world), await queued(world, "bob")
    answer = await start(world, large)
    assert (answer["started"], answer["used_up"]) == (False, False)
    assert f"R{large} (mention) needs about 0.00006 USD" in answer["why"]
    assert (await start(world, small))["started"]


async def test_queued_runs_are_reserved_for_together(world: World) -> None:
    await works_at_once(world)
    await ran(world, 30)
    world.clock.advance(DAY_MS)
    await limit(world, 100)
    runs = [await queued(world) for _ in range(6)]
    started = [(await start(world, run))["started"] for run in runs]
    assert started == [True, True, True, False, False, False]
    assert await spent(world) == 90
    assert {(await world.find(Run, run)).reserved_micros for run in runs[:3]} == {30}


async def test_a_run_reserves_the_average_of_its_agent_and_kind_or_the_dearest_of_its_kind(world: World) -> None:
    first = await queued(world)
    await start(world, first)
    assert (await world.find(Run, first)).reserved_micros == 0, "nothing is known of it, and no budget holds"
    await world.system("FinishRun", run=first, status="succeeded", cost_micros=10)
    await ran(world, 15)
    again, other, bobs = await queued(world), await queued(world, kind="broadcast"), await queued(world, "bob")
    await works_at_once(world)
    for run in (again, other, bobs):
        await start(world, run)
    assert [(await world.find(Run, run)).reserved_micros for run in (again, other, bobs)] == [13, 1, 15]


async def hired(world: World, count: int, **runner: Any) -> list[int]:
    """Queued runs of so many new agents on a runner that costs money, or as its settings say."""
    runs = []
    for number in range(count):
        slug = f"new-{next(world.numbers)}-{number}"
        await world.hire(slug, runner={"kind": "chat", **runner})
        runs.append(await queued(world, slug))
    return runs


async def test_first_runs_at_once_hold_back_no_more_than_the_budget(world: World) -> None:
    await limit(world, 500_000)
    runs = await hired(world, 4)
    answers = [await start(world, run) for run in runs]
    assert [answer["started"] for answer in answers] == [True, True, True, False]
    held_back = [(await world.find(Run, run)).reserved_micros for run in runs]
    assert held_back == [FIRST_RUN_MICROS, FIRST_RUN_MICROS, 100_000, 0]
    assert await world.events("BudgetWarned") == [], "nobody is warned of a guess"
    await world.system("FinishRun", run=runs[0], status="succeeded", cost_micros=30_000)
    assert (await start(world, runs[3]))["started"]
    assert (await world.find(Run, runs[3])).reserved_micros == 30_000, "the dearest of its kind is known now"
    assert await items(world) == []


async def test_a_budget_below_the_guess_lets_one_first_run_tell(world: World) -> None:
    await limit(world, 50)
    one, two = await hired(world, 2)
    assert (await start(world, one))["started"]
    assert (await start(world, two))["started"] is False
    await world.system("FinishRun", run=one, status="succeeded", cost_micros=20)
    assert (await start(world, two))["started"]
    assert await spent(world) == 40


@pytest.mark.parametrize(("runner", "held_back"), [
    ({"kind": "rehearsal"}, 0), ({"run_cost_micros": 0}, 0), ({"run_cost_micros": 7}, 7), ({}, 100),
])  # fmt: skip
async def test_what_calls_no_model_or_a_free_one_is_not_hindered(
    runner: dict[str, Any], held_back: int, world: World
) -> None:
    await limit(world, 100)
    runs = await hired(world, 3, **runner)
    answers = [(await start(world, run))["started"] for run in runs]
    assert (await world.find(Run, runs[0])).reserved_micros == held_back
    assert answers == [True, held_back < 100, held_back < 100]


async def test_a_runner_whose_first_run_cost_nothing_is_free(world: World) -> None:
    await limit(world, 100)
    one, two, three = await hired(world, 3)
    await start(world, one)
    await world.system("FinishRun", run=one, status="succeeded")
    for run in (two, three):
        assert (await start(world, run))["started"]
    assert await spent(world) == 0
    (dear,) = await hired(world, 1, model="dear")
    await start(world, dear)
    assert await spent(world) == 100, "another model tells nothing of this one"


async def test_a_failed_run_does_not_tell_that_they_are_free(world: World) -> None:
    await limit(world, 100)
    one, two = await hired(world, 2)
    await start(world, one)
    await world.system("FinishRun", run=one, status="failed")
    await start(world, two)
    assert await spent(world) == 100


@pytest.mark.parametrize("cost", [-1, True, "1", 10**16, 1.5])
async def test_what_a_first_run_is_taken_to_cost_is_an_amount(cost: object, world: World) -> None:
    with pytest.raises(Invalid, match="run_cost_micros"):
        await world.hire("dora", runner={"kind": "chat", "run_cost_micros": cost})


async def test_only_the_last_twenty_costs_count(world: World) -> None:
    await ran(world, 1_000_000)
    for _ in range(20):
        await ran(world, 10)
    run = await queued(world)
    await start(world, run)
    assert (await world.find(Run, run)).reserved_micros == 10


async def test_the_cost_takes_the_place_of_the_reservation(world: World) -> None:
    await ran(world, 40)
    await limit(world, 100, "agent", slug="ada")
    run = await queued(world)
    await start(world, run)
    assert await spent(world, "agent") == 80
    await world.system("FinishRun", run=run, status="succeeded", cost_micros=5)
    assert await spent(world, "agent") == 45
    assert (await world.find(Run, run)).reserved_micros == 0


@pytest.mark.parametrize("how", ["KillRun", "LoseRun", "PauseAgent", "StopCompany"])
async def test_a_run_that_is_cut_off_frees_its_reservation_and_keeps_what_it_cost_as_told(
    how: str, world: World
) -> None:
    await ran(world, 40)
    await limit(world, 200)
    run = await queued(world)
    await start(world, run)
    await world.system("RecordCost", run=run, cost_micros=7)
    assert await spent(world) == 80
    match how:
        case "LoseRun":
            await world.system("LoseRun", run=run, why="gone")
        case "KillRun":
            await world.operator("KillRun", run=run)
        case "PauseAgent":
            await world.operator("PauseAgent", agent="ada")
        case _:
            await world.operator("StopCompany")
    ended = await world.find(Run, run)
    assert (ended.reserved_micros, ended.cost_micros) == (0, 7)
    assert await spent(world) == 47


async def test_what_is_told_of_a_run_at_work_counts_at_once_and_never_shrinks(world: World) -> None:
    await ran(world, 10)
    await limit(world, 100)
    run = await queued(world)
    await start(world, run)
    for told, total in ((4, 20), (30, 40), (20, 40)):
        await world.system("RecordCost", run=run, cost_micros=told)
        assert await spent(world) == total
    await world.system("FinishRun", run=run, status="failed")
    assert await spent(world) == 40
    await world.system("RecordCost", run=run, cost_micros=99)
    assert await spent(world) == 40, "it has told all that it had to tell"


@pytest.mark.parametrize("how", ["KillRun", "LoseRun", "timed_out"])
async def test_tokens_and_cost_of_a_run_that_is_cut_off_are_kept(how: str, world: World) -> None:
    await limit(world, 1000)
    run = await queued(world)
    await start(world, run)
    await world.system("RecordCost", run=run, cost_micros=30, tokens_in=500, tokens_out=60)
    await world.system("RecordCost", run=run, cost_micros=20, tokens_in=700)
    match how:
        case "LoseRun":
            await world.system("LoseRun", run=run, why="gone")
        case "KillRun":
            await world.operator("KillRun", run=run)
        case _:
            await world.system("FinishRun", run=run, status="timed_out")
    ended = await world.find(Run, run)
    assert (ended.cost_micros, ended.tokens_in, ended.tokens_out) == (30, 700, 60)
    await world.system("RecordCost", run=run, cost_micros=45, tokens_out=90)
    late = await world.find(Run, run)
    assert (late.cost_micros, late.tokens_in, late.tokens_out, late.reserved_micros) == (45, 700, 90, 0)
    assert await spent(world) == 45
    assert late.status == ended.status


async def test_the_last_word_of_a_killed_run_on_what_it_cost_is_heard(world: World) -> None:
    await limit(world, 100)
    run = await queued(world)
    await start(world, run)
    await world.operator("KillRun", run=run)
    answer = await world.system("FinishRun", run=run, status="succeeded", cost_micros=60)
    assert answer["finished"] is False
    assert await spent(world) == 60


async def test_absurd_costs_can_still_be_added_up(world: World) -> None:
    for _ in range(3):
        await ran(world, 2**63 - 1)
    await limit(world, 10**15)
    assert (await start(world, await queued(world)))["started"] is False
    assert await spent(world) == 3 * 10**15
