"""The time that a run is at work: it stands still while the run waits for a person."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress


class RunClock:
    """Counts the seconds in which a run works; while it is stopped `limit` cannot expire, and gets the time back.

    `monotonic` is the loop's clock. Stops may overlap: it goes on when the last one ends.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.limit: asyncio.Timeout | None = None
        self._monotonic = monotonic
        self._began = monotonic()
        self._stopped = 0.0
        self._since = 0.0
        self._stops = 0
        self._left: float | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether the run waits for a person now."""
        return self._stops > 0

    def worked_s(self) -> float:
        """Seconds of work since the run began; what silence is measured by. Does not move while stopped."""
        now = self._since if self._stops else self._monotonic()
        return now - self._began - self._stopped

    @asynccontextmanager
    async def stopped(self) -> AsyncIterator[None]:
        """Stand still for as long as the context lasts."""
        self._stop()
        try:
            yield
        finally:
            self._go_on()

    def _stop(self) -> None:
        self._stops += 1
        if self._stops > 1:
            return
        self._since = self._monotonic()
        limit = self.limit
        when = limit.when() if limit is not None and not limit.expired() else None
        self._left = None if when is None else when - asyncio.get_running_loop().time()
        if limit is not None and self._left is not None:
            with suppress(RuntimeError):
                limit.reschedule(None)

    def _go_on(self) -> None:
        self._stops -= 1
        if self._stops:
            return
        self._stopped += self._monotonic() - self._since
        if self.limit is not None and self._left is not None:
            # A run that is over has no limit any more.
            with suppress(RuntimeError):
                self.limit.reschedule(asyncio.get_running_loop().time() + max(self._left, 0.0))
