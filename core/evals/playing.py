"""Plays one scenario: founds its company on a fresh board, lets the ticks begin its run, and notes what it does."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from core.agents.runner import Assignment, Desk, Outcome, Runner
from core.agents.transcript import Transcripts
from core.blackboard.board import Board
from core.commands.door import LocalDoor
from core.commands.registry import Answer, parse
from core.dispatcher import Caps, Dispatcher
from core.domain.actors import Actor, Agent, Operator, System
from core.domain.entities import AgentRecord, Run
from core.domain.errors import OpsroomError
from core.domain.goals import canonical_hash
from core.domain.guardrails import GuardrailBook
from core.domain.limits import TICK_MS
from core.domain.states import RunStatus
from core.evals.expecting import Call, Expectation, broken
from core.evals.names import filled
from core.evals.noting import NotingDesk
from core.evals.scenario import OPERATOR, Begin, Scenario, Step
from core.guardrails import shipped
from core.simulation.clock import Clock
from core.ticker import Ticker

TICKS_TO_BEGIN = 4
BEGIN_S = 30.0
_OWNER = "owner:1"
_MANY = {"runs_at_once": 1000, "starts_per_minute": 100_000}
_KIND = "eval"

Answers = Mapping[str, Mapping[str, Any]]


class Contestant(Protocol):
    """Whose behaviour is looked at. `kind` and `model` stand in the baseline."""

    kind: str
    model: str

    def runner(self, scenario: Scenario, repetition: int, answers: Answers) -> Runner:
        """The runner for one repetition (from 1); `answers` are those of the scenario's named steps."""
        ...

    def texts(self, assignment: Assignment) -> tuple[str, ...]:
        """What it is told beyond the prompt of its run, for the hash of what was told."""
        ...


@dataclass(frozen=True, slots=True)
class Played:
    """One repetition. `why` says what was not as expected; empty: it passed."""

    calls: tuple[Call, ...] = ()
    why: tuple[str, ...] = ()
    mode: str = ""
    ended: str = ""
    prompt_hash: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.why


async def play(
    scenario: Scenario, contestant: Contestant, repetition: int, folder: Path, seconds: float = 300.0
) -> Played:
    """Play a scenario in `folder`, which is empty. `seconds` (of the wall) bound the run.

    Raises Invalid, with file and line, when a step of the scenario is refused.
    """
    async with _a_place(scenario, folder) as place:
        await place.found()
        for number, step in enumerate(scenario.steps):
            await place.take(number, step)
        await place.leave()
        return await place.judge(contestant, repetition, seconds)


@asynccontextmanager
async def _a_place(scenario: Scenario, folder: Path) -> AsyncIterator["_Place"]:
    clock = Clock()
    board = await Board.open(folder / "board.db", clock=clock, create=True, role="owner")
    try:
        yield _Place(scenario, board, folder, clock)
    finally:
        await board.close()


@dataclass
class _Seat:
    """The runner of every agent while a scenario is played: the judged run plays, the others wait for its end."""

    begin: Begin
    agent_id: int
    about: Mapping[str, int]
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    runner: Runner | None = None
    assignment: Assignment | None = None
    calls: list[Call] = field(default_factory=list)
    outcome: Outcome | None = None
    trouble: str = ""

    def is_it(self, run: Run) -> bool:
        """Whether this is the run that is judged."""
        mine = (run.agent_id, run.kind) == (self.agent_id, self.begin.run)
        return mine and all(getattr(run, name) == value for name, value in self.about.items())

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        if self.assignment is not None or self.runner is None or not self.is_it(assignment.run):
            # What this agent is called for besides must not keep the judged run waiting.
            if assignment.agent.id != self.agent_id or self.assignment is not None:
                await self.over.wait()
            return Outcome(exit_kind="no_reply")
        self.assignment = assignment
        self.begun.set()
        try:
            self.outcome = await self.runner.run(assignment, NotingDesk(desk, self.calls.append))
        except OpsroomError as error:
            self.trouble = f"the run failed: {error}"
            raise
        except Exception as error:
            self.trouble = f"the run failed: {type(error).__name__}: {error}"
            raise
        finally:
            self.over.set()
        return self.outcome


