"""Following a board: every event once and in order, from the writer in this process or from the file.

The same follower goes on when this process takes the board over.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from core.blackboard.readers import Readers
from core.blackboard.writer import Listener, Writer
from core.domain.entities import Event
from core.domain.errors import BoardError

POLL_S = 0.25
_PAGE = 1_000
_LOG = logging.getLogger(__name__)


class Follower:
    """Hands events to one callback on the loop; `last` is the id of the last one that it delivered.

    `after` is the id behind which it begins; None means from now on.
    """

    def __init__(
        self, readers: Readers, writer: Callable[[], Writer | None], callback: Listener, after: int | None
    ) -> None:
        self.last = after or 0
        self._readers = readers
        self._writer = writer
        self._callback = callback
        self._from_now = after is None
        # Heard from the writer while older events are still being read; None once there are none.
        self._waiting: list[Event] | None = []
        self._unsubscribe: Callable[[], None] | None = None
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._complained = False

    def start(self) -> None:
        """Begin; needs a running loop."""
        self._listen()
        if self._from_now and self._unsubscribe is not None:
            self._waiting = None
            return
        self._task = asyncio.get_running_loop().create_task(self._run(), name="board-follower")

    def wake(self) -> None:
        """Look at once: the board has a writer in this process now."""
        self._woken.set()

    def stop(self) -> None:
        """Deliver nothing more."""
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._task is not None:
            self._task.cancel()

    async def stop_reading(self) -> None:
        """Let go of the readers; what the writer in this process commits is still delivered, if nothing is missing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _listen(self) -> None:
        writer = self._writer()
        if writer is not None and self._unsubscribe is None:
            self._unsubscribe = writer.listen(self._hear)

    def _hear(self, events: Sequence[Event]) -> None:
        if self._waiting is None:
            self._deliver(events)
        else:
            self._waiting.extend(events)

    def _deliver(self, events: Sequence[Event]) -> None:
        if events and events[0].id <= self.last:
            events = [event for event in events if event.id > self.last]
        if not events:
            return
        self.last = events[-1].id
        try:
            self._callback(events)
        except Exception:
            _LOG.exception("a follower of the board failed")

    async def _run(self) -> None:
        seen = -1
        while True:
            self._listen()
            try:
                if self._from_now:
                    self.last, self._from_now = await self._readers.last_event(), False
                version = await self._readers.data_version()
                if version != seen or self._unsubscribe is not None:
                    await self._catch_up()
                    seen = version
                self._complained = False
            except BoardError as error:
                if not self._complained:
                    _LOG.warning("cannot read the board now: %s", error)
                self._complained = True
            else:
                if self._unsubscribe is not None:
                    # No await since the last, empty page: nothing can fall between reading and hearing.
                    waiting, self._waiting = self._waiting, None
                    self._deliver(waiting or ())
                    return
            # Not wait_for: before Python 3.12 it can swallow the cancellation that ends this loop.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._woken.wait()
            self._woken.clear()

    async def _catch_up(self) -> None:
        while events := await self._readers.events_after(self.last, _PAGE):
            self._deliver(events)
