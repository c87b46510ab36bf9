"""Phase 1: a draft is talked over until it is ready (S2-07, S2-16, D-02)."""

from typing import Any

import pytest

from core.domain.actors import Agent
from core.domain.entities import Comment, Goal, Run
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import is_reviewed
from core.domain.limits import RUN_ATTEMPTS
from core.domain.states import GoalStatus, RunKind
from core.ticker import QUIET
from tests.unit.ticking import Say, begun, queued, spoken, tick
from tests.unit.world import World

COUNT = {"text": "Count the files", "verify": "compare with a second tool"}


async def explored(world: World, *must_haves: object, **more: Any) -> Goal:
    """A draft in its exploration."""
    answer = await world.operator("CreateGoal", title="Audit", explore=True, must_haves=must_haves, **more)
    return await world.goal(answer["id"])


async def says(world: World, goal: Goal, body: str) -> int:
    answer = await world.operator("AddComment", goal=goal.id, kind="dialogue", body=body)
    return int(answer["id"])


def asks(goal: Goal, body: str = "Which folder?") -> Say:
    return "AddComment", {"goal": goal.id, "kind": "dialogue", "body": body}


async def words(world: World, goal: Goal) -> list[tuple[str, str]]:
    rows = await world.all(Comment, "goal_id = :goal AND kind = 'dialogue' ORDER BY id", goal=goal.id)
    return [(comment.author, comment.body) for comment in rows]


# The talk -------------------------------------------------------------------------------------------------------


async def test_the_coordinator_opens_with_a_question_and_answers_each_word(world: World) -> None:
    goal = await explored(world)
    assert await tick(world) == ["QueueRun"]
    await spoken(world, RunKind.EXPLORE, "cora", asks(goal))
    assert await tick(world) == []
    await says(world, goal, "The notes.")
    await tick(world)
    await spoken(world, RunKind.EXPLORE, "cora", asks(goal, "Links as well?"))
    assert await tick(world) == []
    assert await words(world, goal) == [("cora", "Which folder?"), ("human", "The notes."), ("cora", "Links as well?")]


async def test_one_question_at_a_time(world: World) -> None:
    goal = await explored(world)
    await tick(world)
    cora = await begun(world, RunKind.EXPLORE, "cora")
    await world.do(cora, "AddComment", **asks(goal)[1])
    with pytest.raises(Conflict, match="last word is an agent's"):
        await world.do(cora, "AddComment", goal=goal.id, kind="dialogue", body="And which format?")
    assert len(await words(world, goal)) == 1


async def test_a_word_that_came_meanwhile_is_not_talked_over(world: World) -> None:
    goal = await explored(world)
    await says(world, goal, "The notes.")
    await tick(world)
    cora = await begun(world, RunKind.EXPLORE, "cora")
    await says(world, goal, "No: the photos.")
    with pytest.raises(Conflict, match="wrote again meanwhile"):
        await world.do(cora, "AddComment", goal=goal.id, kind="dialogue", body="Which notes?")
    await world.finish(cora)
    await tick(world)
    await spoken(world, RunKind.EXPLORE, "cora", asks(goal, "Which photos?"))
    assert (await words(world, goal))[-1] == ("cora", "Which photos?")


async def test_others_have_no_word_in_the_talk(world: World) -> None:
    goal = await explored(world)
    with pytest.raises(Forbidden, match="by the operator and the coordinator"):
        await world.do(await world.run("ada", goal_id=goal.id), "AddComment", **asks(goal)[1])
    other = await explored(world)
    with pytest.raises(Forbidden, match="not about"):
        await world.do(await world.run("cora", goal_id=other.id), "AddComment", **asks(goal)[1])
    await world.do(await world.run("bob"), "AddComment", goal=goal.id, kind="observation", body="There are links.")


async def test_a_word_of_the_operator_wakes_the_tick_at_once_and_a_run_once(world: World) -> None:
    goal = await explored(world)
    await says(world, goal, "@cora the notes, and @ada too")
    assert "OperatorSpoke" in await world.events()
    assert "OperatorSpoke" not in QUIET
    await tick(world)
    await tick(world)
    runs = await world.all(Run, "status = 'queued' ORDER BY kind")
    ada, cora = (await world.agent("ada")).id, (await world.agent("cora")).id
    assert [(str(run.kind), run.agent_id) for run in runs] == [("explore", cora), ("mention", ada)]


