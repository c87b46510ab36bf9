"""Ticks over the board of a test: real facts, the real plan, its commands through the door."""

from collections.abc import Iterable
from typing import Any

from core.commands.registry import parse
from core.domain.actors import Agent
from core.domain.entities import AgentRecord, Run
from core.domain.plan import Plan, plan_tick
from core.domain.states import RunKind
from core.gathering import gather
from tests.unit.world import SYSTEM, World

Say = tuple[str, dict[str, Any]]


async def look(world: World) -> Plan:
    """What the next tick would do."""
    facts, now = await world.read(lambda tx: (gather(tx, 1, lambda runs: {}), tx.now))
    return plan_tick(facts, now)


async def tick(world: World) -> list[str]:
    """Carry one tick out; answers the names of its commands, without the CEO's heartbeat."""
    plan = await look(world)
    assert not plan.broken, plan.broken
    for action in plan.actions:
        await world.door.execute(SYSTEM, parse(action.act, dict(action.arguments)))
    return [action.act for action in plan.actions if action.act != "NoteTick"]


async def queued(world: World, kind: RunKind, slug: str | None = None) -> list[Run]:
    """Queued runs of a kind, of one agent or all."""
    runs = await world.all(Run, "status = 'queued' AND kind = :kind ORDER BY id", kind=kind)
    if slug is None:
        return runs
    agent = await world.agent(slug)
    return [run for run in runs if run.agent_id == agent.id]


async def begun(world: World, kind: RunKind, slug: str) -> Agent:
    """The queued run of an agent, started, as the actor that it is."""
    runs = await queued(world, kind, slug)
    assert runs, f"{slug} has no queued run of kind {kind}"
    return await world.started(runs[0].id)


async def spoken(world: World, kind: RunKind, slug: str, *said: Say, status: str = "succeeded") -> None:
    """The queued run of an agent: started, with these commands, and ended."""
    actor = await begun(world, kind, slug)
    for command, arguments in said:
        await world.do(actor, command, **arguments)
    await world.finish(actor, status)


async def turn_of(world: World, **said: Iterable[Say]) -> list[str]:
    """One whole turn of the one discussion: opened, each seat speaks, closed. Answers the last tick's commands."""
    assert "OpenTurn" in await tick(world)
    await tick(world)
    for run in await queued(world, RunKind.DISCUSS):
        slug = (await world.find(AgentRecord, run.agent_id)).slug
        await spoken(world, RunKind.DISCUSS, slug, *said.get(slug, ()))
    return await tick(world)
