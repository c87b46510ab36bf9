"""Founds a scenario's company and takes its steps, once a state: who plays in it gets a copy of the board."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.blackboard.board import Board
from core.commands.door import LocalDoor
from core.commands.registry import Answer, parse
from core.domain.actors import Actor, Agent, Operator, System
from core.domain.entities import AgentRecord, Run
from core.domain.errors import OpsroomError
from core.domain.guardrails import GuardrailBook
from core.domain.limits import TICK_MS
from core.domain.states import RunStatus
from core.evals.names import filled
from core.evals.scenario import OPERATOR, Scenario, Step
from core.guardrails import shipped
from core.simulation.clock import START, Clock
from core.ticker import Ticker

OWNER = "owner:1"
MANY = {"runs_at_once": 1000, "starts_per_minute": 100_000}
KIND = "eval"
FILE = "board.db"

Lost = Callable[[Any], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class Stand:
    """A board as the steps left it: its file, which nobody has open, the clock (ms) and the answers of named steps."""

    file: Path
    now: int
    answers: Mapping[str, Answer]


class Boards:
    """Keeps, in `folder`, one board a state; scenarios that begin in the same state and their repetitions share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stands: dict[str, Stand] = {}
        self._blank: Path | None = None

    @asynccontextmanager
    async def copy(self, scenario: Scenario, folder: Path) -> AsyncIterator["Place"]:
        """The scenario's company in `folder`, after all steps. Raises Invalid, with file and line, as they do."""
        stand = await self._stand(scenario)
        await asyncio.to_thread(shutil.copyfile, stand.file, folder / FILE)
        async with _opened(scenario, folder, stand.now) as place:
            place.answers = dict(stand.answers)
            yield place

    async def _stand(self, scenario: Scenario) -> Stand:
        known = self._stands.get(scenario.state_hash)
        if known is not None:
            return known
        folder = self._folder / f"state-{len(self._stands)}"
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        await asyncio.to_thread(folder.mkdir, parents=True)
        await asyncio.to_thread(shutil.copyfile, await self._made(), folder / FILE)
        async with _opened(scenario, folder, START) as place:
            await place.found()
            for number, step in enumerate(scenario.steps):
                await place.take(number, step)
            await place.leave()
        self._stands[scenario.state_hash] = Stand(folder / FILE, place.clock(), place.answers)
        return self._stands[scenario.state_hash]

    async def _made(self) -> Path:
        """A board with its tables and nothing in them: making these takes longer than most steps."""
        if self._blank is None:
            path = self._folder / "blank" / FILE
            await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
            await (await Board.open(path, clock=Clock(), create=True, role="owner")).close()
            self._blank = path
        return self._blank


@asynccontextmanager
async def _opened(scenario: Scenario, folder: Path, now: int) -> AsyncIterator["Place"]:
    clock = Clock(now)
    board = await Board.open(folder / FILE, clock=clock, role="owner")
    try:
        yield Place(scenario, board, folder, clock)
    finally:
        await board.close()


class Place:
    """A company on its board, stepped by hand."""

    def __init__(self, scenario: Scenario, board: Board, folder: Path, clock: Clock) -> None:
        assert board.writer is not None
        self.scenario = scenario
        self.board = board
        self.folder = folder
        self.clock = clock
        self.door = LocalDoor(board.writer, OWNER, GuardrailBook(shipped()))
        self.answers: dict[str, Answer] = {}
        self._at_work: tuple[object, Agent] | None = None
        self._runs = 0
        # While steps are taken nothing is dispatched.
        self._ticker = self.ticker(lambda _runs: {})

    def ticker(self, lost: Lost) -> Ticker:
        """One for this board, which moves when it is told to."""
        assert self.board.writer is not None
        return Ticker(
            self.board.writer, self.door, lost, clock=self.clock, monotonic=lambda: self.clock() / 1000
        )  # fmt: skip

    async def do(self, actor: Actor, command: str, /, **arguments: Any) -> Answer:
        """A command as this actor."""
        return await self.door.execute(actor, parse(command, arguments))

    async def found(self) -> None:
        """The company and its staff."""
        scenario = self.scenario
        await self.do(Operator(), "CreateCompany", name="Test", mission=scenario.mission, locale=scenario.locale)
        for number, member in enumerate(scenario.members):
            hire = {
                "slug": member.slug, "name": member.slug.title(), "role": member.role, "manager": member.boss,
                "capabilities": member.capabilities, "runner": {"kind": KIND},
            }  # fmt: skip
            try:
                await self.do(Operator(), "HireAgent", **hire)
            except OpsroomError as error:
                raise scenario.written.wrong(f"{member.slug} was not hired: {error}", "staff", number) from None
        await self.do(Operator(), "StartCompany")

    async def take(self, number: int, step: Step) -> None:
        """One step on the way to the state."""
        if step.wait_minutes:
            self.clock.advance(int(step.wait_minutes * 60_000))
        for _ in range(step.ticks):
            await self.leave()
            self.clock.advance(TICK_MS)
            await self._ticker.tick()
        if not step.do:
            return
        about = self.filled(step.about, "steps", number)
        arguments = self.filled(step.with_, "steps", number)
        try:
            answer = await self.do(await self._actor(step, about), step.do, **arguments)
        except OpsroomError as error:
            told = f"step {number + 1} ({step.do} by {step.by}) was refused: {error}"
            raise self.scenario.written.wrong(told, "steps", number) from None
        if step.name:
            self.answers[step.name] = answer

    async def _actor(self, step: Step, about: Mapping[str, int]) -> Actor:
        if step.by == OPERATOR:
            await self.leave()
            return Operator()
        wanted = (step.by, step.run, tuple(about.items()))
        if self._at_work is None or self._at_work[0] != wanted:
            await self.leave()
            self._at_work = (wanted, await self._run_of(step, about))
        return self._at_work[1]

    async def _run_of(self, step: Step, about: Mapping[str, int]) -> Agent:
        agent = await self.agent(step.by)
        self._runs += 1
        system = System()
        asked = await self.do(
            system, "QueueRun", kind=step.run, agent_id=agent.id, key=f"scenario:{self._runs}", **about
        )
        started = await self.do(system, "StartRun", run=asked["id"], owner=OWNER, **MANY)
        if not started["started"]:
            raise OpsroomError(f"its run did not start: {started['why']}")
        await self.do(system, "ConfirmRun", run=asked["id"])
        return Agent(agent.id, agent.slug, asked["id"], started["fence"])

    async def leave(self) -> None:
        """Whoever was at work has done their steps."""
        if self._at_work is not None:
            run_id = self._at_work[1].run_id
            self._at_work = None
            await self.do(System(), "FinishRun", run=run_id, status=RunStatus.SUCCEEDED)

    def filled(self, value: Any, *place: object) -> Any:
        """The value with every `$name` put in. Raises Invalid, with the line of the place in the file."""
        try:
            return filled(value, self.answers)
        except KeyError as error:
            raise self.scenario.written.wrong(f"{error.args[0]} is in no answer", *place) from None

    async def agent(self, slug: str) -> AgentRecord:
        """Who of the staff is called so."""
        return (await self.board.readers.entities(AgentRecord, "slug = :slug", slug=slug))[0]

    async def live_runs(self) -> list[Run]:
        """What is at work now."""
        return await self.board.readers.entities(Run, "status IN ('starting', 'running') ORDER BY id")
