"""Who is told what happens in a company: the room while it is open, and a webhook while this process owns the board.

Each thing once to each, over restarts too: how far somebody was told is remembered beside mode and layout. It works
on the projection, so that it goes on where a company goes on without its room.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence

from core.company import OpenCompany
from core.domain.entities import Event, Goal, Run
from tui.notifying import ENDING_KINDS, Mark, Subscriber, Telling, in_hours, minutes_of, tells
from tui.notifying_webhook import Webhook
from tui.personal import Personal
from tui.projection import Projection
from tui.remembered import Told

ROOM, WEBHOOK = "room", "webhook"
SAVE_MS = 5_000  # what was told is written at once, what else was seen not more often than this
_SINCE = f"id > :after AND kind IN ({', '.join(repr(kind) for kind in ENDING_KINDS)}) ORDER BY id LIMIT 2000"
_RECENT = 2_000


class Notifying:
    """Fed with events; `look` tells. `clock` gives ms UTC; `show` tells in the room, `problem` what went wrong."""

    def __init__(
        self,
        company: OpenCompany,
        view: Projection,
        personal: Personal,
        clock: Callable[[], int],
        show: Callable[[Telling], None],
        problem: Callable[[str], None],
    ) -> None:
        self._company = company
        self._view = view
        self._memory = personal.memory
        self._clock = clock
        self._show = show
        self._hours = [minutes_of(span) for span in personal.settings.notify.quiet_hours]
        url = personal.settings.notify.webhook
        name = view.company.name if view.company is not None else company.config.name
        self._webhook = Webhook(url, name, problem) if url else None
        self._by: dict[str, Subscriber] = {}
        self._recent: deque[Event] = deque(maxlen=_RECENT)
        self._saved: dict[str, tuple[Mark, int]] = {}
        self._joining: asyncio.Task[None] | None = None

    # ------------------------------------------------------------- who is told

    async def begin(self) -> Told | None:
        """The room is told from now on, and of what happened since it was left: returns how that was."""
        told = await self._join(ROOM)
        self._look_for_webhook()
        return told

    def _look_for_webhook(self) -> None:
        if self._webhook is None or not self._company.is_owner or WEBHOOK in self._by:
            return
        if self._joining is None or self._joining.done():
            self._joining = asyncio.get_running_loop().create_task(self._join_webhook(), name="webhook begins")

    async def _join_webhook(self) -> None:
        await self._join(WEBHOOK)

    async def _join(self, name: str) -> Told | None:
        told = await self._memory.told(self._key(name))
        if told is not None and told.event > self._view.last_event:
            told = None  # another board lies in that folder now
        after = told.event if told is not None else self._view.last_event
        subscriber = Subscriber(
            Mark(told.event, frozenset(told.items)) if told is not None else None, skips_yours=name == ROOM
        )
        subscriber.hear(await self._company.board.readers.events(_SINCE, after=after))
        subscriber.hear(self._recent)
        self._by[name] = subscriber
        return told

    def left(self, how: str) -> None:
        """The room is gone: it is told no more. `how` is told at the next start; empty where a person left it."""
        subscriber = self._by.pop(ROOM, None)
        if subscriber is not None:
            self._save(ROOM, subscriber, left_at=self._clock() if how else 0, left=how)

    async def close(self) -> None:
        """Keep how far everybody was told; what is on its way may still go."""
        self.left("")
        webhook = self._by.pop(WEBHOOK, None)
        if webhook is not None:
            self._save(WEBHOOK, webhook)
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.wait({self._joining})
        if self._webhook is not None:
            await self._webhook.close()

    async def settle(self) -> None:
        """Wait until what is remembered is written."""
        await self._memory.settle()

    # ------------------------------------------------------------- telling

    def hear(self, events: Sequence[Event]) -> None:
        """Take in what happened."""
        self._recent.extend(event for event in events if tells(event))
        for subscriber in self._by.values():
            subscriber.hear(events)

    def look(self) -> None:
        """Tell what is new, and what is due."""
        self._look_for_webhook()
        now, quiet = self._clock(), self.is_quiet
        tables = self._view.tables
        for name, subscriber in self._by.items():
            tellings = subscriber.look(self._view.inbox(), tables[Goal], tables[Run], now,
                                       quiet=quiet)  # fmt: skip
            for telling in tellings:
                if name == ROOM:
                    self._show(telling)
                elif self._webhook is not None:
                    self._webhook.tell(telling, now)
            mark, at = self._saved.get(name, (Mark(), 0))
            if tellings or (now - at >= SAVE_MS and subscriber.mark != mark):
                self._save(name, subscriber)

    def _save(self, name: str, subscriber: Subscriber, *, left_at: int = 0, left: str = "") -> None:
        mark = self._saved[name] = subscriber.mark, self._clock()
        told = Told(event=mark[0].event, items=tuple(sorted(mark[0].items)), left_at=left_at, left=left)
        self._memory.keep(told={self._key(name): told})

    def _key(self, name: str) -> str:
        return f"{name} {self._company.folder}"

    # ------------------------------------------------------------- not to be disturbed

    @property
    def is_quiet(self) -> bool:
        """Whether nobody is to be disturbed now: by wish, or by the hours."""
        return self._memory.now.quiet or self.in_quiet_hours

    @property
    def in_quiet_hours(self) -> bool:
        """Whether the clock here says so."""
        at = time.localtime(self._clock() / 1000)
        return in_hours(at.tm_hour * 60 + at.tm_min, self._hours)

    @property
    def held(self) -> int:
        """How many things wait to be told in the room."""
        room = self._by.get(ROOM)
        return room.gathering.held if room is not None else 0

    def toggle(self) -> bool:
        """Not to be disturbed until this is taken back; whether it is so now. It holds over restarts."""
        self._memory.keep(quiet=not self._memory.now.quiet)
        return self._memory.now.quiet
