"""The world that the tests of the core build: a real board in a file, the one door, and a clock that stands still."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import core.commands  # noqa: F401 - fills the registry
from core.blackboard.board import Board
from core.commands.door import LocalDoor
from core.commands.registry import Answer, parse
from core.domain.actors import Actor, Agent, Operator, System
from core.domain.entities import AgentRecord, Approval, Entity, Goal, Review, Round, Run, Task
from core.domain.reviewing import standing
from core.domain.states import ApprovalStatus, Dimension, Role, RunKind
from core.simulation.agents import HANDOFF
from core.simulation.clock import Clock

E = TypeVar("E", bound=Entity)
OPERATOR = Operator()
SYSTEM = System()
OWNER = "owner:1"
FINDING = {
    "what": "42 is wrong",
    "where": "Figures",
    "change": "43",
    "because": "there are 43 of them",
    "criterion": "end_state",
}
FIVE = dict.fromkeys(Dimension, "looked at")


@dataclass
class World:
    """A company on a board, and short ways to act in it."""

    board: Board
    door: LocalDoor
    clock: Clock
    folder: Path
    numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def do(self, actor: Actor, command: str, once: str | None = None, **arguments: Any) -> Answer:
        """Send a command as this actor; `once` is its idempotency key."""
        return await self.door.execute(actor, parse(command, arguments), key=once)

    async def operator(self, command: str, **arguments: Any) -> Answer:
        """Send a command as the operator."""
        return await self.do(OPERATOR, command, **arguments)

    async def system(self, command: str, **arguments: Any) -> Answer:
        """Send a command as the system."""
        return await self.do(SYSTEM, command, **arguments)

    async def find(self, cls: type[E], entity_id: int) -> E:
        """One row as it is now."""
        return (await self.all(cls, "id = :id", id=entity_id))[0]

    async def all(self, cls: type[E], where: str = "true", **parameters: Any) -> list[E]:
        """Rows as they are now."""
        return await self.read(lambda tx: tx.select(cls, where, **parameters))

    async def read(self, look: Any) -> Any:
        """What a function of a transaction sees."""
        assert self.board.writer is not None
        return await self.board.writer.submit(look)

    async def events(self, *kinds: str) -> list[str]:
        """The kinds of all events so far, or only those named, in order."""
        rows = await self.read(lambda tx: tx.all("SELECT kind FROM events ORDER BY id"))
        return [row["kind"] for row in rows if not kinds or row["kind"] in kinds]

    async def hire(self, slug: str, role: Role = Role.EXECUTOR, **more: Any) -> AgentRecord:
        """An agent of that name; `can` is short for its capabilities."""
        capabilities = more.pop("can", ())
        answer = await self.operator(
            "HireAgent", slug=slug, name=slug.title(), role=role, capabilities=capabilities, **more
        )
        return await self.find(AgentRecord, answer["id"])

    async def agent(self, slug: str) -> AgentRecord:
        """The agent of that name."""
        return (await self.all(AgentRecord, "slug = :slug", slug=slug))[0]

    async def run(self, slug: str, kind: RunKind = RunKind.MENTION, **about: Any) -> Agent:
        """A started run of an agent, as the actor that it is."""
        agent = await self.agent(slug)
        asked = await self.system("QueueRun", kind=kind, agent_id=agent.id, key=f"test:{next(self.numbers)}", **about)
        return await self.started(asked["id"])

    async def started(self, run_id: int, owner: str = OWNER) -> Agent:
        """A queued run after its start, as the actor that it is."""
        caps = {"runs_at_once": 1000, "starts_per_minute": 100_000}
        answer = await self.system("StartRun", run=run_id, owner=owner, **caps)
        assert answer["started"], answer
        await self.system("ConfirmRun", run=run_id)
        run = await self.find(Run, run_id)
        agent = await self.find(AgentRecord, run.agent_id)
        return Agent(agent.id, agent.slug, run.id, run.fence)

    async def finish(self, actor: Agent, status: str = "succeeded", **more: Any) -> Answer:
        """The end of a run."""
        return await self.system("FinishRun", run=actor.run_id, status=status, **more)

    async def task(self, task_id: int) -> Task:
        """A task as it is now."""
        return await self.find(Task, task_id)

    async def goal(self, goal_id: int) -> Goal:
        """A goal as it is now."""
        return await self.find(Goal, goal_id)

    async def round_of(self, goal_id: int) -> Round:
        """The newest round of a goal."""
        return (await self.all(Round, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal_id))[0]

    async def pending(self, entity: str) -> list[Approval]:
        """The questions about a subject that wait for the operator."""
        return await self.all(
            Approval, "entity = :entity AND status = :status", entity=entity, status=str(ApprovalStatus.PENDING)
        )

    # Factories ---------------------------------------------------------------------------------------------

    async def a_goal(
        self, *, reviewed: bool = True, by: str | None = None, must_haves: Sequence[str] = (), **more: Any
    ) -> Goal:
        """A draft goal: the operator's own, or by the CEO named in `by` and then reviewed or not."""
        actor: Actor = OPERATOR
        if by is not None:
            actor, more = await self.run(by), {"split": False, **more}
        answer = await self.do(
            actor, "CreateGoal", **{"title": "Audit the folder", "must_haves": tuple(must_haves), **more}
        )
        if isinstance(actor, Agent):
            await self.finish(actor)
            if reviewed:
                await self.operator("ReviewGoal", goal=answer["id"])
        return await self.goal(answer["id"])

    async def an_active_goal(self, *titles: str, **more: Any) -> Goal:
        """An active goal whose round 1 has a pending task for each title."""
        tasks = tuple({"title": title} for title in titles or ("Count the files",))
        goal = await self.a_goal(**{"tasks": tasks, **more})
        await self.operator("DispatchGoal", goal=goal.id, discussion=False)
        return await self.goal(goal.id)

    async def a_task(self, status: str = "pending", by: str = "ada", **more: Any) -> tuple[Task, Agent | None]:
        """The one task of a new active goal in this status, and the run that brought it there."""
        goal = await self.an_active_goal(**more)
        task = (await self.all(Task, "goal_id = :goal AND status = 'pending'", goal=goal.id))[0]
        actor = None if status == "pending" else await self.brought_to(task.id, status, by)
        return await self.task(task.id), actor

    async def brought_to(self, task_id: int, status: str, by: str = "ada") -> Agent | None:
        """Bring a pending task to a later status, and answer the run that did it."""
        if status == "cancelled":
            await self.operator("CancelTask", task=task_id, reason="not needed")
            return None
        claimer = await self.run(by, RunKind.BROADCAST)
        await self.do(claimer, "ClaimTask", task=task_id)
        await self.finish(claimer)
        actor = await self.run(by, RunKind.EXECUTE, task_id=task_id)
        if status == "claimed":
            return actor
        await self.do(actor, "StartTask", task=task_id)
        last = {
            "blocked": ("BlockTask", {"block_kind": "needs_input", "reason": "which folder?"}),
            "failed": ("FailTask", {"reason": "there is no such folder"}),
            "waiting_human": ("AskOperator", {"kind": "question", "title": "Which folder?", "payload": {}}),
        }
        if status in last:
            await self.do(actor, last[status][0], task=task_id, **last[status][1])
        elif status in ("review", "done"):
            await self.delivered(actor, task_id)
            if status == "done":
                await self.finish(actor)
                await self.reviewed(task_id)
        return actor

    async def delivered(self, actor: Agent, task_id: int, content: str = "42 files") -> int:
        """An output and a handoff, handed in for review; answers the output's id."""
        named = (await self.task(task_id)).must_haves
        output = await self.do(
            actor, "AddOutput", task=task_id, type="data", title="Figures", content=content, must_haves=named
        )
        await self.do(actor, "AddComment", task=task_id, kind="handoff", body=HANDOFF)
        await self.do(actor, "SubmitTask", task=task_id)
        return int(output["id"])

    async def reviewed(self, task_id: int, verdict: str = "approved", by: str = "rita") -> Agent:
        """A verdict by a reviewer's run, which then ends."""
        reviewer = await self.run(by, RunKind.REVIEW, task_id=task_id)
        await self.verdict(reviewer, task_id, verdict)
        await self.finish(reviewer)
        return reviewer

    async def verdict(self, reviewer: Agent, task_id: int, verdict: str = "approved", **more: Any) -> Answer:
        """A verdict that opened every output of the task; a later refusal says that the first finding still stands."""
        outputs = await self.read(
            lambda tx: [row["id"] for row in tx.all("SELECT id FROM outputs WHERE task_id = :t", t=task_id)]
        )
        known = await self.all(Review, "subject = 'task' AND subject_id = :t ORDER BY id", t=task_id)
        is_later = bool((await self.task(task_id)).criteria and standing(known))
        finding = {**FINDING, "earlier": 1} if is_later else FINDING
        findings = () if verdict == "approved" else (finding,)
        arguments = {
            "summary": "looked at", "findings": findings, "opened_outputs": tuple(outputs), "dimensions": FIVE, **more
        }  # fmt: skip
        return await self.do(reviewer, "ReviewTask", task=task_id, verdict=verdict, **arguments)


