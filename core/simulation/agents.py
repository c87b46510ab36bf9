"""Agents that play by a script: what each does is drawn from one seeded source, in process and without a model."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from core.agents.runner import Assignment, Desk, Outcome
from core.domain.entities import Goal, Offer, Output, Task
from core.domain.errors import Conflict
from core.domain.goals import uncovered
from core.domain.states import GoalStatus, RunKind, RunStatus, TaskStatus

HANDOFF = "Decisions: counted every file once. Problems: none. Advice: look at the largest one next."
FINDING = {"what": "42 is wrong", "where": "Figures", "change": "43"}
CAPABILITIES = ("count", "search", "compare")


@dataclass
class Habits:
    """How likely an agent is to do what. Whatever is left over is good work."""

    wrong: float = 0.15
    fail: float = 0.05
    block: float = 0.08
    ask: float = 0.06
    hang: float = 0.05
    crash: float = 0.06
    silent: float = 0.06
    limited: float = 0.06
    decline: float = 0.3
    mention: float = 0.3

    def draw(self, source: random.Random) -> str:
        """What an executor does with a task this time."""
        names = ("wrong", "fail", "block", "ask", "hang", "crash", "silent", "limited")
        weights = [getattr(self, name) for name in names]
        return source.choices((*names, "good"), (*weights, max(0.0, 1 - sum(weights))))[0]

    def happens(self, source: random.Random, name: str) -> bool:
        """Whether one thing happens."""
        return bool(source.random() < getattr(self, name))


GOOD = Habits(**dict.fromkeys(Habits.__dataclass_fields__, 0.0))
HARD = Habits(wrong=0.3, fail=0.1, block=0.12, ask=0.08, hang=0.08, crash=0.12, silent=0.1, limited=0.08, decline=0.6)


@dataclass
class Scripted:
    """The runner of every agent in a simulation. Each run draws from a source of its own, named by seed and key."""

    seed: int
    habits: Habits = field(default_factory=Habits)
    now: Any = None
    troubled: frozenset[RunKind] = frozenset(RunKind)  # the kinds of runs in which they have these habits
    hanging: set[int] = field(default_factory=set)
    begun: list[tuple[int, RunKind]] = field(default_factory=list)

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Let one run play."""
        run = assignment.run
        self.begun.append((run.id, run.kind))
        habits = self.habits if run.kind in self.troubled else GOOD
        player = Player(self, random.Random(f"{self.seed}:{run.idempotency_key}"), habits)
        return await player.play(assignment, desk)


