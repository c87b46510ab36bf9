"""Which repository a task is worked on in, and whose its work trees are: as the board keeps it."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import Task, WorkTree
from core.domain.errors import Conflict, Forbidden, Invalid, NotFound
from core.domain.worktrees import branch_of, folder_of, split_repository
from tests.unit.world import World, a_company

SHA = "a" * 40


async def recorded(world: World, task: int, number: int = 1, agent: int = 5) -> dict[str, Any]:
    return await world.system(
        "RecordWorkTree", task=task, agent_id=agent, number=number, repository="/site", begins_from="HEAD", base=SHA,
        path=folder_of(task, number, "Count"), branch=branch_of(task, number),
    )  # fmt: skip


async def test_tasks_have_the_repository_of_their_goal_unless_they_name_their_own(tmp_path: Path) -> None:
    async with a_company(tmp_path) as world:
        goal = await world.a_goal(
            repository="../site",
            tasks=({"title": "A"}, {"title": "B", "repository": "../docs#main"}, {"title": "C", "repository": ""}),
        )  # fmt: skip
        tasks = await world.all(Task, "goal_id = :goal ORDER BY id", goal=goal.id)
        assert [task.repository for task in tasks] == ["../site", "../docs#main", ""]
        await world.operator("EditGoal", goal=goal.id, repository="../shop")
        tasks = await world.all(Task, "goal_id = :goal ORDER BY id", goal=goal.id)
        assert [task.repository for task in tasks] == ["../shop", "../docs#main", ""]
        await world.operator("EditTask", task=tasks[1].id, repository="")
        assert (await world.task(tasks[1].id)).repository == ""


async def test_an_agent_names_no_other_repository_than_its_goals(tmp_path: Path) -> None:
    async with a_company(tmp_path) as world:
        goal = await world.an_active_goal("Count", repository="../site")
        cora = await world.run("cora", goal_id=goal.id)
        task = {"goal": goal.id, "end_state": "It is there.", "must_haves": ()}
        with pytest.raises(Forbidden, match="not about the repository"):
            await world.do(cora, "CreateTask", title="Read on", repository="/home/other", **task)
        made = await world.do(cora, "CreateTask", title="In the site", **task)
        assert (await world.task(made["id"])).repository == "../site"
        with pytest.raises(Forbidden, match="Only the operator"):
            await world.do(cora, "EditTask", task=made["id"], repository="")
        vera = await world.run("vera")
        with pytest.raises(Forbidden, match="Only the operator"):
            await world.do(vera, "CreateGoal", title="Elsewhere", split=False, repository="/home/other")


@pytest.mark.parametrize("text", ["#main", "../site#-x", "../site#a..b", "../si\x1bte", "../site\nx"])
async def test_what_can_be_no_repository_is_refused_by_name(tmp_path: Path, text: str) -> None:
    async with a_company(tmp_path) as world:
        with pytest.raises(Invalid, match="names no repository"):
            await world.a_goal(repository=text)


async def test_no_tree_is_closed_under_a_run(tmp_path: Path) -> None:
    async with a_company(tmp_path) as world:
        task, actor = await world.a_task("working")
        assert actor is not None
        await recorded(world, task.id)
        with pytest.raises(Conflict, match=f"R{actor.run_id} of T{task.id} is running"):
            await world.operator("CloseWorkTree", task=task.id)
        await world.finish(actor, "failed")
        closed = await world.operator("CloseWorkTree", task=task.id)
        again = await world.operator("CloseWorkTree", task=task.id)
        assert closed == again == {"id": 1, "task": task.id, "number": 1, "branch": f"opsroom/T{task.id}"}
        assert (await world.all(WorkTree))[0].closed_at is not None
        assert await world.events("WorkTreeClosed") == ["WorkTreeClosed"]
        with pytest.raises(NotFound, match="no work tree 7"):
            await world.operator("CloseWorkTree", task=task.id, number=7)


def test_names_hold_nothing_of_a_title_that_a_path_could_stumble_over() -> None:
    assert folder_of(12, 1, "../../etc: Ünïcode & «spaces»\n-rf") == "work/trees/T12-etc-unicode-spaces-rf"
    assert folder_of(12, 2, "数据") == "work/trees/T12-2"
    assert branch_of(12, 1) == "opsroom/T12"
    assert split_repository("../site#develop") == ("../site", "develop")
    assert split_repository("../site") == split_repository("../site#") == ("../site", "HEAD")
