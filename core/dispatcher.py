"""Starts, watches and ends runs. Each run is an asyncio task; its child processes die with it (F17)."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.agents.access import GiveAccess
from core.agents.asking import Asking, Decisions
from core.agents.attached import Attached, run_of
from core.agents.clock import RunClock
from core.agents.metered_outcome import metered_outcome
from core.agents.process import kill_family, same_process
from core.agents.recording import Recording
from core.agents.runner import Assignment, Desk, Outcome, Runner, Told
from core.agents.transcript import Transcripts
from core.agents.workplaces import workplace_of
from core.blackboard.readers import Readers
from core.commands.approvals import KillRun
from core.commands.door import LocalDoor
from core.commands.prompts import RecordPrompt
from core.commands.runs import ConfirmRun, FinishRun, RenewRuns, StartRun
from core.domain.actors import Agent, System
from core.domain.barred import Barred
from core.domain.entities import Event, Run
from core.domain.errors import Conflict, Fenced, OpsroomError
from core.domain.limits import LEASE_MS, PROMPT_TOKENS, RUNS_AT_ONCE, STARTS_PER_MINUTE
from core.domain.states import RunStatus
from core.prompting.builder import Commission, build_prompt, commission_of
from core.prompting.prompt import Prompt
from core.prompting.templates import Library, shipped_library

RENEW_S = LEASE_MS / 3000
SWEPT_RUNS = 500
QUEUED = (
    "status = 'queued' AND coalesce((SELECT paused_at FROM goals WHERE goals.id = goal_id), 0) = 0"
    " ORDER BY id LIMIT 2000"
)
_ATTACHED = {
    "RunSpokenTo": Told.REMARK, "RemarkHeard": Told.HEARD, "RemarkUnheard": Told.UNHEARD,
    "RunPaused": Told.PAUSED, "RunResumed": Told.RESUMED,
}  # fmt: skip
log = logging.getLogger(__name__)
DISPATCHER = System("dispatcher")
_WAKES = frozenset(
    {
        "RunQueued", "RunFinished", "RunLost", "RunKilled", "CompanyStarted", "AgentResumed", "GoalResumed",
        "BudgetSet", "BudgetRaised",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Caps:
    """All finite by default (F14, F20)."""

    runs_at_once: int = RUNS_AT_ONCE
    starts_per_minute: int = STARTS_PER_MINUTE
    run_seconds: float = 1800.0


def _storable(detail: str) -> str:
    """An agent program's last words may hold anything; the end of its run must be written all the same."""
    return detail[:2000].encode(errors="replace").decode()


