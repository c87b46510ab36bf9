"""The batch reads of S2-35: tasks by status of every goal, and who was mentioned and not woken yet."""

from core.waiting import mentioned_agents, subtasks_status
from tests.unit.world import World


async def test_the_tasks_of_every_goal_are_counted_by_status(world: World) -> None:
    first = await world.an_active_goal("One", "Two", "Three")
    second = await world.a_goal()
    await world.brought_to(1, "working")
    found = await subtasks_status(world.board.readers)
    assert found == {first.id: {"pending": 2, "working": 1}, second.id: {"draft": 1}}


async def test_who_was_mentioned_is_named_until_woken(world: World) -> None:
    goal = await world.an_active_goal("Talk")
    await world.operator("AddComment", goal=goal.id, kind="question", body="@cora and @ada, @ada again, @nobody")
    assert await mentioned_agents(world.board.readers) == ["ada", "cora"]
    ada = await world.agent("ada")
    await world.system("QueueRun", kind="mention", agent_id=ada.id, goal_id=goal.id, key="woken", mention_id=2)
    assert await mentioned_agents(world.board.readers) == ["cora"]
