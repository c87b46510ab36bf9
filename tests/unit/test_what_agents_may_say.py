"""What stands in the texts of agents: ids that exist, no word of a first verdict, roles that are called; and rests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.entities import AgentRecord, Comment, Mention, Task
from core.domain.errors import Forbidden, Invalid
from core.domain.references import named_ids
from core.domain.reviewing import FREEDOM
from core.domain.states import Dimension, Role, RunKind
from tests.unit.world import HANDOFF, World, a_company


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("T12 and O3, T12 again", [("T", 12), ("O", 3)]),
        ("see T4.", [("T", 4)]),
        ("任务T7完成", [("T", 7)]),
        ("T-4, T4x, xT4, R2D2, O2-sensor, T0, t4", []),
    ],
)
def test_what_counts_as_an_id(text: str, found: list[tuple[str, int]]) -> None:
    assert named_ids([text]) == found


async def test_a_handoff_names_only_what_is_there(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    with pytest.raises(Invalid, match="T999, which is not on this board"):
        await world.do(ada, "AddComment", task=task.id, kind="handoff", body=f"{HANDOFF} As in T999.")
    assert await world.all(Comment, "kind = 'handoff'") == []
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=f"{HANDOFF} As in T{task.id}.")


async def test_a_verdict_names_only_what_is_there(world: World) -> None:
    task, _ = await world.a_task("review")
    rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Invalid, match="O4711"):
        await world.verdict(rita, task.id, summary="As O4711 shows.")
    assert (await world.task(task.id)).status == "review"
    await world.verdict(rita, task.id, summary="As O1 shows.")


async def test_the_first_judge_of_two_says_nothing_before_the_second(world: World) -> None:
    task, _ = await world.a_task("review", tasks=({"title": "Count", "risk": "high"}, {"title": "Another"}))
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    await world.verdict(chad, task.id, "rejected")
    assert (await world.task(task.id)).review_step == "second"
    other = (await world.all(Task, "title = 'Another'"))[0]
    for about in ({"task": task.id}, {"goal": task.goal_id}):
        with pytest.raises(Forbidden, match="must not see your verdict"):
            await world.do(chad, "AddComment", kind="observation", body="I rejected it.", **about)
    await world.do(chad, "AddComment", kind="observation", body="Mind the links.", task=other.id)
    rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    await world.do(rita, "AddComment", kind="observation", body="I look at it.", task=task.id)
    await world.verdict(rita, task.id, "rejected")
    await world.do(chad, "AddComment", kind="observation", body="So did I.", task=task.id)


async def test_a_role_calls_its_first_active_agent(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    answer = await world.do(ada, "AddComment", task=task.id, kind="question", body="@coordinator which folder?")
    assert (answer["wakes"], answer["unknown"]) == (["cora"], {})
    cora = await world.agent("cora")
    assert [mention.agent_id for mention in await world.all(Mention)] == [cora.id]
    await world.operator("PauseAgent", agent="rita")
    answer = await world.do(ada, "AddComment", task=task.id, kind="question", body="@reviewer and @executor?")
    assert answer["wakes"] == []
    assert set(answer["unknown"]) == {"reviewer", "executor"}


async def test_a_name_goes_before_a_role(world: World) -> None:
    await world.hire("coordinator", Role.EXECUTOR)
    task, ada = await world.a_task("working")
    assert ada is not None
    answer = await world.do(ada, "AddComment", task=task.id, kind="question", body="@coordinator?")
    assert answer["wakes"] == ["coordinator"]


async def test_a_provider_that_is_full_rests_for_all_who_use_it(world: World) -> None:
    for slug, provider in (("dora", "acme"), ("emil", "acme"), ("fred", "other")):
        await world.hire(slug, runner={"kind": "chat", "provider": provider})
    until = world.clock() + 600_000
    dora = await world.run("dora")
    await world.finish(dora, "rate_limited", retry_at=until)
    resting = {agent.slug: agent.cooldown_until for agent in await world.all(AgentRecord)}
    assert (resting["dora"], resting["emil"], resting["fred"], resting["ada"]) == (until, until, None, None)
    emil = await world.run("ada")
    await world.finish(emil, "rate_limited", retry_at=until)
    assert (await world.agent("bob")).cooldown_until is None


def test_each_dimension_has_its_grade_of_freedom() -> None:
    assert {str(name): str(grade) for name, grade in FREEDOM.items()} == {
        "requirement_coverage": "mid",
        "design_consistency": "mid",
        "code_quality": "low",
        "direction": "mid",
        "artefact_authenticity": "low",
    }
    assert set(FREEDOM) == set(Dimension)
