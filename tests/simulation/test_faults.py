"""What has gone wrong elsewhere, one by one, against the real ticker and dispatcher (FAILURES.md)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.commands.door import LocalDoor
from core.commands.registry import REGISTRY
from core.domain.entities import Event, Run, Task
from core.domain.errors import Fenced
from core.domain.plan import Step
from core.domain.states import Role, RunKind, RunStatus, TaskStatus
from core.simulation.agents import GOOD
from core.simulation.simulator import Simulation, a_simulation
from core.ticker import Ticker

ALL_HANG = GOOD.but(hang=1)
ONE = (("ada", Role.EXECUTOR, ("count",)),)


@pytest.fixture
async def simulation(tmp_path: Path) -> AsyncIterator[Simulation]:
    async with a_simulation(tmp_path) as made:
        yield made


async def a_goal(simulation: Simulation, *titles: str) -> int:
    """An active goal with a pending task a title."""
    tasks = [{"title": title, "capabilities": ("count",)} for title in titles]
    answer = await simulation.operator("CreateGoal", title="Audit", tasks=tasks)
    await simulation.operator("DispatchGoal", goal=answer["id"], discussion=False)
    return int(answer["id"])


async def task(simulation: Simulation, number: int = 1) -> Task:
    return (await simulation.board.readers.entities(Task, "id = :id", id=number))[0]


async def runs(simulation: Simulation, where: str = "true") -> list[Run]:
    return await simulation.board.readers.entities(Run, f"{where} ORDER BY id")


async def at_work(simulation: Simulation) -> Run:
    """One task that is worked on by a run which never ends by itself."""
    simulation.agents.habits, simulation.agents.troubled = ALL_HANG, frozenset({RunKind.EXECUTE})
    await a_goal(simulation, "Count")
    await simulation.step()
    return (await runs(simulation, "kind = 'execute'"))[-1]


# F1, F3, F4: deaths -------------------------------------------------------------------------------------------


async def test_a_run_whose_work_vanished_is_lost_within_two_ticks_and_its_task_free(simulation: Simulation) -> None:
    run = await at_work(simulation)
    simulation.dispatcher._tasks[run.id].cancel()
    await asyncio.sleep(0.05)
    for _ in range(2):
        await simulation.ticker.tick()
    assert (await runs(simulation, f"id = {run.id}"))[0].status == RunStatus.LOST
    assert (await task(simulation)).status == TaskStatus.PENDING
    assert (await task(simulation)).attempts == 1


async def test_a_restart_loses_only_what_the_old_owner_ran(simulation: Simulation) -> None:
    run = await at_work(simulation)
    before = {run.id: run for run in await runs(simulation, "ended_at IS NOT NULL")}
    await simulation.die()
    simulation.take_up()
    await simulation.ticker.tick()
    assert (await runs(simulation, f"id = {run.id}"))[0].status == RunStatus.LOST
    assert (await task(simulation)).status == TaskStatus.PENDING
    after = {run.id: run for run in await runs(simulation, "ended_at IS NOT NULL")}
    assert {number: after[number] for number in before} == before


async def test_a_silent_run_that_lives_is_left_alone(simulation: Simulation) -> None:
    run = await at_work(simulation)
    for _ in range(20):
        await simulation.step(60_000)
    assert (await runs(simulation, f"id = {run.id}"))[0].status == RunStatus.RUNNING
    assert (await task(simulation)).current_run == run.id


async def test_work_that_its_end_could_not_be_written_for_is_not_done_twice(simulation: Simulation) -> None:
    await a_goal(simulation, "Count")
    for _ in range(4):
        await simulation.step()
    assert (await task(simulation)).status == TaskStatus.DONE
    await simulation.die()
    simulation.take_up()
    count = len(await runs(simulation))
    for _ in range(4):
        await simulation.ticker.tick()
    assert [run.kind for run in (await runs(simulation))[count:]] in ([], [RunKind.ROUND_REVIEW], [RunKind.REPORT])


async def test_stopping_the_company_ends_the_work_itself(simulation: Simulation) -> None:
    run = await at_work(simulation)
    await simulation.operator("StopCompany")
    await asyncio.sleep(0.05)
    assert run.id not in simulation.dispatcher._tasks
    assert simulation.agents.hanging == set()
    assert (await task(simulation)).status == TaskStatus.PENDING


# F6, F20: nothing for nothing -----------------------------------------------------------------------------------


async def test_nothing_runs_before_the_operator_starts_the_company(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, started=False, mission="Know every folder") as simulation:
        await a_goal(simulation, "Count")
        for _ in range(10):
            await simulation.step()
        assert await runs(simulation) == []
        _, plan = await simulation.ticker.look()
        assert any("stopped" in held.why for held in plan.held)


@pytest.mark.parametrize("ticks", [150, pytest.param(1000, marks=pytest.mark.soak)])
async def test_a_quiet_board_costs_no_run_and_no_event_but_the_heartbeats(simulation: Simulation, ticks: int) -> None:
    before = await simulation.events()
    for _ in range(ticks):
        simulation.clock.advance(30_000)
        await simulation.ticker.tick()
        await simulation.dispatcher.start_queued()
    assert await runs(simulation) == []
    beats = -(-ticks * 30_000 // 900_000) + 1
    assert await simulation.events() - before <= beats


async def test_a_board_that_waits_for_its_operator_is_as_quiet(simulation: Simulation) -> None:
    simulation.agents.habits = GOOD.but(ask=1)
    await a_goal(simulation, "Count")
    for _ in range(3):
        await simulation.step()
    begun = len(simulation.agents.begun)
    for _ in range(60):
        await simulation.step()
    # After ten minutes the round is stalled (C-05); all of it waits for the operator, so no coordinator is called.
    assert len(simulation.agents.begun) == begun
    assert {"stalled", "waiting_human"} & {item.kind for item in await simulation.inbox()}
    before = await simulation.events()
    for _ in range(60):
        await simulation.step()
    assert len(simulation.agents.begun) == begun
    assert await simulation.events() - before <= 2


async def test_a_paused_agent_gets_no_run(simulation: Simulation) -> None:
    for slug in ("ada", "bob", "eve"):
        await simulation.operator("PauseAgent", agent=slug)
    await a_goal(simulation, "Count")
    for _ in range(10):
        await simulation.step()
    rows = await simulation.read(lambda tx: tx.all("SELECT slug FROM runs JOIN agents ON agents.id = agent_id"))
    assert {row["slug"] for row in rows} <= {"cora"}


@pytest.mark.parametrize("mission", ["", "  待定义　", "ＴＢＤ", "To Be Defined"])
async def test_without_a_mission_no_ceo_runs_and_the_reason_is_told(mission: str, tmp_path: Path) -> None:
    async with a_simulation(tmp_path, mission=mission) as simulation:
        for _ in range(35):
            await simulation.step()
        assert await runs(simulation) == []
        kinds = await simulation.read(lambda tx: [row["kind"] for row in tx.all("SELECT kind FROM events")])
        # Told once, until the mission changes (F18).
        assert (kinds.count("MissionMissing"), kinds.count("HeartbeatNormal")) == (1, 1)


async def test_an_idle_ceo_proposes_one_draft_and_then_waits(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, mission="Know every folder") as simulation:
        for _ in range(70):
            await simulation.step()
        assert [run.kind for run in await runs(simulation)] == [RunKind.PROPOSE]
        goals = await simulation.read(lambda tx: tx.all("SELECT status, origin FROM goals"))
        assert goals == [{"status": "draft", "origin": "ceo"}]


# F14, F23: storms ----------------------------------------------------------------------------------------------


async def starts_a_minute(simulation: Simulation) -> int:
    """The most starts within any minute."""
    rows = await simulation.read(
        lambda tx: [row["started_at"] for row in tx.all("SELECT started_at FROM runs WHERE started_at IS NOT NULL")]
    )
    return max((sum(at <= other < at + 60_000 for other in rows) for at in rows), default=0)


@pytest.mark.parametrize(
    "trouble",
    [
        "crash",
        "fail",
        *(pytest.param(other, marks=pytest.mark.soak) for other in ("limited", "silent", "block", "ask")),
    ],
)
async def test_agents_that_always_fail_start_a_bounded_number_of_runs(trouble: str, tmp_path: Path) -> None:
    habits = GOOD.but(**{trouble: 1.0})
    async with a_simulation(tmp_path, habits=habits) as simulation:
        await a_goal(simulation, "Count", "Search")
        steps = 25 if trouble == "limited" else 60
        for _ in range(steps):
            await simulation.step()
        assert await starts_a_minute(simulation) <= 30
        tasks = await simulation.board.readers.entities(Task, "true")
        if trouble == "limited":
            assert {task.attempts for task in tasks} == {0}
        else:
            assert await simulation.inbox() or {task.status for task in tasks} <= {TaskStatus.FAILED}
        begun = len(simulation.agents.begun)
        for _ in range(10):
            await simulation.step()
        more = len(simulation.agents.begun) - begun
        # What is blocked is tried again each time that its round has stood still for ten minutes, and not for ever.
        assert more <= {"limited": 100, "block": 12}.get(trouble, 0), (trouble, more)


@pytest.mark.soak
async def test_what_is_always_blocked_comes_to_rest(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, habits=GOOD.but(block=1)) as simulation:
        simulation.agents.troubled = frozenset({RunKind.EXECUTE})
        await a_goal(simulation, "Count", "Search")
        quiet = 0
        for _ in range(1500):
            begun = len(simulation.agents.begun)
            await simulation.step()
            quiet = quiet + 1 if len(simulation.agents.begun) == begun else 0
            if quiet > 60:
                break
        assert quiet > 60
        assert await simulation.inbox()


async def test_recovery_makes_no_work(simulation: Simulation) -> None:
    await at_work(simulation)
    count = await simulation.read(lambda tx: tx.value("SELECT count(*) FROM tasks"))
    for _ in range(3):
        await simulation.die()
        simulation.take_up()
        simulation.agents.habits, simulation.agents.troubled = ALL_HANG, frozenset({RunKind.EXECUTE})
        await simulation.step()
    assert await simulation.read(lambda tx: tx.value("SELECT count(*) FROM tasks")) == count
    assert (await task(simulation)).status == TaskStatus.WAITING_HUMAN
    assert [item.entity for item in await simulation.inbox()] == ["task:1"]


# Ticks -----------------------------------------------------------------------------------------------------------


async def test_a_second_tick_at_the_same_time_does_nothing_new(simulation: Simulation) -> None:
    await a_goal(simulation, "Count", "Search", "Compare")
    for _ in range(3):
        simulation.clock.advance(30_000)
        for _ in range(3):
            await simulation.ticker.tick()
        count = len(await runs(simulation))
        last = await simulation.events()
        ticked = await simulation.ticker.tick()
        assert ticked.plan.actions == ()
        assert (len(await runs(simulation)), await simulation.events()) == (count, last)
        await simulation.dispatcher.start_queued()
        await simulation.settle()


async def test_a_failing_step_is_told_once_and_the_others_still_run(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    await a_goal(simulation, "Count")
    broken = REGISTRY["CountBroadcast"]

    def fail(*_: object) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setitem(REGISTRY, "CountBroadcast", type(broken)(broken.name, broken.model, fail, broken.about))
    for _ in range(3):
        simulation.clock.advance(30_000)
        ticked = await simulation.ticker.tick()
        assert "ZeroDivisionError" in ticked.failed[Step.BROADCAST]
    assert await simulation.live_runs()
    told = await simulation.read(lambda tx: tx.all("SELECT changed FROM events WHERE kind = 'TickStepFailed'"))
    assert len(told) == 1
    kinds = await simulation.read(lambda tx: [row["kind"] for row in tx.all("SELECT kind FROM events")])
    assert "MissionMissing" in kinds or "HeartbeatNormal" in kinds


async def test_a_rule_that_fails_keeps_no_other_from_its_work(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.domain import plan

    def fail(*_: object) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(plan, "RULES", tuple((s, fail if s == Step.MENTIONS else rule) for s, rule in plan.RULES))
    await a_goal(simulation, "Count")
    ticked = await simulation.ticker.tick()
    assert "ZeroDivisionError" in ticked.failed[Step.MENTIONS]
    assert await simulation.live_runs()


async def test_of_two_tickers_only_the_holder_of_the_lease_writes(simulation: Simulation) -> None:
    assert simulation.board.writer is not None
    other_door = LocalDoor(simulation.board.writer, "another")
    other = Ticker(
        simulation.board.writer, other_door, simulation.dispatcher.lost,
        clock=simulation.clock, monotonic=lambda: 0.0,
    )  # fmt: skip
    await a_goal(simulation, "Count")
    ours = await look_with_lease(simulation)
    await other.tick()
    with pytest.raises(Fenced, match="another"):
        await simulation.ticker._carry_out(*ours)
    keys = [run.idempotency_key for run in await runs(simulation)]
    assert len(keys) == len(set(keys))


async def look_with_lease(simulation: Simulation) -> Any:
    """A tick of ours that got stuck after it had looked."""
    from core.blackboard.owner import take_lease
    from core.commands.door import TICKER_LEASE
    from core.domain.actors import System

    fence = await simulation.read(lambda tx: take_lease(tx, TICKER_LEASE, simulation.door.owner, 90_000))
    _, plan = await simulation.ticker.look()
    return System("ticker", fence), Step.BROADCAST, plan.of(Step.BROADCAST), {}


@pytest.mark.parametrize("by", [-3_600_000, 3_600_000, 7 * 86_400_000])
async def test_a_step_of_the_clock_loses_nothing(simulation: Simulation, by: int) -> None:
    await a_goal(simulation, "Count", "Search")
    await simulation.step()
    simulation.clock.advance(by)
    for _ in range(8):
        await simulation.step()
        await simulation.decide_all(kindly=True)
    ended = await simulation.read(lambda tx: tx.value("SELECT count(*) FROM tasks WHERE status = 'done'"))
    assert ended == 2


async def test_each_event_reaches_the_listeners_once_and_in_order(simulation: Simulation) -> None:
    heard: list[Event] = []
    assert simulation.board.writer is not None
    simulation.board.writer.listen(heard.extend)
    first = await simulation.events() + 1
    await a_goal(simulation, "Count", "Search")
    for _ in range(3):
        await simulation.step()
    assert [event.id for event in heard] == list(range(first, await simulation.events() + 1))


async def test_a_proposal_that_a_crash_cut_off_is_begun_again_at_once_but_not_for_ever(tmp_path: Path) -> None:
    async with a_simulation(tmp_path, mission="Know every folder", habits=ALL_HANG) as simulation:
        for restart in range(5):
            await simulation.step()
            assert len(await runs(simulation)) == min(restart + 1, 3)
            await simulation.die()
            simulation.take_up()
        await simulation.step(900_000)
        assert len(await runs(simulation)) == 3
        (asked,) = await simulation.inbox()
        await simulation.decide(asked, asked.choices[0])
        await simulation.step(900_000)
        assert len(await runs(simulation)) == 4
