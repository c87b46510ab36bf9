"""Planning by discussion through the board: turns, convergence, its ends, decisions (S2-08, S2-17, S2-30, C-16)."""

from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import Comment, Decision, Goal, Round, Run, Task, Turn
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.limits import DISCUSSION_TURNS, RUN_ATTEMPTS
from core.domain.states import GoalStatus, Role, RunKind, TaskStatus, TurnOutcome
from core.simulation.laws import broken_laws, kept_counts
from core.ticker import QUIET
from tests.unit.ticking import Say, begun, look, queued, spoken, tick, turn_of
from tests.unit.world import STAFF, World, a_company


async def planned(world: World, *must_haves: str, **more: Any) -> Goal:
    """A goal on the board with discussion."""
    goal = await world.a_goal(must_haves=must_haves, **more)
    await world.operator("DispatchGoal", goal=goal.id)
    return await world.goal(goal.id)


def makes(goal: Goal, *must_haves: str, title: str = "Count") -> Say:
    return "CreateTask", {
        "goal": goal.id, "title": title, "end_state": "every file is counted", "must_haves": must_haves
    }  # fmt: skip


def says(goal: Goal, body: str, kind: str = "question") -> Say:
    return "AddComment", {"goal": goal.id, "kind": kind, "body": body}


async def turns(world: World) -> list[Turn]:
    return await world.all(Turn, "true ORDER BY id")


async def tasks(world: World, goal: Goal) -> dict[str, TaskStatus]:
    rows = await world.all(Task, "goal_id = :goal ORDER BY id", goal=goal.id)
    return {task.title: task.status for task in rows}


# Convergence ------------------------------------------------------------------------------------------------------


async def test_agents_discuss_make_tasks_and_the_work_begins_by_itself(world: World) -> None:
    goal = await planned(world, "count", "duplicates")
    await turn_of(world, ada=[makes(goal, "M1")], bob=[says(goal, "Do links count?")])
    await turn_of(world, bob=[makes(goal, "M2", title="Duplicates")])
    assert "CloseTurn" in await turn_of(world)
    assert [(turn.new_tasks, turn.questions, str(turn.outcome)) for turn in await turns(world)] == [
        (1, 1, "goes_on"), (1, 0, "goes_on"), (0, 0, "converged"),
    ]  # fmt: skip
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE
    assert await tasks(world, goal) == {
        "Audit the folder": TaskStatus.CANCELLED, "Count": TaskStatus.PENDING, "Duplicates": TaskStatus.PENDING,
    }  # fmt: skip
    round_ = await world.round_of(goal.id)
    assert (round_.number, round_.open_tasks) == (1, 2)
    assert await world.read(broken_laws) == []


async def test_without_must_haves_the_task_that_stands_for_the_goal_is_enough(world: World) -> None:
    goal = await planned(world)
    await turn_of(world)
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE
    assert await tasks(world, goal) == {"Audit the folder": TaskStatus.PENDING}


async def test_with_every_must_have_waived_there_is_nothing_more_to_plan(world: World) -> None:
    goal = await planned(world, "count")
    await turn_of(world)
    assert (await turns(world))[0].outcome == TurnOutcome.GOES_ON
    await world.operator("WaiveMustHave", goal=goal.id, must_have="M1")
    await turn_of(world)
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


@pytest.mark.parametrize("kind", ["question", "objection"])
async def test_a_turn_with_a_question_or_an_objection_does_not_converge(world: World, kind: str) -> None:
    goal = await planned(world)
    await turn_of(world, ada=[says(goal, "Links as well?", kind)])
    assert [str(turn.outcome) for turn in await turns(world)] == ["goes_on"]
    await turn_of(world, bob=[says(goal, "Yes.", "observation")])
    assert (await turns(world))[-1].outcome == TurnOutcome.CONVERGED


async def test_what_the_operator_asks_in_a_turn_counts_too(world: World) -> None:
    goal = await planned(world)
    await tick(world)
    await tick(world)
    await world.operator("AddComment", goal=goal.id, kind="question", body="What about links?")
    for slug in ("ada", "bob"):
        await spoken(world, RunKind.DISCUSS, slug)
    await tick(world)
    assert (await turns(world))[0].outcome == TurnOutcome.GOES_ON


