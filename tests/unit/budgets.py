"""Short ways to spend against budgets: runs that cost, limits, and the questions they raise."""

from typing import Any

from core.commands.budgets import standing_now
from core.commands.registry import Answer, parse
from core.domain.entities import Approval, Budget
from core.domain.inbox import InboxItem
from core.waiting import owed
from tests.unit.world import OPERATOR, OWNER, World

DAY_MS = 86_400_000


async def queued(world: World, slug: str = "ada", kind: str = "mention", **about: Any) -> int:
    """A queued run of an agent."""
    agent = await world.agent(slug)
    key = f"budget:{next(world.numbers)}"
    return int((await world.system("QueueRun", kind=kind, agent_id=agent.id, key=key, **about))["id"])


async def start(world: World, run: int) -> Answer:
    """Try to start it, without other caps."""
    return await world.system("StartRun", run=run, owner=OWNER, runs_at_once=1000, starts_per_minute=100_000)


async def ran(world: World, cost: int, slug: str = "ada", **about: Any) -> int:
    """A run that ended and cost so much; it must be able to start."""
    run = await queued(world, slug, **about)
    answer = await start(world, run)
    assert answer["started"], answer
    await world.system("ConfirmRun", run=run)
    await world.system("FinishRun", run=run, status="succeeded", cost_micros=cost)
    return run


async def works_at_once(world: World, slug: str = "ada", most: int = 100) -> None:
    """Let an agent have many runs at once (written past the door: hiring says how many)."""
    agent = await world.agent(slug)
    await world.read(lambda tx: tx.update(agent, "AgentEdited", max_runs=most))


async def limit(world: World, micros: int = 100, scope: str = "company", **more: Any) -> Budget:
    """A budget, and its row."""
    answer = await world.operator("SetBudget", scope=scope, limit_micros=micros, **more)
    return await world.find(Budget, answer["id"])


async def raised_once(world: World, micros: int, **which: Any) -> Answer:
    """More for the present period only."""
    command = parse("RaiseBudget", {"scope": "company", **which, "micros": micros, "once": True})
    return await world.door.execute(OPERATOR, command)


async def spent(world: World, scope: str = "company") -> int:
    """What a budget of this scope counts as spent now."""
    budget = (await world.all(Budget, "scope = :scope", scope=scope))[0]
    return int(await world.read(lambda tx: standing_now(tx, budget).spent))


async def question(world: World, entity: str = "company:1") -> Approval:
    """The one question about a budget that waits."""
    (found,) = await world.pending(entity)
    assert found.kind == "budget"
    return found


async def items(world: World) -> list[InboxItem]:
    return [item for item in await owed(world.board.readers) if item.kind == "budget"]


async def choose(world: World, item: InboxItem, key: str) -> Answer:
    """Press a key on an inbox item."""
    choice = next(choice for choice in item.choices if choice.key == key)
    note = {choice.note_field: "too much"} if choice.note_field else {}
    return await world.door.execute(OPERATOR, parse(choice.command, {**choice.arguments, **note}))