class _Place:
    """A company on its board, stepped by hand."""

    def __init__(self, scenario: Scenario, board: Board, folder: Path, clock: Clock) -> None:
        assert board.writer is not None
        self.scenario = scenario
        self.board = board
        self.folder = folder
        self.clock = clock
        self.door = LocalDoor(board.writer, _OWNER, GuardrailBook(shipped()))
        self.answers: dict[str, Answer] = {}
        self._at_work: tuple[object, Agent] | None = None
        self._runs = 0
        # Before the judged run begins nothing is dispatched.
        self.ticker = self._ticker(lambda _runs: {})

    def _ticker(self, lost: Any) -> Ticker:
        assert self.board.writer is not None
        return Ticker(
            self.board.writer, self.door, lost, clock=self.clock, monotonic=lambda: self.clock() / 1000
        )  # fmt: skip

    async def do(self, actor: Actor, command: str, /, **arguments: Any) -> Answer:
        return await self.door.execute(actor, parse(command, arguments))

    async def found(self) -> None:
        """The company and its staff."""
        scenario = self.scenario
        await self.do(Operator(), "CreateCompany", name="Test", mission=scenario.mission, locale=scenario.locale)
        for number, member in enumerate(scenario.members):
            hire = {
                "slug": member.slug, "name": member.slug.title(), "role": member.role, "manager": member.boss,
                "capabilities": member.capabilities, "runner": {"kind": _KIND},
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
            await self.ticker.tick()
        if not step.do:
            return
        about = self._filled(step.about, "steps", number)
        arguments = self._filled(step.with_, "steps", number)
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
        agent = await self._agent(step.by)
        self._runs += 1
        system = System()
        asked = await self.do(
            system, "QueueRun", kind=step.run, agent_id=agent.id, key=f"scenario:{self._runs}", **about
        )
        started = await self.do(system, "StartRun", run=asked["id"], owner=_OWNER, **_MANY)
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

    def _filled(self, value: Any, *place: object) -> Any:
        try:
            return filled(value, self.answers)
        except KeyError as error:
            raise self.scenario.written.wrong(f"{error.args[0]} is in no answer", *place) from None

    async def _agent(self, slug: str) -> AgentRecord:
        return (await self.board.readers.entities(AgentRecord, "slug = :slug", slug=slug))[0]

    async def judge(self, contestant: Contestant, repetition: int, seconds: float) -> Played:
        """Let the ticks begin the run, and look at what it does."""
        begin = self.scenario.begin
        about = {"task_id": begin.task, "goal_id": begin.goal, "round_id": begin.round}
        named = {name: value for name, value in about.items() if value is not None}
        seat = _Seat(begin, (await self._agent(begin.agent)).id, self._filled(named, "begin"))
        expected = [
            each.model_copy(update={"with_": self._filled(each.with_, "expect", number)})
            for number, each in enumerate(self.scenario.expect)
        ]
        seat.runner = contestant.runner(self.scenario, repetition, self.answers)
        transcripts = Transcripts(self.folder / "runs", self.clock)
        caps = Caps(run_seconds=seconds, **_MANY)
        dispatcher = Dispatcher(
            self.door, self.board.readers, {_KIND: seat}, self.folder, caps, transcripts, clock=self.clock
        )  # fmt: skip
        self.ticker = self._ticker(dispatcher.lost)
        try:
            await self._begin(seat, dispatcher)
            if seat.assignment is not None:
                await seat.over.wait()
        finally:
            seat.over.set()
            await dispatcher.idle()
            await asyncio.to_thread(transcripts.stop)
        return _judged(self.scenario, contestant, seat, expected)

    async def _begin(self, seat: _Seat, dispatcher: Dispatcher) -> None:
        """Tick until the judged run is at work, or until it should have been."""
        for _ in range(TICKS_TO_BEGIN):
            self.clock.advance(TICK_MS)
            await self.ticker.tick()
            await dispatcher.start_queued()
            live = await self.board.readers.entities(Run, "status IN ('starting', 'running') ORDER BY id")
            if any(seat.is_it(run) for run in live):
                waits = [asyncio.ensure_future(event.wait()) for event in (seat.begun, seat.over)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=BEGIN_S)
                for wait in waits:
                    wait.cancel()
                return


def _judged(scenario: Scenario, contestant: Contestant, seat: _Seat, expected: Sequence[Expectation]) -> Played:
    begin = scenario.begin
    if seat.assignment is None:
        missing = f"no {begin.run} run of {begin.agent} began"
        return Played(why=() if begin.never else (missing,), ended="no run")
    brief = seat.assignment.run.brief
    mode, outcome = str(brief.get("mode", "")), seat.outcome
    texts = (seat.assignment.prompt.hash, *contestant.texts(seat.assignment))
    why: list[str] = []
    if begin.never:
        why.append(f"a {begin.run} run of {begin.agent} began; none was to")
    if mode != str(scenario.mode or ""):
        why.append(f"the run began in the mode {mode or 'none'}, not in {scenario.mode or 'none'}")
    if outcome is None:
        why.append(seat.trouble or "the run took too long and was ended")
    elif outcome.status != RunStatus.SUCCEEDED:
        why.append(f"the run {outcome.status}: {outcome.detail}")
    why += broken(expected, seat.calls)
    played = Played(
        tuple(seat.calls), tuple(why), mode, str(outcome.status) if outcome else "failed", canonical_hash(texts)
    )  # fmt: skip
    return played if outcome is None else replace(played, tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out)
