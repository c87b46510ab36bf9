"""The operator's hand on one run at work: whether it may go on, and the words that wait for it."""

import asyncio
import contextlib

from core.commands.attach import HearRemark, MissRemark
from core.commands.door import Door
from core.commands.registry import Answer
from core.domain.actors import System
from core.domain.entities import Event, Run
from core.domain.errors import OpsroomError

_RETRY_S = 1.0
_SYSTEM = System("dispatcher")


class Attached:
    """Made before its run starts, so that nothing said meanwhile is missed. Words are taken from the board: once."""

    def __init__(self, run_id: int, door: Door) -> None:
        self.run_id = run_id
        self._door = door
        self._spoken = asyncio.Event()
        self._open = asyncio.Event()
        self._open.set()
        self._taking: asyncio.Task[Answer] | None = None
        self._held: list[int] = []  # remarks that were taken up and have not reached the agent yet

    @property
    def is_paused(self) -> bool:
        """Whether the run must hold before its next turn."""
        return not self._open.is_set()

    @property
    def may_have_words(self) -> bool:
        """Whether words may wait on the board."""
        return self._spoken.is_set() or self._taking is not None

    def hear(self, event: Event) -> None:
        """An event about this run, or about a remark to it."""
        if event.kind == "RunPaused":
            self._open.clear()
        elif event.kind == "RunResumed":
            self._open.set()
        elif event.kind == "RunSpokenTo":
            self._spoken.set()

    async def gone_on(self) -> None:
        """Wait until the run is not paused."""
        await self._open.wait()

    async def words(self) -> str | None:
        """The oldest words that wait; None if none wait. A cancelled call loses nothing.

        They count as heard, and as unheard again if the run ends before they have `reached` its agent.
        """
        if self._taking is None:
            if not self._spoken.is_set():
                return None
            self._spoken.clear()
            self._taking = asyncio.create_task(self._door.execute(_SYSTEM, HearRemark(run=self.run_id)))
        try:
            answer = await asyncio.shield(self._taking)
        except OpsroomError:
            # E.g. a full disk: the words wait on the board, and are asked for at the next turn.
            self._taking = None
            self._spoken.set()
            return None
        self._taking = None
        if answer["id"] is None:
            return None
        self._spoken.set()  # there may be more
        self._held.append(int(answer["id"]))
        return str(answer["text"])

    def reached(self) -> None:
        """All words that were taken up so far have been passed on to the agent."""
        self._held.clear()

    async def next_words(self) -> str:
        """Wait for words."""
        while True:
            words = await self.words()
            if words is not None:
                self.reached()
                return words
            if self._spoken.is_set():  # the board took nothing
                await asyncio.sleep(_RETRY_S)
            await self._spoken.wait()

    async def end(self) -> None:
        """The run ends: words that were taken up and did not reach its agent are told as unheard."""
        taking, self._taking = self._taking, None
        held, self._held = self._held, []
        with contextlib.suppress(OpsroomError):
            if taking is not None and (answer := await taking)["id"] is not None:
                held.append(int(answer["id"]))
        for remark in held:
            with contextlib.suppress(OpsroomError):
                await self._door.execute(_SYSTEM, MissRemark(remark=remark))


def run_of(event: Event) -> int | None:
    """Which run an event of attaching is about; None for all other events."""
    if event.entity == Run.table:
        return event.entity_id
    return event.changed.get("run_id") if event.entity == "remarks" else None
