"""Stage B through commands: its limits, the way back, the look of a person, the recall (D-01); heartbeats on demand."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.blackboard.readers import Readers
from core.domain.budgets import DAY_MS
from core.domain.entities import Approval, Company, Goal, Run, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import is_reviewed
from core.domain.inbox import InboxItem
from core.domain.limits import STAGE_B_BUDGET_MICROS
from core.domain.states import ApprovalStatus, Autonomy, GoalStatus, RoundStatus, RunKind
from core.waiting import owed
from tests.unit.ticking import look, tick
from tests.unit.world import World, a_company


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_company(tmp_path) as made:
        yield made
        assert await made.read(lambda tx: rebuild_and_compare(tx.connection)) == []


async def company(world: World) -> Company:
    return await world.find(Company, 1)


async def told(world: World, kind: str) -> list[dict[str, Any]]:
    """What the events of a kind tell."""
    rows = await world.read(lambda tx: tx.all("SELECT changed FROM events WHERE kind = :k ORDER BY id", k=kind))
    return [json.loads(row["changed"]) for row in rows]


async def begun(world: World, *, discussion: bool = False) -> Goal:
    """A CEO's draft that stage B has dispatched."""
    for run in await world.all(Run, "kind IN ('propose', 'heartbeat') AND status = 'queued'"):
        await world.system("KillRun", run=run.id)
    goal = await world.a_goal(by="vera", reviewed=False)
    await world.system("DispatchGoal", goal=goal.id, discussion=discussion)
    return await world.goal(goal.id)


async def at_stage_b(world: World, **more: Any) -> None:
    await world.operator("SetAutonomy", stage="B", **more)


async def ended(world: World, goal: Goal) -> None:
    """The goal is over without a person having looked at it."""
    await world.read(lambda tx: tx.update(tx.get(Goal, goal.id), "GoalAccepted", status=GoalStatus.DONE))


# The switch -----------------------------------------------------------------------------------------------------


async def test_every_company_begins_at_stage_a_with_a_finite_budget(world: World) -> None:
    made = await company(world)
    assert (made.autonomy, made.budget_micros) == (Autonomy.A, STAGE_B_BUDGET_MICROS)


async def test_the_switch_is_the_operators_alone(world: World) -> None:
    with pytest.raises(Forbidden):
        await world.do(await world.run("vera"), "SetAutonomy", stage="B")
    with pytest.raises(Forbidden):
        await world.system("SetAutonomy", stage="B")


async def test_it_may_change_the_budget_and_is_an_event_of_its_own(world: World) -> None:
    await at_stage_b(world, budget_micros=7_000_000)
    made = await company(world)
    assert (made.autonomy, made.budget_micros) == (Autonomy.B, 7_000_000)
    await at_stage_b(world)
    assert len(await told(world, "AutonomyChanged")) == 1
    assert (await company(world)).budget_micros == 7_000_000


async def test_stage_b_without_a_budget_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match="budget"):
        await at_stage_b(world, budget_micros=0)
    assert (await company(world)).autonomy == Autonomy.A


# The dispatch ---------------------------------------------------------------------------------------------------


async def test_at_stage_a_a_ceos_draft_waits_for_a_person(world: World) -> None:
    goal = await world.a_goal(by="vera", reviewed=False)
    with pytest.raises(Conflict, match=f"G{goal.id}.*no person has reviewed.*stage A"):
        await world.system("DispatchGoal", goal=goal.id)
    assert "DispatchGoal" not in await tick(world)


async def test_at_stage_b_a_tick_dispatches_it_as_an_event_of_its_own_kind(world: World) -> None:
    await at_stage_b(world)
    goal = await world.a_goal(by="vera", reviewed=False)
    assert "DispatchGoal" in await tick(world)
    goal = await world.goal(goal.id)
    assert goal.status == GoalStatus.PLANNING
    assert goal.auto_dispatched_at is not None
    assert not is_reviewed(goal)
    assert (await company(world)).auto_in_a_row == 1
    event = (await told(world, "GoalAutoDispatched"))[0]
    assert (event["in_a_row"], event["spent_micros"]) == (1, 0)
    assert await told(world, "GoalDispatched") == []


async def test_the_operators_own_draft_is_never_dispatched_by_itself(world: World) -> None:
    await at_stage_b(world)
    goal = await world.a_goal()
    assert "DispatchGoal" not in await tick(world)
    with pytest.raises(Conflict, match=r"no new draft of the CEO"):
        await world.system("DispatchGoal", goal=goal.id)


