"""Whatever happens, what is spent and held back stays within every budget at each start."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.commands.budgets import standing_now
from core.domain.entities import Approval, Budget, Run
from core.domain.states import RunStatus
from tests.unit.budgets import DAY_MS, limit, queued, raised_once, start, works_at_once
from tests.unit.world import World, a_company

DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["queue", "start", "start", "start", "finish", "finish", "kill", "lose", "tell", "raise",
                         "set", "decide", "day"]),
        st.integers(0, 9),
        st.integers(0, 120),
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(DEEDS)
async def test_what_is_spent_and_held_back_is_within_the_limit_at_each_start(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[str, int, int]]
) -> None:
    async with a_company(tmp_path_factory.mktemp("budget"), staff={"ada": "executor", "bob": "executor"}) as world:  # type: ignore[dict-item]
        for slug in ("ada", "bob"):
            await works_at_once(world, slug)
        await limit(world, 200)
        await limit(world, 120, "agent", slug="ada", period="week")
        for deed, which, micros in deeds:
            await _do(world, deed, which, micros)


async def _do(world: World, deed: str, which: int, micros: int) -> None:
    runs = await world.all(Run, "status IN ('queued', 'starting', 'running') ORDER BY id")
    run = runs[which % len(runs)] if runs else None
    match deed:
        case "queue":
            await queued(world, "ada" if which % 2 else "bob")
        case "start" if run is not None and run.status == RunStatus.QUEUED:
            if (await start(world, run.id))["started"]:
                await _within(world, run.id)
        case "finish" if run is not None and run.status != RunStatus.QUEUED:
            await world.system("FinishRun", run=run.id, status="failed", cost_micros=micros)
        case "kill" if run is not None:
            await world.operator("KillRun", run=run.id)
        case "lose" if run is not None:
            await world.system("LoseRun", run=run.id, why="gone")
        case "tell" if run is not None:
            await world.system("RecordCost", run=run.id, cost_micros=micros)
        case "raise":
            if which % 2:
                await raised_once(world, micros + 1)
            else:
                await world.operator("RaiseBudget", scope="company", micros=micros + 1)
        case "set":
            await world.operator("SetBudget", scope="agent", slug="ada", limit_micros=micros + 1, period="week")
        case "decide":
            for asked in await world.all(Approval, "status = 'pending'"):
                await world.operator(
                    "DecideApproval", approval=asked.id, decision="approved" if micros % 2 else "rejected", note="so"
                )
        case "day":
            world.clock.advance(DAY_MS // 2)


async def _within(world: World, run_id: int) -> None:
    """Every budget of a run that just started holds what is spent and held back, itself included."""
    run = await world.find(Run, run_id)
    for budget in await world.all(Budget):
        if budget.scope == "agent" and budget.scope_id != run.agent_id:
            continue
        standing = await world.read(lambda tx, budget=budget: standing_now(tx, budget))
        assert standing.spent <= standing.allowed, standing
        held_back = await world.read(lambda tx: tx.value("SELECT sum(reserved_micros) FROM runs"))
        live = await world.all(Run, "status IN ('starting', 'running')")
        assert held_back == sum(each.reserved_micros for each in live), "only what is at work holds anything back"