async def test_only_a_well_formed_task_of_the_plan_covers_a_must_have(world: World) -> None:
    goal = await planned(world, "count")
    await world.operator("CreateTask", goal=goal.id, title="Rough", must_haves=("M1",))
    await turn_of(world)
    await turn_of(world)
    assert [str(turn.outcome) for turn in await turns(world)] == ["goes_on", "goes_on"]


async def test_who_waits_for_the_placeholder_goes_on_without_it(world: World) -> None:
    goal = await planned(world, "count")
    whole = (await world.all(Task, "goal_id = :goal", goal=goal.id))[0]
    command, arguments = makes(goal, "M1")
    await turn_of(world, ada=[(command, {**arguments, "depends_on": ({"task": whole.id},)})])
    await turn_of(world)
    count = (await world.all(Task, "title = 'Count'"))[0]
    assert (count.status, count.open_deps) == (TaskStatus.PENDING, 0)
    assert await world.read(kept_counts) == {}


async def test_a_task_of_the_dispatch_is_no_news_of_the_first_turn(world: World) -> None:
    command = {"title": "Count", "end_state": "counted", "must_haves": ("M1",)}
    goal = await planned(world, "count", tasks=(command,))
    await turn_of(world)
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


async def test_one_executor_discusses_with_itself(tmp_path: Path) -> None:
    staff = {slug: role for slug, role in STAFF.items() if slug != "bob"}
    async with a_company(tmp_path, staff=staff) as world:
        goal = await planned(world, "count")
        await turn_of(world, ada=[makes(goal, "M1")])
        await turn_of(world)
        assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


async def test_without_executors_the_coordinator_plans(tmp_path: Path) -> None:
    staff: dict[str, Role] = {slug: role for slug, role in STAFF.items() if role != Role.EXECUTOR}
    async with a_company(tmp_path, staff=staff) as world:
        await planned(world, "count")
        await tick(world)
        assert len(await queued(world, RunKind.PLAN)) == 1
        assert await turns(world) == []


# No convergence -----------------------------------------------------------------------------------------------


async def test_after_five_turns_the_coordinator_rules_and_then_the_operator_is_asked(world: World) -> None:
    goal = await planned(world, "count")
    for number in range(DISCUSSION_TURNS):
        await turn_of(world, ada=[says(goal, f"And what about {number}?")])
    assert [str(turn.outcome) for turn in await turns(world)] == ["goes_on"] * 4 + ["not_converged"]
    for _ in range(RUN_ATTEMPTS):
        await tick(world)
        assert await queued(world, RunKind.DISCUSS) == []
        await spoken(world, RunKind.PLAN, "cora")
    await tick(world)
    assert len(await world.pending(f"goal:{goal.id}")) == 1
    assert len(await turns(world)) == DISCUSSION_TURNS


async def test_the_coordinator_that_rules_makes_the_tasks_and_begins(world: World) -> None:
    goal = await planned(world, "count")
    for number in range(DISCUSSION_TURNS):
        await turn_of(world, bob=[says(goal, f"No, {number}.", "objection")])
    await tick(world)
    await spoken(world, RunKind.PLAN, "cora", makes(goal, "M1"), ("ActivateGoal", {"goal": goal.id}))
    assert await tasks(world, goal) == {"Audit the folder": TaskStatus.CANCELLED, "Count": TaskStatus.PENDING}


async def test_nobody_cuts_a_turn_short_but_the_operator(world: World) -> None:
    goal = await planned(world, "count")
    await tick(world)
    cora = await world.run("cora", goal_id=goal.id)
    with pytest.raises(Conflict, match="turn 1 of its discussion goes on"):
        await world.do(cora, "ActivateGoal", goal=goal.id)
    assert (await world.goal(goal.id)).status == GoalStatus.PLANNING


