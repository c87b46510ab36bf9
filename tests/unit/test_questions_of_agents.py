"""Questions that agents ask: one a subject, not without end, ending nothing by themselves; who asked hears back."""

from typing import Any

import pytest

from core.domain.entities import Approval, Comment, Goal, Mention
from core.domain.errors import Conflict, Invalid
from core.domain.limits import QUESTIONS_PER_AGENT
from core.domain.states import ApprovalStatus, GoalStatus, RunKind
from tests.unit.world import World

COMPANY = {"kind": "question", "entity": "company:1", "title": "May we look at the archives?"}


@pytest.mark.parametrize("entity", ["goal:01", "goal:0", "goal:99999999999999999999", "goal:1 ", "goal:١"])
async def test_a_subject_has_one_spelling(world: World, entity: str) -> None:
    await world.an_active_goal()
    cora = await world.run("cora", RunKind.MENTION, goal_id=1)
    with pytest.raises(Invalid, match="entity"):
        await world.do(cora, "RequestApproval", kind="question", entity=entity, title="Go on?")


async def test_an_agent_has_so_many_questions_waiting_and_no_more(world: World) -> None:
    goal = await world.an_active_goal(*(f"Task {number}" for number in range(QUESTIONS_PER_AGENT)))
    cora = await world.run("cora", RunKind.MENTION, goal_id=goal.id)
    for number in range(QUESTIONS_PER_AGENT):
        await world.do(cora, "RequestApproval", kind="question", entity=f"task:{number + 1}", title="Go on?")
    with pytest.raises(Conflict, match=f"{QUESTIONS_PER_AGENT} questions of cora wait"):
        await world.do(cora, "RequestApproval", kind="question", entity=f"goal:{goal.id}", title="Go on?")
    # The program's own questions are not kept back by that.
    await world.system("RequestApproval", kind="question", entity=f"goal:{goal.id}", title="Go on?")


async def test_an_agents_question_does_not_say_what_a_no_ends(world: World) -> None:
    task, _ = await world.a_task("working")
    cora = await world.run("cora", RunKind.MENTION, goal_id=task.goal_id)
    payload = {"on_reject": "cancel"}
    with pytest.raises(Invalid, match="program's own"):
        await world.do(
            cora, "RequestApproval", kind="question", entity=f"goal:{task.goal_id}", title="?", payload=payload
        )
    assert (await world.goal(task.goal_id)).status == GoalStatus.ACTIVE
    assert await world.all(Approval) == []


@pytest.mark.parametrize("kind", ["question", "permission"])
@pytest.mark.parametrize(
    ("decision", "word"),
    [("approved", "was approved"), ("rejected", "was refused"), ("revision_requested", "was sent back")],
)
async def test_who_asked_about_the_company_hears_the_answer(world: World, kind: str, decision: str, word: str) -> None:
    vera = await world.run("vera")
    asked = await world.do(vera, "RequestApproval", **{**COMPANY, "kind": kind})
    await world.finish(vera)
    await world.operator("DecideApproval", approval=asked["id"], decision=decision, note="only the old ones")
    (letter,) = await world.all(Comment)
    assert f"{word}: only the old ones" in letter.body
    woken = await world.all(Mention, "status = 'pending'")
    assert [mention.agent_id for mention in woken] == [(await world.agent("vera")).id]
    status = (await world.find(Approval, asked["id"])).status
    assert status == (ApprovalStatus.CONSUMED if decision == "approved" else decision)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


@pytest.mark.parametrize("levels", [300, 3_000])
async def test_what_is_nested_too_deep_is_refused_in_words(world: World, levels: int) -> None:
    goal: Goal = await world.an_active_goal()
    cora = await world.run("cora", RunKind.MENTION, goal_id=goal.id)
    with pytest.raises(Invalid, match="deep"):
        await world.do(
            cora, "RequestApproval", kind="question", entity=f"goal:{goal.id}", title="?", payload=nested(levels)
        )
    await world.do(cora, "RequestApproval", kind="question", entity=f"goal:{goal.id}", title="?", payload=nested(20))
