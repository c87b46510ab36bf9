"""Loops of agents that would never end, each of which ends at a person or at a limit (F6, F7, F8, F23)."""

import time

import pytest

from core.domain.actors import Agent
from core.domain.entities import AgentRecord, Mention, Run, Task
from core.domain.errors import Conflict, Forbidden
from core.domain.facts import goal_base
from core.domain.limits import (
    EXCHANGE_MESSAGES,
    OBJECTION_WINDOW_MS,
    RUN_ATTEMPTS,
    STALL_MS,
    STALLS_A_ROUND,
    TASKS_DEEP,
    TICK_MS,
    TURN_WAIT_MS,
)
from core.domain.mentions import wakes
from core.domain.states import ApprovalKind, CommentKind, RunKind
from tests.unit.ticking import begun, queued, spoken, tick
from tests.unit.world import HANDOFF, World


async def woken(world: World, slug: str) -> Agent | None:
    """The run that the next mention of an agent makes, if one waits."""
    agent = await world.agent(slug)
    waiting = await world.all(Mention, "status = 'pending' AND agent_id = :a ORDER BY id", a=agent.id)
    if not waiting:
        return None
    one = waiting[0]
    queued = await world.system(
        "QueueRun", kind="mention", agent_id=agent.id, goal_id=one.goal_id, task_id=one.task_id, mention_id=one.id,
        key=f"mention:{one.id}#{one.version}",
    )  # fmt: skip
    return await world.started(queued["id"])


async def answers(world: World, words: int, threads: dict[str, list[int]], start: str = "ada") -> list[list[str]]:
    """Agents that answer each other, each always below tasks of its own; who was held at each word."""
    names = list(threads)
    held, by = [], names.index(start)
    run: Agent | None = await world.run(start)
    for number in range(words):
        slug, other = names[by % len(names)], names[(by + 1) % len(names)]
        if run is None:
            break
        tasks = threads[slug]
        said = await world.do(
            run, "AddComment", task=tasks[number % len(tasks)], kind="question", body=f"Thanks, @{other}, {number}"
        )
        await world.finish(run)
        held.append(said["held"])
        by += 1
        run = await woken(world, other)
    return held


async def test_an_exchange_over_several_threads_goes_to_a_person_too(world: World) -> None:
    await world.an_active_goal("Count", "Sort")
    held = await answers(world, 20, {"ada": [1], "bob": [2]})
    assert held == [[]] * (EXCHANGE_MESSAGES - 1) + [["ada"]]
    assert [approval.kind for approval in await world.pending("task:2")] == [ApprovalKind.EXCHANGE]


async def test_a_circle_of_three_over_three_goals_is_held_at_its_ninth_word(world: World) -> None:
    for title in ("Count", "Sort", "Name"):
        await world.an_active_goal(title)
    held = await answers(world, 40, {"ada": [1], "bob": [2], "rita": [3]})
    assert held == [[]] * 8 + [["ada"]]


async def test_a_yes_lets_an_exchange_over_threads_go_on_for_as_long_again(world: World) -> None:
    await world.an_active_goal("Count", "Sort")
    await answers(world, 20, {"ada": [1], "bob": [2]})
    (asked,) = await world.pending("task:2")
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    run = await woken(world, "ada")
    assert run is not None
    held = []
    for number in range(20):
        _, other, task = ("ada", "bob", 1) if number % 2 == 0 else ("bob", "ada", 2)
        said = await world.do(run, "AddComment", task=task, kind="question", body=f"@{other}, again {number}")
        await world.finish(run)
        held.append(said["held"])
        run = await woken(world, other)
        if run is None:
            break
    assert held == [[]] * (EXCHANGE_MESSAGES - 1) + [["ada"]]


async def test_work_between_the_words_over_threads_is_no_idle_exchange(world: World) -> None:
    goal = await world.an_active_goal("Count", "Sort")
    run: Agent | None = await world.run("ada", goal_id=goal.id)
    for number in range(2 * EXCHANGE_MESSAGES):
        assert run is not None
        _, other, task = ("ada", "bob", 1) if number % 2 == 0 else ("bob", "ada", 2)
        if number % 4 == 0:
            await world.do(run, "CreateTask", goal=goal.id, title=f"Part {number}", end_state="done")
        said = await world.do(run, "AddComment", task=task, kind="question", body=f"@{other}, {number}")
        assert said["held"] == []
        await world.finish(run)
        run = await woken(world, other)