async def test_a_draft_that_was_sent_back_to_its_author_is_the_persons_to_dispatch(world: World) -> None:
    await at_stage_b(world)
    goal = await world.a_goal(by="vera", reviewed=False)
    await world.operator("ReviseGoal", goal=goal.id, note="smaller")
    assert "DispatchGoal" not in await tick(world)


async def test_a_stopped_company_dispatches_nothing(world: World) -> None:
    await at_stage_b(world)
    goal = await world.a_goal(by="vera", reviewed=False)
    await world.operator("StopCompany")
    assert "DispatchGoal" not in await tick(world)
    with pytest.raises(Conflict, match="stopped"):
        await world.system("DispatchGoal", goal=goal.id)


async def inbox_of(world: World) -> list[InboxItem]:
    readers = await Readers.open(world.folder / "board.db")
    try:
        return await owed(readers)
    finally:
        await readers.close()


# The limits -----------------------------------------------------------------------------------------------------


async def three_in_a_row(world: World) -> None:
    await at_stage_b(world)
    for _ in range(3):
        await ended(world, await begun(world))


async def test_after_three_in_a_row_it_is_stage_a_again_and_the_inbox_says_why(world: World) -> None:
    await three_in_a_row(world)
    assert "ReturnAutonomy" in await tick(world)
    assert (await company(world)).autonomy == Autonomy.A
    assert (await told(world, "AutonomyReturned"))[0]["limit"] == "in_a_row"
    question = (await world.pending("company:1"))[0]
    assert "3 goals in a row" in question.payload["why"]
    item = next(item for item in await inbox_of(world) if item.kind == "autonomy")
    assert "3 goals in a row" in item.why
    assert "5.00 USD a day" in item.choices[0].effect
    assert "ReturnAutonomy" not in await tick(world)


async def test_the_fourth_is_refused_before_any_tick_has_looked(world: World) -> None:
    await three_in_a_row(world)
    goal = await world.a_goal(by="vera", reviewed=False)
    with pytest.raises(Conflict, match="3 goals in a row"):
        await world.system("DispatchGoal", goal=goal.id)


async def spend(world: World, goal: Goal, micros: int) -> None:
    actor = await world.run("cora", RunKind.MENTION, goal_id=goal.id)
    await world.finish(actor, cost_micros=micros)


async def test_the_days_budget_is_a_limit_and_the_next_day_has_its_own(world: World) -> None:
    await at_stage_b(world, budget_micros=1_000_000)
    first = await begun(world)
    await spend(world, first, 600_000)
    second = await begun(world)
    await spend(world, second, 400_000)
    third = await world.a_goal(by="vera", reviewed=False)
    with pytest.raises(Conflict, match=r"1\.00 USD of 1\.00 USD"):
        await world.system("DispatchGoal", goal=third.id)
    world.clock.advance(DAY_MS)
    await world.system("DispatchGoal", goal=third.id)


async def test_what_other_goals_cost_is_not_stage_bs(world: World) -> None:
    await at_stage_b(world, budget_micros=1_000_000)
    await spend(world, await world.an_active_goal(), 9_000_000)
    await begun(world)


async def test_what_live_runs_hold_back_counts_as_spent(world: World) -> None:
    await at_stage_b(world, budget_micros=1_000_000)
    goal = await begun(world)
    actor = await world.run("cora", RunKind.MENTION, goal_id=goal.id)
    await world.read(lambda tx: tx.update(tx.get(Run, actor.run_id), "RunRenewed", reserved_micros=1_000_000))
    assert "ReturnAutonomy" in await tick(world)
    assert (await told(world, "AutonomyReturned"))[0]["limit"] == "budget"


async def decide(world: World, decision: str) -> None:
    question = (await world.pending("company:1"))[0]
    await world.operator("DecideApproval", approval=question.id, decision=decision, note="so")


async def test_a_yes_lets_stage_b_go_on_from_nothing(world: World) -> None:
    await three_in_a_row(world)
    await tick(world)
    await decide(world, "approved")
    made = await company(world)
    assert (made.autonomy, made.auto_in_a_row) == (Autonomy.B, 0)
    await begun(world)


