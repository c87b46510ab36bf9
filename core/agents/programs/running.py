"""What every run of a program has, whatever it speaks: its process, the words on its end, and its reminders."""

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from core.agents.access import Access
from core.agents.owing import REMINDERS, Owed
from core.agents.programs.started import End, Program
from core.agents.runner import Desk, Told
from core.agents.words import words


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