async def test_a_task_is_not_sent_back_and_offered_anew_for_ever(world: World) -> None:
    goal = await world.an_active_goal()
    ada = await world.run("ada", goal_id=goal.id)
    made = await world.do(ada, "CreateTask", goal=goal.id, title="Sort", end_state="sorted")
    cora = await world.run("cora", goal_id=goal.id)
    for _ in range(RUN_ATTEMPTS):
        await world.do(cora, "SendBackTask", task=made["id"], why="say by what")
        await world.do(ada, "EnqueueTask", task=made["id"])
    with pytest.raises(Conflict, match="sent back"):
        await world.do(cora, "SendBackTask", task=made["id"], why="say by what")
    await world.operator("SendBackTask", task=made["id"], why="a person may")


async def test_a_plan_that_stood_is_carried_out_and_a_handoff_alone_begins_no_new_one(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "PostPlan", task=task.id, body="First the large ones.")
    await world.finish(ada)
    world.clock.advance(OBJECTION_WINDOW_MS)
    await world.system("ClosePlan", task=task.id)
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    await world.do(ada, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    with pytest.raises(Conflict, match="stands"):
        await world.do(ada, "PostPlan", task=task.id, body="Then the small ones.")


async def test_a_plan_that_stood_is_carried_out_also_when_somebody_objects_afterwards(world: World) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "PostPlan", task=task.id, body="First the large ones.")
    await world.finish(ada)
    await world.operator("AcceptPlan", task=task.id)
    bob = await world.run("bob", goal_id=task.goal_id)
    await world.do(bob, "AddComment", task=task.id, kind="objection", body="Too late, but no.")
    ada = await world.run("ada", RunKind.EXECUTE, task_id=task.id)
    with pytest.raises(Conflict, match="stands"):
        await world.do(ada, "PostPlan", task=task.id, body="Then the small ones.")


def test_a_text_full_of_unknown_names_holds_nobody_up() -> None:
    body = " ".join(f"@nobody-{number}" for number in range(1300))
    known = [f"somebody-{number}" for number in range(1000)]
    begun = time.perf_counter()
    called = wakes(body[:20_000], CommentKind.QUESTION, "ada", known)
    assert time.perf_counter() - begun < 2
    assert 0 < len(called.unknown) <= 5


async def test_a_seat_that_cools_down_does_not_hold_a_discussion_up_for_a_day(world: World) -> None:
    goal = await world.a_goal()
    await world.operator("DispatchGoal", goal=goal.id)
    await tick(world)
    await tick(world)
    bob = await begun(world, RunKind.DISCUSS, "bob")
    await world.finish(bob, "rate_limited", retry_at=world.clock.now + 86_400_000)
    await spoken(world, RunKind.DISCUSS, "ada")
    await tick(world)
    assert len(await queued(world, RunKind.DISCUSS, "bob")) == 1
    world.clock.advance(TURN_WAIT_MS - 1)
    assert "CloseTurn" not in await tick(world)
    world.clock.advance(1)
    assert "CloseTurn" in await tick(world)
    assert (await world.goal(goal.id)).status == "active"
    assert await queued(world, RunKind.DISCUSS) == []


async def test_a_turn_in_which_nobody_has_come_to_speak_yet_waits_on(world: World) -> None:
    goal = await world.a_goal()
    await world.operator("DispatchGoal", goal=goal.id)
    await tick(world)
    await tick(world)
    world.clock.advance(2 * TURN_WAIT_MS)
    assert "CloseTurn" not in await tick(world)
    await spoken(world, RunKind.DISCUSS, "ada")
    bob = await begun(world, RunKind.DISCUSS, "bob")
    assert "CloseTurn" not in await tick(world)  # he speaks
    await world.finish(bob)
    assert "CloseTurn" in await tick(world)


async def test_a_round_that_stands_still_again_and_again_goes_to_a_person(world: World) -> None:
    goal = await world.an_active_goal()
    await world.brought_to(1, "blocked")
    calls = 0
    for number in range(2, 30):
        world.clock.advance(STALL_MS)
        assert "StallRound" in await tick(world)
        await tick(world)
        if not await queued(world, RunKind.STALL):
            break
        calls += 1
        cora = await begun(world, RunKind.STALL, "cora")
        await world.do(cora, "CreateTask", goal=goal.id, title="Once more", end_state="counted", retry_of=number - 1)
        await world.do(cora, "CancelTask", task=number - 1, reason="it is blocked")
        await world.finish(cora)
        for run in await world.all(Run, "status = 'running'"):
            agent = await world.find(AgentRecord, run.agent_id)
            await world.finish(Agent(agent.id, agent.slug, run.id, run.fence))
        await world.brought_to(number, "blocked")
    assert calls == STALLS_A_ROUND
    (asked,) = await world.pending("round:1")
    assert "stands still again" in asked.title
    assert await tick(world) == []
    await world.operator("DecideApproval", approval=asked.id, decision="approved")
    await tick(world)
    assert len(await queued(world, RunKind.STALL)) == 1


