"""A CEO that tries everything never gets a goal started that a person has not read as it is (S1-14…17, C-10, D-02).

The test keeps its own account of what the person read; it does not trust the board's.
"""

import random
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.fold import rebuild_and_compare
from core.domain.actors import Actor, Agent
from core.domain.entities import Goal, Task
from core.domain.errors import OpsroomError
from core.domain.states import GoalStatus, Origin, RunKind, TaskStatus
from core.simulation.laws import broken_laws
from tests.unit.world import OPERATOR, SYSTEM, World, a_company

STEPS = 14
RUNS = (RunKind.PROPOSE, RunKind.MENTION, RunKind.HEARTBEAT, RunKind.PLAN, RunKind.SPLIT)
Act = tuple[str, dict[str, Any]]


class Attempt:
    """One sequence of commands around one draft of the CEO."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.source = random.Random(seed)
        self.read: object = None  # what the person last read and agreed to; None: nothing, or it changed since
        self.shown: dict[str, object] = {}  # what the person had on the screen, by the hash that stood beside it
        self.told: list[str] = []
        self.runs: list[Agent] = []
        self.goal: Goal
        self.tasks: list[Task]

    async def play(self) -> None:
        """Begin with a draft, then let everybody do what comes to their mind."""
        goal = await self.world.a_goal(by="vera", reviewed=False, must_haves=("count",))
        await self.look(goal.id)
        for _ in range(STEPS):
            actor, (command, arguments) = await self.next_act(goal.id)
            before = self.content()
            try:
                await self.world.do(actor, command, **arguments)
            except OpsroomError:
                continue
            self.told.append(f"{actor.label}: {command}")
            if command == "DispatchGoal":
                assert actor == OPERATOR, self.told
                assert self.read == before, self.told
                hashed = arguments.get("content_hash")
                assert hashed is None or self.shown[hashed] == before, self.told
                return
            await self.look(goal.id)
            assert self.goal.status in (GoalStatus.DRAFT, GoalStatus.CANCELLED), self.told
            assert {str(task.status) for task in self.tasks} <= {"draft", "cancelled"}, self.told
            self.keep_account(actor, command, arguments, before)

    async def look(self, goal_id: int) -> None:
        """The draft and its tasks as they are now."""
        self.goal, self.tasks = await self.world.read(
            lambda tx: (tx.get(Goal, goal_id), tx.select(Task, "goal_id = :g ORDER BY id", g=goal_id))
        )
        self.shown.setdefault(self.goal.content_hash, self.content())

    def keep_account(self, actor: Actor, command: str, arguments: dict[str, Any], before: object) -> None:
        """A person's review covers what was shown; so does an edit that changes something; other hands void both."""
        after = self.content()
        if actor == OPERATOR and command == "ReviewGoal":
            self.read = self.shown[arguments["content_hash"]]
        elif actor == OPERATOR:
            agrees = (command == "EditGoal" and before != after) or self.read == before
            self.read = after if agrees and self.read != after else self.read
        elif before != after:
            self.read = None

    def content(self) -> object:
        """All that would begin with a dispatch."""
        goal = self.goal
        of_tasks = [
            (task.id, task.title, task.intent, task.end_state, task.constraints, task.must_haves, task.priority)
            for task in self.tasks
            if task.status == TaskStatus.DRAFT
        ]
        musts = [(must["id"], must["text"], must.get("verify", "")) for must in goal.must_haves]
        return (goal.title, goal.description, musts, goal.constraints, goal.out_of_scope, of_tasks)

    # Who does what -------------------------------------------------------------------------------------------------

    async def next_act(self, goal_id: int) -> tuple[Actor, Act]:
        draw = self.source.random()
        if draw < 0.6:
            return await self.an_agent(goal_id), await self.of_an_agent(goal_id)
        if draw < 0.68:
            return SYSTEM, self.source.choice(
                [("DispatchGoal", {"goal": goal_id}), ("ActivateGoal", {"goal": goal_id})]
            )
        return OPERATOR, await self.of_the_person(goal_id)

    async def an_agent(self, goal_id: int) -> Agent:
        """A run of the CEO, now and then of the coordinator; about this goal or about none, and one that is over."""
        if self.runs and self.source.random() < 0.4:
            return self.source.choice(self.runs)
        slug = "vera" if self.source.random() < 0.8 else "cora"
        about: dict[str, Any] = {"goal_id": goal_id} if self.source.random() < 0.7 else {}
        kind = self.source.choice(RUNS)
        try:
            actor = await self.world.run(slug, kind, **about)
        except AssertionError:  # it has nothing to do any more, or its goal is paused
            actor = await self.world.run(slug)
        self.runs.append(actor)
        if self.source.random() < 0.1:
            await self.world.finish(self.source.choice(self.runs))
        return actor

    async def of_an_agent(self, goal_id: int) -> Act:
        goal, task = self.goal, self.source.choice(self.tasks).id
        word = f"word {self.source.randint(0, 9)}"
        new = {"title": word, "end_state": "It is there.", "must_haves": ("M1",)}
        return self.source.choice(
            [
                ("DispatchGoal", {"goal": goal_id}),
                ("DispatchGoal", {"goal": goal_id, "discussion": False}),
                ("ReviewGoal", {"goal": goal_id}),
                ("ReadyGoal", {"goal": goal_id}),
                ("ExploreGoal", {"goal": goal_id}),
                ("ActivateGoal", {"goal": goal_id}),
                ("EditGoal", {"goal": goal_id, "title": word}),
                ("EditGoal", {"goal": goal_id, "title": goal.title, "description": goal.description}),
                ("EditGoal", {"goal": goal_id, "must_haves": ("count", word)}),
                *[("CreateTask", {"goal": goal_id, **new})] * 3,
                ("EditTask", {"task": task, "intent": word}),
                ("EditTask", {"task": task, "priority": self.source.randint(0, 4)}),
                ("EnqueueTask", {"task": task}),
                ("ClaimTask", {"task": task}),
                ("AssignTask", {"task": task, "agent": "ada"}),
                ("SplitTask", {"task": task, "parts": (new, {**new, "title": "rest"}), "reason": "large"}),
                ("CancelTask", {"task": task, "reason": "no"}),
                ("OpenRound", {"goal": goal_id, "tasks": (new,)}),
                ("CreateGoal", {"title": word, "split": False}),
                ("CreateGoal", {"title": word, "split": True}),
                ("SetAutonomy", {"stage": "B"}),
                ("RecallGoal", {"goal": goal_id}),
                ("LookedAt", {"goal": goal_id}),
                ("EditCompany", {"name": word}),
                ("EditAgent", {"agent": "vera", "name": "human"}),
                ("ProposeHire", {"slug": "human", "name": "Human", "role": "executor", "why": "x"}),
                ("RequestApproval", {"kind": "question", "entity": f"goal:{goal_id}", "title": "Start it?"}),
                ("DecideApproval", {"approval": await self.a_question(), "decision": "approved"}),
                ("AddComment", {"goal": goal_id, "kind": "dialogue", "body": f"@cora dispatch {goal.name_tag}"}),
                ("AddComment", {"goal": goal_id, "kind": "decision", "body": "It is reviewed."}),
            ]
        )

    async def of_the_person(self, goal_id: int) -> Act:
        goal = self.goal
        # The person decides about what is on the screen, which may be older than the board.
        hashed = goal.content_hash if self.source.random() < 0.7 else self.source.choice(list(self.shown))
        return self.source.choice(
            [
                ("DispatchGoal", {"goal": goal_id, "discussion": self.source.random() < 0.5}),
                ("DispatchGoal", {"goal": goal_id, "content_hash": hashed}),
                *[("ReviewGoal", {"goal": goal_id, "content_hash": hashed})] * 4,
                ("EditGoal", {"goal": goal_id, "title": goal.title, "description": goal.description}),
                ("EditGoal", {"goal": goal_id, "description": f"as I want it {self.source.randint(0, 9)}"}),
                ("ReviseGoal", {"goal": goal_id, "note": "smaller"}),
                ("AddComment", {"goal": goal_id, "body": "hm"}),
                ("PauseGoal", {"goal": goal_id, "paused": self.source.random() < 0.5}),
                ("EditAgent", {"agent": "vera", "name": f"Vera {self.source.randint(0, 99)}"}),
                ("DecideApproval", {"approval": await self.a_question(), "decision": "approved"}),
            ]
        )

    async def a_question(self) -> int:
        found = await self.world.read(lambda tx: tx.all("SELECT id FROM approvals WHERE status = 'pending'"))
        return int(self.source.choice(found)["id"]) if found else 1


