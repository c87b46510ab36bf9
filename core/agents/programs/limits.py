"""The limits of time of one run of a program, and whatever else stops it."""

import asyncio
import math
from collections.abc import Callable
from typing import Any

from core.agents.runner import Outcome
from core.domain.states import RunStatus


class Limits:
    """`wall_s` (None: the company's alone) and `silence_s` in seconds of work, as `worked_s` tells them.

    While the run waits for a person that stands still, and no limit is reached. `stir` is told of each sign of life:
    what works on meanwhile is no run that waits.
    """

    def __init__(
        self, worked_s: Callable[[], float], wall_s: float | None, silence_s: float,
        stir: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._worked_s = worked_s
        self._stir = stir
        self._wall_s = wall_s
        self._silence_s = silence_s
        self._began = self._heard = worked_s()
        self._stopped: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    @property
    def stopped(self) -> Outcome | None:
        """By what limit it was stopped, if it was."""
        return self._stopped.result() if self._stopped.done() else None

    def hear(self) -> None:
        """A sign of life."""
        self._stir()
        self._heard = self._worked_s()

    def stop(self, outcome: Outcome) -> None:
        """The first word counts."""
        if not self._stopped.done():
            self._stopped.set_result(outcome)

    def circling(self, why: str) -> None:
        """It goes round in circles."""
        self.stop(Outcome(RunStatus.FAILED, "stuck", why))

    def held(self, kind: str, why: str) -> None:
        """The gateway lets it ask no model any more (`Metered.stopping`)."""
        self.stop(Outcome(RunStatus.FAILED, kind, why))

    async def until(self, work: "asyncio.Future[Any]") -> None:
        """Until this is done, or a limit is reached."""
        while not (work.done() or self._stopped.done()):
            left, outcome = self._left()
            if left <= 0:
                self.stop(outcome)
                return
            await asyncio.wait((work, self._stopped), timeout=left, return_when=asyncio.FIRST_COMPLETED)

    def _left(self) -> tuple[float, Outcome]:
        """Seconds until the nearer of the two limits, and how the run ends there."""
        now = self._worked_s()
        silence = self._heard + self._silence_s - now
        wall = math.inf if self._wall_s is None else self._began + self._wall_s - now
        if wall <= silence:
            took = f'it took longer than {self._wall_s:g} s; "wall_s" of its runner allows more'
            return wall, Outcome(RunStatus.TIMED_OUT, "wall_time", took)
        still = f'it was silent for {self._silence_s:g} s; "silence_s" of its runner allows more'
        return silence, Outcome(RunStatus.TIMED_OUT, "silence", still)
