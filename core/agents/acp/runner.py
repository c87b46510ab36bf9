"""The runner of agents that speak the Agent Client Protocol: their program works, and the operator is asked."""

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from acp import RequestError
from acp.connection import Connection
from acp.meta import CLIENT_METHODS

from core.agents.access import Heard
from core.agents.acp.catalogue import Startable, Supervision, program_of
from core.agents.acp.ending import BROKEN_OFF, Ended, failed, stopped
from core.agents.acp.line import Line
from core.agents.acp.permissions import Permissions
from core.agents.acp.session import Session
from core.agents.acp.settings import AcpSettings, settings_of
from core.agents.acp.tools import Tool
from core.agents.acp.updates import Updates
from core.agents.clock import within
from core.agents.giving_up import block_task
from core.agents.models.keys import Secret, scrub
from core.agents.owing import REMINDERS, owed_by
from core.agents.programs.debt import Debt
from core.agents.programs.ending import Facts, no_board_call, outcome_of
from core.agents.programs.environment import environment_of
from core.agents.programs.errors_file import ErrorsFile
from core.agents.programs.limits import Limits
from core.agents.programs.pieces import Finished, SessionIs
from core.agents.programs.running import access_of, heard, placed, reminder, running, tell_end
from core.agents.programs.scripts import mapping, word
from core.agents.programs.settings import Place
from core.agents.programs.started import End, Program
from core.agents.programs.watching import Watch
from core.agents.runner import Assignment, Desk, Outcome
from core.agents.words import words
from core.domain.entities import Run
from core.domain.states import RunStatus

KIND = "acp"
_FREE = "not supervised: its program acts without asking the operator"
_SETTLES_S = 1.0
_NAME_MAX = 200  # code points
_DETAIL_MAX = 2000
_LIVES = End(code=0)
# An agent's settings as they were when a run of it began: each change of them is an event.
_RUNNER_THEN = (
    "SELECT json_extract(changed, '$.runner') FROM events WHERE entity = 'agents' AND entity_id = :agent"
    " AND json_type(changed, '$.runner') IS NOT NULL"
    " AND id < (SELECT max(id) FROM events WHERE entity = 'runs' AND entity_id = :run AND kind = 'RunStarted')"
    " ORDER BY id DESC LIMIT 1"
)


def _which(runner: Mapping[str, Any]) -> tuple[object, ...]:
    """By what a program is told from another: ids of sessions are its own."""
    return runner.get("kind"), runner.get("program"), runner.get("command")


