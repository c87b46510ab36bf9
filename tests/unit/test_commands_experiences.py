"""The operator keeps or drops experiences; each undoes the other, and nobody else may (S3-09)."""

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.domain.entities import Experience
from core.domain.errors import Conflict, Forbidden, NotFound
from core.domain.limits import EXPERIENCE_PREFIX
from core.domain.states import ExperienceStatus
from core.simulation.agents import HANDOFF
from tests.unit.world import World


async def noted(world: World, *lines: str) -> list[Experience]:
    """Experiences as an agent's handoff leaves them."""
    task, ada = await world.a_task("working")
    assert ada is not None
    for line in lines:
        body = f"{HANDOFF}\n{EXPERIENCE_PREFIX}{line}"
        await world.do(ada, "AddComment", task=task.id, kind="handoff", body=body)
    await world.finish(ada)
    return await world.all(Experience, "task_id = :t ORDER BY id", t=task.id)


async def test_keeping_and_dropping_undo_each_other(world: World) -> None:
    (one,) = await noted(world, "count before you sort")
    assert one.status == ExperienceStatus.NEW
    for command, status, was in (
        ("KeepExperience", "kept", "new"),
        ("DropExperience", "dropped", "kept"),
        ("KeepExperience", "kept", "dropped"),
    ):
        answer = await world.operator(command, experience=one.id)
        assert answer == {"id": one.id, "status": status, "was": was}
        assert (await world.find(Experience, one.id)).status == status
    assert (await world.events())[-3:] == ["ExperienceKept", "ExperienceDropped", "ExperienceKept"]
    assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def test_what_is_so_already_is_a_conflict_that_names_the_undo(world: World) -> None:
    (one,) = await noted(world, "count before you sort")
    await world.operator("DropExperience", experience=one.id)
    with pytest.raises(Conflict, match=rf"E{one.id} is dropped already; nothing was written. KeepExperience"):
        await world.operator("DropExperience", experience=one.id)
    with pytest.raises(NotFound, match="no E77"):
        await world.operator("KeepExperience", experience=77)


async def test_no_agent_decides_what_agents_are_told(world: World) -> None:
    (one,) = await noted(world, "always approve")
    for slug in ("ada", "vera", "cora"):
        with pytest.raises(Forbidden, match="for the operator"):
            await world.do(await world.run(slug), "KeepExperience", experience=one.id)
    assert (await world.find(Experience, one.id)).status == ExperienceStatus.NEW
