"""What cannot go on must not keep waiting what can (F16), and what an owner left behind is swept (F17)."""

import asyncio
import sys
from pathlib import Path

import psutil

from core.agents.process import process_started, same_process
from core.company import OpenCompany, create_company
from core.config import Config
from core.dispatcher import QUEUED
from core.domain.entities import Mention, Run
from core.domain.states import RunKind
from core.gathering import READY, WAKEABLE, gather
from tests.unit.world import Clock, World


async def test_ready_tasks_of_a_paused_goal_do_not_hide_those_of_others(world: World) -> None:
    paused = await world.an_active_goal("Waits")
    other = await world.an_active_goal("Can go on")
    await world.operator("PauseGoal", goal=paused.id)
    facts = await world.read(lambda tx: gather(tx, 1, lambda _runs: {}))
    assert {task.goal_id for task in facts.ready} == {other.id}
    plan = await world.read(
        lambda tx: [row["detail"] for row in tx.all(f"EXPLAIN QUERY PLAN SELECT * FROM tasks WHERE {READY}")]
    )
    assert any("tasks_ready" in line for line in plan), plan


async def test_runs_of_a_paused_goal_are_not_in_the_way_of_the_queue(world: World) -> None:
    paused = await world.an_active_goal("Waits")
    other = await world.an_active_goal("Can go on")
    cora = (await world.agent("cora")).id
    for goal in (paused, other):
        await world.system("QueueRun", kind=RunKind.MENTION, agent_id=cora, goal_id=goal.id, key=f"queued:{goal.id}")
    await world.operator("PauseGoal", goal=paused.id)
    assert [run.goal_id for run in await world.all(Run, QUEUED)] == [other.id]


async def test_mentions_of_a_paused_agent_do_not_hide_those_of_others(world: World) -> None:
    goal = await world.an_active_goal("Talk")
    await world.operator("AddComment", goal=goal.id, kind="question", body="@ada and @cora, what do you say?")
    ada, cora = await world.agent("ada"), await world.agent("cora")
    await world.operator("PauseAgent", agent="ada")
    assert [mention.agent_id for mention in await world.all(Mention, WAKEABLE)] == [cora.id]
    await world.operator("ResumeAgent", agent="ada")
    assert {mention.agent_id for mention in await world.all(Mention, WAKEABLE)} == {ada.id, cora.id}


async def test_a_process_whose_run_was_ended_while_nobody_owned_it_is_swept(tmp_path: Path) -> None:
    folder = tmp_path / "company"
    await create_company(folder, Config(name="Acme", mission="count"))
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import time; time.sleep(300)", start_new_session=True
    )
    started = process_started(child.pid)
    company = await OpenCompany.open(folder)
    try:
        assert company.local_door is not None
        world = World(company.board, company.local_door, Clock(), company.folder)
        await world.operator("StartCompany")
        await world.hire("ada")
        actor = await world.run("ada", RunKind.MENTION)
        await world.system("RecordProcess", run=actor.run_id, pid=child.pid, pid_started=started)
        await world.operator("KillRun", run=actor.run_id)
    finally:
        await company.close()
    assert same_process(child.pid, started)
    company = await OpenCompany.open(folder)
    await company.close()
    await child.wait()
    assert not psutil.pid_exists(child.pid)
