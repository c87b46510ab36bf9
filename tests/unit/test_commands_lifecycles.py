"""Every act on every state by everybody, through the real commands: the table's moves happen, nothing else does."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.domain.actors import Actor, Agent
from core.domain.entities import Approval, Entity, Goal, Round, Run, Task
from core.domain.errors import Conflict, Forbidden
from core.domain.lifecycles import LIFECYCLES, Who
from core.domain.states import ApprovalStatus, GoalStatus, RoundStatus, RunKind, RunStatus, TaskStatus
from core.simulation.laws import kept_counts
from tests.unit.world import FINDING, FIVE, HANDOFF, OPERATOR, OWNER, SYSTEM, World, a_company

Tries = Mapping[str, list[tuple[dict[str, Any], str]]]
SUBJECT: dict[str, type[Entity]] = {"task": Task, "goal": Goal, "round": Round, "approval": Approval, "run": Run}

PARTS = [{"title": title, "end_state": "every file is counted"} for title in ("One half", "The other")]
TRIES: dict[str, Tries] = {
    "task": {
        "EnqueueTask": [({}, "pending")],
        "SendBackTask": [({"why": "what is it done by?"}, "draft")],
        "SplitTask": [({"parts": PARTS, "reason": "too large"}, "cancelled")],
        "ClaimTask": [({}, "claimed")],
        "AssignTask": [({"agent": "bob"}, "claimed")],
        "StartTask": [({}, "working")],
        "SubmitTask": [({}, "review")],
        "ReviewTask": [
            ({"verdict": "approved", "summary": "good"}, "done"),
            ({"verdict": "needs_revision", "summary": "no", "findings": [FINDING]}, "working"),
            ({"verdict": "rejected", "summary": "no", "findings": [FINDING]}, "pending"),
        ],
        "FailTask": [({"reason": "gone"}, "failed")],
        "BlockTask": [({"reason": "which?", "block_kind": "needs_input"}, "blocked")],
        "AskOperator": [({"kind": "red_line", "title": "Delete it?", "payload": {}}, "waiting_human")],
        "UnblockTask": [({}, "pending")],
        "ResumeTask": [({}, "pending"), ({"go_on": True}, "working")],
        "ReleaseTask": [({"why": "lost"}, "pending")],
        "CancelTask": [({"reason": "not needed"}, "cancelled")],
    },
    "goal": {
        "DispatchGoal": [({"discussion": True}, "planning"), ({"discussion": False}, "active")],
        "ActivateGoal": [({}, "active")],
        "EndDiscussion": [({}, "active")],
        "ReportGoal": [({"summary": "all counted"}, "reporting")],
        "AcceptGoal": [({}, "done")],
        "SendBackGoal": [({"note": "more"}, "active")],
        "CancelGoal": [({"reason": "not needed"}, "cancelled")],
        "ArchiveGoal": [({}, "archived")],
    },
    "round": {
        "StallRound": [({"why": "nothing runs"}, "stalled")],
        "EscalateRound": [({"why": "the cap"}, "escalated")],
        "ReviewRound": [
            ({"goal_clear": "y", "covered": "y", "next_step": "report", "decision": "report"}, "closed"),
        ],
        "ResolveRound": [({"decision": "report"}, "closed")],
    },
    "approval": {
        "DecideApproval": [
            ({"decision": "approved"}, "approved"),
            ({"decision": "rejected", "note": "no"}, "rejected"),
            ({"decision": "revision_requested", "note": "how?"}, "revision_requested"),
        ],
        "ExpireApproval": [({}, "cancelled")],
    },
    "run": {
        "StartRun": [({"owner": OWNER, "runs_at_once": 100}, "starting")],
        "ConfirmRun": [({}, "running")],
        "FinishRun": [
            ({"status": status}, status)
            for status in ("succeeded", "failed", "timed_out", "rate_limited", "protocol_violation")
        ],
        "KillRun": [({}, "killed")],
        "LoseRun": [({"why": "gone"}, "lost")],
    },
}
# The name in the table of a step that another command makes.
NAMED = {"ExpireApproval": "CancelApproval"}
# An agent that is neither coordinator nor CEO enqueues only what was sent back to it.
AUTHORS_OWN = frozenset({"EnqueueTask"})
OWN_RUN = frozenset({"StartTask", "SubmitTask", "FailTask", "BlockTask", "AskOperator"})
# The end of a run may be told twice: by itself, and by who ends it.
REPEATABLE = frozenset({"FinishRun", "LoseRun"})


async def a_task_in(world: World, state: str) -> tuple[int, dict[str, Actor]]:
    if state == "draft":
        goal = await world.an_active_goal()
        made = await world.operator("CreateTask", goal=goal.id, title="Another", draft=True)
        return made["id"], {}
    task, ada = await world.a_task(state)
    if ada is None or state == "done":
        return task.id, {}
    if state == "working":
        await world.do(ada, "AddOutput", task=task.id, type="data", title="Figures", content="42")
        await world.do(ada, "AddComment", task=task.id, kind="handoff", body=HANDOFF)
    if state == "review":
        return task.id, {"A": ada, "R": await world.run("rita", RunKind.REVIEW, task_id=task.id)}
    return task.id, {"A": ada}


async def a_goal_in(world: World, state: str) -> tuple[int, dict[str, Actor]]:
    if state in ("draft", "planning"):
        # At stage B the system may dispatch a CEO's draft too.
        await world.operator("SetAutonomy", stage="B")
        goal = await world.a_goal(by="vera")
        if state == "planning":
            await world.operator("DispatchGoal", goal=goal.id)
        return goal.id, {}
    task, _ = await world.a_task("done")
    cora = await world.run("cora", RunKind.REPORT, goal_id=task.goal_id)
    round_ = await world.round_of(task.goal_id)
    await world.do(cora, "ReviewRound", round=round_.id, **TRIES["round"]["ReviewRound"][0][0])
    if state in ("cancelled", "archived"):
        await world.operator("CancelGoal", goal=task.goal_id, reason="enough")
    if state == "archived":
        await world.operator("ArchiveGoal", goal=task.goal_id)
    if state == "failed":
        payload = {"kind": "goal_failure", "entity": f"goal:{task.goal_id}", "title": "Give up?"}
        asked = await world.do(cora, "RequestApproval", **payload)
        await world.operator("DecideApproval", approval=asked["id"], decision="approved")
    if state in ("reporting", "done"):
        await world.do(cora, "ReportGoal", goal=task.goal_id, summary="all counted")
    if state == "done":
        await world.operator("AcceptGoal", goal=task.goal_id)
    return task.goal_id, {"C": cora} if state in ("active", "reporting") else {}


async def a_round_in(world: World, state: str) -> tuple[int, dict[str, Actor]]:
    task, _ = await world.a_task("done" if state in ("reviewing", "escalated", "closed") else "pending")
    round_ = await world.round_of(task.goal_id)
    if state in ("stalled", "escalated"):
        await world.system("StallRound" if state == "stalled" else "EscalateRound", round=round_.id, why="so")
    if state == "closed":
        await world.operator("CancelGoal", goal=task.goal_id, reason="enough")
    return round_.id, {}


async def an_approval_in(world: World, state: str) -> tuple[int, dict[str, Actor]]:
    task, ada = await world.a_task("working")
    assert ada is not None
    await world.do(ada, "AskOperator", task=task.id, kind="red_line", title="Delete it?", payload={"path": "a"})
    question = (await world.pending(f"task:{task.id}"))[0]
    decisions = {"consumed": "approved", "cancelled": ""}
    decision = decisions.get(state, "" if state == "pending" else state)
    if decision:
        await world.operator("DecideApproval", approval=question.id, decision=decision, note="so")
    if state == "cancelled":
        await world.system("ExpireApproval", approval=question.id)
    if state == "consumed":
        await world.finish(ada)
        again = await world.brought_to(task.id, "working")
        assert again is not None
        use = {"approval": question.id, "approved_payload": {"path": "a"}}
        await world.do(again, "AddOutput", task=task.id, type="other", title="Deleted", content="a", **use)
        ada = again
    return question.id, {"A": ada}


async def a_run_in(world: World, state: str) -> tuple[int, dict[str, Actor]]:
    agent = await world.agent("bob")
    queued = await world.system("QueueRun", kind="mention", agent_id=agent.id, key=f"run:{next(world.numbers)}")
    if state == "queued":
        return queued["id"], {}
    await world.system("StartRun", run=queued["id"], owner=OWNER)
    if state != "starting":
        await world.system("ConfirmRun", run=queued["id"])
    if state == "killed":
        await world.operator("KillRun", run=queued["id"])
    elif state == "lost":
        await world.system("LoseRun", run=queued["id"], why="gone")
    elif state not in ("starting", "running"):
        await world.system("FinishRun", run=queued["id"], status=state)
    return queued["id"], {}


Maker = Callable[[World, str], Awaitable[tuple[int, dict[str, Actor]]]]
MAKERS: dict[str, Maker] = {
    "task": a_task_in,
    "goal": a_goal_in,
    "round": a_round_in,
    "approval": an_approval_in,
    "run": a_run_in,
}
EVERY_STATE = [
    (thing, str(state))
    for thing, states in {
        "task": TaskStatus,
        "goal": GoalStatus,
        "round": RoundStatus,
        "approval": ApprovalStatus,
        "run": RunStatus,
    }.items()
    for state in states
]
SLUGS = {"C": "cora", "R": "rita", "X": "vera", "A": "ada"}


async def everybody(world: World, special: dict[str, Actor]) -> dict[str, Actor]:
    """One actor of each capacity; those that the state needs are made already."""
    actors: dict[str, Actor] = {"H": OPERATOR, "S": SYSTEM}
    for letter, slug in SLUGS.items():
        actors[letter] = special.get(letter) or await world.run(slug)
    return actors


def may(thing: str, act: str, state: str, target: str, letter: str) -> bool:
    """What the table says; an agent's run also has the capacity A."""
    move = LIFECYCLES[thing].find(state, target, NAMED.get(act, act))
    capacities = {Who(letter), Who.ASSIGNEE} if letter in SLUGS else {Who(letter)}
    if (act in OWN_RUN and letter != "A") or (act in AUTHORS_OWN and letter in "AR"):
        return False
    return move is not None and bool(move.who & capacities)