async def test_silence_of_the_coordinator_goes_to_the_operator(world: World) -> None:
    goal = await explored(world)
    for _ in range(RUN_ATTEMPTS):
        await tick(world)
        await spoken(world, RunKind.EXPLORE, "cora")
    assert await tick(world) == ["RequestApproval"]
    assert await tick(world) == []
    question = (await world.pending(f"goal:{goal.id}"))[0]
    await world.operator("DecideApproval", approval=question.id, decision="rejected", note="I see.")
    assert await tick(world) == []
    await says(world, goal, "The notes.")
    await tick(world)
    assert len(await queued(world, RunKind.EXPLORE)) == 1


async def test_a_talk_can_be_left_and_taken_up_again(world: World) -> None:
    goal = await explored(world)
    await world.operator("PauseGoal", goal=goal.id)
    assert await tick(world) == []
    await world.operator("PauseGoal", goal=goal.id, paused=False)
    assert await tick(world) == ["QueueRun"]


async def test_a_draft_can_be_talked_over_later_and_again(world: World) -> None:
    goal = await world.a_goal(must_haves=("count",), split=False)
    assert "QueueRun" not in await tick(world)
    await world.operator("ExploreGoal", goal=goal.id)
    with pytest.raises(Conflict, match="talked over already"):
        await world.operator("ExploreGoal", goal=goal.id)
    await tick(world)
    assert len(await queued(world, RunKind.EXPLORE)) == 1
    await world.operator("DispatchGoal", goal=(await world.a_goal()).id)
    with pytest.raises(Conflict, match="is planning: only a draft"):
        await world.operator("ExploreGoal", goal=goal.id + 1)


async def test_only_the_operator_opens_a_talk(world: World) -> None:
    vera = await world.run("vera", RunKind.PROPOSE)
    with pytest.raises(Invalid, match="explore"):
        await world.do(vera, "CreateGoal", title="Audit", split=False, explore=True)
    with pytest.raises(Forbidden):
        await world.do(vera, "ExploreGoal", goal=(await world.a_goal()).id)


async def test_a_cancelled_exploration_calls_nobody_any_more(world: World) -> None:
    goal = await explored(world)
    await tick(world)
    await world.operator("CancelGoal", goal=goal.id, reason="no")
    assert not (await world.goal(goal.id)).exploring
    assert await queued(world, RunKind.EXPLORE) == []


# The growing draft ------------------------------------------------------------------------------------------------


async def talking(world: World, goal: Goal, kind: RunKind = RunKind.EXPLORE) -> Agent:
    return await world.run("cora", kind, goal_id=goal.id)


async def test_the_coordinator_writes_what_was_said_into_the_draft_and_that_clears_the_review(world: World) -> None:
    goal = await explored(world)
    cora = await talking(world, goal)
    answer = await world.do(
        cora, "EditGoal", goal=goal.id, must_haves=(COUNT,), constraints=("no network",), out_of_scope=("photos",)
    )
    goal = await world.goal(goal.id)
    assert answer["must_haves"] == [{"id": "M1", "waived_by": "", **COUNT}]
    assert (goal.constraints, goal.out_of_scope) == (("no network",), ("photos",))
    assert not is_reviewed(goal)


async def test_a_coordinator_that_was_mentioned_in_the_talk_may_edit_too(world: World) -> None:
    goal = await explored(world)
    await world.do(await talking(world, goal, RunKind.MENTION), "EditGoal", goal=goal.id, must_haves=(COUNT,))
    assert [must["id"] for must in (await world.goal(goal.id)).must_haves] == ["M1"]


async def test_only_a_run_of_the_talk_edits_the_draft(world: World) -> None:
    goal = await explored(world)
    stranger = await world.run("cora", RunKind.MENTION)
    for act in (stranger, await world.run("ada", goal_id=goal.id)):
        with pytest.raises(Forbidden):
            await world.do(act, "EditGoal", goal=goal.id, title="Mine")
    await world.finish(stranger)
    await world.operator("DispatchGoal", goal=(planning := await world.a_goal()).id)
    elsewhere = await world.run("cora", RunKind.PLAN, goal_id=planning.id)
    with pytest.raises(Forbidden):
        await world.do(elsewhere, "EditGoal", goal=goal.id, title="Mine")


async def test_the_coordinator_edits_no_draft_that_is_not_talked_over(world: World) -> None:
    goal = await world.a_goal()
    with pytest.raises(Forbidden, match="not talked over"):
        await world.do(await talking(world, goal, RunKind.MENTION), "EditGoal", goal=goal.id, title="Mine")


async def test_ids_of_must_haves_stay_with_what_they_name(world: World) -> None:
    goal = await explored(world, "count", {"text": "duplicates", "verify": "by hash"}, "sizes")
    await world.operator("EditGoal", goal=goal.id, must_haves=("sizes", {"id": "M2", "text": "copies"}, "links"))
    musts = (await world.goal(goal.id)).must_haves
    assert [(must["id"], must["text"]) for must in musts] == [("M3", "sizes"), ("M2", "copies"), ("M4", "links")]


