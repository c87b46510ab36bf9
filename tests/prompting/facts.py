"""What prompts are made from at some moments of the small company, and the same with other words in every text."""

import asyncio
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from core.domain.actors import Agent
from core.domain.entities import Experience, Knowledge, Run
from core.guardrails import shipped
from core.prompting.builder import Commission, commission_of
from core.prompting.facts import PromptFacts
from core.prompting.gathering import gather_prompt
from tests.prompting.scene import play
from tests.unit.world import World

T = TypeVar("T")
# What others write. Names of people are told within sentences and are looked at apart.
FREE = frozenset(
    {"title", "intent", "end_state", "constraints", "description", "mission", "body", "summary", "items", "lines",
     "text", "handoff", "soul", "identity", "memory", "artefacts", "reason"}
)  # fmt: skip
NONCE = "502901640017"


async def commission(world: World, actor: Agent) -> Commission:
    """What a run that has begun is about, as the dispatcher puts it."""
    return await commission_of(world.board.readers, world.folder, await world.find(Run, actor.run_id))


def gathered(folder: Path, locale: str = "en") -> dict[str, PromptFacts]:
    """The facts of each kind of run in the scene, with an experience and a section of knowledge that fit."""
    found: dict[str, PromptFacts] = {}

    async def look(name: str, world: World, actor: Agent) -> None:
        about = await commission(world, actor)
        found[name] = await gather_prompt(world.board.readers, about, shipped().lines)

    asyncio.run(play(folder, locale, look))
    learnt = Experience(
        id=3,
        task_id=1,
        comment_id=1,
        author="bob",
        body="Check the zone.",
        status="kept",
        uses=0,
        created_at=0,
        version=1,
    )
    section = Knowledge(
        id=4, path="knowledge/tides.md", heading="Gauges", body="Gauge 2 was moved.", sha256="", updated_at=0, version=1
    )
    return {name: replace(facts, experiences=(learnt,) * 3, knowledge=(section,) * 3) for name, facts in found.items()}


def saying(value: T, text: str) -> T:
    """A record with `text` in the place of every text that somebody wrote."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for field in fields(value):
        part = getattr(value, field.name)
        if field.name in FREE and isinstance(part, str):
            changed[field.name] = text if part else part
        elif field.name in FREE and isinstance(part, tuple):
            changed[field.name] = (text,) * len(part)
        elif isinstance(part, tuple):
            changed[field.name] = tuple(saying(one, text) for one in part)
        else:
            changed[field.name] = saying(part, text)
    return replace(value, **changed)  # type: ignore[type-var]


def outside(text: str, nonce: str = NONCE) -> list[str]:
    """The lines that stand in no fence, with a mark for each fence. Fails when a fence is not closed just once."""
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        if line == f"</data {nonce}>":
            assert is_open, "a fence was closed twice"
            is_open = False
        elif line.startswith(f"<data {nonce}"):
            assert not is_open, "a fence was opened within another"
            is_open = True
            lines.append(line)
        elif not is_open:
            lines.append(line)
        assert nonce not in line or line.startswith((f"<data {nonce}", f"</data {nonce}")), line
    assert not is_open, "a fence was left open"
    return lines
