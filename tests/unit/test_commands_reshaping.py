"""Tasks get another shape: split without loss, sent back to their author; rounds are ended (S2-13, S2-33)."""

from typing import Any

import pytest

from core.domain.entities import Mention, Round, Run, Task, TaskDep
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import TASKS_PER_RUN
from core.domain.states import RoundStatus, RunKind, RunStatus, TaskStatus
from core.gathering import gather
from core.simulation.laws import broken_laws
from core.waiting import owed
from tests.unit.world import World


def part(title: str, *must_haves: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "end_state": f"{title} is done", "must_haves": must_haves, **more}


TWO = (part("one"), part("two"))


async def chain(world: World, **more: Any) -> tuple[int, int, int]:
    """Three tasks of an open round, each waiting for the one before."""
    goal = await world.an_active_goal("first", "whole", "last", **more)
    first, whole, last = (task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id))
    await world.operator("AddDependency", task=whole, depends_on=first, on_fail="hold")
    await world.operator("AddDependency", task=last, depends_on=whole, on_fail="proceed")
    return first, whole, last


async def waits_for(world: World, task: int) -> list[tuple[int, str]]:
    edges = await world.all(TaskDep, "task_id = :t AND met = 0 ORDER BY depends_on", t=task)
    return [(edge.depends_on, str(edge.on_fail)) for edge in edges]


# Splitting ---------------------------------------------------------------------------------------------------


async def test_parts_wait_for_what_the_whole_waited_for_and_its_dependents_wait_for_all_parts(world: World) -> None:
    first, whole, last = await chain(world)
    answer = await world.operator("SplitTask", task=whole, parts=TWO, reason="too large")
    one, two = answer["parts"]
    assert [await waits_for(world, number) for number in (one, two, last)] == [
        [(first, "hold")], [(first, "hold")], [(one, "proceed"), (two, "proceed")],
    ]  # fmt: skip
    gone = await world.task(whole)
    assert (gone.status, gone.reason) == (TaskStatus.CANCELLED, f"too large (in its place: T{one}, T{two})")
    assert [(await world.task(number)).parent_id for number in (one, two)] == [whole, whole]
    assert (await world.task(last)).status == TaskStatus.PENDING
    assert await world.read(broken_laws) == []
    await world.brought_to(first, "done")
    await world.brought_to(one, "done")
    assert (await world.task(last)).open_deps == 1
    await world.brought_to(two, "done")
    assert (await world.task(last)).open_deps == 0


async def test_the_parts_of_the_last_open_task_keep_its_round_open(world: World) -> None:
    task, _ = await world.a_task()
    await world.operator("SplitTask", task=task.id, parts=TWO, reason="too large")
    round_ = await world.round_of(task.goal_id)
    assert (round_.status, round_.open_tasks, round_.total_tasks) == (RoundStatus.OPEN, 2, 3)


async def test_a_blocked_task_of_a_stalled_round_is_split_and_the_round_goes_on(world: World) -> None:
    task, _ = await world.a_task("blocked")
    await world.system("StallRound", round=task.round_id, why="so")
    cora = await world.run("cora", RunKind.STALL, goal_id=task.goal_id)
    await world.do(cora, "SplitTask", task=task.id, parts=TWO, reason="only one half is blocked")
    assert (await world.round_of(task.goal_id)).status == RoundStatus.OPEN
    assert await world.read(broken_laws) == []


async def test_parts_of_a_draft_are_drafts(world: World) -> None:
    goal = await world.a_goal()
    draft = (await world.all(Task, "goal_id = :g", g=goal.id))[0]
    parts = (await world.operator("SplitTask", task=draft.id, parts=TWO, reason="two things"))["parts"]
    assert {(await world.task(number)).status for number in parts} == {TaskStatus.DRAFT}


@pytest.mark.parametrize("status", ["claimed", "working", "review", "waiting_human", "done", "failed", "cancelled"])
async def test_what_somebody_works_on_or_has_ended_is_not_split(world: World, status: str) -> None:
    task, _ = await world.a_task(status)
    with pytest.raises(Conflict, match=f"{task.name_tag} is {status}"):
        await world.operator("SplitTask", task=task.id, parts=TWO, reason="too large")


