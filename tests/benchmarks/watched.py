"""Programs on a terminal of their own that tell when what they show has been painted.

`python -m tests.benchmarks.watched bare PIPE` and `… room PIPE COMPANY`; PIPE is an inherited socket. Each paint that
shows another value is told as a line `paint NANOSECONDS VALUE`. The room also takes orders, a line each:
`load N` makes N changes a second from then on, `touch TITLE` changes a task that is in sight and answers
`done NANOSECONDS`, `memory` answers the size of the process in KiB, `made` how many changes there were so far.
"""

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import Static

from core.commands.registry import parse
from core.company import OpenCompany
from core.domain.actors import Operator
from tui.app import OpsroomApp
from tui.cli.entry import tune

BEATS_A_SECOND = 50


class Told:
    """The way to whoever measures."""

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)

    def say(self, *words: object) -> None:
        """One line."""
        self.socket.sendall((" ".join(map(str, words)) + "\n").encode())


def watch(app: App[Any], told: Told, value: Callable[[], object]) -> None:
    """Tell each paint after which another value is on the screen."""
    display, last = app._display, [value()]

    def displayed(screen: Any, renderable: Any) -> None:
        display(screen, renderable)
        if (now := value()) != last[0]:
            last[0] = now
            told.say("paint", time.monotonic_ns(), now)

    app._display = displayed  # type: ignore[method-assign]


def size_kib() -> int:
    """Memory of this process that is not swapped out, KiB."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class Bare(App[None]):
    """The least that answers a key by another picture."""

    def __init__(self, told: Told) -> None:
        super().__init__()
        self.count = 0
        self.text = Static("0")
        self._told = told

    def compose(self) -> ComposeResult:
        """One line."""
        yield self.text

    def on_mount(self) -> None:
        """Ready for keys."""
        watch(self, self._told, lambda: self.count)
        self.call_after_refresh(self._told.say, "ready", time.monotonic_ns(), size_kib())

    def on_key(self) -> None:
        """Count it."""
        self.count += 1
        self.text.update(str(self.count))


class Orders:
    """What the room is told to do meanwhile."""

    def __init__(self, company: OpenCompany, told: Told, tasks: int) -> None:
        self._company, self._told, self._tasks = company, told, tasks
        self._made = 0
        self._jobs: set[asyncio.Task[None]] = set()

    async def follow(self) -> None:
        """Until there is nobody who measures any more."""
        reader, _ = await asyncio.open_unix_connection(sock=self._told.socket)
        while line := (await reader.readline()).decode().split():
            match line:
                case ["load", rate]:
                    self._begin(self._load(int(rate)))
                case ["touch", title]:
                    self._begin(self._touch(title))
                case ["memory"]:
                    self._told.say("memory", size_kib())
                case ["made"]:
                    self._told.say("made", self._made)

    def _begin(self, job: Any) -> None:
        task = asyncio.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)

    async def _touch(self, title: str) -> None:
        await self._edit(1, title)
        self._told.say("done", time.monotonic_ns())

    async def _edit(self, task: int, title: str) -> None:
        await self._company.execute(parse("EditTask", {"task": task, "title": title}), actor=Operator())
        self._made += 1

    async def _load(self, rate: int) -> None:
        number, due = 0, time.monotonic()
        while True:
            due = max(due + 1 / BEATS_A_SECOND, time.monotonic())  # what was missed is not caught up with
            some = range(number, number + rate // BEATS_A_SECOND)
            number = some.stop
            await asyncio.gather(*(self._edit(2 + each % (self._tasks - 1), f"Changed {each}") for each in some))
            await asyncio.sleep(max(0.0, due - time.monotonic()))


class Room(OpsroomApp):
    """The control room, telling what its board's list shows."""

    def __init__(self, company: OpenCompany, told: Told) -> None:
        super().__init__(company)
        self._told = told

    def shown(self) -> str:
        """The row of the cursor, and the title of the first task."""
        rows = self.room.board.list
        title = next((cells for row in rows.rows[:8] if row.id == "task:1" for cells in [row.cells[1]]), "")
        return f"{rows.cursor_id} {title}".replace(" ", "_")

    async def until_ready(self) -> None:
        """Tell when the board is read and shown, with the first goal in sight."""
        while not self.room.view.loaded or not self.room.board.list.rows:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        self.room.board.list.focus()
        self.room.board.list.move_to("goal:1")
        watch(self, self._told, self.shown)
        self.call_after_refresh(self._told.say, "ready", time.monotonic_ns(), size_kib())


async def room(told: Told, folder: Path) -> None:
    """The room until its terminal is gone."""
    company = await OpenCompany.open(folder, role="owner")
    tasks = int(await company.board.readers.value("SELECT count(*) FROM tasks"))
    app = Room(company, told)
    orders = asyncio.create_task(Orders(company, told, tasks).follow())
    ready = asyncio.create_task(app.until_ready())
    await app.run_async()
    for job in (orders, ready):
        job.cancel()


def main(kind: str, descriptor: str, *more: str) -> None:
    """Start one of them on this terminal."""
    told = Told(int(descriptor))
    tune()
    if kind == "bare":
        asyncio.run(Bare(told).run_async())
    else:
        asyncio.run(room(told, Path(more[0])))
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
