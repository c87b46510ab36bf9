"""Actors that come and go on a board, and the work that they do; the rest of the machine is in `machine`."""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from core.domain.actors import Actor, Agent
from core.domain.entities import Review, Run, Task
from core.domain.errors import OpsroomError
from core.domain.reviewing import standing
from core.domain.states import Dimension, ReviewStep, RunKind, TaskStatus
from core.guardrails import shipped
from tests.unit.world import HANDOFF, OPERATOR, SYSTEM, World, a_company

DIMENSIONS = {str(name): "looked at" for name in Dimension}
FINDING = {
    "what": "42 is wrong", "where": "Figures", "change": "43", "because": "I counted again", "criterion": "end_state",
}  # fmt: skip
SHAPE = {"end_state": "A figure that can be counted again.", "must_haves": ("M1",)}
SLUGS = ("vera", "cora", "rita", "chad", "ada", "bob")
WAITS_FOR_A_RUN = "status IN ('claimed', 'working') AND current_run IS NULL"
OF_TASKS = (
    "CancelTask", "UnblockTask", "ResumeTask", "ReleaseTask", "AssignTask", "EnqueueTask", "WaiveDependency",
    "SplitTask", "SendBackTask",
)  # fmt: skip
OF_ROUNDS = ("StallRound", "EscalateRound", "ReviewRound", "ReviewRound", "ResolveRound", "EndRound", "ChallengeRound")
OF_GOALS = (
    "CancelGoal", "ActivateGoal", "ReportGoal", "AcceptGoal", "SendBackGoal", "ArchiveGoal", "PauseGoal",
    "DispatchGoal", "ExploreGoal", "ReadyGoal", "EndDiscussion", "OpenTurn", "WaiveMustHave",
)  # fmt: skip
pick = st.integers(0, 1_000_000)


