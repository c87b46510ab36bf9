"""What happens, on standard error: a bar where it is a terminal, now and then a line elsewhere."""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.blackboard.queries import LIVE_RUNS
from core.company import OpenCompany
from core.domain.entities import Event, Round, Run, Task
from core.domain.states import TASK_FINAL
from tui.cli.output import note
from tui.text import fit, one_line

_REFRESH_S = 0.5
_QUIET_S = 10.0
_TAIL = 4096
_TOLD = {
    "GoalCreated": "is drafted", "GoalDispatched": "is dispatched", "GoalReported": "has its report",
    "GoalAccepted": "is accepted", "GoalFailed": "has failed", "GoalCancelled": "is cancelled",
    "GoalSentBack": "is sent back",
}  # fmt: skip
_DISCUSSED = {
    "converged": "has converged", "not_converged": "did not converge: the coordinator rules", "ended": "is ended",
}  # fmt: skip


class Progress:
    """Follows a company's events, and the last words of its live runs."""

    def __init__(self, company: OpenCompany) -> None:
        self._company = company
        self._status: dict[int, str] = {}
        self._round_of: dict[int, int | None] = {}
        self._numbers: dict[int, int] = {}
        self._turn_of: dict[int, int] = {}
        self._told = ("", time.monotonic())
        self._on_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._bar: Any = None
        self._jobs = contextlib.AsyncExitStack()

    async def __aenter__(self) -> "Progress":
        readers = self._company.board.readers
        for task in await readers.entities(Task, "true"):
            self._status[task.id], self._round_of[task.id] = task.status, task.round_id
        self._numbers = {round_.id: round_.number for round_ in await readers.entities(Round, "true")}
        if self._on_terminal:
            self._jobs.enter_context(self._make_bar())
        self._jobs.callback(self._company.board.follow(self._hear))
        watching = asyncio.create_task(self._watch(), name="progress")
        self._jobs.callback(watching.cancel)
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self._jobs.aclose()

    def _make_bar(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        # Rich would take brackets in a file's name for markup.
        words = TextColumn("{task.description}", markup=False)
        self._bar = Bar(words, BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
                        console=Console(stderr=True), transient=True, refresh_per_second=5)  # fmt: skip
        self._line = self._bar.add_task("the company begins", total=None)
        return self._bar

    def note(self, text: str) -> None:
        """A line that stays."""
        if self._bar is not None:
            from rich.text import Text

            self._bar.console.print(Text(one_line(text)))
        else:
            note(text)

    def _hear(self, events: Sequence[Event]) -> None:
        for event in events:
            changed = event.changed
            if event.entity == "tasks":
                self._status[event.entity_id] = changed.get("status", self._status.get(event.entity_id, ""))
                self._round_of[event.entity_id] = changed.get("round_id", self._round_of.get(event.entity_id))
            elif event.entity == "turns":
                self._tell_turn(event)
            elif event.kind == "RoundOpened":
                self._numbers[event.entity_id] = changed["number"]
                self.note(f"round {changed['number']} of G{changed['goal_id']} begins")
            elif event.kind in _TOLD:
                self.note(" ".join(filter(None, (f"G{event.entity_id}", changed.get("title"), _TOLD[event.kind]))))

    def _tell_turn(self, event: Event) -> None:
        """A turn of a discussion begins, or the discussion comes to its end."""
        if event.kind == "TurnOpened":
            self._turn_of[event.entity_id] = event.changed["goal_id"]
            self.note(f"turn {event.changed['number']} of the discussion of G{event.changed['goal_id']} begins")
        elif words := _DISCUSSED.get(event.changed.get("outcome", "")):
            goal = self._turn_of.get(event.entity_id)
            self.note(f"the discussion{f' of G{goal}' if goal else ''} {words}")

    def counts(self) -> tuple[int, int, int]:
        """The newest round's number, its ended tasks, and all of them."""
        newest = max(self._numbers, default=0)
        of_round = [self._status[task] for task, round_id in self._round_of.items() if round_id == newest]
        return self._numbers.get(newest, 0), sum(status in TASK_FINAL for status in of_round), len(of_round)

    async def _watch(self) -> None:
        while True:
            with contextlib.suppress(Exception):  # news are no reason to end the work
                self._show(await self._last_words())
            await asyncio.sleep(_REFRESH_S)

    def _show(self, words: str) -> None:
        number, ended, total = self.counts()
        head = f"round {number}" if number else "before the first round"
        if self._bar is not None:
            text = fit(one_line(f"{head}  {words}"), max(self._bar.console.width - 46, 12), pad=True)
            self._bar.update(self._line, description=text, completed=ended, total=total or None)
            return
        state = f"{head}: {ended} of {total} tasks ended" if total else ""
        before, at = self._told
        if state and state != before:
            note(state)
        elif words and time.monotonic() - at > _QUIET_S:
            note(f"{state or head}; {words}")
        else:
            return
        self._told = (state, time.monotonic())

    async def _last_words(self) -> str:
        """What the oldest live run that works on a task said last, from its transcript."""
        runs = await self._company.board.readers.entities(
            Run, f"{LIVE_RUNS} AND kind <> 'broadcast' ORDER BY id LIMIT 5"
        )
        for run in runs:
            words = await asyncio.to_thread(_tail, self._company.transcript(run.id))
            if words:
                about = f"T{run.task_id} " if run.task_id else ""
                return f"{about}{run.kind}: {words}"
        return ""


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            lines = file.read().splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        with contextlib.suppress(ValueError, TypeError):
            told = json.loads(line)
            if told.get("kind") == "text":
                return str(told["text"])
    return ""
