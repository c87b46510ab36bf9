"""Runs: starts within the caps, ends, losses, offers and mentions that come back (F1, F3, F14, F22, F23)."""

import pytest

from core.domain.actors import Agent
from core.domain.entities import Mention, Offer, Run, Task
from core.domain.errors import Conflict
from core.domain.states import MentionStatus, OfferAnswer, RunKind, RunStatus, TaskStatus
from core.simulation.laws import kept_counts
from tests.unit.world import World


async def queue(world: World, slug: str, kind: str = "mention", **about: object) -> int:
    agent = await world.agent(slug)
    key = f"queued:{next(world.numbers)}"
    return int((await world.system("QueueRun", kind=kind, agent_id=agent.id, key=key, **about))["id"])


async def start(world: World, run: int, **caps: int) -> str:
    """Why a run is held back; empty when it was started."""
    return str((await world.system("StartRun", run=run, owner="o", **caps)).get("why", ""))


async def test_a_second_request_for_the_same_attempt_is_harmless(world: World) -> None:
    ada = await world.agent("ada")
    first = await world.system("QueueRun", kind="mention", agent_id=ada.id, key="mention:1")
    second = await world.system("QueueRun", kind="mention", agent_id=ada.id, key="mention:1")
    assert (first["id"], first["queued"], second["queued"]) == (second["id"], True, False)


async def test_starts_are_capped_at_once_an_agent_and_a_minute(world: World) -> None:
    caps = {"runs_at_once": 2, "starts_per_minute": 3}
    assert await start(world, await queue(world, "ada"), **caps) == ""
    assert "works at its cap of 1" in await start(world, await queue(world, "ada"), **caps)
    assert await start(world, await queue(world, "bob"), **caps) == ""
    third = await queue(world, "cora")
    assert "2 runs at once" in await start(world, third, **caps)
    await world.operator("StopCompany")
    await world.operator("StartCompany")
    assert await start(world, await queue(world, "cora"), **caps) == ""
    held = await queue(world, "rita")
    assert "3 starts a minute" in await start(world, held, **caps)
    world.clock.advance(60_001)
    assert await start(world, held, **caps) == ""


async def test_a_cooled_down_agent_and_a_paused_goal_wait(world: World) -> None:
    goal = await world.an_active_goal()
    run = await queue(world, "ada", goal_id=goal.id)
    await world.operator("PauseGoal", goal=goal.id)
    assert "is paused" in await start(world, run)
    await world.operator("PauseGoal", goal=goal.id, paused=False)
    await world.system("CoolDownAgent", agent_id=(await world.agent("ada")).id, until=world.clock.now + 1)
    assert "cools down" in await start(world, run)
    world.clock.advance(1)
    assert await start(world, run) == ""


@pytest.mark.parametrize("retry_in", [None, 90_000])
async def test_a_rate_limit_cools_its_agent_down_and_costs_no_attempt(world: World, retry_in: int | None) -> None:
    task, ada = await world.a_task("working")
    assert ada is not None
    retry_at = None if retry_in is None else world.clock.now + retry_in
    await world.finish(ada, "rate_limited", retry_at=retry_at)
    assert (await world.task(task.id)).attempts == 0
    until = (await world.agent("ada")).cooldown_until
    assert until is not None
    assert until >= world.clock.now + (retry_in or 30_000)


@pytest.mark.parametrize("kind", [RunKind.BROADCAST, RunKind.PROPOSE, RunKind.MENTION])
async def test_a_failed_run_that_costs_no_attempt_rests_its_agent(world: World, kind: RunKind) -> None:
    await world.finish(await world.run("ada", kind), "failed")
    assert ((await world.agent("ada")).cooldown_until or 0) > world.clock.now


