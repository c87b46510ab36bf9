"""The runner protocol: an assignment in; calls on the board, words for the transcript, and one outcome out."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from core.agents.access import Access
from core.agents.asking import Ask
from core.agents.attached import Attached
from core.agents.clock import RunClock
from core.agents.process import Child
from core.blackboard.readers import Readers
from core.commands.door import Door
from core.commands.registry import Answer, parse
from core.domain.actors import Agent
from core.domain.entities import AgentRecord, Company, Goal, Round, Run, Task
from core.domain.permissions import Change as Change
from core.domain.permissions import Permission as Permission
from core.domain.permissions import Permit as Permit
from core.domain.permissions import Wish as Wish
from core.domain.states import RunStatus
from core.prompting.prompt import Prompt
from core.reading.registry import read


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a run is about. `folder` is the company's folder; `settings` are those of the agent's runner.

    `prompt` is what it is told, in the company's language; a runner may have it taken apart into `system` and `user`.
    `access` is how a program of this run reaches the board, for a runner with `wants_access = True`; None elsewhere,
    and where nobody serves the company. `workplace` is where its runner must work: the work tree of a task that names
    a repository; None elsewhere. `session` is that of an earlier run, which the operator wants gone on with, and
    `remark` what they said to it, which the prompt tells too; empty: none.
    """

    run: Run
    agent: AgentRecord
    company: Company
    folder: Path
    prompt: Prompt
    task: Task | None = None
    goal: Goal | None = None
    round: Round | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    access: Access | None = None
    session: str = ""
    remark: str = ""
    workplace: Path | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. NO_REPLY is a success with no result. `retry_at` (ms) goes with rate_limited."""

    status: RunStatus = RunStatus.SUCCEEDED
    exit_kind: str = "done"
    detail: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int = 0
    session: str = ""
    retry_at: int | None = None


class Told(StrEnum):
    """What a runner tells of a run while it works, beside its texts and calls: the kinds of a transcript's lines."""

    NOTICE = "notice"  # why it waits, goes on or begins anew: `text`
    PLAN = "plan"  # what a program means to do, a line a step below a heading: `text`
    REFUSED = "refused"  # a call that was not carried out: `command`, `error`
    THOUGHT = "thought"  # the begin of what a model thought: `text`
    USAGE = "usage"  # of one answer: `tokens_in`, `tokens_out`, `cost` (micros, or "unknown")
    MODEL = "model"  # a request through the gateway: `model`, `status`, `ms`, tokens, `cost`, `note` (ModelCall.facts)
    SESSION = "session"  # by what id it can be gone on with: `id`
    TOOL = "tool"  # a program's own tool is called: `id`, `name`, `arguments` (a text)
    RESULT = "result"  # what it answered: `id`, `text`, `failed`
    REMARK = "remark"  # the operator's words to the run: `remark` (its id), `text`, `by`
    HEARD = "heard"  # the agent has taken them up: `remark`
    UNHEARD = "unheard"  # the run ended before: `remark`
    PAUSED = "paused"  # the run holds before its next turn: `by`
    RESUMED = "resumed"  # `by`
    PERMISSION = "permission"  # what a program asks for: `wants`; with `question` (Q7), or with `permit` and `note`


async def _spent_nowhere(tokens_in: int, tokens_out: int, cost_micros: int) -> None:
    """Nobody counts."""


async def _nobody_is_asked(wish: Wish) -> Permission:
    return Permission(Permit.REFUSED, "nobody can be asked here")


