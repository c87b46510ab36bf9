"""The coordinator's review of a round can be challenged: one challenge, one answer, then a person (S2-31, C-07)."""

from typing import Any

import pytest

from core.domain.actors import Agent
from core.domain.entities import Approval, Comment, Goal, Mention, Run, Task
from core.domain.errors import Conflict, Forbidden, NotFound
from core.domain.facts import Facts
from core.domain.plan import Action, plan_tick
from core.domain.states import GoalStatus, RunKind, RunStatus
from core.gathering import gather
from core.simulation.laws import broken_laws
from tests.unit.world import World

THREE = {"goal_clear": "yes", "covered": "yes", "next_step": "report it"}
FACTS = "The sizes are those of another folder: see O1."


async def reviewed_round(world: World, decision: str = "report") -> tuple[Goal, int]:
    """A goal whose round 1 the coordinator closed with this decision."""
    goal = await world.an_active_goal()
    await world.brought_to((await world.all(Task, "goal_id = :g", g=goal.id))[0].id, "done")
    cora = await world.run("cora", RunKind.ROUND_REVIEW, goal_id=goal.id)
    round_ = await world.round_of(goal.id)
    await world.do(cora, "ReviewRound", round=round_.id, decision=decision, **THREE)
    await world.finish(cora)
    return goal, round_.id


async def challenged(world: World, decision: str = "report", by: str = "rita") -> tuple[Goal, Approval, Agent]:
    goal, round_id = await reviewed_round(world, decision)
    rita = await world.run(by, goal_id=goal.id)
    answer = await world.do(rita, "ChallengeRound", round=round_id, facts=FACTS)
    return goal, await world.find(Approval, answer["id"]), rita


async def due(world: World, goal: Goal) -> list[Any]:
    """The kinds of run that the next tick asks for about this goal."""

    def look(tx: Any) -> list[Action]:
        found: Facts = gather(tx, 1, lambda _runs: {})
        return list(plan_tick(found, tx.now).actions)

    acts: list[Action] = await world.read(look)
    wanted = [act.arguments for act in acts if act.act == "QueueRun"]
    return [told["kind"] for told in wanted if told.get("goal_id") == goal.id and told["kind"] != RunKind.MENTION]


async def test_a_challenge_goes_to_the_operator_and_wakes_the_coordinator_and_nothing_is_reported_meanwhile(
    world: World,
) -> None:
    goal, approval, _ = await challenged(world)
    assert (approval.kind, approval.entity, approval.status) == ("challenge", f"goal:{goal.id}", "pending")
    told = {name: approval.payload[name] for name in ("decision", "answers", "facts", "by")}
    assert told == {"decision": "report", "answers": THREE, "facts": FACTS, "by": "rita"}
    cora = await world.agent("cora")
    assert [mention.agent_id for mention in await world.all(Mention, "status = 'pending'")] == [cora.id]
    assert await due(world, goal) == []
    reporter = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    with pytest.raises(Conflict, match=f"{approval.name_tag} waits"):
        await world.do(reporter, "ReportGoal", goal=goal.id, summary="done")


async def test_a_report_in_the_making_is_stopped(world: World) -> None:
    goal, round_id = await reviewed_round(world)
    reporter = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    rita = await world.run("rita", goal_id=goal.id)
    await world.do(rita, "ChallengeRound", round=round_id, facts=FACTS)
    assert (await world.find(Run, reporter.run_id)).status == RunStatus.KILLED


async def test_upheld_the_coordinator_plans_on_with_the_facts(world: World) -> None:
    goal, approval, _ = await challenged(world)
    answer = await world.operator("DecideApproval", approval=approval.id, decision="approved", note="Look again.")
    assert answer["follow_up"] == "upheld"
    assert (await world.goal(goal.id)).reason == f"challenge upheld: {FACTS} The operator: Look again."
    assert (await world.find(Approval, approval.id)).status == "consumed"
    assert await due(world, goal) == [RunKind.PLAN]
    assert await world.read(broken_laws) == []


async def test_rejected_the_decision_stands(world: World) -> None:
    goal, approval, _ = await challenged(world)
    await world.operator("DecideApproval", approval=approval.id, decision="rejected", note="It is the right folder.")
    assert (await world.goal(goal.id)).reason == ""
    assert await due(world, goal) == [RunKind.REPORT]