class Dispatcher:
    """Lives in the board's owner. `runners` maps a runner kind to its runner.

    `before` is awaited before anything is started, e.g. to read the guardrails again. `library` holds the templates of
    prompts (the shipped ones unless named), `prompt_tokens` is the most that a prompt may have. `give_access` tells how
    runners that want it give their programs a way to the board; None while there is none. `permission_wait_s` is how
    long what a program asks waits for the operator before it is refused; None waits as long as the run.
    """

    def __init__(
        self,
        door: LocalDoor,
        readers: Readers,
        runners: Mapping[str, Runner],
        folder: Path,
        caps: Caps,
        transcripts: Transcripts,
        *,
        retry_s: float = 1.0,
        clock: Callable[[], int],
        before: Callable[[], Awaitable[None]] | None = None,
        library: Library | None = None,
        prompt_tokens: int = PROMPT_TOKENS,
        give_access: Callable[[], GiveAccess | None] = lambda: None,
        permission_wait_s: float | None = None,
    ) -> None:
        self._door = door
        self._readers = readers
        self._runners = runners
        self._folder = folder
        self._caps = caps
        self._transcripts = transcripts
        self._retry_s = retry_s
        self._clock = clock
        self._before = before
        self._library = library or shipped_library()
        self._prompt_tokens = prompt_tokens
        self._give_access = give_access
        self._permission_wait_s = permission_wait_s
        self._decisions = Decisions()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        # Between the commit of a start and its task a tick must not take the run for lost.
        self._starting: set[int] = set()
        self._attached: dict[int, Attached] = {}
        self._asides: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self.held: dict[int, str] = {}

    def hear(self, events: Sequence[Event]) -> None:
        """A listener of the board: starts what is queued, ends what was killed, and answers what runs ask."""
        self._decisions.hear(events)
        for event in events:
            if event.kind == "RunKilled" and (task := self._tasks.get(event.entity_id)) is not None:
                task.cancel()
            if event.kind == "RunLost" or (event.kind == "RunKilled" and event.entity_id in self._tasks):
                told = {"status": str(event.changed["status"]), "exit": event.changed["exit_kind"]}
                self._transcripts.opened(event.entity_id)("outcome", {**told, "detail": event.changed["detail"]})
            if event.kind in _ATTACHED:
                self._hear_hand(event)
            if event.kind in _WAKES:
                self._wake.set()

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for."""
        task = asyncio.create_task(work)
        self._asides.add(task)
        task.add_done_callback(self._asides.discard)

    def _hear_hand(self, event: Event) -> None:
        """What the operator does with a run at work reaches it, and stands in its transcript with who did it."""
        run_id = run_of(event)
        if run_id is None:
            return
        if (attached := self._attached.get(run_id)) is not None:
            attached.hear(event)
        kind = _ATTACHED[event.kind]
        facts = {"remark": event.entity_id} if event.entity == "remarks" else {}
        if event.kind == "RunSpokenTo":
            facts["text"] = event.changed["body"]
        self._transcripts.opened(run_id)(str(kind), {**facts, "by": event.actor})

    def lost(self, runs: Iterable[Run]) -> dict[int, str]:
        """Which of the started runs are gone: their owner ended, or nothing here works on them any more."""
        gone: dict[int, str] = {}
        for run in runs:
            if run.status not in (RunStatus.STARTING, RunStatus.RUNNING):
                continue
            if run.owner != self._door.owner:
                gone[run.id] = "the process that supervised it is gone"
            elif run.id not in self._tasks and run.id not in self._starting:
                gone[run.id] = "nothing works on it any more"
        return gone

    async def sweep(self) -> int:
        """At start: end processes that an owner who died left behind, by their fingerprint. Returns how many.

        Runs that were ended while nobody supervised their process count too: their row is final, the process is not.
        """
        runs = await self._readers.entities(Run, f"pid IS NOT NULL ORDER BY id DESC LIMIT {SWEPT_RUNS}")
        ended = 0
        for run in runs:
            if run.owner != self._door.owner and same_process(run.pid, run.pid_started):
                ended += await asyncio.to_thread(kill_family, run.pid or 0, run.pid_started or 0)
        return ended

    async def run(self) -> None:
        """Start queued runs until cancelled; renew the leases of those that live."""
        self._wake.set()
        renewing = asyncio.create_task(self._renew())
        try:
            while True:
                # What the caps held back may start later without any event. Not wait_for: before Python 3.12 it can
                # swallow the cancellation that ends this loop.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._retry_s if self.held else None):
                        await self._wake.wait()
                self._wake.clear()
                try:
                    await self.start_queued()
                except Exception as error:
                    # E.g. a full disk: what is queued stays queued.
                    log.warning("no run could be started: %s", error, exc_info=not isinstance(error, OpsroomError))
                    await asyncio.sleep(self._retry_s)
                    self._wake.set()
        finally:
            renewing.cancel()
            await self._end_all()

    async def start_queued(self) -> int:
        """Start every queued run that the caps allow now. Returns how many."""
        started = 0
        self.held = {}
        barred = Barred()
        if self._before is not None:
            await self._before()
        for run in await self._readers.entities(Run, QUEUED):
            if why := barred.why(run):
                self.held[run.id] = why
                continue
            command = StartRun(
                run=run.id,
                owner=self._door.owner,
                runs_at_once=self._caps.runs_at_once,
                starts_per_minute=self._caps.starts_per_minute,
            )
            self._starting.add(run.id)
            self._attached.setdefault(run.id, Attached(run.id, self._door))
            try:
                answer = await self._door.execute(DISPATCHER, command)
                if answer["started"]:
                    started += 1
                    job = self._supervise(replace(run, brief=answer["brief"]), answer["fence"])
                    self._tasks[run.id] = asyncio.create_task(job, name=f"run {run.id}")
                    continue
                self.held[run.id] = answer["why"]
                barred.note(run, answer)
            except Conflict:
                continue
            finally:
                self._starting.discard(run.id)
                if run.id not in self._tasks:
                    self._attached.pop(run.id, None)
        return started

    async def idle(self) -> None:
        """Wait until no run is at work here."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def _supervise(self, run: Run, fence: int) -> None:
        attached = self._attached[run.id]
        try:
            try:
                outcome = await self._outcome(run, fence, attached)
            finally:
                await attached.end()
            finish = FinishRun(
                run=run.id, status=outcome.status, exit_kind=outcome.exit_kind, detail=_storable(outcome.detail),
                tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out, cost_micros=outcome.cost_micros,
                session=outcome.session, retry_at=outcome.retry_at,
            )  # fmt: skip
            await self._door.execute(DISPATCHER, finish)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            # The next tick finds that nothing works on it any more, and the run is lost.
            log.warning("the end of R%s could not be written: %s", run.id, error)
        finally:
            self._tasks.pop(run.id, None)
            self._attached.pop(run.id, None)
            self._transcripts.close(run.id)
            self._wake.set()

    async def _outcome(self, run: Run, fence: int, attached: Attached) -> Outcome:
        """How a run ended, whatever happened to it; never raises but when it is cancelled."""
        recording = Recording(run.id, self._door, self._transcripts.opened(run.id), self._beside)
        try:
            outcome = await self._worked(run, fence, attached, recording)
        except Fenced as error:
            outcome = Outcome(RunStatus.FAILED, "fenced", error.message)
        except OpsroomError as error:
            outcome = Outcome(RunStatus.FAILED, error.code, str(error))
        except Exception as error:
            log.exception("R%s failed", run.id)
            outcome = Outcome(RunStatus.FAILED, "error", f"{type(error).__name__}: {error}")
        outcome = metered_outcome(outcome, recording.metered, self._clock())
        clean = recording.clean
        outcome = replace(outcome, detail=clean(outcome.detail), session=clean(outcome.session))
        recording.end(outcome)
        return outcome

    async def _worked(self, run: Run, fence: int, attached: Attached, recording: Recording) -> Outcome:
        """Tell the run what it is about, and have its runner work until it ends, or its time is over."""
        assignment = await self._assignment(run, recording.notice)
        actor = Agent(assignment.agent.id, assignment.agent.slug, run.id, fence)
        kind = str(assignment.agent.runner.get("kind", ""))
        runner = self._runners.get(kind)
        if runner is None:
            return Outcome(RunStatus.FAILED, "no_runner", self._no_runner(kind, assignment.agent.slug))
        prompt = assignment.prompt
        self._transcripts.keep_prompt(run.id, prompt.to_json())
        told = RecordPrompt(run=run.id, prompt_hash=prompt.hash, experiences=prompt.experiences)
        await self._door.execute_all(DISPATCHER, [told, ConfirmRun(run=run.id)])
        clock = RunClock()
        desk = Desk(
            actor, self._door, self._readers, recording.tell, recording.note_process, recording.note_spent, attached,
            ask=self._asking(actor, clock, recording.say), clock=clock,
        )  # fmt: skip
        clock.limit = limit = asyncio.timeout(self._caps.run_seconds)
        try:
            async with limit, self._with_access(runner, assignment, actor) as assigned:
                if assigned.access is not None:
                    recording.follow(assigned.access)
                try:
                    return await runner.run(assigned, desk)
                finally:
                    await recording.spent.end()
        except TimeoutError:
            if not limit.expired():  # a wait of the runner's own, not ours
                raise
            took = f"it took longer than {self._caps.run_seconds:g} s; run_seconds in [caps] of company.toml"
            return Outcome(RunStatus.TIMED_OUT, "wall_time", f"{took} allows more")

    def _no_runner(self, kind: str, agent: str) -> str:
        has = ", ".join(self._runners) or "none"
        why = f"there is no runner of kind {kind!r} in this program (it has: {has})"
        return f"{why}; change what it runs on: opsroom agent edit DIR {agent} --runner KIND"

    def _asking(self, actor: Agent, clock: RunClock, say: Callable[[str, dict[str, Any]], None]) -> Asking:
        """How this run asks the operator for permissions."""
        return Asking(
            actor, self._door, self._readers, self._decisions, clock,
            clock=self._clock, wait_s=self._permission_wait_s, look_s=self._retry_s,
            tell=lambda facts: say(str(Told.PERMISSION), facts),
        )  # fmt: skip

    @contextlib.asynccontextmanager
    async def _with_access(self, runner: Runner, assignment: Assignment, actor: Agent) -> AsyncIterator[Assignment]:
        """The assignment, with a way to the board from outside this process if its runner wants one."""
        give = self._give_access() if getattr(runner, "wants_access", False) else None
        if give is None:
            yield assignment
            return
        async with give(assignment, actor) as access:
            yield replace(assignment, access=access)

    async def _assignment(self, run: Run, tell: Callable[[str], None]) -> Assignment:
        about = await commission_of(self._readers, self._folder, run)
        kind = str(about.agent.runner.get("kind", ""))
        # Before the prompt, which says where it is.
        workplace = await workplace_of(self._readers, self._door, self._folder, run, about.task, kind, tell)
        return Assignment(
            run=run,
            agent=about.agent,
            company=about.company,
            folder=self._folder,
            prompt=await self._prompt(about),
            task=about.task,
            goal=about.goal,
            round=about.round,
            settings=dict(about.agent.runner),
            session=str(run.brief.get("session", "")),
            remark=str(run.brief.get("remark", "")),
            workplace=workplace,
        )

    async def _prompt(self, about: Commission) -> Prompt:
        red_lines = self._door.book.current.lines
        return await build_prompt(
            self._readers, self._library, about, budget=self._prompt_tokens, red_lines=red_lines
        )  # fmt: skip

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            if self._tasks:
                with contextlib.suppress(OpsroomError):
                    await self._door.execute(DISPATCHER, RenewRuns(runs=tuple(self._tasks), owner=self._door.owner))

    async def _end_all(self) -> None:
        """A clean end: runs are killed, their tasks go back at no cost of an attempt."""
        tasks = dict(self._tasks)
        for run_id, task in tasks.items():
            with contextlib.suppress(OpsroomError):
                await self._door.execute(DISPATCHER, KillRun(run=run_id, reason="the room was closed"))
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks.values(), return_exceptions=True)
