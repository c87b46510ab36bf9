"""A goal at work is changed only by a person who saw the old and the new side by side (S2-12, S3-19, F10)."""

from typing import Any

import pytest

from core.domain.actors import Agent
from core.domain.entities import Approval, Goal, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import is_reviewed
from core.domain.states import RoundStatus, RunKind, TaskStatus
from core.simulation.laws import broken_laws
from tests.unit.world import World

THREE = {"goal_clear": "no", "covered": "in part", "next_step": "ask"}
PART = {"title": "sizes", "end_state": "the size of every file is known"}


async def at_the_end_of_round_1(world: World, *musts: str, covers: tuple[str, ...] = ("M1",)) -> tuple[Goal, Agent]:
    """A goal whose one task, which delivered these, is done, and the coordinator's run for the review."""
    goal = await world.an_active_goal(
        must_haves=musts or ("count", "sizes"), tasks=({"title": "Count", "must_haves": covers},)
    )
    await world.brought_to((await world.all(Task, "goal_id = :g", g=goal.id))[0].id, "done")
    return await world.goal(goal.id), await world.run("cora", RunKind.ROUND_REVIEW, goal_id=goal.id)


async def adjust(world: World, goal: Goal, cora: Agent, *must_haves: Any, **more: Any) -> Approval:
    change = {"must_haves": must_haves, "why": "the folder has no sizes", **more}
    round_ = await world.round_of(goal.id)
    answer = await world.do(cora, "ReviewRound", round=round_.id, decision="adjust_goal", goal_change=change, **THREE)
    return await world.find(Approval, answer["approval"])


def ids(musts: Any) -> dict[str, str]:
    return {must["id"]: must["text"] for must in musts}