async def test_once_a_round_unless_it_was_sent_back(world: World) -> None:
    _goal, approval, rita = await challenged(world)
    round_id = approval.payload["round"]
    with pytest.raises(Conflict, match="challenged this review already"):
        await world.do(rita, "ChallengeRound", round=round_id, facts="Again.")
    await world.operator("DecideApproval", approval=approval.id, decision="revision_requested", note="Which sizes?")
    woken = await world.all(Mention, "agent_id = :a AND status = 'pending'", a=(await world.agent("rita")).id)
    assert (await world.find(Comment, woken[0].comment_id)).body == "Which sizes?"
    again = await world.do(rita, "ChallengeRound", round=round_id, facts="Those of O1.")
    await world.operator("DecideApproval", approval=again["id"], decision="rejected", note="no")
    with pytest.raises(Conflict, match="already"):
        await world.do(rita, "ChallengeRound", round=round_id, facts="Again.")


@pytest.mark.parametrize("answer", ["REJECT", "PARTIAL"])
async def test_the_coordinator_answers_once_and_the_operator_still_decides(world: World, answer: str) -> None:
    goal, approval, _ = await challenged(world)
    cora = await world.run("cora", goal_id=goal.id)
    told = await world.do(cora, "AnswerChallenge", approval=approval.id, answer=answer, facts="O1 names the folder.")
    assert told["status"] == "pending"
    comment = await world.find(Comment, told["comment"])
    assert (comment.kind, comment.body) == ("rebuttal", f"{answer}: O1 names the folder.")
    assert comment.reply_to == approval.payload["comment"]
    with pytest.raises(Conflict, match="its answer already"):
        await world.do(cora, "AnswerChallenge", approval=approval.id, answer="ACCEPT", facts="Well.")
    assert (await world.find(Approval, approval.id)).status == "pending"


async def test_accepted_by_the_coordinator_nobody_needs_to_decide(world: World) -> None:
    goal, approval, _ = await challenged(world)
    cora = await world.run("cora", goal_id=goal.id)
    await world.do(cora, "AnswerChallenge", approval=approval.id, answer="ACCEPT", facts="True.")
    assert (await world.find(Approval, approval.id)).status == "cancelled"
    assert (await world.goal(goal.id)).reason == f"challenge upheld: {FACTS}"
    await world.finish(cora)
    assert await due(world, goal) == [RunKind.PLAN]


async def test_what_an_upheld_challenge_overthrows_no_longer_waits_for_the_operator(world: World) -> None:
    goal, approval, _ = await challenged(world, "stop", by="chad")
    assert {asked.kind for asked in await world.pending(f"goal:{goal.id}")} == {"challenge", "goal_failure"}
    await world.operator("DecideApproval", approval=approval.id, decision="approved")
    assert await world.pending(f"goal:{goal.id}") == []
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


async def test_only_a_reviewed_round_of_a_goal_at_work_is_challenged(world: World) -> None:
    goal, round_id = await reviewed_round(world)
    rita = await world.run("rita", goal_id=goal.id)
    cora = await world.run("cora", RunKind.REPORT, goal_id=goal.id)
    await world.do(cora, "ReportGoal", goal=goal.id, summary="done")
    with pytest.raises(Conflict, match="is reporting"):
        await world.do(rita, "ChallengeRound", round=round_id, facts=FACTS)
    await world.operator("SendBackGoal", goal=goal.id, note="more")
    await world.do(cora, "OpenRound", goal=goal.id, tasks=({"title": "more", "end_state": "all"},))
    with pytest.raises(Conflict, match="is open"):
        await world.do(rita, "ChallengeRound", round=(await world.round_of(goal.id)).id, facts=FACTS)


async def test_only_a_reviewer_of_this_goal_challenges_and_only_its_coordinator_answers(world: World) -> None:
    goal, round_id = await reviewed_round(world)
    for slug, about in (("ada", goal.id), ("cora", goal.id), ("rita", (await world.an_active_goal()).id)):
        actor = await world.run(slug, goal_id=about)
        with pytest.raises(Forbidden):
            await world.do(actor, "ChallengeRound", round=round_id, facts=FACTS)
        await world.finish(actor)
    chad = await world.run("chad", goal_id=goal.id)
    asked = await world.do(chad, "ChallengeRound", round=round_id, facts=FACTS)
    with pytest.raises(Forbidden):
        await world.do(chad, "AnswerChallenge", approval=asked["id"], answer="ACCEPT", facts="x")
    cora = await world.run("cora", goal_id=goal.id)
    question = await world.do(cora, "RequestApproval", kind="question", entity=f"goal:{goal.id}", title="Well?")
    with pytest.raises(NotFound, match="no challenge"):
        await world.do(cora, "AnswerChallenge", approval=question["id"], answer="ACCEPT", facts="x")