class AcpRunner:
    """Each run is a process of its own, with a token of its own for the board (C-19). `ours` is our environment."""

    wants_access = True

    def __init__(self, ours: Mapping[str, str] = os.environ) -> None:
        self._ours = ours

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Work through the session until the run has ended. Cancelling ends the program and all that it started.

        Raises Invalid for settings that cannot be used, BoardError where the company is not served, and Fenced.
        """
        settings = settings_of(assignment.settings)
        access = access_of(assignment)
        program = await asyncio.to_thread(program_of, settings)
        how = program.supervision(settings)
        start = program.start(settings, access)
        place = await placed(assignment, desk, settings, start.argv, self._ours)
        environment = environment_of(self._ours, (*place.named, *start.names), start.environment)
        work = _Work(assignment, desk, settings, program, how, place)
        with heard(access, place, work.hear):
            outcome = await work.through(environment)
        # What it says of its failure came as a whole, so no secret is cut in two.
        detail = work.clean(outcome.detail)[:_DETAIL_MAX]
        if how.free:
            detail = f"{detail}; {_FREE}" if detail else _FREE
        return replace(work.watch.counted(outcome), detail=detail)


class _Work:
    """One run: a process, a session, its turns."""

    def __init__(
        self, assignment: Assignment, desk: Desk, settings: AcpSettings, program: Startable, how: Supervision,
        place: Place,
    ) -> None:  # fmt: skip
        assert assignment.access is not None
        self._assignment = assignment
        self._access = assignment.access
        self._desk = desk
        self._settings = settings
        self._program = program
        self._how = how
        self._place = place
        self._cwd = place.cwd
        self._owed = owed_by(assignment.agent.role, assignment.run.kind)
        self._limits = Limits(desk.worked_s, settings.wall_s, settings.silence_s, desk.heard)
        self._secrets = (*place.secrets, Secret(self._access.token))
        metered = self._access.metered
        self.watch = Watch(desk, settings, self._secrets, self._limits.stop, lambda: metered.counts)
        metered.stir = self._limits.hear
        metered.stopping.append(self._limits.held)
        self.debt = Debt(desk, self._owed, self._secrets, self._limits.circling)
        self._updates = Updates(self._hear_mode, self.clean)
        self._permissions = Permissions(
            desk, self._cwd, self._secrets, self._known, self._updates.tools.refuse, self._lost
        )  # fmt: skip
        self._telling = asyncio.Lock()
        self._session: Session | None = None
        self._is_supervised = False
        self._was_broken_off = False

    def clean(self, text: str) -> str:
        """The text without the program's keys and its token."""
        return scrub(text, self._secrets)

    def hear(self, heard: Heard) -> None:
        """A call of the program on the board."""
        self._limits.hear()
        self.debt.hear(heard)

    async def through(self, environment: Mapping[str, str]) -> Outcome:
        """The process from its start to its end. Raises Fenced."""
        errors = ErrorsFile(self._assignment.folder / "runs" / f"{self._assignment.run.id}.stderr", self._secrets)
        grace_s = self._settings.grace_s
        async with running(self._desk, self._place.argv, self._cwd, environment, grace_s) as program:
            draining = asyncio.create_task(errors.drain(program.errors()))
            connection = Connection(
                self._asked, Line(program, self._take, self._limits.hear, self._tell, self._refuse, self.clean)
            )
            session = self._session = Session(connection, self._access, self._cwd, self._hear_mode)
            talk = asyncio.create_task(self._talk(session))
            settling = asyncio.create_task(self._settle())
            try:
                await self._limits.until(talk)
            finally:
                settling.cancel()
                end = await self._leave(program) if await self._hush(session, talk) else await program.end()
                await connection.close()
                # What it had begun to say when it ended is told too.
                for piece in self._updates.flush():
                    await self.watch.take(piece)
                await asyncio.wait([draining])
            await draining
        tell_end(self._desk, end, errors.shown)
        outcome = self._outcome(talk, end, errors.shown)
        if outcome.exit_kind == "stuck":
            await block_task(self._assignment, self._desk, outcome.detail)
        return outcome

    async def _talk(self, session: Session) -> Outcome:
        """All that is said to the program. Raises Ended."""
        try:
            await within(self._settings.start_s, self._desk.worked_s, self._open(session))
        except TimeoutError:
            waited = (
                f'its session did not begin within {self._settings.start_s:g} s; "start_s" of its runner allows more'
            )
            raise Ended(Outcome(RunStatus.TIMED_OUT, "start", waited)) from None
        prompt = f"{self._assignment.prompt.text}\n\n{self._access.told(self._assignment.company.locale)}\n"
        reminders = 0
        while True:
            await self._desk.may_go_on()
            outcome = await self._turn(session, prompt)
            if outcome is not None and (self._owed.final or outcome.exit_kind == "stuck"):
                return outcome
            # What the operator says during a turn is heard when it has ended: no work is broken off for it.
            if (said := await self._desk.remark_now()) is not None:
                prompt = words(self._assignment.company.locale, "remark", text=said)
                continue
            if outcome is not None:
                return outcome
            if self._was_broken_off:
                # A turn that a refusal has ended is none that ended in words: it is not counted as one.
                prompt = self._refused()
                continue
            if reminders == REMINDERS:
                return no_board_call(self.watch.last_words, reminders)
            reminders += 1
            prompt = self._reminder(reminders)

    async def _open(self, session: Session) -> None:
        name = await session.greet()
        if name:
            self._tell(f"the program is {self.clean(name)[:_NAME_MAX]}")
        if self._settings.auth:
            await session.log_in(self._settings.auth)
        await self._begin(session)
        await self.watch.take(SessionIs(session.id))
        mode = await session.supervise(self._how)
        self._is_supervised = not self._how.free
        if self._how.free:
            self._tell(f"{_FREE}{f'; its session mode is {mode!r}' if mode else ''}")
        elif mode:
            self._tell(f"supervised: in its session mode {mode!r} the operator is asked")
        else:
            self._tell("supervised: it was started so that the operator is asked")
        model = self._settings.model
        if model and not self._program.takes_model and not await session.use_model(model):
            self._tell(f"its session lets no model be chosen; it was told {model!r} as OPSROOM_MODEL")

    async def _begin(self, session: Session) -> None:
        """Go on with the session that a former run of the task left, or begin one."""
        former = self._assignment.session or await self._former()
        if not former:
            return await session.begin()
        if not session.resumes:
            self._tell("it cannot go on with its former session: a new one was begun")
            return await session.begin()
        self._updates.replays = True
        try:
            await session.go_on(former)
            self._updates.begun_anew = self._program.costs_begin_anew
            self._tell(f"it goes on with its session {former}")
        except Ended as end:
            if end.outcome.exit_kind == "line":
                raise
            self._tell(f"its former session could not be gone on with, a new one was begun: {end.outcome.detail}")
            await session.begin()
        finally:
            self._updates.replays = False

    async def _former(self) -> str:
        """The session of the agent's last run about the same task, of the same program; empty if there is none."""
        run, agent = self._assignment.run, self._assignment.agent
        if run.task_id is None:
            return ""
        where = (
            "task_id = :task AND agent_id = :agent AND id < :run AND session != '' ORDER BY id DESC LIMIT 1"
        )  # fmt: skip
        found = await self._desk.readers.entities(Run, where, task=run.task_id, agent=agent.id, run=run.id)
        if not found:
            return ""
        then = await self._desk.readers.value(_RUNNER_THEN, agent=agent.id, run=found[0].id)
        return found[0].session if _which(json.loads(then or "{}")) == _which(agent.runner) else ""

    async def _turn(self, session: Session, prompt: str) -> Outcome | None:
        """A prompt and its turn. The outcome; None where it ended in words that the board lacks. Raises Ended."""
        self.watch.begin()
        self._permissions.has_refused = False
        self._desk.remarks_reached()
        facts = await session.prompt(prompt)
        for piece in self._updates.ended(facts):
            await self.watch.take(piece)
        reason = word(facts.get("stopReason"))
        # codex ends its turn at a refusal, to hear what to do instead.
        self._was_broken_off = reason == BROKEN_OFF and self._permissions.has_refused
        end = None if self._was_broken_off else stopped(reason)
        how = Finished(True) if end is None else Finished(False, end.outcome.exit_kind, end.outcome.detail)
        await self.watch.take(how)
        return outcome_of(self._facts(_LIVES, None, ""))

    def _facts(self, end: End, stopped_by: Outcome | None, errors: str) -> Facts:
        watch = self.watch
        return Facts(
            self._owed, self.debt.met, watch.said_nothing_on_purpose, end, stopped_by, watch.finished, True,
            watch.last_words, errors,
        )  # fmt: skip

    def _outcome(self, talk: "asyncio.Task[Outcome]", end: End, errors: str) -> Outcome:
        """How the run ended: by a limit, by the end of its program, by an error that it told, or by its work."""
        by = self._limits.stopped
        if by is None and not talk.cancelled():
            error = talk.exception()
            if error is None:
                return talk.result()
            if not isinstance(error, Ended):
                raise error
            by = error.outcome
            if by.exit_kind == "line":
                self.watch.finished = None
                by = None
        return outcome_of(self._facts(end, by, errors)) or no_board_call(self.watch.last_words, 0)

    async def _hush(self, session: Session, talk: "asyncio.Task[Outcome]") -> bool:
        """Where its turn still goes on: ask it to end it, and wait as long as the grace. Whether it has ended."""
        self._permissions.end()
        if not talk.done():
            # It need not read: then nothing can be said to it any more.
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.grace_s):
                    await session.cancel()
                    await asyncio.wait([talk])
        listens = talk.done()
        if not listens:
            talk.cancel()
            await asyncio.wait([talk])
        # Taken note of, also where a limit has decided meanwhile.
        talk.cancelled() or talk.exception()
        return listens

    async def _leave(self, program: Program) -> End:
        """Let it end by itself, so that it can keep its session; then end it, and all that it has started."""
        program.close_input()
        waiting = asyncio.create_task(program.wait())
        await asyncio.wait([waiting], timeout=self._settings.grace_s)
        end = await program.end()
        await waiting
        return end

    async def _asked(self, method: str, params: Any, is_notification: bool) -> dict[str, Any] | None:
        """A request of the program: a permission; nothing else was offered to it."""
        if is_notification:
            return None
        if method == CLIENT_METHODS["session_request_permission"]:
            asked, ours = mapping(params), self._session.id if self._session is not None else ""
            if ours and asked.get("sessionId") != ours:
                self._refuse("it asked for another session than that of its run")
                raise RequestError.invalid_params({"details": "There is no such session here."})
            self._limits.hear()
            answer = await self._permissions.answer(asked)
            self._limits.hear()
            return dict(answer)
        raise RequestError.method_not_found(method)

    async def _take(self, update: Mapping[str, Any], large: bool) -> None:
        async with self._telling:
            take = self._updates.take
            for piece in await asyncio.to_thread(take, update) if large else take(update):
                await self.watch.take(piece)

    async def _settle(self) -> None:
        """What comes in parts is told also when the rest is long in coming."""
        while True:
            await asyncio.sleep(_SETTLES_S)
            async with self._telling:
                for piece in self._updates.settled():
                    await self.watch.take(piece)

    async def _known(self, facts: Mapping[str, Any]) -> Tool:
        async with self._telling:
            tool, pieces = await asyncio.to_thread(self._updates.asked, facts)
            for piece in pieces:
                await self.watch.take(piece)
        return tool

    def _hear_mode(self, mode: str) -> None:
        how = self._how
        if self._session is not None:
            self._session.heard = mode
        if self._is_supervised and how.asks and mode not in how.asks:
            why = f"its session mode became {mode!r}, in which the operator is not asked; it was ended"
            self._limits.stop(failed("unsupervised", why).outcome)

    def _lost(self, why: str) -> None:
        self._limits.stop(Outcome(RunStatus.FAILED, "fenced", why))

    def _refuse(self, why: str) -> None:
        self._tell(why)
        self._permissions.refuse(why)

    def _tell(self, text: str) -> None:
        self.watch.note(text)

    def _refused(self) -> str:
        """What the operator said to what they refused; empty if they refused nothing since this was asked last."""
        refusals = self._permissions.refusals()
        return words(self._assignment.company.locale, "operator_refused", text=refusals) if refusals else ""

    def _reminder(self, count: int) -> str:
        text = reminder(self._desk, self._owed, self._access, self._assignment.company.locale, count)
        refused = self._refused()
        return f"{refused}\n\n{text}" if refused else text