STAFF = {
    "vera": Role.CEO,
    "cora": Role.COORDINATOR,
    "rita": Role.REVIEWER,
    "chad": Role.CHALLENGER,
    "ada": Role.EXECUTOR,
    "bob": Role.EXECUTOR,
}


@asynccontextmanager
async def a_company(
    folder: Path,
    *,
    started: bool = True,
    mission: str = "Know every folder",
    staff: dict[str, Role] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[World]:
    """A company with its staff (STAFF unless named), started unless said otherwise."""
    staff = STAFF if staff is None else staff
    (folder / "outputs").mkdir(exist_ok=True)
    file = folder / "board.db"
    made = (started, mission, tuple(staff.items()))
    if made not in _BOARDS:
        async with _opened(folder, Clock()) as world:
            await _found(world, started, mission, staff)
        _BOARDS[made] = file.read_bytes()
    file.write_bytes(_BOARDS[made])
    async with _opened(folder, clock or Clock()) as world:
        yield world


# The files of companies as they were founded: most tests begin with the same one.
_BOARDS: dict[Any, bytes] = {}


@asynccontextmanager
async def _opened(folder: Path, clock: Clock) -> AsyncIterator[World]:
    board = await Board.open(folder / "board.db", clock=clock, create=True, role="owner")
    assert board.writer is not None
    try:
        yield World(board, LocalDoor(board.writer, OWNER), clock, folder)
    finally:
        await board.close()


async def _found(world: World, started: bool, mission: str, staff: dict[str, Role]) -> None:
    await world.operator("CreateCompany", name="Test", mission=mission)
    for slug, role in staff.items():
        boss = {"manager": "vera"} if role != Role.CEO and "vera" in staff else {}
        await world.hire(slug, role, **boss)
    if started:
        await world.operator("StartCompany")
