"""The prompts of every run of the scene, built as the dispatcher builds them, with a nonce that stays the same."""

import asyncio
import tempfile
from functools import cache
from pathlib import Path

from core.domain.actors import Agent
from core.domain.entities import AgentRecord, Company, Goal, Round, Run, Task
from core.guardrails import shipped
from core.prompting.builder import Commission, build_prompt
from core.prompting.prompt import Prompt
from core.prompting.templates import shipped_library
from tests.prompting.scene import play
from tests.unit.world import World

NONCE = "502901640017"


async def told(world: World, actor: Agent) -> Prompt:
    """What a run is told that has just begun."""
    run = await world.find(Run, actor.run_id)
    readers = world.board.readers
    about = Commission(
        await world.find(AgentRecord, run.agent_id), run.kind, await world.find(Company, 1), world.folder,
        task=await world.find(Task, run.task_id) if run.task_id else None,
        goal=await world.find(Goal, run.goal_id) if run.goal_id else None,
        round=await world.find(Round, run.round_id) if run.round_id else None,
        run_id=run.id, brief=run.brief,
    )  # fmt: skip
    return await build_prompt(readers, shipped_library(), about, red_lines=shipped().lines, draw=lambda: NONCE)


@cache
def prompts_of(locale: str) -> dict[str, Prompt]:
    """Every prompt of the scene by its name, e.g. `executor.broadcast`."""
    found: dict[str, Prompt] = {}

    async def look(name: str, world: World, actor: Agent) -> None:
        found[name] = await told(world, actor)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder), locale, look))
    return found