class WorkMachine(RuleBasedStateMachine):
    """A board, and actors that come and go; those that have gone try on."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.folder = tempfile.TemporaryDirectory()
        self.world: World = self.wait(self.stack.enter_async_context(a_company(Path(self.folder.name))))
        self.world.door.book.current = shipped()
        self.actors: list[Agent] = []
        self.gone: list[Agent] = []
        self.seen = 0
        self.states: dict[tuple[str, int], str] = {}

    def wait(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(what)

    def teardown(self) -> None:
        self.wait(self.stack.aclose())
        self.loop.close()
        self.folder.cleanup()

    # Choosing ----------------------------------------------------------------------------------------------

    def try_(self, actor: Actor, command: str, **arguments: Any) -> dict[str, Any] | None:
        """Send a command; a refusal is as good as an answer, any other error is a bug."""
        try:
            return self.wait(self.world.do(actor, command, **arguments))
        except OpsroomError:
            return None

    def one(self, table: str, number: int, where: str = "1 = 1") -> int:
        """The id of some row; 1 if there is none."""
        rows = self.wait(self.world.read(lambda tx: tx.all(f"SELECT id FROM {table} WHERE {where} ORDER BY id")))
        return int(rows[number % len(rows)]["id"]) if rows else 1

    def somebody(self, number: int) -> Actor:
        """The operator, the system, or the run of an agent that may be over."""
        everybody: list[Actor] = [OPERATOR, SYSTEM, *self.actors]
        return everybody[number % len(everybody)]

    @initialize(discussion=st.booleans(), depths=st.lists(st.integers(0, 7), min_size=5, max_size=5))
    def begin_with_two_goals_at_work(self, discussion: bool, depths: list[int]) -> None:
        self.make_goal(3, False)
        self.make_goal(2, discussion)
        for number, steps in enumerate(depths):
            self.go_on(number, steps, ("ada", "bob")[number % 2])

    def make_goal(self, count: int, discussion: bool) -> None:
        risks = ("standard", "high", "low")
        tasks = [{"title": f"part {number}", "risk": risks[number % 3], **SHAPE} for number in range(count)]
        made = self.try_(OPERATOR, "CreateGoal", title="Audit", must_haves=("count",), tasks=tasks, round_cap=2)
        assert made is not None
        self.try_(OPERATOR, "DispatchGoal", goal=made["id"], discussion=discussion)

    # Runs --------------------------------------------------------------------------------------------------

    @rule(slug=st.sampled_from(SLUGS), kind=st.sampled_from(RunKind), task=pick)
    def start_a_run(self, slug: str, kind: RunKind, task: int) -> None:
        about: dict[str, Any] = {}
        if kind in (
            RunKind.EXPLORE,
            RunKind.DISCUSS,
            RunKind.PLAN,
            RunKind.REPORT,
            RunKind.ROUND_REVIEW,
            RunKind.STALL,
        ):
            about["goal_id"] = self.one("goals", task)
        if kind in (RunKind.EXECUTE, RunKind.REVIEW, RunKind.MENTION, RunKind.RULE):
            wanted = {
                "rule": "review_step = 'ruling'",
                "execute": "status IN ('claimed', 'working') AND current_run IS NULL",
                "review": "status = 'review'",
            }
            about["task_id"] = self.one("tasks", task, wanted.get(kind, "1 = 1"))
        elif kind == RunKind.BROADCAST:
            about["offers"] = (self.one("tasks", task, "status = 'pending'"),)
        agent = self.wait(self.world.agent(slug))
        if kind == RunKind.EXECUTE and "task_id" in about:
            rows = self.wait(self.world.all(Task, "id = :id", id=about["task_id"]))
            agent_id = (rows[0].assignee_id if rows else None) or agent.id
        else:
            agent_id = agent.id
        key = f"machine:{next(self.world.numbers)}"
        queued = self.try_(SYSTEM, "QueueRun", kind=kind, agent_id=agent_id, key=key, **about)
        if queued is not None:
            self.begin(queued["id"])

    def begin(self, run_id: int) -> None:
        started = self.try_(SYSTEM, "StartRun", run=run_id, owner="o", runs_at_once=50, starts_per_minute=10_000)
        if started is None or not started["started"]:
            return
        self.try_(SYSTEM, "ConfirmRun", run=run_id)
        run = self.wait(self.world.find(Run, run_id))
        slug = {agent.id: agent.slug for agent in self.wait(self.agents())}[run.agent_id]
        self.actors.append(Agent(run.agent_id, slug, run_id, run.fence))

    async def agents(self) -> Any:
        from core.domain.entities import AgentRecord

        return await self.world.all(AgentRecord)

    @rule(number=pick)
    def begin_a_queued_run(self, number: int) -> None:
        self.begin(self.one("runs", number, "status = 'queued'"))

    @rule(number=pick, end=st.sampled_from(["succeeded", "failed", "timed_out", "rate_limited", "lost", "killed"]))
    def end_a_run(self, number: int, end: str) -> None:
        run = self.one("runs", number, "status IN ('queued', 'starting', 'running')" if number % 4 else "1 = 1")
        if end == "lost":
            self.try_(SYSTEM, "LoseRun", run=run, why="gone")
        elif end == "killed":
            self.try_(OPERATOR, "KillRun", run=run)
        else:
            self.try_(SYSTEM, "FinishRun", run=run, status=end)

    # Work --------------------------------------------------------------------------------------------------

    @rule(count=st.integers(1, 3), discussion=st.booleans())
    def make_a_goal(self, count: int, discussion: bool) -> None:
        self.make_goal(count, discussion)

    @rule(task=pick, steps=st.integers(1, 7), by=st.sampled_from(("ada", "bob")))
    def go_far(self, task: int, steps: int, by: str) -> None:
        self.go_on(task, steps, by)

    @rule(task=pick, steps=st.integers(1, 5), by=st.sampled_from(("ada", "bob")))
    def go_on(self, task: int, steps: int, by: str) -> None:
        """The next things that a good agent would do with a task."""
        number = self.one("tasks", task, "status IN ('pending', 'claimed', 'working', 'review')")
        for step in range(steps):
            rows = self.wait(self.world.all(Task, "id = :id", id=number))
            if not rows:
                return
            match rows[0].status:
                case TaskStatus.PENDING:
                    self.start_a_run(by, RunKind.BROADCAST, task)
                    self.try_(self.newest(), "ClaimTask", task=number)
                    self.end_newest()
                case TaskStatus.CLAIMED | TaskStatus.WORKING if rows[0].current_run is None:
                    self.start_a_run(by, RunKind.EXECUTE, self.place(number))
                case TaskStatus.CLAIMED | TaskStatus.WORKING:
                    current = [actor for actor in self.actors if actor.run_id == rows[0].current_run]
                    if current:
                        self.deliver(current[0], number)
                        self.try_(SYSTEM, "FinishRun", run=current[0].run_id, status="succeeded")
                case TaskStatus.REVIEW if rows[0].review_step == ReviewStep.RULING:
                    self.settle_a_dispute(self.rank("tasks", number, "review_step = 'ruling'"), "approved")
                case TaskStatus.REVIEW:
                    self.judge(
                        step % 2, self.place(number, "status = 'review'"), ("approved", "rejected")[task % 3 == 0]
                    )
                    self.end_newest()

    def place(self, number: int, where: str = WAITS_FOR_A_RUN) -> int:
        """The number with which `one` finds this very task."""
        rows = self.wait(self.world.read(lambda tx: tx.all(f"SELECT id FROM tasks WHERE {where} ORDER BY id")))
        ids = [row["id"] for row in rows]
        place = ids.index(number) if number in ids else 0
        return next(n for n in range(place, place + 5 * len(ids) + 1, len(ids) or 1) if n % 5) if ids else 0

    def newest(self) -> Actor:
        return self.actors[-1] if self.actors else OPERATOR

    def end_newest(self) -> None:
        if self.actors:
            self.try_(SYSTEM, "FinishRun", run=self.actors[-1].run_id, status="succeeded")

    def deliver(self, actor: Actor, number: int) -> None:
        self.try_(actor, "StartTask", task=number)
        rows = self.wait(self.world.all(Task, "id = :id", id=number))
        musts = rows[0].must_haves if rows else ()
        self.try_(actor, "AddOutput", task=number, type="data", title="Figures", content="42", must_haves=musts)
        self.try_(actor, "AddComment", task=number, kind="handoff", body=HANDOFF)
        self.try_(actor, "SubmitTask", task=number)

    @rule(who=pick, goal=pick, on=pick, on_fail=st.sampled_from(["cancel", "proceed", "hold"]))
    def make_a_task(self, who: int, goal: int, on: int, on_fail: str) -> None:
        depends = [{"task": self.one("tasks", on), "on_fail": on_fail}] if on % 2 else []
        number = self.one("goals", goal)
        tags = ((), ("deploy",), ("permissions",))[who % 3]
        self.try_(self.somebody(who), "CreateTask", goal=number, title="more", depends_on=depends, tags=tags)

    @rule(task=pick, on=pick, on_fail=st.sampled_from(["cancel", "proceed", "hold"]))
    def let_a_task_wait(self, task: int, on: int, on_fail: str) -> None:
        pair = {"task": self.one("tasks", task), "depends_on": self.one("tasks", on)}
        self.try_(OPERATOR, "AddDependency", on_fail=on_fail, **pair)

    @rule(who=pick, task=pick)
    def claim(self, who: int, task: int) -> None:
        number = self.one("tasks", task, "status = 'pending'" if task % 5 else "1 = 1")
        claimers = [self.somebody(who), self.somebody(who + 1), self.somebody(who + 2)]

        async def race() -> list[Any]:
            claims = (self.world.do(actor, "ClaimTask", task=number) for actor in claimers)
            return await asyncio.gather(*claims, return_exceptions=True)

        won = [answer for answer in self.wait(race()) if isinstance(answer, dict)]
        assert len(won) <= 1

    @rule(
        who=pick,
        task=pick,
        act=st.sampled_from(
            ["StartTask", "SubmitTask", "FailTask", "BlockTask", "AskOperator", "AddOutput", "AddComment", "CheckAct"]
        ),
    )
    def work(self, who: int, task: int, act: str) -> None:
        working = "status IN ('claimed', 'working') AND current_run IS NOT NULL" if task % 5 else "1 = 1"
        number = self.one("tasks", task, working)
        actor = self.somebody(who)
        rows = self.wait(self.world.all(Task, "id = :id", id=number))
        if rows and task % 5:
            current = [agent for agent in self.actors if agent.run_id == rows[0].current_run]
            actor = current[0] if current else actor
        arguments: dict[str, dict[str, Any]] = {
            "FailTask": {"reason": "no"},
            "BlockTask": {"reason": "no", "block_kind": "transient"},
            "AskOperator": {"kind": "red_line", "title": "May I?", "payload": {"path": "old"}},
            "AddOutput": {"type": "data", "title": "Figures", "content": "42", "publish": who % 7 == 0},
            "PostPlan": {"body": "Count, then compare."},
            "RebutReview": {"answer": ("REJECT", "PARTIAL", "ACCEPT")[who % 3], "facts": "wc -l says so"},
            "AddComment": {"kind": "handoff", "body": HANDOFF},
            "CheckAct": {"act": {"command": ("rm -rf data", "cat .env", "ls")[who % 3]}},
        }
        self.try_(actor, act, task=number, **arguments.get(act, {}))

    @rule(who=pick, task=pick, verdict=st.sampled_from(["approved", "approved", "rejected", "needs_revision"]))
    def judge(self, who: int, task: int, verdict: str) -> None:
        number = self.one("tasks", task, "status = 'review'" if task % 5 else "1 = 1")
        slug = ("rita", "chad", "ada", "cora")[who % 4]
        agent = self.wait(self.world.agent(slug))
        key = f"machine:{next(self.world.numbers)}"
        queued = self.try_(SYSTEM, "QueueRun", kind="review", agent_id=agent.id, key=key, task_id=number)
        if queued is not None:
            self.begin(queued["id"])
        actor = self.actors[-1] if self.actors else OPERATOR
        outputs = self.wait(self.world.read(lambda tx: tx.all("SELECT id FROM outputs WHERE task_id = :t", t=number)))
        refuses = verdict != "approved"
        known = self.wait(self.world.all(Review, "subject_id = :t ORDER BY id", t=number))
        findings = ({**FINDING, "earlier": 1 if standing(known) else None},) if refuses else ()
        self.try_(
            actor, "ReviewTask", task=number, verdict=verdict, summary="so", dimensions=DIMENSIONS,
            findings=findings, opened_outputs=[row["id"] for row in outputs],
        )  # fmt: skip

    @rule(task=pick, verdict=st.sampled_from(["approved", "rejected", "needs_revision"]))
    def settle_a_dispute(self, task: int, verdict: str) -> None:
        number = self.one("tasks", task, "review_step = 'ruling'")
        self.start_a_run("cora", RunKind.RULE, task)
        self.try_(self.newest(), "RuleTask", task=number, verdict=verdict, because="I counted")
        self.end_newest()

    @rule(task=pick, answer=st.sampled_from(["REJECT", "PARTIAL", "ACCEPT"]))
    def contradict(self, task: int, answer: str) -> None:
        """The judged side: by its next run, or by any run while the task is pending."""
        number = self.one("tasks", task, "review_attempts > 0 AND status IN ('working', 'pending')")
        rows = self.wait(self.world.all(Task, "id = :id", id=number))
        if not rows:
            return
        if rows[0].status == TaskStatus.WORKING and rows[0].current_run is None:
            self.start_a_run("ada", RunKind.EXECUTE, self.place(number))
        mine = [each for each in self.actors if each.agent_id in (rows[0].assignee_id, rows[0].last_assignee_id)]
        if mine:
            self.try_(mine[-1], "RebutReview", task=number, answer=answer, facts="wc -l says so")

    @rule(task=pick, act=st.sampled_from(["ClosePlan", "AcceptPlan", "object", "object"]), who=pick)
    def meet_a_plan(self, task: int, act: str, who: int) -> None:
        number = self.one("tasks", task, "plan_until IS NOT NULL" if task % 5 else "1 = 1")
        if act == "object":
            self.try_(self.somebody(who), "AddComment", task=number, kind="objection", body="no")
        else:
            self.try_(SYSTEM if act == "ClosePlan" else OPERATOR, act, task=number)

    @rule(task=pick, who=pick)
    def lay_a_plan_open(self, task: int, who: int) -> None:
        number = self.one("tasks", task, WAITS_FOR_A_RUN)
        self.start_a_run("ada", RunKind.EXECUTE, self.place(number))
        self.try_(self.newest(), "StartTask", task=number)
        self.try_(self.newest(), "PostPlan", task=number, body="Count, then compare.")
        self.end_newest()

    @rule(
        who=pick,
        task=pick,
        act=st.sampled_from(OF_TASKS),
    )
    def move(self, who: int, task: int, act: str) -> None:
        arguments: dict[str, dict[str, Any]] = {
            "CancelTask": {"reason": "no"},
            "ReleaseTask": {"why": "lost"},
            "AssignTask": {"agent": SLUGS[task % 6]},
            "ResumeTask": {"go_on": bool(task % 2)},
            "WaiveDependency": {"depends_on": self.one("tasks", who)},
            "SplitTask": {"parts": ({"title": "one", **SHAPE}, {"title": "two", **SHAPE}), "reason": "large"},
            "SendBackTask": {"why": "vague"},
        }
        self.try_(self.somebody(who), act, task=self.one("tasks", task), **arguments.get(act, {}))