class Desk:
    """What a runner works with: the board through its own run, its transcript, and child processes.

    Every call carries the run and its fence; once the run is no longer current each call raises Fenced.
    """

    def __init__(
        self,
        actor: Agent,
        door: Door,
        readers: Readers,
        say: Callable[[str, dict[str, Any]], None],
        note_process: Callable[[int, int], Awaitable[None]],
        note_spent: Callable[[int, int, int], Awaitable[None]] = _spent_nowhere,
        attached: Attached | None = None,
        *,
        ask: Ask = _nobody_is_asked,
        clock: RunClock | None = None,
    ) -> None:
        self.actor = actor
        self.readers = readers
        self._door = door
        self._say = say
        self._note_process = note_process
        self._note_spent = note_spent
        self._ask = ask
        self._clock = clock or RunClock()
        self._attached = attached or Attached(actor.run_id, door)

    async def call(self, command: str, /, **arguments: Any) -> Answer:
        """Send a command as this agent. Raises an OpsroomError with a hint; then nothing was written."""
        answer = await self._door.execute(self.actor, parse(command, arguments))
        self._say("call", {"command": command, "arguments": arguments, "answer": answer})
        return answer

    async def read(self, query: str, /, **arguments: Any) -> Answer:
        """Look something up as this agent may see it (`core.reading`). Raises an OpsroomError with a hint."""
        answer = await read(self.readers, self.actor, query, arguments)
        # What was read stands on the board; that it was read is what the transcript tells.
        self._say("read", {"query": query, "arguments": arguments})
        return answer

    def say(self, text: str) -> None:
        """A line for the transcript and the room."""
        self._say("text", {"text": text})

    def tell(self, kind: Told, **facts: Any) -> None:
        """What happens in the run beside words and calls, for the transcript and the room; `facts` are plain JSON."""
        self._say(str(kind), facts)

    async def ask_permission(self, wish: Wish) -> Permission:
        """Ask the operator whether the run's program may do this, and wait for the answer (S4-08).

        Never allowed without their yes, now or to an earlier wish of this run that covers it. The clock stands still
        meanwhile. Cancelling takes the question back. Raises Fenced when the run is no longer current.
        """
        return await self._ask(wish)

    def clock_stopped(self) -> AbstractAsyncContextManager[None]:
        """While the context lasts the run waits for a person: neither its wall time nor `worked_s` goes on."""
        return self._clock.stopped()

    def worked_s(self) -> float:
        """Seconds in which the run was at work: what a runner measures silence and its own limits by."""
        return self._clock.worked_s()

    def heard(self) -> None:
        """A sign of life of the run's program: while it waits for a person that counts as work."""
        self._clock.heard()

    async def spent(self, tokens_in: int, tokens_out: int, cost_micros: int) -> None:
        """What the run has used since it began, told while it works: kept also if it is killed (F24). Never raises."""
        await self._note_spent(tokens_in, tokens_out, cost_micros)

    async def may_go_on(self) -> None:
        """Returns at once, or waits while the operator has paused this run. Asked before each turn of an agent."""
        if self._attached.is_paused:
            async with self.clock_stopped():
                await self._attached.gone_on()

    async def remark(self) -> str:
        """Wait for the operator's next words to this run. They count as heard then; cancelling loses none."""
        return await self._attached.next_words()

    async def remark_now(self) -> str | None:
        """The operator's next words to this run if some wait; None otherwise. A paused run takes up none: it waits.

        Whoever takes them passes them on and says so by `remarks_reached`; otherwise they are unheard when it ends.
        """
        if self._attached.may_have_words:
            await self.may_go_on()
        return await self._attached.words()

    def remarks_reached(self) -> None:
        """All words that were taken up so far are before the agent now."""
        self._attached.reached()

    def note_call(self, name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any] | None) -> None:
        """A call that the run's program made by its own access: a command with its answer, or a query without."""
        if answer is None:
            self._say("read", {"query": name, "arguments": dict(arguments)})
        else:
            self._say("call", {"command": name, "arguments": dict(arguments), "answer": dict(answer)})

    async def note_process(self, pid: int, started: int) -> None:
        """Have the board keep the fingerprint of a process that a runner has started by itself (F17)."""
        await self._note_process(pid, started)

    async def start(self, *argv: str, cwd: Path | None = None) -> Child:
        """Start a child process in a group of its own, whose fingerprint the board keeps (F17)."""
        child = await Child.start(argv, cwd=cwd)
        try:
            await self._note_process(child.pid, child.started)
        except BaseException:
            # Nobody else knows of it: a run that ends here must not leave it behind.
            await child.end()
            raise
        return child


class Runner(Protocol):
    """Turns an assignment into calls on the board. Cancelling it must end everything that it started."""

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Do the work. An exception counts as a failed run."""
        ...
