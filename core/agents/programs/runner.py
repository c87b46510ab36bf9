"""The runner of agents that are programs: starts one under its reaper, reads it, and says how its run ended."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from core.agents.access import Heard
from core.agents.giving_up import block_task
from core.agents.models.keys import Secret
from core.agents.owing import REMINDERS, owed_by
from core.agents.programs.catalogue import Start, Startable, program_of
from core.agents.programs.debt import Debt
from core.agents.programs.ending import Facts, no_board_call, outcome_of
from core.agents.programs.environment import environment_of
from core.agents.programs.errors_file import ErrorsFile
from core.agents.programs.limits import Limits
from core.agents.programs.pieces import Parser
from core.agents.programs.running import access_of, heard, placed, reminder, running, tell_end
from core.agents.programs.settings import CommandSettings, Place, made, settings_of
from core.agents.programs.started import End, Program, Skipped
from core.agents.programs.watching import Watch
from core.agents.runner import Assignment, Desk, Outcome
from core.agents.workplaces import commit_folders

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
        access = access_of(assignment)
        program = await asyncio.to_thread(program_of, settings)
        first = program.start(settings, access, "")
        place = await placed(assignment, desk, settings, first.argv, self._ours)
        if first.homes:
            await asyncio.to_thread(made, home_of(assignment))
        commits = await commit_folders(desk.readers, assignment.folder, assignment.workplace)
        work = _Work(assignment, desk, settings, program, place, self._ours, commits)
        with heard(access, place, work.hear):
            return work.watch.counted(await work.through())


def home_of(assignment: Assignment) -> Path:
    """The folder where a program keeps its settings and sessions, if its agent has one of its own."""
    return assignment.folder.absolute() / "homes" / assignment.agent.slug


class _Work:
    """One run: a process, and where its program can be gone on with, those after it."""

    def __init__(
        self, assignment: Assignment, desk: Desk, settings: CommandSettings, program: Startable, place: Place,
        ours: Mapping[str, str], commits: tuple[Path, ...],
    ) -> None:  # fmt: skip
        assert assignment.access is not None
        self._assignment = assignment
        self._access = assignment.access
        self._desk = desk
        self._settings = settings
        self._place = place
        self._ours = ours
        self._commits = commits
        self._program = program
        self._owed = owed_by(assignment.agent.role, assignment.run.kind)
        self._limits = Limits(desk.worked_s, settings.wall_s, settings.silence_s)
        secrets = (*place.secrets, Secret(self._access.token))
        self._secrets = secrets
        metered = self._access.metered
        self.watch = Watch(desk, settings, secrets, self._limits.stop, lambda: metered.counts)
        metered.stir = self._limits.hear
        metered.stopping.append(self._limits.held)
        if program.resumes and assignment.session:
            self.watch.go_on(assignment.session, assignment.run.brief.get("session_used", ()))
        self.debt = Debt(desk, self._owed, secrets, self._limits.circling)

    def hear(self, heard: Heard) -> None:
        """A call of the program on the board."""
        self._limits.hear()
        self.debt.hear(heard)

    async def through(self) -> Outcome:
        """Run, and remind of what is owed where the program can be gone on with. Raises Fenced."""
        prompt = f"{self._assignment.prompt.text}\n\n{self._access.told(self._assignment.company.locale)}\n"
        reminders = 0
        while True:
            outcome = await self._once(prompt)
            if outcome is not None:
                if outcome.exit_kind == "stuck":
                    await block_task(self._assignment, self._desk, outcome.detail)
                return outcome
            if reminders == REMINDERS or not (self._program.resumes and self.watch.session):
                return no_board_call(self.watch.last_words, reminders)
            reminders += 1
            prompt = reminder(self._desk, self._owed, self._access, self._assignment.company.locale, reminders)

    async def _once(self, prompt: str) -> Outcome | None:
        self.watch.begin()
        start = self._program.start(self._settings, self._access, self.watch.session, self._commits)
        parser = self._program.parser(self._settings)
        errors = ErrorsFile(self._assignment.folder / "runs" / f"{self._assignment.run.id}.stderr", self._secrets)
        async with self._running(start) as program:
            reading = asyncio.create_task(self._read(program, parser))
            draining = asyncio.create_task(errors.drain(program.errors()))
            try:
                program.feed(prompt.encode(errors="replace"))
                await self._limits.until(reading)
            finally:
                end = await program.end()
                # Its pipes are closed now; what it said before is still taken in.
                await asyncio.wait([reading, draining])
            await asyncio.gather(reading, draining)
        return self._outcome(end, parser, errors.shown)

    def _outcome(self, end: End, parser: Parser, errors: str) -> Outcome | None:
        watch = self.watch
        tell_end(self._desk, end, errors)
        return outcome_of(
            Facts(
                self._owed, self.debt.met, watch.said_nothing_on_purpose, end,
                self._limits.stopped,
                watch.finished, parser.needs_result, watch.last_words, errors,
            )
        )  # fmt: skip

    def _running(self, start: Start) -> AbstractAsyncContextManager[Program]:
        homes = dict.fromkeys(start.homes, str(home_of(self._assignment)))
        environment = environment_of(self._ours, (*self._place.named, *start.names), {**start.environment, **homes})
        argv = (self._place.argv[0], *start.argv[1:])
        return running(self._desk, argv, self._place.cwd, environment, self._settings.grace_s)

    async def _read(self, program: Program, parser: Parser) -> None:
        async for line in program.lines():
            self._limits.hear()
            if isinstance(line, Skipped):
                self.watch.skipped(line.length)
                continue
            text = line.decode(errors="replace")
            pieces = parser.take(text) if len(line) < _AT_ONCE else await asyncio.to_thread(parser.take, text)
            for piece in pieces:
                await self.watch.take(piece)
        await program.wait()
