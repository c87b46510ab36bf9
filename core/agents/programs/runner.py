"""The runner of agents that are programs: starts one under its reaper, reads it, and says how its run ended."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from core.agents.access import Heard
from core.agents.giving_up import block_task
from core.agents.models.keys import Secret
from core.agents.owing import REMINDERS, owed_by
from core.agents.programs.catalogue import Start, Startable, program_of
from core.agents.programs.debt import Debt
from core.agents.programs.ending import Facts, no_board_call, outcome_of
from core.agents.programs.environment import environment_of
from core.agents.programs.errors_file import ErrorsFile
from core.agents.programs.pieces import Parser
from core.agents.programs.settings import CommandSettings, Place, place_of, settings_of
from core.agents.programs.started import End, Program, Skipped
from core.agents.programs.watching import Watch
from core.agents.runner import Assignment, Desk, Outcome, Told
from core.agents.words import words
from core.domain.errors import BoardError
from core.domain.states import RunStatus

KIND = "command"
_AT_ONCE = 256 * 1024  # bytes of a line that are parsed on the loop


class CommandRunner:
    """Each run is a process of its own, with a token of its own for the board (C-19). `ours` is our environment."""

    wants_access = True

    def __init__(self, ours: Mapping[str, str] = os.environ) -> None:
        self._ours = ours

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Run the program until its run has ended. Cancelling ends it and all that it started.

        Raises Invalid for settings that cannot be used, BoardError where the company is not served, and Fenced.
        """
        settings = settings_of(assignment.settings)
        if assignment.access is None:
            raise BoardError(
                "The program could not reach the board: nothing serves this company here.",
                "Open the company with `opsroom DIR` or `opsroom serve DIR`.",
            )
        program = await asyncio.to_thread(program_of, settings)
        first = program.start(settings, assignment.access, "")
        place = await place_of(settings, first.argv, assignment.folder, assignment.agent.slug, self._ours)
        for name in place.missing:
            desk.tell(Told.NOTICE, text=f"the variable {name} is not set: the program goes without it")
        work = _Work(assignment, desk, settings, program, place, self._ours)
        assignment.access.listeners.append(work.hear)
        try:
            outcome = await work.through()
        finally:
            assignment.access.listeners.remove(work.hear)
        tally = work.watch.tally
        return replace(
            outcome, tokens_in=tally.tokens_in, tokens_out=tally.tokens_out, cost_micros=tally.cost_micros,
            session=work.watch.session,
        )  # fmt: skip


