"""Outputs gathered for a goal, a task and all below it, or a round; the material of a review (S2-11, S2-34)."""

from typing import Any

import pytest

from core.aggregate import BODY_MAX, COMMENTS_MAX, CONTENT_MAX, aggregate_outputs, round_material
from core.domain.entities import Output, Task
from core.domain.errors import Invalid, NotFound
from tests.unit.world import World


async def split_work(world: World) -> tuple[int, int, list[int]]:
    """A goal's number, a task that was split and its parts; each part and another task delivered something."""
    goal = await world.an_active_goal(
        "whole", "other", must_haves=("count",),
        tasks=({"title": "whole", "must_haves": ("M1",)}, {"title": "other"}),
    )  # fmt: skip
    whole, other = (task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id))
    parts = [{"title": title, "must_haves": ("M1",)} for title in ("one", "two")]
    made = (await world.operator("SplitTask", task=whole, parts=parts, reason="large"))["parts"]
    for task in (*made, other):
        await world.brought_to(task, "done")
    return goal.id, whole, made


async def put_outputs(world: World, goal: int, count: int, content: str) -> None:
    """Many outputs of the goal at once, as they lie on the board."""

    def insert(tx: Any) -> None:
        for number in range(count):
            tx.insert(
                Output, "OutputAdded", goal_id=goal, task_id=None, run_id=None, type="data", title=f"more {number}",
                summary="", content=content, path=None, sha256="0", size=len(content), created_by="ada",
            )  # fmt: skip

    await world.read(insert)


async def test_a_tasks_outputs_are_those_of_all_below_it(world: World) -> None:
    goal, whole, parts = await split_work(world)
    found = await aggregate_outputs(world.board.readers, task=whole)
    assert (found["of"], found["total"], found["left_out"]) == (f"task:{whole}", 2, 0)
    assert [output["task"] for output in found["outputs"]] == parts
    assert {output["task_status"] for output in found["outputs"]} == {"done"}
    assert found["outputs"][0]["must_haves"] == ["M1"]
    assert found["outputs"][0]["content"] == "42 files"
    assert (await aggregate_outputs(world.board.readers, task=parts[0]))["total"] == 1
    for subject in ({"goal": goal}, {"round": (await world.round_of(goal)).id}):
        assert (await aggregate_outputs(world.board.readers, **subject))["total"] == 3


async def test_it_is_bounded_and_says_how_much_is_left_out(world: World) -> None:
    goal, _, _ = await split_work(world)
    await put_outputs(world, goal, 5, "x" * (CONTENT_MAX + 1))
    found = await aggregate_outputs(world.board.readers, goal=goal, limit=4)
    assert (found["total"], len(found["outputs"]), found["left_out"]) == (8, 4, 4)
    last = found["outputs"][-1]
    assert (len(last["content"]), last["content_cut"], last["task"]) == (CONTENT_MAX, True, None)
    assert found["bytes"] == 3 * len("42 files") + 5 * (CONTENT_MAX + 1)
    assert (await aggregate_outputs(world.board.readers, goal=goal, limit=-1))["outputs"] == []


@pytest.mark.parametrize("subject", [{"goal": 99}, {"task": 99}, {"round": 99}])
async def test_what_is_not_there_is_not_found(world: World, subject: dict[str, int]) -> None:
    with pytest.raises(NotFound):
        await aggregate_outputs(world.board.readers, **subject)


@pytest.mark.parametrize("subject", [{}, {"goal": 1, "task": 1}])
async def test_exactly_one_subject_is_named(world: World, subject: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        await aggregate_outputs(world.board.readers, **subject)


async def test_a_rounds_review_gets_the_goal_its_outputs_and_what_was_said(world: World) -> None:
    goal, whole, parts = await split_work(world)
    round_ = await world.round_of(goal)
    await world.operator("AddComment", goal=goal, body="Do not forget the links.")
    found = await round_material(world.board.readers, round_.id)
    snapshot = found["goal_snapshot"]
    assert [(must["id"], must["state"], len(must["outputs"])) for must in snapshot["must_haves"]] == [
        ("M1", "covered", 2)
    ]
    assert {task["id"]: task["status"] for task in snapshot["tasks"]}[whole] == "cancelled"
    assert (snapshot["round"], snapshot["round_cap"]) == (1, 8)
    assert found["round_outputs"]["total"] == 3
    said = found["round_comments"]["comments"]
    assert said[-1]["body"] == "Do not forget the links."
    assert {comment["task"] for comment in said} >= set(parts)
    assert [comment["id"] for comment in said] == sorted(comment["id"] for comment in said)


async def test_long_talk_is_cut_to_the_newest(world: World) -> None:
    goal = await world.an_active_goal()
    for number in range(COMMENTS_MAX + 3):
        await world.operator("AddComment", goal=goal.id, body=f"{number} " + "x" * BODY_MAX)
    found = (await round_material(world.board.readers, (await world.round_of(goal.id)).id))["round_comments"]
    assert (found["total"], found["left_out"]) == (COMMENTS_MAX + 3, 3)
    assert found["comments"][0]["body"].startswith("3 ")
    assert all(comment["cut"] and len(comment["body"]) == BODY_MAX for comment in found["comments"])


async def test_a_round_that_is_not_there_has_no_material(world: World) -> None:
    with pytest.raises(NotFound):
        await round_material(world.board.readers, 99)


async def test_what_a_lost_run_left_is_superseded_by_the_next_delivery(world: World) -> None:
    task, lost = await world.a_task("working", must_haves=("count",), tasks=({"title": "c", "must_haves": ("M1",)},))
    assert lost is not None
    left = await world.do(lost, "AddOutput", task=task.id, type="data", title="41", content="41", must_haves=("M1",))
    alone = await aggregate_outputs(world.board.readers, task=task.id)
    assert [output["superseded"] for output in alone["outputs"]] == [False]
    await world.finish(lost, "failed")
    await world.brought_to(task.id, "done", "bob")
    found = await aggregate_outputs(world.board.readers, goal=task.goal_id)
    assert [(output["id"] == left["id"], output["superseded"]) for output in found["outputs"]] == [
        (True, True), (False, False),
    ]  # fmt: skip
    material = await round_material(world.board.readers, task.round_id or 0)
    assert material["goal_snapshot"]["must_haves"][0]["outputs"] == [found["outputs"][1]["id"]]
