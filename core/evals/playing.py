"""Plays one scenario: on a copy of its board the ticks begin its run, and what it does is noted."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from core.agents.runner import Assignment, Desk, Outcome, Runner
from core.agents.transcript import Transcripts
from core.dispatcher import Caps, Dispatcher
from core.domain.entities import Run, Task
from core.domain.errors import OpsroomError
from core.domain.goals import canonical_hash
from core.domain.limits import TICK_MS
from core.domain.states import RunStatus
from core.evals.expecting import Call, Seen, broken
from core.evals.founding import KIND, MANY, Boards, Place
from core.evals.noting import NotingDesk
from core.evals.scenario import Begin, Scenario

TICKS_TO_BEGIN = 4
BEGIN_S = 30.0

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
    scenario: Scenario,
    contestant: Contestant,
    repetition: int,
    folder: Path,
    seconds: float = 300.0,
    boards: Boards | None = None,
) -> Played:
    """Play a scenario in `folder`, which is empty. `seconds` (of the wall) bound the run; `boards` knows states.

    Raises Invalid, with file and line, when a step of the scenario is refused.
    """
    async with (boards or Boards(folder / "states")).copy(scenario, folder) as place:
        return await _judge(place, contestant, repetition, seconds)


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
    told: list[str] = field(default_factory=list)
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
        self.told.append(assignment.prompt.text)
        self.begun.set()
        try:
            self.outcome = await self.runner.run(assignment, NotingDesk(desk, self.calls.append, self.told.append))
        except OpsroomError as error:
            self.trouble = f"the run failed: {error}"
            raise
        except Exception as error:
            self.trouble = f"the run failed: {type(error).__name__}: {error}"
            raise
        finally:
            self.over.set()
        return self.outcome


async def _judge(place: Place, contestant: Contestant, repetition: int, seconds: float) -> Played:
    """Let the ticks begin the run, and look at what it does."""
    scenario, begin = place.scenario, place.scenario.begin
    about = {"task_id": begin.task, "goal_id": begin.goal, "round_id": begin.round}
    named = {name: value for name, value in about.items() if value is not None}
    seat = _Seat(begin, (await place.agent(begin.agent)).id, place.filled(named, "begin"))
    expected = [
        each.model_copy(
            update={name: place.filled(getattr(each, name), "expect", number) for name in ("with_", "task")}
        )
        for number, each in enumerate(scenario.expect)
    ]
    seat.runner = contestant.runner(scenario, repetition, place.answers)
    transcripts = Transcripts(place.folder / "runs", place.clock)
    dispatcher = Dispatcher(
        place.door, place.board.readers, {KIND: seat}, place.folder, Caps(run_seconds=seconds, **MANY), transcripts,
        clock=place.clock,
    )  # fmt: skip
    try:
        await _begin(place, seat, dispatcher)
        if seat.assignment is not None:
            await seat.over.wait()
    finally:
        seat.over.set()
        await dispatcher.idle()
        await asyncio.to_thread(transcripts.stop)
    tasks = {task.id: task.status for task in await place.board.readers.entities(Task, "true")}
    return _judged(scenario, contestant, seat, broken(expected, seat.calls, Seen(seat.told, tasks)))


async def _begin(place: Place, seat: _Seat, dispatcher: Dispatcher) -> None:
    """Tick until the judged run is at work, or until it should have been."""
    ticker = place.ticker(dispatcher.lost)
    for _ in range(TICKS_TO_BEGIN):
        place.clock.advance(TICK_MS)
        await ticker.tick()
        await dispatcher.start_queued()
        if any(seat.is_it(run) for run in await place.live_runs()):
            waits = [asyncio.ensure_future(event.wait()) for event in (seat.begun, seat.over)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED, timeout=BEGIN_S)
            for wait in waits:
                wait.cancel()
            return


def _judged(scenario: Scenario, contestant: Contestant, seat: _Seat, unmet: Sequence[str]) -> Played:
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
    why += unmet
    played = Played(
        tuple(seat.calls), tuple(why), mode, str(outcome.status) if outcome else "failed", canonical_hash(texts)
    )  # fmt: skip
    return played if outcome is None else replace(played, tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out)