class _Work:
    """One run: a process, and where its program can be gone on with, those after it."""

    def __init__(
        self, assignment: Assignment, desk: Desk, settings: CommandSettings, program: Startable, place: Place,
        ours: Mapping[str, str],
    ) -> None:  # fmt: skip
        assert assignment.access is not None
        self._assignment = assignment
        self._access = assignment.access
        self._desk = desk
        self._settings = settings
        self._place = place
        self._ours = ours
        self._program = program
        self._owed = owed_by(assignment.agent.role, assignment.run.kind)
        self._stopped: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._began = asyncio.get_running_loop().time()
        self._heard = self._began
        secrets = (*place.secrets, Secret(self._access.token))
        self._secrets = secrets
        self.watch = Watch(desk, settings, secrets, self._stop)
        self.debt = Debt(desk, self._owed, secrets, self._circling)

    def hear(self, heard: Heard) -> None:
        """A call of the program on the board."""
        self._heard = asyncio.get_running_loop().time()
        self.debt.hear(heard)

    async def through(self) -> Outcome:
        """Run, and remind of what is owed where the program can be gone on with. Raises Fenced."""
        prompt = f"{self._assignment.prompt.text}\n\n{self._access.told(self._assignment.company.locale)}\n"
        for reminders in range(REMINDERS + 1):
            outcome = await self._once(prompt)
            if outcome is not None:
                if outcome.exit_kind == "stuck":
                    await block_task(self._assignment, self._desk, outcome.detail)
                return outcome
            if not (self._program.resumes and self.watch.session):
                return no_board_call(self.watch.last_words, reminders)
            prompt = self._reminder(reminders + 1)
        return no_board_call(self.watch.last_words, REMINDERS)

    async def _once(self, prompt: str) -> Outcome | None:
        self.watch.begin()
        start = self._program.start(self._settings, self._access, self.watch.session)
        parser = self._program.parser(self._settings)
        errors = ErrorsFile(self._assignment.folder / "runs" / f"{self._assignment.run.id}.stderr", self._secrets)
        async with self._running(start) as program:
            reading = asyncio.create_task(self._read(program, parser))
            draining = asyncio.create_task(errors.drain(program.errors()))
            try:
                program.feed(prompt.encode(errors="replace"))
                await self._until_over(reading)
            finally:
                end = await program.end()
                # Its pipes are closed now; what it said before is still taken in.
                await asyncio.wait([reading, draining])
            await asyncio.gather(reading, draining)
        return self._outcome(end, parser, errors.shown)

    def _outcome(self, end: End, parser: Parser, errors: str) -> Outcome | None:
        watch = self.watch
        if errors:
            self._desk.tell(Told.NOTICE, text=f"standard error ended with: {errors}")
        if not end.whole:
            self._desk.tell(Told.NOTICE, text="children in sessions of their own could not be seen here, nor ended")
        if end.left:
            self._desk.tell(Told.NOTICE, text=f"{end.left} of its processes could not be ended")
        return outcome_of(
            Facts(
                self._owed, self.debt.met, watch.said_nothing_on_purpose, end,
                self._stopped.result() if self._stopped.done() else None,
                watch.finished, parser.needs_result, watch.last_words, errors,
            )
        )  # fmt: skip

    @contextlib.asynccontextmanager
    async def _running(self, start: Start) -> AsyncIterator[Program]:
        named = self._place.named
        environment = environment_of(self._ours, (*named, *start.names), start.environment)
        argv = (self._place.argv[0], *start.argv[1:])
        program = await Program.start(
            argv, cwd=self._place.cwd, environment=environment, grace_s=self._settings.grace_s
        )  # fmt: skip
        try:
            await self._desk.note_process(program.pid, program.started)
            yield program
        finally:
            await program.end()
            program.close()

    async def _read(self, program: Program, parser: Parser) -> None:
        loop = asyncio.get_running_loop()
        async for line in program.lines():
            self._heard = loop.time()
            if isinstance(line, Skipped):
                self.watch.skipped(line.length)
                continue
            text = line.decode(errors="replace")
            pieces = parser.take(text) if len(line) < _AT_ONCE else await asyncio.to_thread(parser.take, text)
            for piece in pieces:
                await self.watch.take(piece)
        await program.wait()

    async def _until_over(self, reading: "asyncio.Task[None]") -> None:
        """Until the program has ended, or a limit is reached."""
        loop = asyncio.get_running_loop()
        while not (reading.done() or self._stopped.done()):
            left, outcome = self._left(loop.time())
            if left <= 0:
                self._stop(outcome)
                return
            either: tuple[asyncio.Future[Any], ...] = (reading, self._stopped)
            await asyncio.wait(either, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    def _left(self, now: float) -> tuple[float, Outcome]:
        """Seconds until the nearer of the two limits of time, and how the run ends there."""
        settings = self._settings
        silence = self._heard + settings.silence_s - now
        wall = silence if settings.wall_s is None else self._began + settings.wall_s - now
        if settings.wall_s is not None and wall <= silence:
            return wall, Outcome(RunStatus.TIMED_OUT, "wall_time", f"it took longer than {settings.wall_s:g} s")
        return silence, Outcome(RunStatus.TIMED_OUT, "silence", f"it was silent for {settings.silence_s:g} s")

    def _stop(self, outcome: Outcome) -> None:
        if not self._stopped.done():
            self._stopped.set_result(outcome)

    def _circling(self, why: str) -> None:
        self._stop(Outcome(RunStatus.FAILED, "stuck", why))

    def _reminder(self, count: int) -> str:
        name = "owes_or_silent" if self._owed.silence else "owes"
        text = words(self._assignment.company.locale, name, commands=", ".join(sorted(self._owed.commands)))
        self._desk.tell(Told.NOTICE, text=f"reminded ({count} of {REMINDERS}): {text}")
        return f"{text}\n\n{self._access.told(self._assignment.company.locale)}\n"
