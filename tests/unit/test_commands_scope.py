"""What a run may shape ends at its own goal; what a person approved stays that; what was delivered stays delivered."""

import pytest

from core.domain.entities import Task
from core.domain.errors import Conflict, Forbidden
from core.domain.limits import TASKS_PER_RUN
from core.domain.states import RunKind, TaskStatus
from tests.unit.world import HANDOFF, World


async def test_a_run_makes_tasks_and_dependencies_only_in_its_own_goal(world: World) -> None:
    task, ada = await world.a_task("working")
    foreign = await world.an_active_goal("Foreign work")
    victim = (await world.all(Task, "goal_id = :goal", goal=foreign.id))[0]
    assert ada is not None
    with pytest.raises(Forbidden, match=f"not about G{foreign.id}"):
        await world.do(ada, "CreateTask", goal=foreign.id, title="Unasked for")
    with pytest.raises(Forbidden, match=f"not about G{foreign.id}"):
        await world.do(ada, "AddDependency", task=victim.id, depends_on=task.id)
    assert len(await world.all(Task, "goal_id = :goal", goal=foreign.id)) == 1
    made = await world.do(ada, "CreateTask", goal=task.goal_id, title="A part of mine", end_state="counted")
    assert (await world.task(made["id"])).goal_id == task.goal_id


async def test_a_coordinator_called_for_one_goal_cancels_nothing_of_another(world: World) -> None:
    own = await world.an_active_goal("Own work")
    task, _ada = await world.a_task("working")
    cora = await world.run("cora", RunKind.MENTION, goal_id=own.id)
    with pytest.raises(Forbidden):
        await world.do(cora, "CancelTask", task=task.id, reason="mine to stop?")
    assert (await world.task(task.id)).status == TaskStatus.WORKING


async def test_work_does_not_breed_work_without_end(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    for number in range(TASKS_PER_RUN):
        await world.do(ada, "CreateTask", goal=task.goal_id, title=f"Part {number}", end_state="counted")
    with pytest.raises(Conflict, match="limit"):
        await world.do(ada, "CreateTask", goal=task.goal_id, title="One too many", end_state="counted")


async def test_an_agents_task_below_a_reviewed_draft_clears_the_review(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=True)
    before = goal.updated_at
    vera = await world.run("vera", RunKind.MENTION, goal_id=goal.id)
    await world.do(vera, "CreateTask", goal=goal.id, title="Something else", end_state="counted")
    goal = await world.goal(goal.id)
    assert (goal.reviewed_by, goal.updated_at) == (None, before)
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.operator("DispatchGoal", goal=goal.id)


@pytest.mark.parametrize("harm", ["gone", "changed"])
async def test_a_file_that_is_not_what_was_delivered_is_neither_submitted_nor_approved(world: World, harm: str) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    file = world.folder / "outputs" / "figures.csv"

    def spoil() -> None:
        if harm == "gone":
            file.unlink()
        else:
            file.write_text("43\n")

    file.write_text("42\n")
    output = await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", path=file.name)
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    spoil()
    with pytest.raises(Conflict, match=f"O{output['id']}"):
        await world.do(ada, "SubmitTask", task=task.id)
    file.write_text("42\n")
    await world.do(ada, "SubmitTask", task=task.id)
    await world.finish(ada)
    spoil()
    rita = await world.run("rita", RunKind.REVIEW, task_id=task.id)
    with pytest.raises(Conflict, match=f"O{output['id']}"):
        await world.verdict(rita, task.id)
    assert (await world.task(task.id)).status == TaskStatus.REVIEW
