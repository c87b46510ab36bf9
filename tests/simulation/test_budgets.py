"""Budgets with the real ticker and dispatcher, and agents that cost money: held in time, seen, and let go."""

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Desk, Outcome
from core.blackboard.fold import Tables
from core.domain.entities import Budget, Event, Goal, Run
from core.domain.states import GOAL_FINAL, GoalStatus, RunStatus
from core.simulation.agents import GOOD, USUAL, Habits, Scripted
from core.simulation.simulator import Simulation, a_simulation

DAY_MS = 86_400_000
AT_WORK = (RunStatus.STARTING, RunStatus.RUNNING)


@dataclass
class Costing:
    """The scripted agents, each of whose runs costs what `cost` says of it."""

    troupe: Scripted
    cost: Callable[[Run], int]

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Play, and send the bill."""
        outcome = await self.troupe.run(assignment, desk)
        return replace(outcome, cost_micros=self.cost(assignment.run))


def by_luck(seed: int, least: int, most: int) -> Callable[[Run], int]:
    """What a run costs, the same for the same seed."""
    return lambda run: random.Random(f"cost:{seed}:{run.idempotency_key}").randint(least, most)


@asynccontextmanager
async def costing(
    folder: Path, cost: Callable[[Run], int], seed: int = 1, habits: Habits = GOOD
) -> AsyncIterator[Simulation]:
    """A company whose agents cost money."""
    async with a_simulation(folder, seed, habits) as simulation:
        simulation.dispatcher._runners = {"rehearsal": Costing(simulation.agents, cost)}  # type: ignore[dict-item]
        yield simulation


async def a_goal(simulation: Simulation, title: str = "Audit") -> int:
    """A dispatched goal."""
    made = await simulation.operator("CreateGoal", title=title, must_haves=("count", "search"), round_cap=3)
    await simulation.operator("DispatchGoal", goal=made["id"])
    return int(made["id"])


async def goal_is(simulation: Simulation, number: int) -> GoalStatus:
    return (await simulation.board.readers.entities(Goal, "id = :id", id=number))[0].status


def begins(period: str, at: int) -> int:
    """When a period began, by the calendar."""
    day = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    day = day.replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case "week":
            day -= timedelta(days=day.weekday())
        case "month":
            day = day.replace(day=1)
        case "total":
            return 0
    return (day - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def counts(budget: Budget, run: Run) -> bool:
    """Whether a run is paid from a budget."""
    return budget.scope_id == {"company": 1, "agent": run.agent_id, "goal": run.goal_id}[budget.scope]


def spent(tables: Tables, budget: Budget, at: int, runs: Sequence[Run]) -> int:
    """What runs cost that ended in the period, and what those at work hold back."""
    start = begins(budget.period, at)
    paid = [run for run in runs if counts(budget, run)]
    ended = sum(run.cost_micros for run in paid if run.ended_at is not None and run.ended_at >= start)
    return ended + sum(run.reserved_micros for run in paid if run.status in AT_WORK)


async def overdrawn(simulation: Simulation) -> list[str]:
    """Starts at which a budget held less than was spent and held back with them; told from the events alone."""
    tables, found = Tables(), []
    after = 0
    while events := await simulation.board.readers.events_after(after, 1000):
        after = events[-1].id
        for event in events:
            tables.apply(event)
            if event.kind == "RunStarted":
                found += list(_overdrawn_by(tables, event))
    return found


def _overdrawn_by(tables: Tables, event: Event) -> Sequence[str]:
    started, runs = tables[Run][event.entity_id], tables.all(Run)
    return [
        f"{started.name_tag} at {event.id}: {spent(tables, budget, event.at, runs)} of {budget}"
        for budget in tables.all(Budget)
        if budget.limit_micros and counts(budget, started)
        and spent(tables, budget, event.at, runs) > budget.limit_micros
        + (budget.extra_micros if budget.extra_period == begins(budget.period, event.at) else 0)
    ]  # fmt: skip


async def unseen(simulation: Simulation) -> list[str]:
    """Runs that a budget holds and that the inbox does not name a budget of."""
    held = {number: why for number, why in simulation.dispatcher.held.items() if why.startswith("budget of")}
    shown = {item.entity for item in await simulation.inbox() if item.kind == "budget"}
    queued = await simulation.board.readers.entities(Run, "status = 'queued'")
    return [
        f"{run.name_tag}: {held[run.id]}"
        for run in queued
        if run.id in held and not shown & {"company:1", f"agent:{run.agent_id}", f"goal:{run.goal_id}"}
    ]


async def live(simulation: Simulation, steps: int, decide: Callable[[int], bool | None] = lambda _: None) -> None:
    """So many ticks; `decide` says for each whether the person says yes to all, answers at random, or nothing."""
    for number in range(steps):
        await simulation.step()
        await simulation.check_nothing_is_forgotten()
        assert await unseen(simulation) == []
        kindly = decide(number)
        if kindly is not None:
            await simulation.end_hanging()
            await simulation.decide_all(kindly=kindly)
        goals = await simulation.board.readers.entities(Goal, "true")
        if goals and {goal.status for goal in goals} <= GOAL_FINAL:
            return


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 30))]


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_budget_is_crossed_by_more_than_was_at_work_whatever_happens(seed: int, tmp_path: Path) -> None:
    async with costing(tmp_path, by_luck(seed, 0, 30), seed, USUAL) as simulation:
        await simulation.operator("SetBudget", scope="company", limit_micros=150)
        await simulation.operator("SetBudget", scope="agent", slug="ada", limit_micros=60, period="week")
        goal = await a_goal(simulation)
        await simulation.operator("SetBudget", scope="goal", scope_id=goal, limit_micros=90, period="total")
        await a_goal(simulation)
        await live(simulation, 40, lambda number: None if number % 3 else number % 2 == 0)
        assert await overdrawn(simulation) == []
        assert "budget" in {row["kind"] for row in await simulation.board.readers.all("SELECT kind FROM approvals")}


async def test_every_goal_ends_when_the_operator_grants_what_is_asked(tmp_path: Path) -> None:
    async with costing(tmp_path, by_luck(7, 1, 20)) as simulation:
        goals = [await a_goal(simulation, title) for title in ("One", "Two")]
        await simulation.operator("SetBudget", scope="company", limit_micros=50)
        await simulation.operator("SetBudget", scope="goal", scope_id=goals[0], limit_micros=30, period="total")
        await live(simulation, 150, lambda number: True)
        assert [await goal_is(simulation, goal) for goal in goals] == [GoalStatus.DONE] * 2
        assert await overdrawn(simulation) == []


async def test_equal_costs_are_never_above_the_limit(tmp_path: Path) -> None:
    async with costing(tmp_path, lambda run: 25) as simulation:
        # What everybody costs is known from the day before.
        await a_goal(simulation)
        await live(simulation, 60, lambda number: True)
        simulation.clock.advance(DAY_MS)
        await simulation.operator("SetBudget", scope="company", limit_micros=110)
        await a_goal(simulation)
        await live(simulation, 20)
        day = begins("day", simulation.clock())
        cost = await simulation.board.readers.value("SELECT sum(cost_micros) FROM runs WHERE ended_at >= :day", day=day)
        assert cost == 100
        assert await overdrawn(simulation) == []


@pytest.mark.soak
async def test_what_one_budget_holds_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    async with costing(tmp_path, lambda run: 10) as simulation:
        poor, rich = await a_goal(simulation, "Poor"), await a_goal(simulation, "Rich")
        await simulation.operator("SetBudget", scope="goal", scope_id=poor, limit_micros=5, period="total")
        await live(simulation, 60)
        assert await goal_is(simulation, rich) == GoalStatus.REPORTING
        assert await goal_is(simulation, poor) == GoalStatus.PLANNING
        assert "budget" in {item.kind for item in await simulation.inbox() if item.entity == f"goal:{poor}"}


async def held_by(simulation: Simulation, limit: int = 60) -> dict[str, Any]:
    """A company whose budget is used up: the item of the inbox that says so."""
    await simulation.operator("SetBudget", scope="company", limit_micros=limit)
    await a_goal(simulation)
    await live(simulation, 15)
    (item,) = [item for item in await simulation.inbox() if item.kind == "budget"]
    return {choice.key: (item, choice) for choice in item.choices}


async def happened(simulation: Simulation) -> list[str]:
    """What happened so far, but for the heartbeats."""
    rows = await simulation.board.readers.all("SELECT kind FROM events WHERE entity <> 'ticker' ORDER BY id")
    return [row["kind"] for row in rows]


async def test_a_held_company_is_quiet_and_goes_on_with_the_next_day(tmp_path: Path) -> None:
    async with costing(tmp_path, lambda run: 25) as simulation:
        choices = await held_by(simulation)
        before = await happened(simulation)
        await live(simulation, 20)
        assert await happened(simulation) == before
        await simulation.decide(*choices["b"])
        before = await happened(simulation)
        await live(simulation, 20)
        assert await happened(simulation) == before, "a no is not asked about again"
        begun = len(simulation.agents.begun)
        await simulation.step(DAY_MS)
        assert len(simulation.agents.begun) > begun
        assert await overdrawn(simulation) == []


async def test_a_yes_goes_on_at_once(tmp_path: Path) -> None:
    async with costing(tmp_path, lambda run: 25) as simulation:
        choices = await held_by(simulation)
        begun = len(simulation.agents.begun)
        await simulation.decide(*choices["a"])
        assert await simulation.dispatcher.start_queued() > 0
        await simulation.settle()
        assert len(simulation.agents.begun) > begun


async def test_stopping_at_the_stop_ends_the_question_and_starting_asks_again(tmp_path: Path) -> None:
    async with costing(tmp_path, lambda run: 25) as simulation:
        choices = await held_by(simulation)
        await simulation.decide(*choices["d"])
        assert "budget" not in {item.kind for item in await simulation.inbox()}
        await simulation.operator("StartCompany")
        await live(simulation, 5)
        assert "budget" in {item.kind for item in await simulation.inbox()}