async def test_a_turn_in_which_every_run_failed_converges_to_nothing(world: World) -> None:
    goal = await planned(world)
    await tick(world)
    for _ in range(RUN_ATTEMPTS):
        await tick(world)
        for slug, status in (("ada", "failed"), ("bob", "protocol_violation")):
            await spoken(world, RunKind.DISCUSS, slug, status=status)
    assert await tick(world) == ["CloseTurn"]
    assert (await turns(world))[0].outcome == TurnOutcome.NOT_CONVERGED
    assert (await world.goal(goal.id)).status == GoalStatus.PLANNING
    await tick(world)
    assert len(await queued(world, RunKind.PLAN)) == 1


async def test_killed_and_lost_runs_of_a_turn_are_asked_for_again(world: World) -> None:
    await planned(world)
    await tick(world)
    await tick(world)
    ada, bob = await begun(world, RunKind.DISCUSS, "ada"), await begun(world, RunKind.DISCUSS, "bob")
    await world.operator("KillRun", run=ada.run_id)
    await world.system("LoseRun", run=bob.run_id, why="gone")
    await tick(world)
    assert len(await queued(world, RunKind.DISCUSS)) == 2
    for slug in ("ada", "bob"):
        await spoken(world, RunKind.DISCUSS, slug)
    assert "CloseTurn" in await tick(world)


async def test_a_killed_word_costs_no_attempt_a_lost_one_does(world: World) -> None:
    await planned(world)
    await tick(world)
    for _ in range(RUN_ATTEMPTS + 1):
        await tick(world)
        await world.operator("KillRun", run=(await begun(world, RunKind.DISCUSS, "ada")).run_id)
    await tick(world)
    assert len(await queued(world, RunKind.DISCUSS, "ada")) == 1


# Interrupted ------------------------------------------------------------------------------------------------------


async def test_a_paused_goal_takes_its_discussion_up_again(world: World) -> None:
    goal = await planned(world, "count")
    await tick(world)
    await tick(world)
    await spoken(world, RunKind.DISCUSS, "ada")
    await world.operator("PauseGoal", goal=goal.id)
    await spoken_after_pause(world)
    assert await tick(world) == []
    await world.operator("PauseGoal", goal=goal.id, paused=False)
    await spoken(world, RunKind.DISCUSS, "bob")
    assert "CloseTurn" in await tick(world)


async def spoken_after_pause(world: World) -> None:
    """A queued run of a paused goal does not start."""
    run = (await queued(world, RunKind.DISCUSS, "bob"))[0]
    answer = await world.system("StartRun", run=run.id, owner="owner:1")
    assert (answer["started"], answer["scope"]) == (False, "goal")


async def test_a_stopped_company_takes_its_discussion_up_again(world: World) -> None:
    await planned(world)
    await tick(world)
    await tick(world)
    await world.operator("StopCompany")
    assert await tick(world) == []
    await world.operator("StartCompany")
    await tick(world)
    for slug in ("ada", "bob"):
        await spoken(world, RunKind.DISCUSS, slug)
    assert "CloseTurn" in await tick(world)


async def test_an_agent_that_is_paused_in_a_turn_is_not_waited_for(world: World) -> None:
    goal = await planned(world)
    await tick(world)
    await tick(world)
    await spoken(world, RunKind.DISCUSS, "ada")
    await world.operator("PauseAgent", agent="bob")
    assert await tick(world) == ["CloseTurn"]
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE


async def test_the_end_of_a_turn_ends_what_was_still_to_be_said_in_it(world: World) -> None:
    await planned(world, "count")
    await tick(world)
    await tick(world)
    await world.system("CloseTurn", turn=(await turns(world))[0].id)
    assert [run.detail for run in await world.all(Run, "kind = 'discuss'")] == ["the turn is over"] * 2


