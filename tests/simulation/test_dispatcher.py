"""Whatever a runner does, the end of its run is written and its task goes on (F1, F4, F14, F17)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Desk, Outcome
from core.dispatcher import Caps
from core.domain.entities import Run
from core.domain.states import RunStatus
from core.simulation.simulator import Simulation, a_simulation

Act = Callable[[Assignment, Desk], Awaitable[Outcome]]


class Playing:
    """A runner that does one thing."""

    def __init__(self, act: Act) -> None:
        self.run = act


@pytest.fixture
async def simulation(tmp_path: Path) -> AsyncIterator[Simulation]:
    async with a_simulation(tmp_path) as made:
        yield made


async def run_once(simulation: Simulation, act: Act) -> Run:
    """One run of ada's with this runner, after its end or the two ticks in which a loss is found."""
    simulation.dispatcher._runners = {"rehearsal": Playing(act)}
    await queue(simulation)
    await simulation.dispatcher.start_queued()
    await simulation.settle()
    for _ in range(2):
        await simulation.ticker.tick()
    return (await simulation.board.readers.entities(Run, "true ORDER BY id"))[0]


async def queue(simulation: Simulation, key: str = "x") -> int:
    from core.commands.registry import parse
    from core.domain.actors import System

    command = parse("QueueRun", {"kind": "mention", "agent_id": 5, "key": key})
    return int((await simulation.door.execute(System(), command))["id"])


async def end(status: RunStatus, **more: Any) -> Outcome:
    return Outcome(status, **more)


ENDS: dict[str, tuple[Act, RunStatus]] = {
    "well": (lambda *_: end(RunStatus.SUCCEEDED), RunStatus.SUCCEEDED),
    "with half a character": (lambda *_: end(RunStatus.FAILED, detail="half \ud800"), RunStatus.FAILED),
    "with endless words": (lambda *_: end(RunStatus.FAILED, detail="x" * 100_000), RunStatus.FAILED),
    "with a state that is no end": (lambda *_: end(RunStatus.RUNNING), RunStatus.LOST),
    "with a negative bill": (lambda *_: end(RunStatus.SUCCEEDED, tokens_in=-1), RunStatus.LOST),
}


@pytest.mark.parametrize("how", ENDS)
async def test_a_run_that_ends(how: str, simulation: Simulation) -> None:
    act, expected = ENDS[how]
    assert (await run_once(simulation, act)).status == expected


@pytest.mark.parametrize("error", [RuntimeError, TimeoutError, asyncio.CancelledError, StopAsyncIteration, KeyError])
async def test_a_runner_that_raises(error: type[BaseException], simulation: Simulation) -> None:
    async def act(assignment: Assignment, desk: Desk) -> Outcome:
        raise error("something of its own")

    run = await run_once(simulation, act)
    expected = RunStatus.LOST if error is asyncio.CancelledError else RunStatus.FAILED
    assert (run.status, run.ended_at is not None) == (expected, True)


async def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    ended = []

    async def act(assignment: Assignment, desk: Desk) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(assignment.run.id)
        return Outcome()

    async with a_simulation(tmp_path) as simulation:
        simulation.dispatcher._caps = Caps(run_seconds=0.05)
        run = await run_once(simulation, act)
        assert (run.status, run.exit_kind, ended) == (RunStatus.TIMED_OUT, "wall_time", [run.id])
        assert "run_seconds in [caps] of company.toml" in run.detail


async def test_an_agent_whose_runner_is_not_here_fails_and_says_so(simulation: Simulation) -> None:
    simulation.dispatcher._runners = {}
    await queue(simulation)
    await simulation.dispatcher.start_queued()
    await simulation.settle()
    run = (await simulation.board.readers.entities(Run, "true"))[0]
    assert (run.status, run.exit_kind) == (RunStatus.FAILED, "no_runner")
    assert "'rehearsal'" in run.detail
    assert "opsroom agent edit DIR" in run.detail


async def test_a_run_killed_between_its_start_and_its_first_act_does_nothing(simulation: Simulation) -> None:
    worked = []

    async def act(assignment: Assignment, desk: Desk) -> Outcome:
        worked.append(assignment.run.id)
        await asyncio.sleep(0.05)
        return Outcome()

    simulation.dispatcher._runners = {"rehearsal": Playing(act)}
    number = await queue(simulation)
    starting = asyncio.create_task(simulation.dispatcher.start_queued())
    killed = asyncio.create_task(simulation.operator("StopCompany"))
    await asyncio.gather(starting, killed)
    await simulation.settle()
    run = (await simulation.board.readers.entities(Run, "id = :id", id=number))[0]
    assert run.status in (RunStatus.KILLED, RunStatus.SUCCEEDED, RunStatus.QUEUED)
    assert not (run.status == RunStatus.KILLED and worked and run.started_at is None)
    assert simulation.dispatcher._tasks == {}


async def test_a_killed_run_is_cancelled_and_its_last_words_change_nothing(simulation: Simulation) -> None:
    refused = []
    began = asyncio.Event()

    async def act(assignment: Assignment, desk: Desk) -> Outcome:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            try:
                await desk.call("AddComment", goal=1, body="one last word")
            except Exception as error:
                refused.append(type(error).__name__)
            raise
        return Outcome()

    await simulation.operator("CreateGoal", title="Audit")
    simulation.dispatcher._runners = {"rehearsal": Playing(act)}
    number = await queue(simulation)
    await simulation.dispatcher.start_queued()
    await began.wait()
    await simulation.operator("KillRun", run=number)
    await simulation.settle()
    assert refused == ["Fenced"]
    assert simulation.dispatcher._tasks == {}


async def test_what_the_caps_hold_back_starts_when_they_allow_it(simulation: Simulation) -> None:
    async def act(assignment: Assignment, desk: Desk) -> Outcome:
        return Outcome()

    simulation.dispatcher._runners = {"rehearsal": Playing(act)}
    simulation.dispatcher._caps = Caps(starts_per_minute=2)
    for number in range(5):
        await queue(simulation, f"x{number}")
        await simulation.dispatcher.start_queued()
        await simulation.settle()
    assert len(simulation.dispatcher.held) == 3
    assert all("starts a minute" in why for why in simulation.dispatcher.held.values())
    simulation.clock.advance(60_001)
    await simulation.dispatcher.start_queued()
    await simulation.settle()
    assert len(await simulation.live_runs()) == 2