@pytest.mark.parametrize(("exit_kind", "rests"), [("not_started", True), ("invalid", True), ("exit", False)])
async def test_one_whose_next_try_would_fail_too_rests_whatever_it_was_called_for(
    world: World, exit_kind: str, rests: bool
) -> None:
    for kind in (RunKind.EXECUTE, RunKind.REVIEW, RunKind.DISCUSS):
        await world.finish(await world.run("ada", kind), "failed", exit_kind=exit_kind)
        assert (((await world.agent("ada")).cooldown_until or 0) > world.clock.now) == rests
        world.clock.advance(60_000)


@pytest.mark.parametrize("end", ["lost", "failed", "timed_out", "succeeded"])
async def test_a_task_is_given_back_three_times_and_then_to_the_operator(world: World, end: str) -> None:
    task, _ = await world.a_task()
    for attempt in (1, 2, 3):
        ada = await world.brought_to(task.id, "working")
        assert ada is not None
        if end == "lost":
            await world.system("LoseRun", run=ada.run_id, why="gone")
        else:
            await world.finish(ada, end)
        assert (await world.task(task.id)).attempts == attempt
    task = await world.task(task.id)
    assert (task.status, task.current_run) == (TaskStatus.WAITING_HUMAN, None)
    question = (await world.pending(f"task:{task.id}"))[0]
    await world.operator("DecideApproval", approval=question.id, decision="approved")
    assert (await world.task(task.id)).attempts == 0
    assert await world.read(kept_counts) == {}


async def test_a_question_that_waits_already_does_not_keep_a_lost_run_alive(world: World) -> None:
    task, _ = await world.a_task()
    await world.system("RequestApproval", kind="question", entity=f"task:{task.id}", title="Is it needed?")
    for _ in range(3):
        ada = await world.brought_to(task.id, "working")
        assert ada is not None
        await world.system("LoseRun", run=ada.run_id, why="gone")
    assert (await world.task(task.id)).status == TaskStatus.WAITING_HUMAN
    assert len(await world.pending(f"task:{task.id}")) == 1


async def test_an_ended_run_is_not_ended_again(world: World) -> None:
    ada = await world.run("ada")
    await world.finish(ada)
    before = await world.find(Run, ada.run_id)
    assert (await world.finish(ada, "failed"))["finished"] is False
    assert (await world.system("LoseRun", run=ada.run_id, why="x"))["lost"] is False
    with pytest.raises(Conflict, match="already ended"):
        await world.operator("KillRun", run=ada.run_id)
    assert await world.find(Run, ada.run_id) == before


async def test_a_run_whose_subject_moved_on_is_not_started(world: World) -> None:
    task, _ = await world.a_task("blocked")
    round_ = await world.round_of(task.goal_id)
    await world.system("StallRound", round=round_.id, why="nothing runs")
    stall = await queue(world, "cora", "stall", round_id=round_.id, goal_id=task.goal_id)
    await world.operator("UnblockTask", task=task.id)
    propose = await queue(world, "vera", "propose")
    assert f"{round_.name_tag} is open by now" in await start(world, stall)
    assert "a goal is alive" in await start(world, propose)
    assert (await world.find(Run, propose)).status == (await world.find(Run, stall)).status == RunStatus.KILLED


async def test_a_broadcast_of_what_is_taken_already_is_not_started(world: World) -> None:
    task, _ = await world.a_task()
    first = await queue(world, "ada", "broadcast", offers=(task.id,))
    second = await queue(world, "bob", "broadcast", offers=(task.id,))
    ada = await world.started(first)
    await world.do(ada, "ClaimTask", task=task.id)
    assert "none of its tasks" in await start(world, second)


async def test_a_new_run_of_a_task_waits_for_the_end_of_the_old_one(world: World) -> None:
    task, ada = await world.a_task("review")
    await world.reviewed(task.id, "rejected")
    claimer = await world.run("bob", RunKind.BROADCAST)
    await world.do(claimer, "ClaimTask", task=task.id)
    await world.finish(claimer)
    run = await queue(world, "bob", "execute", task_id=task.id)
    assert "has not ended yet" in await start(world, run)
    assert ada is not None
    await world.finish(ada)
    assert await start(world, run) == ""


# Offers ------------------------------------------------------------------------------------------------------


