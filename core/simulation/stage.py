"""Who acts when: of all runs at play one acts at a time, and a seeded source says which. So a seed tells all."""

import asyncio
import random
from collections.abc import Callable


class Stage:
    """Runs wait here before each of their acts. `clock` is virtual; runs that `sleep` wake when it says so.

    `asleep` maps a run to the time (ms) at which it wakes, or to None if only its end will wake it.
    """

    def __init__(self, seed: int, clock: Callable[[], int]) -> None:
        self._source = random.Random(f"stage:{seed}")
        self._clock = clock
        self._ready: dict[int, asyncio.Event] = {}
        self._asleep: dict[int, asyncio.Event] = {}
        self.asleep: dict[int, int | None] = {}
        self._moved = asyncio.Event()

    async def turn(self, run_id: int) -> None:
        """Wait for this run's turn to act."""
        await self._wait(self._ready, run_id)

    async def sleep(self, run_id: int, until: int | None) -> None:
        """Do nothing until the clock says `until`; for ever without one."""
        self.asleep[run_id] = until
        try:
            await self._wait(self._asleep, run_id)
        finally:
            self.asleep.pop(run_id, None)

    async def _wait(self, places: dict[int, asyncio.Event], run_id: int) -> None:
        places[run_id] = asyncio.Event()
        self._moved.set()
        try:
            await places[run_id].wait()
        finally:
            places.pop(run_id, None)

    def wake_due(self) -> bool:
        """Wake the runs whose time has come. True if there were any."""
        due = [run for run, until in self.asleep.items() if until is not None and until <= self._clock()]
        for run in due:
            self._asleep[run].set()
        return bool(due)

    async def play(self, at_work: Callable[[], dict[int, "asyncio.Task[None]"]]) -> None:
        """Let the runs act in turn until every one has ended or is asleep."""
        while True:
            # What the last act ended takes its leave before the next one is drawn.
            for _ in range(3):
                await asyncio.sleep(0)
            awake = {run: task for run, task in at_work().items() if run not in self.asleep}
            if not awake:
                return
            self._moved.clear()
            waiting = {run for run, event in self._ready.items() if not event.is_set()}
            if waiting >= awake.keys():
                self._ready[self._source.choice(sorted(waiting))].set()
            moved = asyncio.ensure_future(self._moved.wait())
            await asyncio.wait([moved, *awake.values()], return_when=asyncio.FIRST_COMPLETED)
            moved.cancel()
