"""Whatever the operator and the CEO do to the staff in whatever order: these hold after every step."""

import random
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.blackboard.transaction import Transaction
from core.domain.actors import Agent
from core.domain.entities import AgentRecord, Approval
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid, NotFound
from core.domain.organisation import chart_of, cycle_in
from core.domain.states import AgentStatus, Role
from core.simulation.laws import broken_laws
from tests.unit.ticking import tick
from tests.unit.world import OPERATOR, World, a_company

NAMES = ("ada", "bob", "cora", "dora", "emil", "vera", "victor")
ROLES = ("ceo", "coordinator", "executor", "executor", "reviewer")
FORBIDDEN = {
    "a retired agent holds a task": (
        "SELECT tasks.id FROM tasks JOIN agents ON agents.id = assignee_id WHERE agents.status = 'terminated'"
        " AND tasks.status IN ('claimed', 'pending', 'draft', 'blocked', 'waiting_human')"
    ),
    "a retired agent has a live run": (
        "SELECT runs.id FROM runs JOIN agents ON agents.id = agent_id WHERE agents.status = 'terminated'"
        " AND runs.status IN ('queued', 'starting', 'running')"
    ),
    "a retired agent is to be woken": (
        "SELECT mentions.id FROM mentions JOIN agents ON agents.id = agent_id WHERE agents.status = 'terminated'"
        " AND mentions.status IN ('pending', 'held')"
    ),
    "somebody reports to who has retired": (
        "SELECT agents.id FROM agents JOIN agents AS above ON above.id = agents.manager_id"
        " WHERE above.status = 'terminated' AND agents.status <> 'terminated'"
    ),
    "two hires of one name wait": (
        "SELECT json_extract(payload, '$.slug') AS slug FROM approvals WHERE kind = 'hire_agent'"
        " AND status = 'pending' GROUP BY slug HAVING count(*) > 1"
    ),
    "a hire was used and nobody is there": (
        "SELECT approvals.id FROM approvals WHERE kind = 'hire_agent' AND status = 'consumed' AND NOT EXISTS"
        " (SELECT 1 FROM agents WHERE slug = json_extract(payload, '$.slug'))"
    ),
    "the organisation is settled while a change of it waits": (
        "SELECT approvals.id FROM approvals, company WHERE kind = 'org_change' AND approvals.status = 'pending'"
        " AND org_status = 'settled'"
    ),
}


def broken(tx: Transaction) -> list[str]:
    found = [law for law, query in FORBIDDEN.items() if tx.all(query)]
    chart = chart_of(tx.select(AgentRecord, "true"))
    ceos = [row for row in chart if row["role"] == Role.CEO]
    found += [f"a circle: {circle}"] if (circle := cycle_in(chart)) else []
    found += ["two CEOs"] if len(ceos) > 1 else []
    return found + [f"{law}: {where}" for law, where in broken_laws(tx)]


def an_act(source: random.Random, approvals: list[Approval], goal: int) -> tuple[str, dict[str, Any]]:
    one, other = source.choice(NAMES), source.choice(NAMES)
    hire = {
        "slug": one, "name": one.title(), "role": source.choice(ROLES), "manager": source.choice((None, other)),
        "capabilities": source.choice(((), ("x",), ("x", "y"))),
    }  # fmt: skip
    changes = [{"agent": one, "manager": other}, {"agent": other, "duties": source.choice(("", "a", "b"))}]
    number = source.choice(approvals).id if approvals else 1
    decision = source.choice(("approved", "approved", "rejected", "revision_requested"))
    return source.choice(
        [
            ("ProposeHire", {**hire, "why": "needed"}),
            ("ProposeHire", {**hire, "why": "needed"}),
            ("ProposeOrganisation", {"changes": changes[: source.choice((1, 2))], "why": "better"}),
            ("HireAgent", hire),
            ("RetireAgent", {"agent": one, "reason": "enough"}),
            ("EditAgent", {"agent": one, "manager": source.choice((other, "")), "capabilities": ("x",)}),
            ("PauseAgent", {"agent": one}),
            ("ResumeAgent", {"agent": one}),
            ("SettleOrganisation", {}),
            ("EditApproval", {"approval": number, "payload": {"slug": one, "name": one.title(), "manager": other}}),
            ("EditApproval", {"approval": number, "payload": {"changes": changes}}),
            ("DecideApproval", {"approval": number, "decision": decision, "note": "so"}),
            ("DecideApproval", {"approval": number, "decision": decision, "note": "so"}),
            ("AddComment", {"goal": goal, "kind": "question", "body": f"@{one} @{other} well?"}),
            ("CreateTask", {"goal": goal, "title": "More", "end_state": "done"}),
            ("AssignTask", {"task": source.randint(1, 8), "agent": one}),
        ]
    )  # fmt: skip


async def a_ceo(world: World) -> Agent | None:
    found = [each for each in await world.all(AgentRecord, "role = 'ceo'") if each.status == AgentStatus.ACTIVE]
    if not found:
        return None
    try:
        return await world.run(found[0].slug)
    except AssertionError:
        return None  # it is at work already


async def live(world: World, source: random.Random, steps: int) -> int:
    """So many random acts; answers how many the board accepted."""
    goal = await world.an_active_goal("one", "two", "three")
    done = 0
    for _ in range(steps):
        command, arguments = an_act(source, await world.all(Approval, "status = 'pending'"), goal.id)
        proposes = command.startswith("Propose")
        actor = await a_ceo(world) if proposes else OPERATOR
        if actor is None:
            continue
        try:
            await world.do(actor, command, **arguments)
            done += 1
        except (Conflict, Forbidden, Invalid, NotFound, Fenced):
            pass
        if isinstance(actor, Agent):
            await world.finish(actor)
        if source.random() < 0.2:
            await tick(world)
        assert await world.read(broken) == [], (command, arguments)
    return done


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 200))])
async def test_the_staff_keeps_its_laws(tmp_path: Path, seed: int) -> None:
    async with a_company(tmp_path) as world:
        assert await live(world, random.Random(seed), 120) > 20
        assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []
        assert await world.all(AgentRecord, "status = :gone", gone=AgentStatus.TERMINATED)
