"""What every run of a program has, whatever it speaks: its process, the words on its end, and its reminders."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path

from core.agents.access import Access, Heard
from core.agents.owing import REMINDERS, Owed
from core.agents.programs.settings import Place, ProgramSettings, place_of
from core.agents.programs.started import End, Program
from core.agents.runner import Assignment, Desk, Told
from core.agents.words import words
from core.domain.errors import BoardError


def access_of(assignment: Assignment) -> Access:
    """Its way to the board. Raises BoardError where the company is not served."""
    if assignment.access is None:
        raise BoardError(
            "The program could not reach the board: nothing serves this company here.",
            "Open the company with `opsroom DIR` or `opsroom serve DIR`.",
        )
    return assignment.access


async def placed(
    assignment: Assignment, desk: Desk, settings: ProgramSettings, argv: tuple[str, ...], ours: Mapping[str, str]
) -> Place:  # fmt: skip
    """Where this command is run; what it is to have of our environment and is not set is told. Raises Invalid."""
    place = await place_of(settings, argv, assignment.folder, assignment.agent.slug, ours, assignment.workplace)
    for name in place.missing:
        desk.tell(Told.NOTICE, text=f"the variable {name} is not set: the program goes without it")
    return place


@contextlib.contextmanager
def heard(access: Access, place: Place, hear: Callable[[Heard], None]) -> Iterator[None]:
    """While the context lasts its calls are heard; what it was given by name is secret from then on."""
    access.secrets.extend(place.secrets)
    access.listeners.append(hear)
    try:
        yield
    finally:
        access.listeners.remove(hear)


@contextlib.asynccontextmanager
async def running(
    desk: Desk, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], grace_s: float
) -> AsyncIterator[Program]:
    """A process under its reaper, whose fingerprint the board keeps; with the context nothing of it is left (F17)."""
    program = await Program.start(argv, cwd=cwd, environment=environment, grace_s=grace_s)
    try:
        await desk.note_process(program.pid, program.started)
        yield program
    finally:
        await program.end()
        program.close()


def tell_end(desk: Desk, end: End, errors: str) -> None:
    """What a person should know of how it ended; `errors` is the end of its standard error."""
    if errors:
        desk.tell(Told.NOTICE, text=f"standard error ended with: {errors}")
    if not end.whole and not end.error:
        desk.tell(Told.NOTICE, text="children in sessions of their own could not be seen here, nor ended")
    if end.left:
        desk.tell(Told.NOTICE, text=f"{end.left} of its processes could not be ended")


def reminder(desk: Desk, owed: Owed, access: Access, locale: str, count: int) -> str:
    """What the program is told that ended in words alone, for the `count`th time; the transcript says so."""
    text = words(locale, "owes_or_silent" if owed.silence else "owes", commands=", ".join(sorted(owed.commands)))
    desk.tell(Told.NOTICE, text=f"reminded ({count} of {REMINDERS}): {text}")
    return f"{text}\n\n{access.told(locale)}\n"