async def test_an_agents_question_grants_and_refuses_no_attempts(world: World) -> None:
    goal = await world.a_goal()
    await world.operator("DispatchGoal", goal=goal.id)
    await world.operator("PauseAgent", agent="ada")
    await world.operator("PauseAgent", agent="bob")
    await tick(world)
    cora = await begun(world, RunKind.PLAN, "cora")
    base = goal_base(await world.goal(goal.id), None)
    await world.do(
        cora, "RequestApproval", kind="question", entity=f"goal:{goal.id}", title="May I?", payload={"base": base}
    )
    await world.finish(cora)
    (asked,) = await world.pending(f"goal:{goal.id}")
    await world.operator("DecideApproval", approval=asked.id, decision="rejected", note="No.")
    for _ in range(RUN_ATTEMPTS - 1):
        await tick(world)
        await spoken(world, RunKind.PLAN, "cora")
    await tick(world)
    assert [approval.requested_by for approval in await world.pending(f"goal:{goal.id}")] == ["system"]


async def test_a_question_about_another_goal_cannot_hold_it_up_or_end_it(world: World) -> None:
    await world.an_active_goal()
    other = await world.an_active_goal("Sort")
    cora = await world.run("cora", RunKind.PLAN, goal_id=1)
    subjects = (f"goal:{other.id}", f"round:{(await world.round_of(other.id)).id}", "task:2")
    for entity in subjects:
        with pytest.raises(Forbidden, match="not about G2"):
            await world.do(
                cora, "RequestApproval", kind="question", entity=entity, title="Go on?", payload={"on_reject": "cancel"}
            )


async def test_tasks_whose_runs_make_the_next_task_end(world: World) -> None:
    goal = await world.an_active_goal()
    task_id = 1
    for _ in range(TASKS_DEEP):
        run = await world.brought_to(task_id, "working")
        assert run is not None
        made = await world.do(run, "CreateTask", goal=goal.id, title=f"After T{task_id}", end_state="done")
        await world.do(run, "FailTask", task=task_id, reason="the next one does it")
        await world.finish(run)
        task_id = made["id"]
    run = await world.brought_to(task_id, "working")
    assert run is not None
    with pytest.raises(Conflict, match="came of"):
        await world.do(run, "CreateTask", goal=goal.id, title="And so on", end_state="done")
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.do(cora, "CreateTask", goal=goal.id, title="A plan", end_state="done")


async def test_agents_add_tasks_to_a_round_up_to_a_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.commands.bounds.TASKS_A_ROUND", 2)
    goal = await world.an_active_goal()
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    await world.do(cora, "CreateTask", goal=goal.id, title="Second", end_state="done")
    with pytest.raises(Conflict, match="has 2 tasks"):
        await world.do(cora, "CreateTask", goal=goal.id, title="Third", end_state="done")
    await world.operator("CreateTask", goal=goal.id, title="Third")


async def test_without_any_executor_a_round_has_a_few_calls_whatever_is_made_of_its_tasks(world: World) -> None:
    goal = await world.an_active_goal("Count", "Measure")
    for slug in ("ada", "bob"):
        await world.operator("RetireAgent", agent=slug, reason="gone")
    calls = 0
    for number in range(60):
        world.clock.advance(TICK_MS)
        await tick(world)
        for run in await queued(world, RunKind.STALL):
            cora = await world.started(run.id)
            calls += 1
            for task in await world.all(Task, "goal_id = :g AND status = 'pending'", g=goal.id):
                await world.do(cora, "EditTask", task=task.id, intent=f"in other words, {number}")
            await world.finish(cora)
    assert calls == RUN_ATTEMPTS
    (asked,) = await world.pending(f"round:{(await world.round_of(goal.id)).id}")
    assert "there is no executor" in asked.title
    await world.operator("HireAgent", slug="eve", name="Eve", role="executor")
    assert "AssignTask" in [act for _ in range(3) for act in await ticked(world)]


async def ticked(world: World) -> list[str]:
    """A tick after the time of one."""
    world.clock.advance(TICK_MS)
    return await tick(world)
