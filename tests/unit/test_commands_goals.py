"""Goals: drafts, reviews, dispatch, must-haves (S1-10…18, D-02, F10)."""

from dataclasses import replace

import pytest

from core.domain.entities import Goal, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus, Origin, RunKind, TaskStatus
from tests.unit.world import OPERATOR, World


async def tasks_of(world: World, goal: Goal) -> list[Task]:
    return await world.all(Task, "goal_id = :goal ORDER BY id", goal=goal.id)


async def test_a_new_goal_is_always_a_draft(world: World) -> None:
    assert (await world.a_goal()).status == GoalStatus.DRAFT
    assert (await world.a_goal(by="vera", title="Audit more")).status == GoalStatus.DRAFT


async def test_an_unsplit_goal_has_exactly_one_draft_task_with_its_description(world: World) -> None:
    goal = await world.a_goal(split=False, description="Count every file, twice.")
    tasks = await tasks_of(world, goal)
    assert [(task.status, task.intent) for task in tasks] == [(TaskStatus.DRAFT, "Count every file, twice.")]


async def test_the_author_can_be_told_at_a_glance(world: World) -> None:
    own, proposed = await world.a_goal(), await world.a_goal(by="vera")
    assert (own.created_by, own.origin) == ("human", Origin.OPERATOR)
    assert (proposed.created_by, proposed.origin) == ("vera", Origin.CEO)


async def test_a_draft_of_the_ceo_is_not_dispatched_before_a_person_reviewed_it(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False, title="Audit everything")
    with pytest.raises(Conflict, match=f"G{goal.id} 'Audit everything'"):
        await world.operator("DispatchGoal", goal=goal.id)
    await world.operator("ReviewGoal", goal=goal.id, content_hash=goal.content_hash)
    assert (await world.operator("DispatchGoal", goal=goal.id))["status"] == "planning"


