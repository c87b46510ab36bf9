"""Acts, starts and publications at a red line, through the door (S2-05, S2-38, S4-08, D-03; F13, F15, F16)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from core.domain.actors import Agent
from core.domain.entities import Approval, Comment, Output, Run, Task
from core.domain.errors import Conflict, Fenced, Forbidden, Invalid
from core.domain.guardrails import Guardrails
from core.domain.states import RunKind, RunStatus, TaskStatus
from core.guardrails import shipped
from core.waiting import owed
from tests.unit.world import World, a_company

DELETE = {"tool": "shell", "command": "rm -rf data/old"}
SECRET = {"tool": "post", "text": "password: hunter2hunter2"}


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    async with a_company(tmp_path) as made:
        made.door.book.current = shipped()
        yield made


async def working(world: World, **more: Any) -> tuple[Task, Agent]:
    task, ada = await world.a_task("working", **more)
    assert ada is not None
    return task, ada


async def tagged(world: World, *tags: str) -> Task:
    """A pending task that carries tags."""
    goal = await world.an_active_goal()
    made = await world.operator("CreateTask", goal=goal.id, title="Roll version 2 out", tags=tags)
    return await world.task(made["id"])


async def claimed(world: World, task_id: int, by: str = "ada") -> Agent:
    actor = await world.brought_to(task_id, "claimed", by)
    assert actor is not None
    return actor


async def decide(world: World, approval: int, decision: str = "approved", note: str = "") -> None:
    await world.operator("DecideApproval", approval=approval, decision=decision, note=note)


async def again(world: World, task_id: int, by: str = "ada") -> Agent:
    """The next run of a task that went back to pending."""
    actor = await claimed(world, task_id, by)
    await world.do(actor, "StartTask", task=task_id)
    return actor


async def check(world: World, actor: Agent, task: int, act: dict[str, Any], **more: Any) -> dict[str, Any]:
    return await world.do(actor, "CheckAct", task=task, act=act, **more)


# Acts ------------------------------------------------------------------------------------------------------


async def test_what_is_no_red_line_is_allowed_and_asks_nobody(world: World) -> None:
    task, ada = await working(world)
    before = await world.events()
    assert await check(world, ada, task.id, {"tool": "shell", "command": "pytest"}) == {"allowed": True}
    assert await world.events() == before
    assert await world.pending(f"task:{task.id}") == []


async def test_an_act_at_a_red_line_waits_for_the_operator_who_sees_exactly_it(world: World) -> None:
    task, ada = await working(world)
    answer = await check(world, ada, task.id, DELETE)
    assert (answer["allowed"], answer["line"]) == (False, "data_deletion")
    (asked,) = await world.pending(f"task:{task.id}")
    assert (asked.id, asked.kind, asked.payload) == (answer["waits"], "red_line", DELETE)
    assert (await world.task(task.id)).status == TaskStatus.WAITING_HUMAN
    items = [item for item in await owed(world.board.readers) if item.entity == f"task:{task.id}"]
    assert [(item.kind, item.urgent) for item in items] == [("red_line", True)]
    with pytest.raises(Fenced):
        await check(world, ada, task.id, {"tool": "shell", "command": "pytest"})


async def test_an_approval_covers_exactly_that_act_once(world: World) -> None:
    task, ada = await working(world)
    asked = (await check(world, ada, task.id, DELETE))["waits"]
    await world.finish(ada)
    await decide(world, asked)
    ada = await again(world, task.id)
    with pytest.raises(Conflict, match="something else"):
        await check(world, ada, task.id, {**DELETE, "command": "rm -rf data"}, approval=asked)
    assert await check(world, ada, task.id, DELETE, approval=asked) == {"allowed": True, "approval": asked}
    assert (await world.find(Approval, asked)).status == "consumed"
    with pytest.raises(Conflict):
        await check(world, ada, task.id, DELETE, approval=asked)
    second = await check(world, ada, task.id, DELETE)
    assert second["waits"] != asked


async def test_the_approval_is_found_by_what_was_approved(world: World) -> None:
    task, ada = await working(world)
    asked = (await check(world, ada, task.id, DELETE))["waits"]
    await world.finish(ada)
    await decide(world, asked, note="only this once")
    ada = await again(world, task.id)
    assert await check(world, ada, task.id, dict(reversed(DELETE.items()))) == {"allowed": True, "approval": asked}


async def test_an_approval_is_bound_to_its_task(world: World) -> None:
    task, ada = await working(world)
    asked = (await check(world, ada, task.id, DELETE))["waits"]
    await world.finish(ada)
    await decide(world, asked)
    other, bob = await working(world, by="bob")
    with pytest.raises(Conflict, match="not about this"):
        await check(world, bob, other.id, DELETE, approval=asked)
    assert (await check(world, bob, other.id, DELETE))["waits"] != asked


@pytest.mark.parametrize("decision", ["rejected", "revision_requested"])
async def test_a_no_is_told_to_the_next_run_which_goes_on_without(world: World, decision: str) -> None:
    task, ada = await working(world)
    asked = (await check(world, ada, task.id, DELETE))["waits"]
    await world.finish(ada)
    await decide(world, asked, decision, "keep the old data")
    assert (await world.task(task.id)).reason == "keep the old data"
    ada = await again(world, task.id)
    with pytest.raises(Conflict):
        await check(world, ada, task.id, DELETE, approval=asked)
    answer = await check(world, ada, task.id, DELETE)
    assert answer["allowed"] is False
    assert "keep the old data" in answer["why"]
    assert "waits" not in answer
    assert await world.pending(f"task:{task.id}") == []
    assert (await world.task(task.id)).status == TaskStatus.WORKING
    await world.delivered(ada, task.id)


async def test_two_checks_at_once_use_an_approval_once(world: World) -> None:
    task, ada = await working(world)
    asked = (await check(world, ada, task.id, DELETE))["waits"]
    await world.finish(ada)
    await decide(world, asked)
    ada = await again(world, task.id)
    tries = [check(world, ada, task.id, DELETE, approval=asked) for _ in range(10)]
    answers = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(answer, dict) and answer["allowed"] for answer in answers) == 1
    assert (await world.events("ApprovalConsumed")) == ["ApprovalConsumed"]


async def test_a_line_that_blocks_refuses_tells_and_asks_nobody(world: World) -> None:
    task, ada = await working(world)
    for _ in range(3):
        answer = await check(world, ada, task.id, SECRET)
        assert (answer["allowed"], answer["line"]) == (False, "secret_exposure")
    assert (await world.task(task.id)).status == TaskStatus.WORKING
    assert await world.pending(f"task:{task.id}") == []
    assert await world.events("RedLineBlocked") == ["RedLineBlocked"] * 3
    (told,) = await world.all(Comment, "task_id = :task AND author = 'system'", task=task.id)
    assert "secret_exposure" in told.body
    assert "hunter2" not in told.body
    await world.delivered(ada, task.id)


async def test_another_kind_of_approval_opens_no_gate(world: World) -> None:
    task, ada = await working(world)
    asked = await world.do(ada, "AskOperator", task=task.id, kind="question", title="May I?", payload=DELETE)
    await decide(world, asked["approval"])
    await world.finish(ada)
    ada = await again(world, task.id)
    with pytest.raises(Conflict):
        await check(world, ada, task.id, DELETE, approval=asked["approval"])


async def test_only_the_current_run_of_a_working_task_checks_acts(world: World) -> None:
    task, ada = await working(world)
    bob = await world.run("bob", RunKind.MENTION, task_id=task.id)
    with pytest.raises(Fenced):
        await check(world, bob, task.id, DELETE)
    await world.finish(bob)
    with pytest.raises(Forbidden):
        await world.operator("CheckAct", task=task.id, act=DELETE)
    other = await tagged(world)
    bob = await claimed(world, other.id, "bob")
    with pytest.raises(Conflict, match="claimed"):
        await check(world, bob, other.id, DELETE)
    assert ada.run_id != bob.run_id


@pytest.mark.parametrize("act", [{}, {"x": "a" * 50_000}, {"x": "half \ud800"}])
async def test_what_cannot_be_checked_is_refused(world: World, act: dict[str, Any]) -> None:
    task, ada = await working(world)
    with pytest.raises(Invalid):
        await check(world, ada, task.id, act)
    assert (await world.task(task.id)).status == TaskStatus.WORKING


async def test_a_long_act_is_asked_about_with_a_short_title_and_its_whole_payload(world: World) -> None:
    task, ada = await working(world)
    act = {"tool": "shell", "command": "rm -rf data/" + "x" * 5000}
    await check(world, ada, task.id, act)
    (asked,) = await world.pending(f"task:{task.id}")
    assert len(asked.title) <= 200
    assert asked.payload == act


async def test_while_the_file_is_broken_the_last_good_lines_hold_for_runs_at_work(world: World) -> None:
    task, ada = await working(world)
    world.door.book.current = Guardrails(shipped().lines, "guardrails.yaml, line 1, column 1: broken")
    assert (await check(world, ada, task.id, {"tool": "shell", "command": "pytest"}))["allowed"] is True
    assert (await check(world, ada, task.id, DELETE))["allowed"] is False


# Starts ----------------------------------------------------------------------------------------------------


async def test_the_title_of_a_task_is_no_red_line(world: World) -> None:
    goal = await world.an_active_goal()
    for title in ("Delete the unused import", "Drop table customers", "把生产数据库清空", "git push to production"):
        made = await world.operator("CreateTask", goal=goal.id, title=title, intent=title, tags=("docs",))
        ada = await claimed(world, made["id"])
        assert (await world.do(ada, "StartTask", task=made["id"]))["status"] == "working"
        await world.do(ada, "FailTask", task=made["id"], reason="enough")
        await world.finish(ada)
    assert await world.all(Approval) == []


async def test_a_task_with_a_red_tag_waits_before_it_starts_and_an_approval_covers_one_start(world: World) -> None:
    task = await tagged(world, "docs", "deploy")
    ada = await claimed(world, task.id)
    answer = await world.do(ada, "StartTask", task=task.id)
    assert (answer["status"], answer["allowed"], answer["line"]) == ("waiting_human", False, "production_change")
    asked = await world.find(Approval, answer["waits"])
    assert asked.entity == f"task:{task.id}"
    assert {name: asked.payload[name] for name in ("task", "tag", "title")} == {
        "task": task.id, "tag": "deploy", "title": "Roll version 2 out",
    }  # fmt: skip
    await world.finish(ada)
    assert [item.kind for item in await owed(world.board.readers) if item.entity == f"task:{task.id}"] == ["red_line"]
    await decide(world, asked.id)
    assert (await world.task(task.id)).status == TaskStatus.PENDING
    bob = await claimed(world, task.id, "bob")
    assert (await world.do(bob, "StartTask", task=task.id))["status"] == "working"
    assert (await world.find(Approval, asked.id)).status == "consumed"
    await world.finish(bob, "failed")  # the task goes back: another start is another decision
    ada = await claimed(world, task.id)
    second = await world.do(ada, "StartTask", task=task.id)
    assert second["status"] == "waiting_human"
    assert second["waits"] != asked.id


async def test_a_start_that_was_approved_does_not_open_the_gate_for_acts(world: World) -> None:
    task = await tagged(world, "deploy")
    ada = await claimed(world, task.id)
    asked = (await world.do(ada, "StartTask", task=task.id))["waits"]
    await world.finish(ada)
    await decide(world, asked)
    ada = await again(world, task.id)
    assert (await check(world, ada, task.id, {"command": "kubectl apply -f web.yaml"}))["allowed"] is False


async def test_a_start_that_is_rejected_ends_the_task_with_the_reason(world: World) -> None:
    task = await tagged(world, "deploy")
    ada = await claimed(world, task.id)
    asked = (await world.do(ada, "StartTask", task=task.id))["waits"]
    (item,) = [item for item in await owed(world.board.readers) if item.entity == f"task:{task.id}"]
    assert {choice.key: choice.effect for choice in item.choices}["b"] == "it is cancelled"
    await decide(world, asked, "rejected", "not this week")
    after = await world.task(task.id)
    assert (after.status, after.reason) == (TaskStatus.CANCELLED, "not this week")


async def test_a_start_that_is_sent_back_is_asked_about_again(world: World) -> None:
    task = await tagged(world, "deploy")
    ada = await claimed(world, task.id)
    asked = (await world.do(ada, "StartTask", task=task.id))["waits"]
    await world.finish(ada)
    await decide(world, asked, "revision_requested", "say which version")
    assert (await world.task(task.id)).reason == "say which version"
    ada = await claimed(world, task.id)
    assert (await world.do(ada, "StartTask", task=task.id))["waits"] != asked


async def test_a_task_with_a_tag_that_blocks_waits_for_a_person_without_a_question(world: World) -> None:
    task = await tagged(world, "permissions")
    ada = await claimed(world, task.id)
    answer = await world.do(ada, "StartTask", task=task.id)
    assert (answer["status"], answer["allowed"], answer.get("waits")) == ("waiting_human", False, None)
    await world.finish(ada)
    (item,) = [item for item in await owed(world.board.readers) if item.entity == f"task:{task.id}"]
    assert "authority_change" in item.why
    assert await world.pending(f"task:{task.id}") == []
    await world.operator("CancelTask", task=task.id, reason="no")


async def test_a_held_run_ends_well_and_costs_no_attempt(world: World) -> None:
    task = await tagged(world, "deploy")
    ada = await claimed(world, task.id)
    await world.do(ada, "StartTask", task=task.id)
    assert (await world.find(Run, ada.run_id)).status == RunStatus.RUNNING
    await world.finish(ada)
    assert (await world.task(task.id)).attempts == 0


# Publications ----------------------------------------------------------------------------------------------


def output(**more: Any) -> dict[str, Any]:
    return {"type": "document", "title": "Summary", "content": "We counted 42 files.", **more}


async def test_what_is_marked_for_publication_waits_and_is_kept_once_it_is_approved(world: World) -> None:
    task, ada = await working(world)
    answer = await world.do(ada, "AddOutput", task=task.id, publish=True, **output())
    assert (answer["allowed"], answer["line"]) == (False, "outside_publication")
    assert await world.all(Output) == []
    asked = await world.find(Approval, answer["waits"])
    assert asked.payload["content"] == "We counted 42 files."
    assert asked.payload["title"] == "Summary"
    await world.finish(ada)
    await decide(world, asked.id)
    ada = await again(world, task.id)
    changed = await world.do(ada, "AddOutput", task=task.id, **output())  # not published: no gate
    kept = await world.do(ada, "AddOutput", task=task.id, publish=True, **output())
    assert [(o.id, o.publish) for o in await world.all(Output)] == [(changed["id"], False), (kept["id"], True)]
    assert (await world.find(Approval, asked.id)).status == "consumed"
    assert (await world.do(ada, "AddOutput", task=task.id, publish=True, **output()))["allowed"] is False


async def test_a_changed_publication_is_another_one(world: World) -> None:
    task, ada = await working(world)
    answer = await world.do(ada, "AddOutput", task=task.id, publish=True, **output())
    await world.finish(ada)
    await decide(world, answer["waits"])
    ada = await again(world, task.id)
    other = await world.do(ada, "AddOutput", task=task.id, publish=True, **output(content="We counted 43 files."))
    assert other["allowed"] is False
    assert await world.all(Output) == []


async def test_a_file_that_changed_after_its_approval_is_not_published(world: World) -> None:
    file = world.folder / "outputs" / "report.md"
    file.write_text("42")
    task, ada = await working(world)
    answer = await world.do(ada, "AddOutput", task=task.id, publish=True, **output(content=None, path="report.md"))
    await world.finish(ada)
    await decide(world, answer["waits"])
    ada = await again(world, task.id)
    file.write_text("43")
    other = await world.do(ada, "AddOutput", task=task.id, publish=True, **output(content=None, path="report.md"))
    assert other["allowed"] is False


async def test_a_secret_in_a_publication_is_blocked(world: World) -> None:
    task, ada = await working(world)
    leaky = output(content="password: hunter2hunter2")
    answer = await world.do(ada, "AddOutput", task=task.id, publish=True, **leaky)
    assert (answer["allowed"], answer["line"]) == (False, "secret_exposure")
    assert await world.all(Output) == []
    assert (await world.task(task.id)).status == TaskStatus.WORKING


async def test_only_an_output_of_a_task_is_published(world: World) -> None:
    goal = await world.an_active_goal()
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    with pytest.raises(Invalid, match="task"):
        await world.do(cora, "AddOutput", goal=goal.id, publish=True, **output())


# The company -----------------------------------------------------------------------------------------------


async def test_a_company_with_broken_guardrails_is_not_started(tmp_path: Path) -> None:
    async with a_company(tmp_path, started=False) as world:
        world.door.book.current = Guardrails((), "guardrails.yaml, line 3, column 7: broken")
        with pytest.raises(Conflict, match="line 3, column 7"):
            await world.operator("StartCompany")
        world.door.book.current = Guardrails()
        assert (await world.operator("StartCompany"))["dispatching"] is True


async def test_no_run_starts_while_the_guardrails_are_broken(world: World) -> None:
    ada = await world.agent("ada")
    asked = await world.system("QueueRun", kind="mention", agent_id=ada.id, key="x")
    world.door.book.current = Guardrails((), "guardrails.yaml, line 3, column 7: broken")
    answer = await world.system("StartRun", run=asked["id"], owner="o")
    assert (answer["started"], answer["scope"]) == (False, "company")
    assert "line 3" in answer["why"]


async def test_dispatching_is_held_while_runs_at_work_go_on(world: World) -> None:
    task, ada = await working(world)
    await world.system("HoldDispatching", reason="guardrails.yaml, line 3")
    assert (await world.find(Run, ada.run_id)).status == RunStatus.RUNNING
    await world.delivered(ada, task.id)
    with pytest.raises(Forbidden):
        await world.operator("HoldDispatching", reason="x")
    before = await world.events()
    await world.system("HoldDispatching", reason="guardrails.yaml, line 3")
    assert await world.events() == before


async def test_a_company_at_work_is_not_stopped_by_the_word_that_all_is_well(world: World) -> None:
    answer = await world.system("HoldDispatching", reason="guardrails.yaml is in order", only_the_reason=True)
    assert answer["dispatching"] is True
    await world.operator("StopCompany", reason="lunch")
    await world.system("HoldDispatching", reason="guardrails.yaml is in order", only_the_reason=True)
    assert (await world.read(lambda tx: tx.value("SELECT stop_reason FROM company"))) == "lunch"
