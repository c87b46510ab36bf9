"""A real board in a temporary folder, filled through the commands, for measuring."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import core.commands  # noqa: F401 - fills the registry
from core.blackboard.board import Board
from core.commands.company import CreateCompany, HireAgent, StartCompany
from core.commands.door import LocalDoor
from core.commands.goal_progress import DispatchGoal
from core.commands.goals import CreateGoal
from core.commands.runs import QueueRun, StartRun
from core.commands.tasks import NewTask
from core.domain.actors import Agent, Operator, System
from core.domain.states import Role, RunKind

HUMAN = Operator()
SYSTEM = System("bench")
AGENTS = 64


def wall_ms() -> int:
    """Milliseconds UTC."""
    return time.time_ns() // 1_000_000


@dataclass
class World:
    """A started company with agents and one active goal."""

    board: Board
    door: LocalDoor
    agents: list[int]


@asynccontextmanager
async def a_board(folder: Path, tasks: int) -> AsyncIterator[World]:
    """A board whose goal is active with this many pending tasks."""
    board = await Board.open(folder / "board.db", clock=wall_ms, create=True, role="owner")
    try:
        assert board.writer is not None
        door = LocalDoor(board.writer, "bench")
        await door.execute(HUMAN, CreateCompany(name="Bench", mission="measure"))
        await door.execute(HUMAN, StartCompany())
        agents = [
            (await door.execute(HUMAN, HireAgent(slug=f"agent-{i}", name=f"Agent {i}", role=Role.EXECUTOR)))["id"]
            for i in range(AGENTS)
        ]
        new = tuple(NewTask(title=f"Task {i}") for i in range(tasks))
        await door.execute(HUMAN, CreateGoal(title="Measure", tasks=new))
        await door.execute(HUMAN, DispatchGoal(goal=1, discussion=False))
        yield World(board, door, agents)
    finally:
        await board.close()


async def run_of(world: World, agent_id: int, key: str) -> Agent:
    """A started broadcast run of an agent: the actor that may claim."""
    queued = await world.door.execute(SYSTEM, QueueRun(kind=RunKind.BROADCAST, agent_id=agent_id, key=key))
    start = StartRun(run=queued["id"], owner="bench", runs_at_once=1_000_000, starts_per_minute=1_000_000)
    started = await world.door.execute(SYSTEM, start)
    assert started["started"], started
    return Agent(agent_id, f"agent-{world.agents.index(agent_id)}", queued["id"], started["fence"])