async def test_the_old_and_the_new_stand_side_by_side_and_nothing_changes_before_the_answer(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    wanted = ("count", {"id": "M2", "text": "names", "verify": "each is listed"}, "dates")
    approval = await adjust(world, goal, cora, *wanted, out_of_scope=("sizes",))
    assert (approval.kind, approval.entity) == ("goal_change", f"goal:{goal.id}")
    assert ids(approval.payload["before"]["must_haves"]) == {"M1": "count", "M2": "sizes"}
    assert ids(approval.payload["after"]["must_haves"]) == {"M1": "count", "M2": "names", "M3": "dates"}
    assert approval.payload["after"]["description"] == goal.description
    assert approval.payload["why"] == "the folder has no sizes"
    assert await world.goal(goal.id) == goal
    assert (await world.round_of(goal.id)).status == RoundStatus.CLOSED


async def test_approved_the_goal_is_exactly_what_was_shown_and_reviewed_by_the_person(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    asked = await adjust(
        world, goal, cora, "count", {"id": "M2", "text": "names"}, description="All of it", constraints=("fast",)
    )
    answer = await world.operator("DecideApproval", approval=asked.id, decision="approved")
    changed = await world.goal(goal.id)
    assert answer["follow_up"] == "changed"
    assert ids(changed.must_haves) == {"M1": "count", "M2": "names"}
    assert (changed.description, changed.constraints) == ("All of it", ("fast",))
    assert is_reviewed(changed)
    assert changed.content_hash != goal.content_hash
    assert (await world.find(Approval, asked.id)).status == "consumed"
    assert await world.read(broken_laws) == []


@pytest.mark.parametrize("decision", ["rejected", "revision_requested"])
async def test_refused_the_goal_stays_and_the_operators_word_is_the_next_plans_input(
    world: World, decision: str
) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    asked = await adjust(world, goal, cora, "count")
    await world.operator("DecideApproval", approval=asked.id, decision=decision, note="Sizes are what I want.")
    now = await world.goal(goal.id)
    assert (now.must_haves, now.reason) == (goal.must_haves, "Sizes are what I want.")
    opened = await world.do(cora, "OpenRound", goal=goal.id, tasks=({**PART, "must_haves": ("M2",)},))
    assert opened["number"] == 2


async def test_while_the_question_waits_no_round_is_opened_nothing_reported_and_no_second_change_asked(
    world: World,
) -> None:
    goal, cora = await at_the_end_of_round_1(world, "count")
    asked = await adjust(world, goal, cora, "count", "sizes")
    for command, arguments in (
        ("OpenRound", {"goal": goal.id, "tasks": ({**PART, "must_haves": ("M1",)},)}),
        ("ReportGoal", {"goal": goal.id, "summary": "done"}),
    ):
        with pytest.raises(Conflict, match=f"{asked.name_tag} waits"):
            await world.do(cora, command, **arguments)
    with pytest.raises(Invalid, match="ReviewRound"):
        await world.do(cora, "RequestApproval", kind="goal_change", entity=f"goal:{goal.id}", title="Again?")
    assert len(await world.pending(f"goal:{goal.id}")) == 1


async def test_other_words_for_what_was_delivered_are_another_must_have(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    asked = await adjust(world, goal, cora, {"id": "M1", "text": "count twice"}, "sizes")
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    assert ids((await world.goal(goal.id)).must_haves) == {"M3": "count twice", "M2": "sizes"}
    with pytest.raises(Conflict, match="M3 count twice"):
        await world.do(cora, "ReportGoal", goal=goal.id, summary="done")


async def test_a_waived_must_have_stays_waived_even_if_the_change_leaves_it_out_or_the_waiver_came_later(
    world: World,
) -> None:
    goal, cora = await at_the_end_of_round_1(world, "count", "sizes", "dates")
    await world.operator("WaiveMustHave", goal=goal.id, must_have="M2")
    asked = await adjust(world, await world.goal(goal.id), cora, "count", "dates", "names")
    await world.operator("WaiveMustHave", goal=goal.id, must_have="M3")
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    waived = {must["id"]: must["waived_by"] for must in (await world.goal(goal.id)).must_haves}
    assert waived == {"M1": "", "M3": "human", "M4": "", "M2": "human"}


async def test_drafts_name_what_the_goal_has_after_the_change(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world, "count", "sizes", "dates")
    drafts = [
        (await world.do(cora, "CreateTask", goal=goal.id, draft=True, must_haves=named, **PART))["id"]
        for named in (("M1", "M2"), ("M2",), ("M3",))
    ]
    own = (await world.operator("CreateTask", goal=goal.id, title="mine", must_haves=("M2",), draft=True))["id"]
    asked = await adjust(world, goal, cora, {"id": "M1", "text": "count twice"}, "dates")
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    tasks = [await world.task(task) for task in (*drafts, own)]
    assert [(task.must_haves, task.status) for task in tasks] == [
        (("M4",), TaskStatus.DRAFT), ((), TaskStatus.CANCELLED), (("M3",), TaskStatus.DRAFT), ((), TaskStatus.DRAFT),
    ]  # fmt: skip
    assert "no longer asks for M2" in tasks[1].reason


async def test_a_goal_that_changed_after_the_question_cannot_be_set_back_by_the_answer(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    asked = await adjust(world, goal, cora, "count")
    await world.read(lambda tx: tx.update(tx.get(Goal, goal.id), "GoalEdited", description="meanwhile"))
    with pytest.raises(Conflict, match="changed after this was asked"):
        await world.operator("DecideApproval", approval=asked.id, decision="approved")
    assert (await world.goal(goal.id)).must_haves == goal.must_haves
    await world.operator("DecideApproval", approval=asked.id, decision="rejected", note="ask anew")


@pytest.mark.parametrize(
    ("musts", "said"),
    [
        (("count", "sizes"), "leaves G1 as it is"),
        (({"id": "M9", "text": "x"},), "no must-have M9"),
        (("count", {"id": "M1", "text": "count"}), "M1 is named twice"),
        ((), "no must-have to deliver"),
    ],
)
async def test_a_change_that_is_none_or_makes_no_sense_is_refused_whole(
    world: World, musts: tuple[Any, ...], said: str
) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    with pytest.raises(Invalid, match=said):
        await adjust(world, goal, cora, *musts)
    assert (await world.round_of(goal.id)).status == RoundStatus.REVIEWING


async def test_the_end_of_the_goal_withdraws_the_question(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    asked = await adjust(world, goal, cora, "count")
    await world.operator("CancelGoal", goal=goal.id, reason="enough")
    with pytest.raises(Conflict, match="already decided"):
        await world.operator("DecideApproval", approval=asked.id, decision="approved")


async def test_only_the_coordinator_of_this_goal_asks(world: World) -> None:
    goal, cora = await at_the_end_of_round_1(world)
    await world.finish(cora)
    other = await world.an_active_goal()
    for actor in (await world.run("ada", goal_id=goal.id), await world.run("cora", goal_id=other.id)):
        with pytest.raises(Forbidden):
            await adjust(world, goal, actor, "count")