async def test_a_yes_to_a_used_up_budget_is_one_for_twice_as_much(world: World) -> None:
    await at_stage_b(world, budget_micros=1_000_000)
    await spend(world, await begun(world), 1_000_000)
    await tick(world)
    await decide(world, "approved")
    assert (await company(world)).budget_micros == 2_000_000
    assert "ReturnAutonomy" not in await tick(world)


async def test_a_no_leaves_it_at_stage_a(world: World) -> None:
    await three_in_a_row(world)
    await tick(world)
    await decide(world, "rejected")
    made = await company(world)
    assert (made.autonomy, made.auto_in_a_row) == (Autonomy.A, 0)


async def test_to_choose_again_answers_the_question(world: World) -> None:
    await three_in_a_row(world)
    await tick(world)
    await at_stage_b(world)
    assert await world.pending("company:1") == []
    assert [question.status for question in await world.all(Approval)] == [ApprovalStatus.CANCELLED]
    await three_in_a_row(world)
    assert "ReturnAutonomy" in await tick(world)


# The look of a person -------------------------------------------------------------------------------------------

LOOKS: dict[str, dict[str, Any]] = {
    "LookedAt": {},
    "PauseGoal": {},
    "CancelGoal": {"reason": "no"},
    "AddComment": {"body": "what is this for?"},
    "WaiveMustHave": {"must_have": "M1"},
    "RecallGoal": {},
}


@pytest.mark.parametrize("act", LOOKS)
async def test_whatever_a_person_does_about_it_is_a_look(world: World, act: str) -> None:
    await at_stage_b(world)
    goal = await world.a_goal(by="vera", reviewed=False, must_haves=("count",))
    await world.system("DispatchGoal", goal=goal.id)
    await world.operator(act, goal=goal.id, **LOOKS[act])
    assert (await company(world)).auto_in_a_row == 0


async def test_a_decision_about_one_of_its_tasks_is_a_look_too(world: World) -> None:
    await at_stage_b(world)
    goal = await begun(world)
    task = (await world.all(Task, "goal_id = :g", g=goal.id))[0]
    asked = await world.system("RequestApproval", kind="question", entity=f"task:{task.id}", title="Which?")
    assert (await company(world)).auto_in_a_row == 1
    await world.operator("DecideApproval", approval=asked["id"], decision="approved")
    assert (await company(world)).auto_in_a_row == 0


async def test_what_a_person_does_elsewhere_is_no_look(world: World) -> None:
    await at_stage_b(world)
    await begun(world)
    other = await world.an_active_goal()
    await world.operator("LookedAt", goal=other.id)
    await world.operator("PauseGoal", goal=other.id)
    await world.operator("PauseAgent", agent="bob")
    assert (await company(world)).auto_in_a_row == 1


# The recall -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("discussion", [True, False])
async def test_a_recalled_goal_is_a_draft_again_and_nothing_of_it_goes_on(world: World, discussion: bool) -> None:
    await at_stage_b(world)
    goal = await begun(world, discussion=discussion)
    await tick(world)
    await tick(world)
    assert await world.all(Run, "goal_id = :g", g=goal.id) or not discussion
    task = (await world.all(Task, "goal_id = :g", g=goal.id))[0]
    if not discussion:
        await world.brought_to(task.id, "working")
    await world.operator("RecallGoal", goal=goal.id)
    goal = await world.goal(goal.id)
    assert (goal.status, goal.reviewed_by) == (GoalStatus.DRAFT, None)
    live = "goal_id = :g AND status IN ('queued', 'starting', 'running')"
    assert await world.all(Run, live, g=goal.id) == []
    tasks = await world.all(Task, "goal_id = :g ORDER BY id", g=goal.id)
    assert [(task.status, task.title) for task in tasks] == [("cancelled", goal.title), ("draft", goal.title)]
    if not discussion:
        assert (await world.round_of(goal.id)).status == RoundStatus.CLOSED


async def test_a_recalled_goal_is_dispatched_by_a_person_only(world: World) -> None:
    await at_stage_b(world)
    goal = await begun(world)
    await world.operator("RecallGoal", goal=goal.id)
    assert "DispatchGoal" not in await tick(world)
    with pytest.raises(Conflict):
        await world.system("DispatchGoal", goal=goal.id)
    with pytest.raises(Conflict, match="no person has reviewed"):
        await world.operator("DispatchGoal", goal=goal.id)
    await world.operator("ReviewGoal", goal=goal.id)
    await world.operator("DispatchGoal", goal=goal.id, discussion=False)
    goal = await world.goal(goal.id)
    assert (goal.status, goal.auto_dispatched_at) == (GoalStatus.ACTIVE, None)