async def outputs_of(world: World, task_id: int) -> tuple[int, ...]:
    rows = await world.read(lambda tx: tx.all("SELECT id FROM outputs WHERE task_id = :t", t=task_id))
    return tuple(row["id"] for row in rows)


@pytest.mark.parametrize(("thing", "state"), EVERY_STATE, ids=str)
async def test_the_moves_of_the_table_happen_and_nothing_else_does(thing: str, state: str, tmp_path: Path) -> None:
    tries = [(act, more, target) for act, ways in TRIES[thing].items() for more, target in ways]
    combinations = [(act, more, target, letter) for act, more, target in tries for letter in (*"HS", *SLUGS)]
    async with a_company(tmp_path) as world:
        while combinations:
            await cleared(world)
            number, special = await MAKERS[thing](world, state)
            before = await world.find(SUBJECT[thing], number)
            assert before.status == state  # type: ignore[attr-defined]
            actors = await everybody(world, special)
            while combinations:
                act, more, target, letter = combinations.pop(0)
                arguments = {thing: number, **more}
                if act == "ReviewTask":
                    arguments |= {"opened_outputs": await outputs_of(world, number), "dimensions": FIVE}
                if may(thing, act, state, target, letter):
                    if (act, letter) == ("DispatchGoal", "S"):
                        await left_to_stage_b(world, number, actors["X"])
                    await world.do(actors[letter], act, **arguments)
                    after = await world.find(SUBJECT[thing], number)
                    assert after.status == target, (act, letter)  # type: ignore[attr-defined]
                    assert await world.read(kept_counts) == {}
                    break
                await refused(world, actors[letter], act, arguments, state)
                assert await world.find(SUBJECT[thing], number) == before, (act, letter)