async def shown(world: World, slug: str, *tasks: int) -> Agent:
    return await world.started(await queue(world, slug, "broadcast", offers=tasks))


async def answers(world: World) -> dict[int, tuple[str, int | None]]:
    return {offer.task_id: (str(offer.answer), offer.run_id) for offer in await world.all(Offer)}


async def test_silence_after_a_broadcast_means_no(world: World) -> None:
    goal = await world.an_active_goal("one", "two")
    one, two = [task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id)]
    ada = await shown(world, "ada", one, two)
    await world.do(ada, "AnswerOffer", task=one, answer="observation")
    await world.finish(ada)
    assert await answers(world) == {one: ("observation", ada.run_id), two: ("no_reply", ada.run_id)}


async def test_what_an_agent_could_not_answer_is_offered_again(world: World) -> None:
    goal = await world.an_active_goal("one", "two")
    one, two = [task.id for task in await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id)]
    ada = await shown(world, "ada", one, two)
    await world.do(ada, "ClaimTask", task=one)
    await world.finish(ada)
    assert await answers(world) == {one: ("claim", ada.run_id), two: ("open", None)}
    bob = await shown(world, "bob", two)
    await world.system("LoseRun", run=bob.run_id, why="gone")
    found = await world.all(Offer, "agent_id = :a", a=bob.agent_id)
    assert [(offer.answer, offer.run_id) for offer in found] == [(OfferAnswer.OPEN, None)]


async def test_only_what_was_shown_can_be_answered(world: World) -> None:
    task, _ = await world.a_task()
    with pytest.raises(Conflict, match="not offered"):
        await world.do(await world.run("ada", RunKind.BROADCAST), "AnswerOffer", task=task.id, answer="no_reply")
    with pytest.raises(Conflict, match="ClaimTask"):
        await world.do(await shown(world, "bob", task.id), "AnswerOffer", task=task.id, answer="claim")


# Mentions ----------------------------------------------------------------------------------------------------


async def woken(world: World) -> tuple[Mention, int]:
    """Bob is named, and his run is queued."""
    goal = await world.a_goal()
    await world.operator("AddComment", goal=goal.id, kind="question", body="@bob how many?")
    mention = (await world.all(Mention))[-1]
    return mention, await queue(world, "bob", mention_id=mention.id, goal_id=goal.id)


@pytest.mark.parametrize("end", ["lost", "stop", "rate_limited"])
async def test_a_note_whose_reader_was_cut_off_wakes_again_but_not_for_ever(world: World, end: str) -> None:
    mention, run = await woken(world)
    for attempt in range(3):
        bob = await world.started(run)
        if end == "lost":
            await world.system("LoseRun", run=bob.run_id, why="gone")
        elif end == "stop":
            await world.operator("StopCompany")
            await world.operator("StartCompany")
        else:
            await world.finish(bob, end)
        status = (await world.find(Mention, mention.id)).status
        assert status == (MentionStatus.PENDING if attempt < 2 else MentionStatus.WOKEN)
        if attempt < 2:
            run = await queue(world, "bob", mention_id=mention.id)
            world.clock.advance(60_000)


@pytest.mark.parametrize("end", ["failed", "succeeded", "killed by the operator"])
async def test_a_note_that_was_read_or_refused_wakes_nobody_again(world: World, end: str) -> None:
    mention, run = await woken(world)
    bob = await world.started(run)
    if end.startswith("killed"):
        await world.operator("KillRun", run=bob.run_id)
    else:
        await world.finish(bob, end)
    assert (await world.find(Mention, mention.id)).status == MentionStatus.WOKEN


async def test_a_newer_note_counts_for_the_one_that_was_cut_off(world: World) -> None:
    mention, run = await woken(world)
    bob = await world.started(run)
    await world.operator("AddComment", goal=mention.goal_id, kind="question", body="@bob and how large?")
    await world.system("LoseRun", run=bob.run_id, why="gone")
    assert len(await world.all(Mention, "status = 'pending'")) == 1
