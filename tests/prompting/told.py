"""The prompts of every run of the scene, built as the dispatcher builds them, with a nonce that stays the same."""

import asyncio
import tempfile
from functools import cache
from pathlib import Path

from core.domain.actors import Agent
from core.guardrails import shipped
from core.prompting.builder import build_prompt
from core.prompting.prompt import Prompt
from core.prompting.templates import shipped_library
from tests.prompting.facts import NONCE, commission
from tests.prompting.scene import play
from tests.unit.world import World


async def told(world: World, actor: Agent) -> Prompt:
    """What a run is told that has just begun."""
    readers, about = world.board.readers, await commission(world, actor)
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