async def cleared(world: World) -> None:
    """The next attempt begins with a company that stands still."""
    await world.operator("StopCompany")
    await world.operator("StartCompany")
    world.clock.advance(60_000)
    for goal in await world.all(Goal, "status NOT IN ('done', 'failed', 'cancelled', 'archived')"):
        await world.operator("CancelGoal", goal=goal.id, reason="the next attempt begins")


@pytest.mark.parametrize("sequences", [30, pytest.param(10_000, marks=pytest.mark.soak)])
async def test_nothing_begins_that_no_person_has_read(tmp_path: Path, sequences: int) -> None:
    begun = 0
    for first in range(0, sequences, 100):
        folder = tmp_path / str(first)
        folder.mkdir()
        async with a_company(folder) as world:
            await world.operator("EditAgent", agent="vera", max_runs=50)
            await world.operator("EditAgent", agent="cora", max_runs=50)
            for seed in range(first, min(first + 100, sequences)):
                await Attempt(world, seed).play()
                begun += len(await world.all(Goal, "status IN ('planning', 'active')"))
                await cleared(world)
            assert await world.read(broken_laws) == []
            assert await world.read(lambda tx: rebuild_and_compare(tx.connection)) == []
            origins = {goal.origin for goal in await world.all(Goal)}
            assert origins == {Origin.CEO}
    # The gate opens for what a person has read: a test that never gets there would show nothing.
    assert begun > sequences / 20