@pytest.mark.parametrize(
    "wrong", [({"id": "M9", "text": "x"},), ({"id": "M1", "text": "x"}, {"id": "M1", "text": "y"})]
)
async def test_an_unknown_or_doubled_id_is_refused(world: World, wrong: tuple[object, ...]) -> None:
    goal = await explored(world, "count")
    with pytest.raises(Invalid, match=r"There is no must-have M9|M1 is named twice"):
        await world.operator("EditGoal", goal=goal.id, must_haves=wrong)


async def test_how_to_verify_and_what_is_left_out_are_part_of_what_is_reviewed(world: World) -> None:
    goal = await explored(world, "count")
    verify = await world.operator("EditGoal", goal=goal.id, must_haves=({"text": "count", "verify": "again"},))
    scope = await world.operator("EditGoal", goal=goal.id, out_of_scope=("photos",))
    assert len({goal.content_hash, verify["content_hash"], scope["content_hash"]}) == 3
    back = await world.operator("EditGoal", goal=goal.id, out_of_scope=())
    assert back["content_hash"] == verify["content_hash"]


async def test_what_stands_for_the_whole_goal_says_what_the_goal_says(world: World) -> None:
    goal = await explored(world)
    await world.operator("EditGoal", goal=goal.id, title="Audit the notes", description="All of them.")
    rows = await world.read(lambda tx: tx.all("SELECT title, intent FROM tasks WHERE goal_id = :g", g=goal.id))
    assert rows == [{"title": "Audit the notes", "intent": "All of them."}]


async def test_a_waiver_keeps_how_to_verify(world: World) -> None:
    goal = await explored(world, COUNT)
    await world.operator("WaiveMustHave", goal=goal.id, must_have="M1")
    assert (await world.goal(goal.id)).must_haves[0] == {"id": "M1", "waived_by": "human", **COUNT}


# Ready ------------------------------------------------------------------------------------------------------------


async def test_ready_reviews_exactly_what_was_read_and_lets_it_be_dispatched(world: World) -> None:
    goal = await explored(world)
    await world.do(await talking(world, goal), "EditGoal", goal=goal.id, must_haves=(COUNT,))
    for act in ("DispatchGoal", "ReviewGoal"):
        with pytest.raises(Conflict, match="still talked over"):
            await world.operator(act, goal=goal.id)
    with pytest.raises(Conflict, match="changed since you read it"):
        await world.operator("ReadyGoal", goal=goal.id, content_hash=goal.content_hash)
    ready = await world.operator("ReadyGoal", goal=goal.id, content_hash=(await world.goal(goal.id)).content_hash)
    assert ready["exploring"] is False
    assert (await world.operator("DispatchGoal", goal=goal.id))["status"] == GoalStatus.PLANNING


@pytest.mark.parametrize(
    ("must_haves", "why"),
    [((), "nothing that must be delivered"), (("count",), "how to verify M1"), ((COUNT, "sizes"), "how to verify M2")],
)
async def test_what_is_not_clear_is_not_ready(world: World, must_haves: tuple[object, ...], why: str) -> None:
    goal = await explored(world, *must_haves)
    with pytest.raises(Conflict, match=why):
        await world.operator("ReadyGoal", goal=goal.id)
    assert (await world.goal(goal.id)).exploring


async def test_a_waived_must_have_needs_no_way_to_verify(world: World) -> None:
    goal = await explored(world, COUNT, "sizes")
    await world.operator("WaiveMustHave", goal=goal.id, must_have="M2")
    await world.operator("ReadyGoal", goal=goal.id)


async def test_ready_ends_the_run_that_would_still_ask(world: World) -> None:
    goal = await explored(world, COUNT)
    await tick(world)
    cora = await begun(world, RunKind.EXPLORE, "cora")
    await world.operator("ReadyGoal", goal=goal.id)
    with pytest.raises(Forbidden):
        await world.do(cora, "EditGoal", goal=goal.id, title="Late")
    await tick(world)
    assert await queued(world, RunKind.EXPLORE) == []


async def test_only_the_operator_says_ready_and_only_in_a_talk(world: World) -> None:
    goal = await explored(world, COUNT)
    with pytest.raises(Forbidden):
        await world.do(await talking(world, goal), "ReadyGoal", goal=goal.id)
    await world.operator("ReadyGoal", goal=goal.id)
    with pytest.raises(Conflict, match="not talked over"):
        await world.operator("ReadyGoal", goal=goal.id)
    await world.operator("DispatchGoal", goal=goal.id)
    with pytest.raises(Conflict, match="is planning"):
        await world.operator("ReadyGoal", goal=goal.id)