async def test_a_goal_cancelled_in_its_discussion_ends_it_whole(world: World) -> None:
    goal = await planned(world, "count")
    await tick(world)
    await tick(world)
    ada = await begun(world, RunKind.DISCUSS, "ada")
    await world.operator("CancelGoal", goal=goal.id, reason="no")
    assert [(turn.outcome, turn.ended_at is None) for turn in await turns(world)] == [(TurnOutcome.ENDED, False)]
    assert await world.all(Run, "kind = 'discuss' AND status IN ('queued', 'starting', 'running')") == []
    with pytest.raises(Forbidden):
        await world.do(ada, "CreateTask", goal=goal.id, title="Late", end_state="x")
    assert "OpenTurn" not in await tick(world)


async def test_a_discussion_that_waits_makes_no_event_a_tick(world: World) -> None:
    await planned(world, "count")
    await tick(world)
    await tick(world)
    before = await world.events()
    for _ in range(5):
        await tick(world)
    assert await world.events() == before


# Ended by the operator ----------------------------------------------------------------------------------------------


def test_the_beginning_and_the_end_of_a_turn_wake_the_next_tick() -> None:
    assert not {"TurnOpened", "TurnClosed", "DiscussionEnded"} & QUIET


async def test_the_operator_ends_a_discussion_and_its_live_runs(world: World) -> None:
    goal = await planned(world, "count")
    await tick(world)
    await tick(world)
    ada = await begun(world, RunKind.DISCUSS, "ada")
    await world.do(ada, "AddComment", goal=goal.id, kind="question", body="Links?")
    answer = await world.operator("EndDiscussion", goal=goal.id, note="Count links once.")
    assert (answer["status"], answer["missing"]) == ("planning", ["a task for M1"])
    assert [(str(turn.outcome), turn.questions) for turn in await turns(world)] == [("ended", 1)]
    assert [str(run.status) for run in await world.all(Run, "kind = 'discuss'")] == ["killed", "killed"]
    said = await world.all(Comment, "goal_id = :goal AND author = 'human'", goal=goal.id)
    assert [comment.body for comment in said] == ["Count links once."]
    await tick(world)
    assert (len(await queued(world, RunKind.PLAN)), await queued(world, RunKind.DISCUSS)) == (1, [])


async def test_a_plan_that_covers_everything_begins_when_the_operator_ends_the_talk(world: World) -> None:
    goal = await planned(world, "count")
    await turn_of(world, ada=[makes(goal, "M1")])
    await world.operator("EndDiscussion", goal=goal.id)
    assert (await world.goal(goal.id)).status == GoalStatus.ACTIVE
    assert len(await world.all(Round)) == 1
    assert [str(turn.outcome) for turn in await turns(world)] == ["ended"]


async def test_a_discussion_can_be_ended_before_its_first_turn_and_only_once(world: World) -> None:
    goal = await planned(world, "count")
    await world.operator("EndDiscussion", goal=goal.id)
    assert [(turn.number, str(turn.outcome)) for turn in await turns(world)] == [(1, "ended")]
    assert "OpenTurn" not in await tick(world)
    with pytest.raises(Conflict, match="is over: ended"):
        await world.operator("EndDiscussion", goal=goal.id)


@pytest.mark.parametrize("dispatch", [None, False])
async def test_only_a_goal_in_planning_is_discussed(world: World, dispatch: bool | None) -> None:
    goal = await world.a_goal()
    if dispatch is not None:
        await world.operator("DispatchGoal", goal=goal.id, discussion=dispatch)
    status = (await world.goal(goal.id)).status
    with pytest.raises(Conflict, match=f"is {status}: there is no discussion"):
        await world.operator("EndDiscussion", goal=goal.id)
    with pytest.raises(Conflict, match=f"is {status}: there is no discussion"):
        await world.system("OpenTurn", goal=goal.id, agents=((await world.agent("ada")).id,))


async def test_turns_are_the_systems_and_one_after_another(world: World) -> None:
    goal = await planned(world, "count")
    ada = (await world.agent("ada")).id
    with pytest.raises(Forbidden):
        await world.operator("OpenTurn", goal=goal.id, agents=(ada,))
    with pytest.raises(Invalid):
        await world.system("OpenTurn", goal=goal.id, agents=())
    turn = await world.system("OpenTurn", goal=goal.id, agents=(ada, ada))
    assert turn["agents"] == [ada]
    with pytest.raises(Conflict, match="turn 1 open"):
        await world.system("OpenTurn", goal=goal.id, agents=(ada,))
    await world.system("CloseTurn", turn=turn["id"])
    with pytest.raises(Conflict, match="is over"):
        await world.system("CloseTurn", turn=turn["id"])


