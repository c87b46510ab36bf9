"""What the second of two reviewers must not read does not come to it by a call or by an offer either (S2-20)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.actors import Agent
from core.domain.entities import Mention, Task
from core.domain.states import RunKind
from core.prompting.builder import build_prompt
from core.prompting.prompt import LayerName, Prompt
from core.prompting.templates import shipped_library
from tests.prompting.facts import commission
from tests.unit.world import FIVE, World, a_company

HIDDEN = "words that you may not read yet"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made


async def told(world: World, actor: Agent) -> Prompt:
    return await build_prompt(world.board.readers, shipped_library(), await commission(world, actor))


async def refused(world: World, *words: str) -> tuple[Task, list[int]]:
    """A task of high risk whose first reviewer wrote these words in the run that refused it."""
    task, ada = await world.a_task("review", tasks=({"title": "Count", "risk": "high"},))
    assert ada is not None
    await world.finish(ada)
    chad = await world.run("chad", RunKind.REVIEW, task_id=task.id)
    said = [await world.do(chad, "AddComment", task=task.id, kind="question", body=body) for body in words]
    await world.verdict(chad, task.id, dimensions=FIVE)
    await world.finish(chad)
    return task, [one["id"] for one in said]


async def called(world: World, comment: int, **about: Any) -> Prompt:
    """What rita is told in the run that this comment wakes."""
    (mention,) = await world.all(Mention, "comment_id = :comment", comment=comment)
    rita = await world.run("rita", RunKind.MENTION, mention_id=mention.id, **about)
    prompt = await told(world, rita)
    await world.finish(rita)
    return prompt


async def test_a_call_does_not_tell_the_second_reviewer_what_the_first_one_thinks(world: World) -> None:
    task, (word,) = await refused(world, "@rita I refuse this: ZEBRA")
    prompt = await called(world, word, task_id=task.id)
    assert "ZEBRA" not in prompt.text
    assert HIDDEN in prompt.text
    assert f"C{word}, by chad" in prompt.text


async def test_nor_does_an_answer_to_it_nor_an_answer_to_that(world: World) -> None:
    task, (word,) = await refused(world, "@bob I refuse this: ZEBRA")
    bob = await world.run("bob", task_id=task.id)
    body = "@rita chad says ZEBRA"
    first = await world.do(bob, "AddComment", task=task.id, kind="question", body=body, reply_to=word)
    await world.finish(bob)
    prompt = await called(world, first["id"], task_id=task.id)
    body = "@rita so what of the OTTER?"
    second = await world.operator("AddComment", task=task.id, kind="question", body=body, reply_to=first["id"])
    after = await called(world, second["id"], task_id=task.id)
    assert "OTTER" in after.text
    for text in (prompt.text, after.text):
        assert "ZEBRA" not in text
        assert HIDDEN in text


async def test_an_offer_does_not_hold_them(world: World) -> None:
    tasks = ({"title": "Count", "risk": "high"}, {"title": "Draw"})
    goal = await world.an_active_goal(tasks=tasks)
    first, other = await world.all(Task, "goal_id = :goal ORDER BY id", goal=goal.id)
    ada = await world.brought_to(first.id, "review")
    assert ada is not None
    await world.finish(ada)
    chad = await world.run("chad", RunKind.REVIEW, task_id=first.id)
    await world.do(chad, "AddComment", task=other.id, kind="observation", body="I refuse the count: ZEBRA")
    await world.operator("AddComment", task=other.id, body="Mind the OTTER")
    await world.verdict(chad, first.id, dimensions=FIVE)
    await world.finish(chad)
    prompt = await told(world, await world.run("bob", RunKind.BROADCAST, offers=[other.id]))
    assert "ZEBRA" not in prompt.text
    assert "OTTER" in prompt.text


async def test_they_are_not_counted_as_left_out(world: World) -> None:
    task, _ = await refused(world, "I refuse this: ZEBRA")
    chatter = [f"word {number}" for number in range(30)]
    for body in chatter:
        await world.operator("AddComment", task=task.id, body=body)
    rita = await told(world, await world.run("rita", RunKind.REVIEW, task_id=task.id))
    (own,) = [one for one in rita.layers if one.name == LayerName.TASK]
    ours = [one.count for one in own.left_out if one.what == "comments"]
    # The handoff of ada is the one that is older than the thirty.
    assert ours == [1]
