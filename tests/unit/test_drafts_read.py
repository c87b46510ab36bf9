"""A person approves what they read: a draft with its draft tasks, whoever changed them meanwhile (C-10, D-02)."""

from typing import Any

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.domain.actors import Agent
from core.domain.entities import Goal, Mention, Task
from core.domain.errors import Conflict, Forbidden
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus, RunKind
from tests.unit.world import World

NEW = {"title": "Send it out", "end_state": "sent", "must_haves": ("M1",)}


async def a_draft(world: World, **more: Any) -> Goal:
    """A CEO's draft that nobody has reviewed."""
    return await world.a_goal(by="vera", reviewed=False, must_haves=("count",), **more)


async def only_task(world: World, goal: Goal) -> Task:
    (task,) = await world.all(Task, "goal_id = :g AND status = 'draft'", g=goal.id)
    return task


async def change(world: World, actor: Agent, goal: Goal, way: str) -> None:
    """One of the ways in which an agent changes what a draft would begin with."""
    task = await only_task(world, goal)
    commands: dict[str, dict[str, Any]] = {
        "CreateTask": {"goal": goal.id, **NEW},
        "EditTask": {"task": task.id, "intent": "Delete every file", "end_state": "gone", "must_haves": ("M1",)},
        "CancelTask": {"task": task.id, "reason": "no"},
        "SplitTask": {"task": task.id, "parts": (NEW, {**NEW, "title": "rest"}), "reason": "large"},
    }
    await world.do(actor, way, **commands[way])


@pytest.mark.parametrize("way", ["CreateTask", "EditTask", "CancelTask", "SplitTask"])
async def test_a_task_that_changed_after_it_was_read_is_not_approved(world: World, way: str) -> None:
    goal = await a_draft(world, tasks=({"title": "Count", "end_state": "a number", "must_haves": ("M1",)},))
    slug = "cora" if way in ("CancelTask", "SplitTask") else "vera"
    await change(world, await world.run(slug, RunKind.MENTION, goal_id=goal.id), goal, way)
    with pytest.raises(Conflict, match="changed since you read it"):
        await world.operator("ReviewGoal", goal=goal.id, content_hash=goal.content_hash)
    with pytest.raises(Conflict, match="changed since you read it"):
        await world.operator("DispatchGoal", goal=goal.id, content_hash=goal.content_hash)
    now = await world.goal(goal.id)
    assert now.updated_at == goal.updated_at
    await world.operator("ReviewGoal", goal=goal.id, content_hash=now.content_hash)
    assert is_reviewed(await world.goal(goal.id))
    assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def test_a_task_that_the_talk_brought_is_read_before_the_goal_is_ready(world: World) -> None:
    goal = await world.a_goal(must_haves=({"text": "count", "verify": "look"},), explore=True)
    cora = await world.run("cora", RunKind.EXPLORE, goal_id=goal.id)
    await world.do(cora, "CreateTask", goal=goal.id, **NEW)
    with pytest.raises(Conflict, match="changed since you read it"):
        await world.operator("ReadyGoal", goal=goal.id, content_hash=goal.content_hash)
    now = await world.goal(goal.id)
    await world.operator("ReadyGoal", goal=goal.id, content_hash=now.content_hash)
    await world.operator("DispatchGoal", goal=goal.id, content_hash=now.content_hash)
    assert (await world.goal(goal.id)).status == GoalStatus.PLANNING


async def test_tasks_that_the_person_asked_for_leave_the_review_but_not_what_was_read(world: World) -> None:
    goal = await world.a_goal(must_haves=("count",))
    cora = await world.run("cora", RunKind.SPLIT, goal_id=goal.id)
    await world.do(cora, "CreateTask", goal=goal.id, **NEW)
    with pytest.raises(Conflict, match="changed since you read it"):
        await world.operator("DispatchGoal", goal=goal.id, content_hash=goal.content_hash)
    assert is_reviewed(await world.goal(goal.id))
    await world.operator("DispatchGoal", goal=goal.id, content_hash=(await world.goal(goal.id)).content_hash)


async def test_what_is_changed_back_is_what_was_read_again(world: World) -> None:
    goal = await a_draft(world)
    task = await only_task(world, goal)
    await world.operator("EditTask", task=task.id, priority=0)
    assert (await world.goal(goal.id)).content_hash != goal.content_hash
    await world.operator("EditTask", task=task.id, priority=task.priority)
    assert (await world.goal(goal.id)).content_hash == goal.content_hash


async def test_an_edit_with_equal_values_reviews_nothing_also_with_a_hash_of_an_older_program(world: World) -> None:
    goal = await a_draft(world, tasks=({"title": "Count", "end_state": "a number", "must_haves": ("M1",)},))
    # Before, a hash covered the goal's own text alone.
    await world.read(lambda tx: tx.update(tx.get(Goal, goal.id), "GoalEdited", touch=False, content_hash="0" * 64))
    assert not (await world.operator("EditGoal", goal=goal.id, title=goal.title))["changed"]
    assert not is_reviewed(await world.goal(goal.id))
    await world.operator("ReviewGoal", goal=goal.id, content_hash="0" * 64)
    assert is_reviewed(await world.goal(goal.id))


async def test_to_waive_a_dependency_of_a_draft_voids_the_review(world: World) -> None:
    goal = await a_draft(world, tasks=({"title": "first", "end_state": "e", "must_haves": ("M1",)},))
    first = await only_task(world, goal)
    second = await world.operator("CreateTask", goal=goal.id, title="second", depends_on=({"task": first.id},))
    await world.operator("ReviewGoal", goal=goal.id)
    cora = await world.run("cora", RunKind.MENTION, goal_id=goal.id)
    await world.do(cora, "WaiveDependency", task=second["id"], depends_on=first.id)
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.operator("DispatchGoal", goal=goal.id)


# Another CEO ----------------------------------------------------------------------------------------------------


async def test_a_draft_is_the_ceos_in_office(world: World) -> None:
    goal = await a_draft(world)
    await world.operator("RetireAgent", agent="vera", reason="enough")
    nova = await world.hire("nova", "ceo")
    await world.operator("ReviseGoal", goal=goal.id, note="smaller")
    woken = await world.all(Mention, "status = 'pending' AND agent_id = :a", a=nova.id)
    assert [mention.goal_id for mention in woken] == [goal.id]
    run = await world.run("nova", RunKind.MENTION, goal_id=goal.id)
    await world.do(run, "EditGoal", goal=goal.id, description="smaller now")
    await world.do(run, "CreateTask", goal=goal.id, **NEW)
    assert (await world.goal(goal.id)).description == "smaller now"
    mine = await world.a_goal()
    with pytest.raises(Forbidden, match="not your draft"):
        await world.do(run, "EditGoal", goal=mine.id, title="ours")