@dataclass
class Player:
    """One run at play."""

    company: Scripted
    source: random.Random
    habits: Habits

    async def play(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Do what the kind of run asks for, or something worse."""
        run = assignment.run
        acts = {
            RunKind.PROPOSE: self.propose,
            RunKind.BROADCAST: self.look_at_offers,
            RunKind.EXECUTE: self.execute,
            RunKind.REVIEW: self.review,
            RunKind.MENTION: self.reply,
            RunKind.PLAN: self.plan,
            RunKind.ROUND_REVIEW: self.review_round,
            RunKind.STALL: self.unstick,
            RunKind.REPORT: self.report,
        }
        if run.kind != RunKind.EXECUTE:
            trouble = await self.trouble(run.id)
            if trouble is not None:
                return trouble
        return await acts[run.kind](assignment, desk) or Outcome()

    async def trouble(self, run_id: int) -> Outcome | None:
        """The ends that any run may come to without having done a thing."""
        habits, source = self.habits, self.source
        if habits.happens(source, "crash"):
            raise RuntimeError("the agent's program crashed")
        if habits.happens(source, "hang"):
            await self.hang(run_id)
        if habits.happens(source, "limited"):
            return self.limited()
        return Outcome(exit_kind="no_reply") if habits.happens(source, "silent") else None

    async def hang(self, run_id: int) -> None:
        """Live on and say nothing until somebody ends it."""
        self.company.hanging.add(run_id)
        try:
            await asyncio.Event().wait()
        finally:
            self.company.hanging.discard(run_id)

    def limited(self) -> Outcome:
        """A provider's 429, with or without the time at which it takes requests again."""
        retry_at = self.source.choice([None, self.company.now() + 45_000])
        return Outcome(RunStatus.RATE_LIMITED, "429", "too many requests", retry_at=retry_at)

    # The CEO and the coordinator -------------------------------------------------------------------------------

    async def propose(self, assignment: Assignment, desk: Desk) -> None:
        await desk.call("CreateGoal", title="Audit the folder again", must_haves=("count",), split=False)

    async def plan(self, assignment: Assignment, desk: Desk) -> Outcome | None:
        goal = await self.goal_now(assignment, desk)
        if goal.status == GoalStatus.ACTIVE:
            await desk.call("OpenRound", goal=goal.id, tasks=self.tasks_for(goal))
            return None
        made: list[int] = []
        for number, task in enumerate(self.tasks_for(goal)):
            depends = []
            if number and self.source.random() < 0.5:
                on_fail = self.source.choice(["cancel", "proceed", "hold"])
                depends = [{"task": self.source.choice(made), "on_fail": on_fail}]
            made.append((await desk.call("CreateTask", goal=goal.id, depends_on=depends, **task))["id"])
        await desk.call("ActivateGoal", goal=goal.id)
        return None

    def tasks_for(self, goal: Goal) -> list[dict[str, Any]]:
        """A task a must-have, and up to two more."""
        musts: list[tuple[str, ...]] = [(must["id"],) for must in goal.must_haves]
        musts += [()] * self.source.randint(0, 2) or [()]
        return [
            {
                "title": f"Part {number} of {goal.name_tag}",
                "must_haves": must,
                "capabilities": (self.source.choice(CAPABILITIES),) if self.source.random() < 0.8 else (),
                "risk": self.source.choice(["low", "standard", "high"]),
                "priority": self.source.randint(0, 4),
            }
            for number, must in enumerate(musts, 1)
        ]

    async def review_round(self, assignment: Assignment, desk: Desk) -> None:
        round_, goal = assignment.round, await self.goal_now(assignment, desk)
        assert round_ is not None
        missing = uncovered(goal, await desk.readers.entities(Task, "goal_id = :g", g=goal.id))
        answers = {"round": round_.id, "goal_clear": "yes", "covered": "see below", "next_step": "go on"}
        draw = self.source.random()
        if (missing or draw < 0.2) and round_.number < goal.round_cap:
            await desk.call("ReviewRound", decision="next_round", tasks=self.tasks_for(goal), **answers)
        elif missing and draw < 0.5:
            await desk.call("ReviewRound", decision="stop", **answers)
        else:
            await desk.call("ReviewRound", decision="report", **answers)

    async def report(self, assignment: Assignment, desk: Desk) -> None:
        goal = await self.goal_now(assignment, desk)
        await desk.call("AddOutput", goal=goal.id, type="document", title="Report", content="# Report\n42")
        try:
            await desk.call("ReportGoal", goal=goal.id, summary="All counted.")
        except Conflict:
            await desk.call("OpenRound", goal=goal.id, tasks=self.tasks_for(goal))

    async def unstick(self, assignment: Assignment, desk: Desk) -> None:
        where, number = "round_id = :n", assignment.run.round_id
        if assignment.run.task_id is not None:
            where, number = "id = :n", assignment.run.task_id
        for task in await desk.readers.entities(Task, f"{where} AND status IN ('blocked', 'pending')", n=number):
            act = "UnblockTask" if task.status == TaskStatus.BLOCKED and self.source.random() < 0.6 else "CancelTask"
            reason = {} if act == "UnblockTask" else {"reason": "it cannot go on"}
            await desk.call(act, task=task.id, **reason)

    # Executors and reviewers ------------------------------------------------------------------------------------

    async def look_at_offers(self, assignment: Assignment, desk: Desk) -> Outcome | None:
        able = set(assignment.agent.capabilities)
        for offer in await desk.readers.entities(Offer, "run_id = :run ORDER BY id", run=assignment.run.id):
            task = (await desk.readers.entities(Task, "id = :id", id=offer.task_id))[0]
            if set(task.capabilities) <= able and not self.habits.happens(self.source, "decline"):
                try:
                    await desk.call("ClaimTask", task=task.id)
                except Conflict:
                    continue
                return None
            if self.source.random() < 0.2:
                await desk.call("AddComment", task=task.id, kind="observation", body="Mind the links.")
                await desk.call("AnswerOffer", task=task.id, answer="observation")
        return Outcome(exit_kind="no_reply")

    async def execute(self, assignment: Assignment, desk: Desk) -> Outcome | None:
        task = assignment.task
        assert task is not None
        if self.habits.happens(self.source, "silent"):
            return Outcome(exit_kind="no_reply")
        if task.status == TaskStatus.CLAIMED:
            await desk.call("StartTask", task=task.id)
        await self.chat(task, desk)
        match self.habits.draw(self.source):
            case "good":
                await self.deliver(task.id, desk, "43 files")
            case "wrong":
                await self.deliver(task.id, desk, "42 files")
            case "fail":
                await desk.call("FailTask", task=task.id, reason="there is no such folder")
            case "block":
                kind = self.source.choice(["needs_input", "capability", "transient", "dependency"])
                await desk.call("BlockTask", task=task.id, block_kind=kind, reason="I cannot go on")
            case "ask":
                kind = self.source.choice(["red_line", "question"])
                await desk.call("AskOperator", task=task.id, kind=kind, title="May I?", payload={"path": "old"})
            case "hang":
                await self.hang(assignment.run.id)
            case "crash":
                raise RuntimeError("the agent's program crashed")
            case "limited":
                return self.limited()
        return None

    async def chat(self, task: Task, desk: Desk) -> None:
        if self.habits.happens(self.source, "mention"):
            name = self.source.choice(["ada", "bob", "cora", "rita"])
            await desk.call("AddComment", task=task.id, kind="question", body=f"@{name} is that so?")

    async def deliver(self, task_id: int, desk: Desk, content: str) -> None:
        await desk.call("AddOutput", task=task_id, type="data", title="Figures", content=content)
        await desk.call("AddComment", task=task_id, kind="handoff", body=HANDOFF)
        await desk.call("SubmitTask", task=task_id)

    async def review(self, assignment: Assignment, desk: Desk) -> None:
        task = assignment.task
        assert task is not None
        outputs = await desk.readers.entities(Output, "task_id = :t ORDER BY id", t=task.id)
        is_right = outputs[-1].content == "43 files"
        verdict = "approved" if is_right else self.source.choice(["rejected", "needs_revision"])
        await desk.call(
            "ReviewTask", task=task.id, verdict=verdict, summary="recounted",
            findings=() if is_right else (FINDING,), opened_outputs=[output.id for output in outputs],
        )  # fmt: skip

    async def reply(self, assignment: Assignment, desk: Desk) -> None:
        about = {"task": assignment.run.task_id} if assignment.run.task_id else {"goal": assignment.run.goal_id}
        thanks = self.source.choice(["Thanks, @ada.", "Yes.", "No, see the handoff."])
        await desk.call("AddComment", kind="dialogue", body=thanks, **about)

    async def goal_now(self, assignment: Assignment, desk: Desk) -> Goal:
        number = assignment.run.goal_id or (assignment.round.goal_id if assignment.round else 0)
        return (await desk.readers.entities(Goal, "id = :id", id=number))[0]
