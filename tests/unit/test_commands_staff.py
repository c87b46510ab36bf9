"""Agents that retire or are changed: nothing is lost, nothing waits for who is gone, and the inbox says what lacks."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import AgentRecord, Approval, Mention, Run, Task
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid
from core.domain.states import AgentStatus, MentionStatus, Role, RunKind, RunStatus, TaskStatus
from core.simulation.laws import kept_counts
from core.waiting import owed
from tests.unit.ticking import tick
from tests.unit.world import World, a_company


async def retire(world: World, slug: str) -> dict[str, Any]:
    return await world.operator("RetireAgent", agent=slug, reason="no longer needed")


async def kinds(world: World) -> list[str]:
    return [item.kind for item in await owed(world.board.readers)]


async def test_retiring_ends_runs_gives_tasks_back_and_deletes_nothing(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    output = await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", content="42")
    queued = await world.system("QueueRun", kind="mention", agent_id=ada.agent_id, key="later")
    answer = await retire(world, "ada")
    assert (answer["status"], answer["ended_runs"], answer["tasks"]) == ("terminated", 2, [])
    task = await world.task(task.id)
    assert (task.status, task.attempts, task.assignee_id, task.last_assignee_id) == (
        TaskStatus.PENDING, 0, None, ada.agent_id,
    )  # fmt: skip
    assert {(await world.find(Run, run)).status for run in (ada.run_id, queued["id"])} == {RunStatus.KILLED}
    assert (await world.agent("ada")).status == AgentStatus.TERMINATED
    assert output["id"] == 1
    assert await world.read(kept_counts) == {}
    with pytest.raises(Conflict, match="retired already"):
        await retire(world, "ada")
    with pytest.raises(Conflict, match="already has that name"):
        await world.hire("ada")


async def test_a_late_write_of_a_retired_agent_is_fenced(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await retire(world, "ada")
    before = await world.task(task.id)
    late = [
        ("AddOutput", {"task": task.id, "type": "data", "title": "Late", "content": "43"}),
        ("AddComment", {"task": task.id, "body": "late"}),
        ("SubmitTask", {"task": task.id}),
        ("FailTask", {"task": task.id, "reason": "late"}),
    ]
    for command, arguments in late:
        with pytest.raises(Fenced):
            await world.do(ada, command, **arguments)
    assert await world.task(task.id) == before
    assert (await world.finish(ada))["finished"] is False


async def test_a_task_between_two_runs_goes_back_too(world: World) -> None:
    task, ada = await world.a_task("review")
    assert ada is not None
    await world.finish(ada)
    await world.reviewed(task.id, "needs_revision")
    assert (await world.task(task.id)).status == TaskStatus.WORKING
    assert (await retire(world, "ada"))["tasks"] == [task.id]
    task = await world.task(task.id)
    assert (task.status, task.assignee_id, task.attempts) == (TaskStatus.PENDING, None, 0)


@pytest.mark.parametrize("status", ["blocked", "waiting_human"])
async def test_what_was_kept_for_it_is_everybodys_again(world: World, status: str) -> None:
    task, ada = await world.a_task(status)
    assert ada is not None
    await world.finish(ada)
    await retire(world, "ada")
    task = await world.task(task.id)
    assert (task.status, task.assignee_id, task.last_assignee_id) == (status, None, ada.agent_id)
    await world.operator("UnblockTask" if status == "blocked" else "ResumeTask", task=task.id)
    assert (await world.brought_to(task.id, "working", "bob")) is not None


async def test_a_task_in_review_keeps_its_author_and_goes_back_when_it_is_refused(world: World) -> None:
    task, ada = await world.a_task("review")
    assert ada is not None
    await world.finish(ada)
    await retire(world, "ada")
    assert (await world.task(task.id)).assignee_id == ada.agent_id
    await world.reviewed(task.id, "needs_revision")
    await tick(world)
    assert (await world.task(task.id)).status == TaskStatus.PENDING
    await world.brought_to(task.id, "review", "bob")
    await world.reviewed(task.id)
    assert (await world.task(task.id)).status == TaskStatus.DONE


async def test_a_pending_task_that_names_it_is_offered_to_all(world: World) -> None:
    task, _ = await world.a_task()
    ada = await world.agent("ada")
    await world.operator("AssignTask", task=task.id, agent="ada")
    await retire(world, "ada")
    assert (await world.task(task.id)).assignee_id is None
    await tick(world)
    offered = await world.all(Run, "kind = 'broadcast'")
    assert ada.id not in {run.agent_id for run in offered}
    assert {run.agent_id for run in offered} == {(await world.agent("bob")).id}


async def test_its_open_mentions_are_dropped_also_one_that_was_being_read(world: World) -> None:
    goal = await world.an_active_goal()
    await world.operator("AddComment", goal=goal.id, kind="question", body="@ada which folder?")
    read = (await world.all(Mention))[0]
    await world.run("ada", RunKind.MENTION, goal_id=goal.id, mention_id=read.id)
    await world.operator("AddComment", goal=goal.id, kind="question", body="@ada and which file?")
    assert (await retire(world, "ada"))["dropped_mentions"] >= 1
    assert MentionStatus.PENDING not in {mention.status for mention in await world.all(Mention)}
    await tick(world)
    assert await world.all(Run, "kind = 'mention' AND status = 'queued'") == []
    answer = await world.operator("AddComment", goal=goal.id, kind="question", body="@ada are you there?")
    assert answer["wakes"] == []
    assert "ada" in answer["unknown"]


async def test_reports_of_a_retired_manager_go_to_its_manager(world: World) -> None:
    for slug in ("ada", "bob"):
        await world.operator("EditAgent", agent=slug, manager="cora")
    assert (await retire(world, "bob"))["reports"] == []
    answer = await retire(world, "cora")
    assert (answer["reports"], answer["reports_to"]) == (["ada"], "vera")
    vera = await world.agent("vera")
    assert (await world.agent("ada")).manager_id == vera.id
    assert (await retire(world, "vera"))["reports_to"] is None
    assert (await world.agent("ada")).manager_id is None


async def test_a_new_ceo_leads_whom_the_old_one_led(world: World) -> None:
    for slug in ("ada", "bob", "cora", "rita"):
        await world.operator("EditAgent", agent=slug, manager="vera")
    await world.operator("EditAgent", agent="chad", manager="")
    await world.hire("eve")
    assert (await retire(world, "vera"))["reports_to"] is None
    await retire(world, "rita")
    await world.operator("EditAgent", agent="bob", manager="ada")
    hired = await world.operator("HireAgent", slug="vivian", name="Vivian", role="ceo", manager="cora")
    assert hired["reports"] == ["ada"], "cora is above her, bob has another manager, rita has retired"
    boss = (await world.agent("vivian")).id
    managers = {slug: (await world.agent(slug)).manager_id for slug in ("ada", "bob", "cora", "eve")}
    assert managers == {"ada": boss, "bob": (await world.agent("ada")).id, "cora": None, "eve": None}
    assert (await retire(world, "vivian"))["reports"] == ["ada"]
    assert (await world.agent("ada")).manager_id == (await world.agent("cora")).id
    await world.operator("HireAgent", slug="wilma", name="Wilma", role="ceo")
    assert (await world.agent("ada")).manager_id == (await world.agent("cora")).id


async def test_the_first_ceo_takes_nobody_over(tmp_path: Path) -> None:
    async with a_company(tmp_path, staff={"ada": Role.EXECUTOR}) as fresh:
        assert (await fresh.operator("HireAgent", slug="vera", name="Vera", role="ceo"))["reports"] == []
        assert (await fresh.agent("ada")).manager_id is None


async def test_the_last_of_a_role_may_go_and_the_inbox_says_what_lacks(world: World) -> None:
    task, ada = await world.a_task("review")
    assert ada is not None
    await world.finish(ada)
    for slug, expected in (
        ("rita", []),
        ("chad", ["no reviewer"]),
        ("cora", ["no coordinator", "no reviewer"]),
        ("vera", ["no ceo", "no coordinator", "no reviewer"]),
    ):
        await retire(world, slug)
        assert sorted(await kinds(world)) == expected
    await world.operator("HireAgent", slug="victor", name="Victor", role="ceo")
    assert sorted(await kinds(world)) == ["no coordinator", "no reviewer"]
    await tick(world)
    assert (await world.task(task.id)).status == TaskStatus.REVIEW


async def test_who_is_only_paused_does_not_lack_as_ceo(world: World) -> None:
    await world.operator("PauseAgent", agent="vera")
    assert await kinds(world) == []


async def test_only_the_operator_retires_and_edits(world: World) -> None:
    vera = await world.run("vera")
    for command, arguments in (("RetireAgent", {"reason": "x"}), ("EditAgent", {"max_runs": 2})):
        with pytest.raises(Forbidden):
            await world.do(vera, command, agent="ada", **arguments)
    with pytest.raises(Invalid, match="no agent"):
        await retire(world, "nobody")
    with pytest.raises(Invalid, match="reason"):
        await world.operator("RetireAgent", agent="ada", reason=" ")


# Edited -------------------------------------------------------------------------------------------------------------


async def test_an_edit_changes_what_it_names_and_nothing_else(world: World) -> None:
    before = await world.agent("ada")
    answer = await world.operator(
        "EditAgent", agent="ada", name="Ada L.", capabilities=("charts",), manager="cora", duties="draws",
        runner={"kind": "other"}, max_runs=3,
    )  # fmt: skip
    assert answer["changed"] == ["capabilities", "duties", "manager_id", "max_runs", "name", "runner"]
    after = await world.agent("ada")
    assert (after.name, after.capabilities, after.duties, after.max_runs) == ("Ada L.", ("charts",), "draws", 3)
    assert (after.runner, after.manager_id) == ({"kind": "other"}, (await world.agent("cora")).id)
    assert (after.slug, after.role, after.status) == (before.slug, before.role, before.status)
    events = len(await world.events())
    assert (await world.operator("EditAgent", agent="ada", name="Ada L.", max_runs=3))["changed"] == []
    assert len(await world.events()) == events
    await world.operator("EditAgent", agent="ada", manager="")
    assert (await world.agent("ada")).manager_id is None


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"name": "bob"}, Conflict, "already has that name"),
        ({"manager": "ada"}, Invalid, "circle: ada → ada"),
        ({"agent": "vera", "manager": "ada"}, Invalid, "circle: vera → ada → vera"),
        ({"manager": "nobody"}, Invalid, "no agent 'nobody'"),
        ({"manager": "chad"}, Conflict, "has retired"),
        ({"runner": {"model": "x"}}, Invalid, "no kind"),
        ({"max_runs": 0}, Invalid, "max_runs"),
        ({"role": "ceo"}, Invalid, "role"),
        ({"agent": "chad", "name": "Charles"}, Conflict, "has retired"),
    ],
)  # fmt: skip
async def test_what_an_agent_cannot_become(
    world: World, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    await retire(world, "chad")
    before = await world.all(AgentRecord)
    with pytest.raises(error, match=words):
        await world.operator("EditAgent", **{"agent": "ada", **changes})
    assert await world.all(AgentRecord) == before


async def test_new_capabilities_are_taken_into_account_by_the_next_tick(world: World) -> None:
    goal = await world.an_active_goal(tasks=({"title": "Draw it", "capabilities": ("charts",)},))
    task = (await world.all(Task, "goal_id = :goal AND status = 'pending'", goal=goal.id))[0]
    await world.operator("EditAgent", agent="bob", capabilities=("charts",))
    await world.operator("AssignTask", task=task.id, agent="bob")
    assert (await world.task(task.id)).assignee_id == (await world.agent("bob")).id


async def test_a_hire_under_a_retired_manager_is_refused(world: World) -> None:
    await retire(world, "cora")
    with pytest.raises(Conflict, match="nobody can report to it"):
        await world.hire("dora", manager="cora")
    assert await world.all(AgentRecord, "role = :role AND slug = 'dora'", role=Role.EXECUTOR) == []
    assert await world.all(Approval) == []
