"""The time that a run is at work: it stands still while the run waits for a person."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

# What one sign of life while it waits counts for at most: one that comes now and then is no work of an hour.
_LIVELY_S = 5.0
_LOOK_S = 0.05  # at least, between two looks at a clock that may stand still
Answer = TypeVar("Answer")


async def within(seconds: float, worked_s: Callable[[], float], work: Coroutine[Any, Any, Answer]) -> Answer:
    """What `work` answers. Raises TimeoutError when it took so many seconds by `worked_s`, as `RunClock` tells them:
    the time for which a person is waited for is none of them.
    """
    until = worked_s() + seconds
    job = asyncio.ensure_future(work)
    try:
        while not job.done() and (left := until - worked_s()) > 0:
            await asyncio.wait((job,), timeout=max(left, _LOOK_S))
        if not job.done():
            raise TimeoutError
        return job.result()
    finally:
        if not job.done():
            job.cancel()
            await asyncio.wait((job,))


class RunClock:
    """Counts the seconds in which a run works; while it is stopped `limit` cannot expire, and gets the time back.

    `monotonic` is the loop's clock. Stops may overlap: it goes on when the last one ends. Who waits is silent: what is
    heard of a run while it is stopped counts as work, up to 5 s before each sign.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.limit: asyncio.Timeout | None = None
        self._monotonic = monotonic
        self._worked = 0.0  # until it went on, or stopped, last
        self._since = monotonic()  # it went on or stopped, or was heard while stopped
        self._stops = 0
        self._left: float | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether the run waits for a person now."""
        return self._stops > 0

    def worked_s(self) -> float:
        """Seconds of work since the run began; what silence is measured by. While stopped only `heard` moves it."""
        return self._worked if self._stops else self._worked + self._monotonic() - self._since

    def heard(self) -> None:
        """A sign of life: a run that works on although it waits for a person reaches its limits all the same."""
        if not self._stops:
            return
        now = self._monotonic()
        counted = min(now - self._since, _LIVELY_S)
        self._worked += counted
        self._since = now
        if self._left is not None:
            self._left -= counted
            if self._left <= 0 and self.limit is not None:
                with suppress(RuntimeError):
                    self.limit.reschedule(asyncio.get_running_loop().time())

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
        now = self._monotonic()
        self._worked += now - self._since
        self._since = now
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
        self._since = self._monotonic()
        if self.limit is not None and self._left is not None:
            # A run that is over has no limit any more.
            with suppress(RuntimeError):
                self.limit.reschedule(asyncio.get_running_loop().time() + max(self._left, 0.0))
