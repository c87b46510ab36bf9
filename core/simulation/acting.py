"""What every scripted agent can do: look, call in its turn, and fail in the ways that programs fail."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import Answer
from core.domain.entities import Entity, Goal, Task
from core.domain.errors import Fenced, NotFound, OpsroomError
from core.domain.states import RunStatus
from core.simulation.habits import Habits
from core.simulation.stage import Stage

E = TypeVar("E", bound=Entity)
CAPABILITIES = ("count", "search", "compare")
HANDOFF = "Decisions: counted every file once. Problems: none. Advice: look at the largest one next."
MINUTE_MS = 60_000


class Troupe(Protocol):
    """What a run knows of the company that it plays in."""

    run_minutes: float
    refused: Counter[tuple[str, str, str]]
    stage: Stage

    @property
    def clock(self) -> Callable[[], int]: ...


class Play:
    """One run: its assignment, its habits, its luck."""

    def __init__(
        self, assignment: Assignment, desk: Desk, habits: Habits, source: random.Random, troupe: Troupe
    ) -> None:
        self.assignment = assignment
        self.run = assignment.run
        self.agent = assignment.agent
        self.desk = desk
        self.habits = habits
        self.source = source
        self.troupe = troupe

    def happens(self, habit: str) -> bool:
        """Whether the agent follows this habit now."""
        return self.habits.happens(self.source, habit)

    async def find(self, cls: type[E], where: str, **parameters: Any) -> list[E]:
        """Rows as they are now."""
        return await self.desk.readers.entities(cls, where, **parameters)

    async def call(self, command: str, **arguments: Any) -> Answer:
        """Send a command when it is this run's turn. Raises what the board says."""
        await self.troupe.stage.turn(self.run.id)
        return await self.desk.call(command, **arguments)

    async def try_(self, command: str, **arguments: Any) -> Answer | None:
        """Send a command; a refusal is noted and read, as by an agent that goes on with something else."""
        try:
            return await self.call(command, **arguments)
        except Fenced:
            raise
        except OpsroomError as error:
            self.troupe.refused[command, error.code, error.message] += 1
            return None

    async def sure(self, command: str, **arguments: Any) -> Answer:
        """Send a command that this agent needs; now and then it sends it twice."""
        answer = await self.call(command, **arguments)
        if self.happens("repeat"):
            await self.try_(command, **arguments)
        return answer

    # The ends that any run may come to without having done a thing -------------------------------------------------

    async def trouble(self) -> Outcome | None:
        """A crash, a hang, a limit, silence, or nothing of the kind."""
        if self.happens("crash"):
            raise RuntimeError("the agent's program crashed")
        if self.happens("hang"):
            return await self.hang()
        if self.happens("late"):
            await self.be_late()
        if self.happens("limited"):
            return self.limited()
        return Outcome(exit_kind="no_reply") if self.happens("silent") else None

    async def hang(self) -> Outcome:
        """Live on and say nothing until the longest time of a run is over."""
        until = self.troupe.clock() + int(self.troupe.run_minutes * MINUTE_MS)
        await self.troupe.stage.sleep(self.run.id, until)
        return Outcome(RunStatus.TIMED_OUT, "wall_time", f"it took longer than {self.troupe.run_minutes:g} minutes")

    async def be_late(self) -> None:
        """Be silent for some minutes."""
        await self.troupe.stage.sleep(self.run.id, self.troupe.clock() + self.source.randint(1, 20) * MINUTE_MS)

    def limited(self) -> Outcome:
        """A provider's 429, with or without the time at which it takes requests again."""
        retry_at = self.source.choice([None, self.troupe.clock() + 45_000])
        return Outcome(RunStatus.RATE_LIMITED, "429", "too many requests", retry_at=retry_at)

    # Looking -------------------------------------------------------------------------------------------------------

    async def goal_now(self) -> Goal:
        """The goal that the run is about, as it is now."""
        assigned = self.assignment
        number = self.run.goal_id or next(
            (thing.goal_id for thing in (assigned.round, assigned.task) if thing is not None), None
        )
        if number is None:
            raise NotFound(f"{self.run.name_tag} is about no goal.", "Name the goal.")
        return (await self.find(Goal, "id = :id", id=number))[0]

    async def task_now(self) -> Task:
        """The task that the run is about, as it is now."""
        return (await self.find(Task, "id = :id", id=self.run.task_id))[0]

    async def colleagues(self) -> list[str]:
        """The short names of the others."""
        rows = await self.desk.readers.all("SELECT slug FROM agents WHERE status = 'active' ORDER BY id")
        return [row["slug"] for row in rows if row["slug"] != self.agent.slug]

    def new_tasks(self, goal: Goal, must_ids: list[str] | None = None, more: int = 2) -> list[dict[str, Any]]:
        """A well-formed task a must-have (all that nobody waived unless named), and up to `more` others."""
        wanted = [must["id"] for must in goal.must_haves if not must["waived_by"]] if must_ids is None else must_ids
        musts: list[tuple[str, ...]] = [(must_id,) for must_id in wanted]
        known = [must["id"] for must in goal.must_haves]
        musts += [tuple(known[:1])] * (self.source.randint(0, more) or (not musts))
        return [
            {
                "title": f"Part {number} of {goal.name_tag}",
                "end_state": "A figure that somebody else counts again and finds the same.",
                "must_haves": must,
                "capabilities": (self.source.choice(CAPABILITIES),) if self.source.random() < 0.8 else (),
                "risk": self.source.choice(["low", "standard", "high"]),
                "priority": self.source.randint(0, 4),
            }
            for number, must in enumerate(musts, 1)
        ]