async def test_the_review_is_asked_for_before_a_missing_draft_task(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    for task in await tasks_of(world, goal):
        await world.operator("CancelTask", task=task.id, reason="not needed")
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.operator("DispatchGoal", goal=goal.id)
    await world.operator("ReviewGoal", goal=goal.id)
    with pytest.raises(Conflict, match="no draft task"):
        await world.operator("DispatchGoal", goal=goal.id)


async def test_an_unknown_goal_is_not_found_before_anything_else(world: World) -> None:
    with pytest.raises(Exception, match="There is no G77") as error:
        await world.operator("DispatchGoal", goal=77)
    assert getattr(error.value, "code", "") == "not_found"


async def test_a_humans_edit_reviews_what_it_saved(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    await world.operator("EditGoal", goal=goal.id, description="Only Markdown.")
    assert (await world.operator("DispatchGoal", goal=goal.id))["status"] == "planning"


async def test_an_edit_that_changes_nothing_is_no_review(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    answer = await world.operator("EditGoal", goal=goal.id, title=goal.title, description=goal.description)
    assert answer["changed"] is False
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.operator("DispatchGoal", goal=goal.id)


async def test_an_agents_edit_clears_the_review(world: World) -> None:
    goal = await world.a_goal(by="vera")
    vera = await world.run("vera")
    await world.do(vera, "EditGoal", goal=goal.id, title="Audit something else")
    assert not is_reviewed(await world.goal(goal.id))
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.operator("DispatchGoal", goal=goal.id)


async def test_an_agents_edit_that_changes_nothing_keeps_the_review(world: World) -> None:
    goal = await world.a_goal(by="vera")
    await world.do(await world.run("vera"), "EditGoal", goal=goal.id, title=goal.title)
    assert is_reviewed(await world.goal(goal.id))


async def test_an_agent_cannot_edit_a_persons_goal(world: World) -> None:
    goal = await world.a_goal()
    with pytest.raises(Forbidden):
        await world.do(await world.run("vera"), "EditGoal", goal=goal.id, title="Mine now")


async def test_a_review_or_dispatch_of_what_changed_meanwhile_is_refused(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    await world.do(await world.run("vera"), "EditGoal", goal=goal.id, title="Quietly changed")
    for act in ("ReviewGoal", "DispatchGoal"):
        with pytest.raises(Conflict, match="changed since you read it"):
            await world.operator(act, goal=goal.id, content_hash=goal.content_hash)


async def test_the_operators_own_draft_is_never_gated(world: World) -> None:
    goal = await world.a_goal()
    assert (await world.operator("DispatchGoal", goal=goal.id))["status"] == "planning"


async def test_a_ceo_cannot_dispatch(world: World) -> None:
    goal = await world.a_goal(by="vera")
    with pytest.raises(Forbidden):
        await world.do(await world.run("vera"), "DispatchGoal", goal=goal.id)


async def test_the_system_cannot_dispatch_what_nobody_reviewed(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.system("DispatchGoal", goal=goal.id)


async def test_inserting_tasks_does_not_touch_the_goal(world: World) -> None:
    goal = await world.a_goal()
    world.clock.advance(5_000)
    await world.operator("CreateTask", goal=goal.id, title="One more")
    after = await world.goal(goal.id)
    # Its hash covers what would begin (C-10); the person's own task leaves their review as it was.
    hashes = {"content_hash": after.content_hash, "reviewed_hash": after.content_hash}
    assert after == replace(goal, version=after.version, **hashes)
    assert after.content_hash != goal.content_hash


async def test_a_second_draft_of_the_ceo_is_refused_while_one_is_open(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    vera = await world.run("vera", RunKind.MENTION)
    with pytest.raises(Conflict, match=f"G{goal.id} is a CEO's draft"):
        await world.do(vera, "CreateGoal", title="Another", split=False)
    await world.operator("CancelGoal", goal=goal.id, reason="no")
    await world.do(vera, "CreateGoal", title="Another", split=False)


async def test_a_ceo_draft_is_unsplit_with_at_most_one_task(world: World) -> None:
    vera = await world.run("vera", RunKind.PROPOSE)
    with pytest.raises(Invalid, match="split: false"):
        await world.do(vera, "CreateGoal", title="Another")
    with pytest.raises(Invalid, match="exactly one draft task"):
        await world.do(vera, "CreateGoal", title="Another", split=False, tasks=({"title": "a"}, {"title": "b"}))


async def test_a_draft_sent_back_wakes_its_author_with_the_note(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    answer = await world.operator("ReviseGoal", goal=goal.id, note="Leave the tests out.")
    assert answer["wakes"] == ["vera"]
    with pytest.raises(Conflict, match="your own draft"):
        await world.operator("ReviseGoal", goal=(await world.a_goal()).id, note="hm")


async def covered_goal(world: World, *covers: str) -> Goal:
    """A goal with two must-haves whose one task, which covers these, is done; the report is due."""
    goal = await world.an_active_goal(
        must_haves=("count", "duplicates"), tasks=({"title": "Count", "must_haves": covers},)
    )
    task = (await tasks_of(world, goal))[0]
    await world.brought_to(task.id, "done")
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    review = {"goal_clear": "y", "covered": "y", "next_step": "report", "decision": "report"}
    await world.do(cora, "ReviewRound", round=(await world.round_of(goal.id)).id, **review)
    return await world.goal(goal.id)


async def cora_reports(world: World, goal: Goal) -> None:
    from core.domain.actors import Agent
    from core.domain.entities import Run

    run = (await world.all(Run, "kind = 'report' AND status = 'running'"))[0]
    cora = await world.agent("cora")
    await world.do(Agent(cora.id, "cora", run.id, run.fence), "ReportGoal", goal=goal.id, summary="All there.")


async def test_a_goal_is_reported_only_when_each_must_have_is_covered_or_waived_by_a_person(world: World) -> None:
    goal = await covered_goal(world, "M1")
    with pytest.raises(Conflict, match="M2 duplicates"):
        await cora_reports(world, goal)
    await world.operator("WaiveMustHave", goal=goal.id, must_have="M2")
    await cora_reports(world, goal)
    assert (await world.goal(goal.id)).status == GoalStatus.REPORTING
    assert (await world.goal(goal.id)).must_haves[1]["waived_by"] == "human"


async def test_only_a_person_waives_a_must_have_and_only_one_that_exists(world: World) -> None:
    goal = await world.a_goal(must_haves=("count",))
    with pytest.raises(Forbidden):
        await world.do(await world.run("cora"), "WaiveMustHave", goal=goal.id, must_have="M1")
    with pytest.raises(Invalid, match="It has: M1"):
        await world.operator("WaiveMustHave", goal=goal.id, must_have="M2")


async def test_a_task_that_is_not_done_covers_nothing(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
    await world.operator("CancelTask", task=(await tasks_of(world, goal))[0].id, reason="no")
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    with pytest.raises(Conflict, match="M1 count"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="All there.")


async def test_the_end_of_a_goal_ends_all_that_hangs_on_it(world: World) -> None:
    task, ada = await world.a_task("waiting_human")
    goal_id = task.goal_id
    await world.operator("CreateTask", goal=goal_id, title="Another")
    await world.operator("CancelGoal", goal=goal_id, reason="enough")
    assert {task.status for task in await tasks_of(world, await world.goal(goal_id))} == {TaskStatus.CANCELLED}
    assert (await world.round_of(goal_id)).status == "closed"
    assert await world.pending(f"task:{task.id}") == []
    assert ada is not None
    with pytest.raises(Forbidden):
        await world.do(ada, "AddComment", task=task.id, body="still here")


async def test_unknown_fields_are_refused_by_name(world: World) -> None:
    for arguments in ({"status": "active"}, {"title": ""}, {"title": "x" * 201}, {"title": "a", "round_cap": 0}):
        with pytest.raises(Invalid) as error:
            await world.operator("CreateGoal", **{"title": "ok", **arguments})
        assert any(field in error.value.message for field in arguments)


async def test_who_dispatched_is_written_down(world: World) -> None:
    goal = await world.a_goal()
    await world.do(OPERATOR, "DispatchGoal", goal=goal.id)
    rows = await world.read(lambda tx: tx.all("SELECT actor FROM events WHERE kind = 'GoalDispatched'"))
    assert [row["actor"] for row in rows] == ["human"]


async def test_other_words_under_an_id_that_something_delivers_get_a_new_id(world: World) -> None:
    """A goal that was recalled may have tasks that are done: they count for the words they were judged by."""
    goal = await world.an_active_goal(
        must_haves=("count", "sizes"), tasks=({"title": "Count", "must_haves": ("M1",)}, {"title": "Measure"})
    )
    await world.brought_to((await tasks_of(world, goal))[0].id, "done")

    await world.read(lambda tx: tx.update(tx.get(Goal, goal.id), "GoalRecalled", status=GoalStatus.DRAFT))
    await world.operator("CreateTask", goal=goal.id, title="Again", must_haves=("M1", "M2"), draft=True)
    musts = ({"id": "M1", "text": "count the links"}, {"id": "M2", "text": "sizes in KiB"})
    edited = await world.operator("EditGoal", goal=goal.id, must_haves=musts)
    assert [(must["id"], must["text"]) for must in edited["must_haves"]] == [
        ("M3", "count the links"), ("M2", "sizes in KiB"),
    ]  # fmt: skip
    assert (await tasks_of(world, goal))[-1].must_haves == ("M3", "M2")
