"""A company with one task on offer, stepped by hand: real board, ticker and dispatcher, whatever its agents run on."""

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar

from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import Answer, parse
from core.company import OpenCompany
from core.domain.entities import Entity, Run, Task
from core.domain.states import RunKind
from core.simulation.clock import Clock

E = TypeVar("E", bound=Entity)
PATIENCE_S = 100.0
STAFF = (("vera", "ceo"), ("cora", "coordinator"), ("ada", "executor"), ("rita", "reviewer"))


class Silent:
    """Colleagues who say nothing, of the kind `silent`."""

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        return Outcome(exit_kind="no_reply")


class Stepped:
    """The open company of a test."""

    def __init__(self, company: OpenCompany, clock: Clock) -> None:
        self.company = company
        self.clock = clock
        assert company.dispatcher is not None
        company.board.follow(company.dispatcher.hear)

    async def found(self, runners: Mapping[str, Mapping[str, Any]]) -> None:
        """Hire the staff, start, and put the task on offer; who has no runner of their own says nothing."""
        for slug, role in STAFF:
            await self.do(
                "HireAgent", slug=slug, name=slug.title(), role=role, manager=None if role == "ceo" else "vera",
                capabilities=["writing"] if role == "executor" else [],
                runner=runners.get(slug, {"kind": "silent"}),
            )  # fmt: skip
        await self.do("StartCompany")
        task = {"title": "Write the sign", "end_state": "A text with the hours.", "must_haves": ["M1"],
                "capabilities": ["writing"]}  # fmt: skip
        goal = await self.do("CreateGoal", title="Greet the visitors", must_haves=["a sign"], tasks=[task])
        await self.do("DispatchGoal", goal=goal["id"], discussion=False)

    async def do(self, command: str, **arguments: Any) -> Answer:
        """A command of the operator."""
        return await self.company.execute(parse(command, arguments))

    async def all(self, cls: type[E], where: str = "true ORDER BY id", **parameters: Any) -> list[E]:
        """Rows as they are now."""
        return await self.company.board.readers.entities(cls, where, **parameters)

    async def task(self) -> Task:
        """The one task."""
        return (await self.all(Task))[0]

    async def begin(self) -> None:
        """Half a minute passes; what is due begins."""
        self.clock.advance(30_000)
        await self._tick()

    async def _tick(self) -> None:
        assert self.company.ticker is not None
        assert self.company.dispatcher is not None
        await self.company.ticker.tick()
        await self.company.dispatcher.start_queued()

    async def idle(self) -> None:
        """What has begun ends."""
        assert self.company.dispatcher is not None
        async with asyncio.timeout(PATIENCE_S):
            await self.company.dispatcher.idle()

    async def step(self) -> None:
        """What is due begins, and ends."""
        await self.begin()
        await self.idle()

    async def at_once(self, ticks: int = 5) -> None:
        """No time passes: what ended has the ticker look again, so often."""
        for _ in range(ticks):
            await self._tick()
            await self.idle()

    async def ended(self, kind: RunKind | str, steps: int = 6) -> Run:
        """Step until a run of this kind has ended; that run, the newest."""
        for _ in range(steps):
            await self.step()
            if found := await self.all(Run, "kind = :kind ORDER BY id DESC", kind=str(kind)):
                return found[0]
        raise AssertionError(f"no {kind} run began: {[(r.kind, r.status, r.detail) for r in await self.all(Run)]}")

    async def transcript(self, run: Run) -> str:
        """All that a run told."""
        transcripts = self.company._transcripts
        assert transcripts is not None
        await asyncio.to_thread(transcripts.flush)
        return await asyncio.to_thread(self.company.transcript(run.id).read_text)