async def test_no_must_have_is_lost_on_the_way(world: World) -> None:
    more = {"must_haves": ("count", "sizes", "dates"), "tasks": ({"title": "all", "must_haves": ("M1", "M2", "M3")},)}
    task, _ = await world.a_task(**more)
    await world.operator("WaiveMustHave", goal=task.goal_id, must_have="M3")
    with pytest.raises(Invalid, match="No part names M2"):
        await world.operator("SplitTask", task=task.id, parts=(part("one", "M1"), part("two", "M1")), reason="r")
    await world.operator("SplitTask", task=task.id, parts=(part("one", "M1"), part("two", "M2")), reason="r")


async def test_a_part_cannot_wait_for_the_whole_nor_make_a_circle(world: World) -> None:
    _, whole, last = await chain(world)
    for other, error in ((whole, Invalid), (last, Conflict)):
        parts = (part("one"), part("two", depends_on=({"task": other},)))
        with pytest.raises(error):
            await world.operator("SplitTask", task=whole, parts=parts, reason="r")
    assert (await world.task(whole)).status == TaskStatus.PENDING


async def test_agents_parts_are_well_formed_in_their_own_goal_and_not_without_end(world: World) -> None:
    task, _ = await world.a_task(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
    cora = await world.run("cora", RunKind.PLAN, goal_id=task.goal_id)
    parts = (part("one"), {"title": "two", "must_haves": ("M1",)})
    with pytest.raises(Invalid, match=r"'one' lacks the must-have.*'two' lacks an end state"):
        await world.do(cora, "SplitTask", task=task.id, parts=parts, reason="r")
    with pytest.raises(Forbidden):
        await world.do(await world.run("ada", goal_id=task.goal_id), "SplitTask", task=task.id, parts=TWO, reason="r")
    for number in range(TASKS_PER_RUN - 1):
        await world.do(cora, "CreateTask", goal=task.goal_id, **part(str(number), "M1"))
    with pytest.raises(Conflict, match="limit"):
        await world.do(cora, "SplitTask", task=task.id, parts=(part("a", "M1"), part("b", "M1")), reason="r")
    await world.finish(cora)
    stranger = await world.run("cora", RunKind.PLAN, goal_id=(await world.an_active_goal()).id)
    with pytest.raises(Forbidden, match="not about"):
        await world.do(stranger, "SplitTask", task=task.id, parts=(part("a", "M1"), part("b", "M1")), reason="r")


async def test_a_person_may_split_roughly(world: World) -> None:
    task, _ = await world.a_task()
    await world.operator("SplitTask", task=task.id, parts=({"title": "a"}, {"title": "b"}), reason="r")


# Sending back ------------------------------------------------------------------------------------------------


async def test_a_task_sent_back_wakes_its_author_who_mends_it_and_offers_it_anew(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    made = (await world.do(ada, "CreateTask", goal=task.goal_id, **part("vague")))["id"]
    cora = await world.run("cora", RunKind.ROUND_REVIEW, goal_id=task.goal_id)
    answer = await world.do(cora, "SendBackTask", task=made, why="Done is not a state that can be checked.")
    assert (answer["status"], answer["wakes"]) == ("draft", ["ada"])
    assert [mention.task_id for mention in await world.all(Mention, "status = 'pending'")] == [made]
    await world.do(ada, "EditTask", task=made, end_state="")
    with pytest.raises(Invalid, match="end_state"):
        await world.do(ada, "EnqueueTask", task=made)
    await world.do(ada, "EditTask", task=made, end_state="every file is counted")
    await world.do(ada, "EnqueueTask", task=made)
    assert (await world.task(made)).status == TaskStatus.PENDING
    assert await world.read(broken_laws) == []


async def test_only_the_author_mends_what_was_sent_back(world: World) -> None:
    task, _ = await world.a_task()
    await world.operator("SendBackTask", task=task.id, why="what is counted?")
    ada = await world.run("ada", goal_id=task.goal_id)
    for command, arguments in (("EditTask", {"end_state": "x"}), ("EnqueueTask", {})):
        with pytest.raises(Forbidden, match="not sent back to you"):
            await world.do(ada, command, task=task.id, **arguments)


async def test_a_persons_task_that_came_back_waits_in_the_inbox(world: World) -> None:
    task, _ = await world.a_task()
    await world.system("SendBackTask", task=task.id, why="what is counted?")
    item = next(item for item in await owed(world.board.readers) if item.entity == f"task:{task.id}")
    assert "what is counted?" in item.why
    assert [choice.command for choice in item.choices] == ["EnqueueTask", "CancelTask"]
    await world.operator("EnqueueTask", task=task.id)
    assert (await world.task(task.id)).status == TaskStatus.PENDING


async def test_all_that_is_missing_in_all_tasks_is_named_at_once_and_no_round_is_opened(world: World) -> None:
    goal = await world.an_active_goal(must_haves=("count",), tasks=({"title": "Count", "must_haves": ("M1",)},))
    await world.brought_to((await world.all(Task))[0].id, "done")
    cora = await world.run("cora", RunKind.ROUND_REVIEW, goal_id=goal.id)
    round_ = await world.round_of(goal.id)
    answers = {"goal_clear": "y", "covered": "n", "next_step": "more", "decision": "next_round"}
    tasks = ({"title": "rough"}, part("good", "M1"), part("aimless"))
    with pytest.raises(Invalid, match=r"'rough' lacks an end state .* and the must-have .*; 'aimless' lacks"):
        await world.do(cora, "ReviewRound", round=round_.id, tasks=tasks, **answers)
    assert (await world.find(Round, round_.id)).status == RoundStatus.REVIEWING


# Ending a round, and rounds that wait for people ---------------------------------------------------------------


async def test_the_operator_ends_a_round_that_stands_still_and_it_comes_to_its_review(world: World) -> None:
    task, _ = await world.a_task("blocked")
    await world.operator("CreateTask", goal=task.goal_id, title="another")
    round_ = await world.round_of(task.goal_id)
    await world.system("StallRound", round=round_.id, why="so")
    cora = await world.run("cora", RunKind.STALL, goal_id=task.goal_id, round_id=round_.id)
    answer = await world.operator("EndRound", round=round_.id, reason="that is enough")
    assert (answer["status"], len(answer["cancelled"])) == ("reviewing", 2)
    assert {found.status for found in await world.all(Task)} == {TaskStatus.CANCELLED}
    assert (await world.find(Round, round_.id)).answers["ended"] == "that is enough"
    assert (await world.find(Run, cora.run_id)).status == RunStatus.KILLED
    assert await world.read(broken_laws) == []


async def test_an_open_round_is_ended_too_and_work_in_it_stops(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    round_ = await world.round_of(task.goal_id)
    await world.operator("EndRound", round=round_.id, reason="enough")
    assert (await world.find(Run, ada.run_id)).status == RunStatus.KILLED
    assert (await world.find(Round, round_.id)).status == RoundStatus.REVIEWING


async def test_a_round_that_is_reviewed_or_closed_is_not_ended(world: World) -> None:
    task, _ = await world.a_task("done")
    round_ = await world.round_of(task.goal_id)
    with pytest.raises(Conflict, match="is reviewing"):
        await world.operator("EndRound", round=round_.id, reason="enough")
    await world.operator("CancelGoal", goal=task.goal_id, reason="enough")
    with pytest.raises(Conflict, match="is closed"):
        await world.operator("EndRound", round=round_.id, reason="enough")


@pytest.mark.parametrize("status", ["waiting_human", "blocked"])
async def test_a_stalled_round_in_which_all_waits_for_a_person_is_known_as_such(world: World, status: str) -> None:
    first, whole, _last = await chain(world)
    await world.brought_to(first, status)
    round_ = await world.round_of((await world.task(whole)).goal_id)
    await world.system("StallRound", round=round_.id, why="so")
    found = await world.read(lambda tx: gather(tx, 1, lambda _runs: {}))
    assert found.only_people == (frozenset({round_.id}) if status == "waiting_human" else frozenset())


async def test_what_the_whole_may_not_do_no_part_of_it_may(world: World) -> None:
    tasks = ({"title": "whole", "constraints": ("read only", "no links")},)
    goal = await world.an_active_goal(tasks=tasks)
    (whole,) = await world.all(Task, "goal_id = :g", g=goal.id)
    parts = (part("one"), part("two", constraints=("no links", "a page at most")))
    made = (await world.operator("SplitTask", task=whole.id, parts=parts, reason="too large"))["parts"]
    assert [(await world.task(number)).constraints for number in made] == [
        ("read only", "no links"), ("read only", "no links", "a page at most"),
    ]  # fmt: skip