async def left_to_stage_b(world: World, goal: int, ceo: Actor) -> None:
    """The CEO changed its draft, so that nobody has reviewed it, and is at rest."""
    await world.do(ceo, "EditGoal", goal=goal, description="as it is now")
    assert isinstance(ceo, Agent)
    await world.finish(ceo)


async def cleared(world: World) -> None:
    """Nobody holds, runs or cools down any more."""
    world.clock.advance(60_000)
    await world.operator("StopCompany")
    await world.operator("StartCompany")
    for goal in await world.all(Goal, "status IN ('draft', 'planning', 'active', 'reporting')"):
        await world.operator("CancelGoal", goal=goal.id, reason="the next try begins")


async def refused(world: World, actor: Actor, act: str, arguments: dict[str, Any], state: str) -> None:
    """The act is refused; a Conflict says in which state the thing is and what could be done."""
    if act in REPEATABLE and state in LIFECYCLES["run"].final and actor == SYSTEM:
        await world.do(actor, act, **arguments)
        return
    with pytest.raises((Conflict, Forbidden)) as error:
        await world.do(actor, act, **arguments)
    if isinstance(error.value, Conflict):
        assert state in error.value.message, error.value
    assert isinstance(error.value, Conflict) or not isinstance(actor, type(OPERATOR)) or "for" in str(error.value)


def test_the_tries_cover_every_step_that_a_command_makes_on_one_thing() -> None:
    elsewhere = {"ReleaseTask", "ReviewTask", "DispatchGoal", "ActivateGoal", "OpenRound", "ReviewRound", "CancelTask"}
    for thing, cycle in LIFECYCLES.items():
        named = {NAMED.get(act, act): {target for _, target in ways} for act, ways in TRIES[thing].items()}
        for move in cycle.moves:
            if move.source is not None and move.act in named and move.act not in elsewhere:
                assert move.target in named[move.act], move


async def test_an_agent_is_an_assignee_only_through_its_current_run(tmp_path: Path) -> None:
    async with a_company(tmp_path) as world:
        task, first = await world.a_task("working")
        assert isinstance(first, Agent)
        await world.operator("KillRun", run=first.run_id)
        again = await world.brought_to(task.id, "working", "bob")
        for act, arguments in (("SubmitTask", {}), ("FailTask", {"reason": "x"})):
            with pytest.raises(Forbidden):
                await world.do(first, act, task=task.id, **arguments)
        assert again is not None
        await world.do(again, "FailTask", task=task.id, reason="gone")