# Decisions ----------------------------------------------------------------------------------------------------------


async def test_a_decision_in_a_discussion_is_a_row_that_outputs_must_carry_out(world: World) -> None:
    goal = await planned(world)
    await turn_of(world, ada=[says(goal, "Links count once.", "decision")], bob=[says(goal, "So?")])
    task = (await world.all(Task, "goal_id = :goal", goal=goal.id))[0]
    await world.operator("AddComment", task=task.id, kind="decision", body="Only Markdown.")
    await world.operator("AddComment", goal=goal.id, kind="decision", body="Links count once.")
    kept = await world.all(Decision, "true ORDER BY id")
    assert [(row.text, row.created_by, row.task_id, row.covered_by, row.waived_by) for row in kept] == [
        ("Links count once.", "ada", None, (), ""), ("Only Markdown.", "human", task.id, (), ""),
    ]  # fmt: skip


async def test_a_decision_on_a_draft_is_only_said(world: World) -> None:
    goal = await world.a_goal()
    await world.operator("AddComment", goal=goal.id, kind="decision", body="Links count once.")
    assert await world.all(Decision) == []


async def test_an_agent_decides_only_in_the_goal_of_its_run(world: World) -> None:
    goal = await planned(world)
    other = await planned(world)
    for slug, about in (("ada", None), ("bob", other.id)):
        stranger = await world.run(slug, goal_id=about)
        with pytest.raises(Forbidden):
            await world.do(stranger, "AddComment", goal=goal.id, kind="decision", body="Links count twice.")
    assert await world.all(Decision) == []


async def test_only_a_person_waives_a_decision_once_and_with_a_reason(world: World) -> None:
    goal = await planned(world)
    await world.operator("AddComment", goal=goal.id, kind="decision", body="Links count once.")
    decision = (await world.all(Decision))[0]
    with pytest.raises(Forbidden):
        await world.do(await world.run("cora", goal_id=goal.id), "WaiveDecision", decision=decision.id, reason="x")
    with pytest.raises(Invalid):
        await world.operator("WaiveDecision", decision=decision.id, reason=" ")
    await world.operator("WaiveDecision", decision=decision.id, reason="there are no links")
    assert (await world.find(Decision, decision.id)).waived_by == "human"
    assert "there are no links" in (await world.all(Comment, "true ORDER BY id"))[-1].body
    with pytest.raises(Conflict, match="waived already"):
        await world.operator("WaiveDecision", decision=decision.id, reason="again")


async def test_what_is_held_back_in_planning_says_why(world: World) -> None:
    goal = await planned(world, "count")
    await world.operator("PauseGoal", goal=goal.id)
    assert [held.why for held in (await look(world)).held if held.entity == f"goal:{goal.id}"] == ["G1 is paused"]


async def test_what_is_asked_or_made_between_two_turns_counts_in_the_later_one(world: World) -> None:
    goal = await planned(world, "count")
    await turn_of(world, ada=[makes(goal, "M1")])
    cora = await world.run("cora", goal_id=goal.id)
    await world.do(cora, "AddComment", goal=goal.id, kind="question", body="Do links count?")
    await world.do(cora, "CreateTask", goal=goal.id, title="Links", end_state="they are counted", must_haves=("M1",))
    await world.finish(cora)
    await turn_of(world)
    assert [(turn.new_tasks, turn.questions, str(turn.outcome)) for turn in await turns(world)] == [
        (1, 0, "goes_on"), (1, 1, "goes_on"),
    ]  # fmt: skip
    assert "CloseTurn" in await turn_of(world)
    assert [turn.outcome for turn in await turns(world)][-1] == TurnOutcome.CONVERGED
