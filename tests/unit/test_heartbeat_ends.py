"""A CEO's heartbeat ends at a person, and misses nothing: proposals that fail, and agendas longer than a run takes."""

from core.domain.agenda import AGENDA_MAX
from core.domain.entities import Run
from core.domain.limits import HEARTBEAT_MS, RUN_ATTEMPTS
from core.domain.states import RunKind
from tests.unit.ticking import tick
from tests.unit.world import World


async def proposals(world: World) -> list[Run]:
    return await world.all(Run, "kind = 'propose' ORDER BY id")


async def failed(world: World, times: int) -> None:
    """So many heartbeats, at each of which a proposal that was begun fails."""
    for _ in range(times):
        world.clock.advance(HEARTBEAT_MS)
        await tick(world)
        for run in await world.all(Run, "kind = 'propose' AND status = 'queued'"):
            await world.finish(await world.started(run.id), "failed", detail="no model", cost_micros=10)


async def test_a_proposal_that_fails_is_begun_three_times_then_the_operator_decides(world: World) -> None:
    await failed(world, 12)
    assert len(await proposals(world)) == RUN_ATTEMPTS
    (asked,) = await world.pending("company:1")
    assert "Vera failed 3 times to propose" in asked.title
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    world.clock.advance(1_000)
    await failed(world, 8)
    assert len(await proposals(world)) == 2 * RUN_ATTEMPTS
    (again,) = await world.pending("company:1")
    await world.operator("DecideApproval", approval=again.id, decision="rejected", note="not now")
    await failed(world, 8)
    assert len(await proposals(world)) == 2 * RUN_ATTEMPTS
    assert await world.pending("company:1") == []
    # Who calls the CEO wants it tried.
    await world.operator("CallHeartbeat")
    await failed(world, 1)
    assert len(await proposals(world)) == 2 * RUN_ATTEMPTS + 1


async def test_what_comes_after_the_first_fifty_is_seen_once(world: World) -> None:
    much = AGENDA_MAX + 5
    await world.an_active_goal(*(f"Task {number}" for number in range(much)))
    for number in range(1, much + 1):
        ada = await world.brought_to(number, "failed")
        assert ada is not None
        await world.finish(ada)
    seen: list[str] = []
    for _ in range(4):
        world.clock.advance(HEARTBEAT_MS)
        await tick(world)
        for run in await world.all(Run, "kind = :kind AND status = 'queued'", kind=RunKind.HEARTBEAT):
            seen += [item["entity"] for item in run.brief["agenda"]]
            assert len(run.brief["agenda"]) <= AGENDA_MAX
            await world.finish(await world.started(run.id))
    assert {f"task:{number}" for number in range(1, much + 1)} <= set(seen)
    assert len(await world.all(Run, "kind = 'heartbeat'")) == 2
