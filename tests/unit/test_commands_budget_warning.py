"""Four fifths of a budget are told once, and what a start looks up is bounded."""

import pytest

from core.blackboard.queries import BUDGET_ENDED, BUDGET_HELD_BACK, COSTED, DEAREST, LAST_COSTS, SCOPED
from core.domain.states import BudgetScope
from tests.unit.budgets import DAY_MS, limit, ran
from tests.unit.world import World


async def test_four_fifths_are_told_once_a_period(world: World) -> None:
    await limit(world, 100)
    await ran(world, 79)
    assert await world.events("BudgetWarned") == []
    await ran(world, 1, "bob", kind="broadcast")
    assert await world.events("BudgetWarned") == ["BudgetWarned"]
    await ran(world, 10, "bob", kind="broadcast")
    assert len(await world.events("BudgetWarned")) == 1
    world.clock.advance(DAY_MS)
    await ran(world, 85)
    assert len(await world.events("BudgetWarned")) == 2
    told = await world.read(lambda tx: tx.value("SELECT changed FROM events WHERE kind = 'BudgetWarned' LIMIT 1"))
    assert '"percent":' in told
    assert "of the budget of the company" in told


async def test_without_a_budget_nothing_is_told_asked_or_held(world: World) -> None:
    for _ in range(3):
        await ran(world, 10**9)
    assert await world.events("BudgetWarned", "BudgetSet", "BudgetRaised", "ApprovalRequested") == []


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (BUDGET_ENDED.format(SCOPED[BudgetScope.COMPANY]), "COVERING INDEX runs_ended"),
        (BUDGET_ENDED.format(SCOPED[BudgetScope.AGENT]), "COVERING INDEX runs_"),
        (BUDGET_ENDED.format(SCOPED[BudgetScope.GOAL]), "COVERING INDEX runs_"),
        (BUDGET_HELD_BACK.format(SCOPED[BudgetScope.GOAL]), "INDEX runs_live"),
        (LAST_COSTS, "COVERING INDEX runs_costed (agent_id=? AND kind=?"),
        (COSTED, "COVERING INDEX runs_costed (agent_id=?"),
    ],
)
async def test_what_a_start_looks_up_reads_no_whole_table(query: str, index: str, world: World) -> None:
    names = {"since": 0, "id": 1, "agent": 1, "kind": "mention"}
    used = {name: value for name, value in names.items() if f":{name}" in query}
    (row, *_) = await world.read(lambda tx: tx.all(f"EXPLAIN QUERY PLAN {query}", **used))
    assert index in row["detail"]


async def test_the_dearest_of_a_kind_is_looked_for_among_the_latest_runs_only(world: World) -> None:
    plan = await world.read(lambda tx: tx.all(f"EXPLAIN QUERY PLAN {DEAREST}", kind="mention", runner="x", model=None))
    details = [row["detail"] for row in plan]
    assert not [each for each in details if "TEMP B-TREE" in each], details
    assert "LIMIT 500" in DEAREST