async def test_only_what_stage_b_has_at_work_can_be_recalled(world: World) -> None:
    mine = await world.an_active_goal()
    with pytest.raises(Conflict, match="dispatched by you"):
        await world.operator("RecallGoal", goal=mine.id)
    draft = await world.a_goal(by="vera", reviewed=False)
    with pytest.raises(Conflict, match="draft"):
        await world.operator("RecallGoal", goal=draft.id)
    await world.operator("CancelGoal", goal=draft.id, reason="no")
    await at_stage_b(world)
    goal = await begun(world)
    with pytest.raises(Forbidden):
        await world.do(await world.run("vera"), "RecallGoal", goal=goal.id)


# The heartbeat on demand ----------------------------------------------------------------------------------------


async def heartbeats(world: World) -> list[Run]:
    return await world.all(Run, "kind = 'heartbeat' ORDER BY id")


async def blocked(world: World) -> Task:
    task, ada = await world.a_task("blocked")
    assert ada is not None
    await world.finish(ada)
    return task


async def test_a_called_heartbeat_is_due_at_once_and_only_once(world: World) -> None:
    task = await blocked(world)
    await tick(world)
    await world.finish(await world.started((await heartbeats(world))[0].id))
    world.clock.advance(1_000)
    await world.operator("CallHeartbeat")
    await tick(world)
    first, second = await heartbeats(world)
    assert (first.brief["called"], second.brief["called"]) == (False, True)
    assert [item["entity"] for item in second.brief["agenda"]] == [f"task:{task.id}"]
    await world.finish(await world.started(second.id))
    assert await tick(world) == []


async def test_what_the_heartbeat_was_about_calls_nobody_again_until_it_is_new(world: World) -> None:
    task = await blocked(world)
    await tick(world)
    await world.finish(await world.started((await heartbeats(world))[0].id))
    world.clock.advance(900_000)
    await tick(world)
    assert len(await heartbeats(world)) == 1
    await world.operator("UnblockTask", task=task.id)
    await world.operator("PauseGoal", goal=(await world.a_goal()).id)
    await world.brought_to(task.id, "blocked", "bob")
    world.clock.advance(900_000)
    await tick(world)
    assert len(await heartbeats(world)) == 2


async def test_a_heartbeat_whose_run_failed_is_begun_again_but_not_for_ever(world: World) -> None:
    await blocked(world)
    for attempt in range(1, 6):
        await tick(world)
        runs = await heartbeats(world)
        assert len(runs) == min(attempt, 3)
        if attempt <= 3:
            await world.finish(await world.started(runs[-1].id), "failed")
        world.clock.advance(900_000)


@pytest.mark.parametrize(("act", "why"), [("StopCompany", "stopped"), ("PauseAgent", "no active CEO")])
async def test_a_heartbeat_that_could_not_come_is_refused(world: World, act: str, why: str) -> None:
    await world.operator(act, **({"agent": "vera"} if act == "PauseAgent" else {}))
    with pytest.raises(Conflict, match=why):
        await world.operator("CallHeartbeat")


async def test_the_ceo_unblocks_and_enqueues_below_a_reviewed_goal(world: World) -> None:
    task = await blocked(world)
    vera = await world.run("vera", RunKind.HEARTBEAT)
    await world.do(vera, "UnblockTask", task=task.id)
    draft = await world.operator("CreateTask", goal=task.goal_id, title="More", draft=True)
    await world.do(vera, "EnqueueTask", task=draft["id"])
    assert (await world.task(draft["id"])).status == "pending"


async def test_below_a_goal_that_stage_b_began_the_ceo_enqueues_nothing(world: World) -> None:
    await at_stage_b(world)
    goal = await begun(world)
    cora = await world.run("cora", RunKind.STALL, goal_id=goal.id)
    draft = await world.do(cora, "CreateTask", goal=goal.id, title="More", end_state="There.", draft=True)
    with pytest.raises(Forbidden, match="not reviewed"):
        await world.do(await world.run("vera", RunKind.HEARTBEAT), "EnqueueTask", task=draft["id"])
    assert not [held for held in (await look(world)).actions if held.act == "EnqueueTask"]
