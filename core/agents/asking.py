"""How a run waits for the operator's word on what its program wants to do; the clock stands still meanwhile."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from core.agents.clock import RunClock
from core.blackboard.readers import Readers
from core.commands.door import Door
from core.commands.permissions import AskPermission, WithdrawPermission
from core.commands.registry import Answer, build
from core.commands.ticks import ExpireApproval
from core.domain.actors import Agent, System
from core.domain.entities import Approval, Event
from core.domain.errors import Conflict, OpsroomError
from core.domain.limits import PERMISSIONS_WAITING
from core.domain.permissions import Permission, Permit, Wish, asked
from core.domain.states import ApprovalStatus


class Ask(Protocol):
    """Asks the operator, and answers what they said."""

    async def __call__(self, wish: Wish) -> Permission: ...


class Decisions:
    """Who waits for which question, in the process that runs the runs."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Event] = {}

    def hear(self, events: Iterable[Event]) -> None:
        """A listener of the board."""
        for event in events:
            if event.entity == Approval.table and (waiting := self._waiting.get(event.entity_id)) is not None:
                waiting.set()

    @contextmanager
    def of(self, approval: int) -> Iterator[asyncio.Event]:
        """Set whenever something happens to this question."""
        self._waiting[approval] = happened = asyncio.Event()
        try:
            yield happened
        finally:
            del self._waiting[approval]


class Asking:
    """The questions of one run, one before the operator at a time: a yes for the run may answer those behind it.

    `wait_s` is how long one waits for a person (None: for ever); then it is refused. `clock` is the wall in ms, looked
    at every `look_s` seconds; `tell` puts a line into the transcript.
    """

    def __init__(
        self,
        actor: Agent,
        door: Door,
        readers: Readers,
        decisions: Decisions,
        run_clock: RunClock,
        *,
        clock: Callable[[], int],
        wait_s: float | None,
        look_s: float,
        tell: Callable[[dict[str, Any]], None],
    ) -> None:
        self._actor = actor
        self._door = door
        self._readers = readers
        self._decisions = decisions
        self._run_clock = run_clock
        self._clock = clock
        self._wait_ms = None if wait_s is None else max(int(wait_s * 1000), 1)
        self._look_s = look_s
        self._tell = tell
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    async def __call__(self, wish: Wish) -> Permission:
        """Wait for the word on a wish. Raises Fenced when the run is no longer current; never a yes by itself."""
        if self._waiting >= PERMISSIONS_WAITING:
            return Permission(Permit.REFUSED, f"{self._waiting} questions of this run wait already; ask less at once")
        self._waiting += 1
        try:
            async with self._run_clock.stopped():
                arguments = await asyncio.to_thread(asked, wish)
                async with self._one_at_a_time:
                    said = await self._put(build(AskPermission, **arguments, wait_ms=self._wait_ms))
        finally:
            self._waiting -= 1
        self._tell({"wants": arguments["title"], "permit": str(said.permit), "note": said.note})
        return said

    async def _put(self, command: AskPermission) -> Permission:
        try:
            answer: Answer = await self._door.execute(self._actor, command)
        except Conflict as problem:
            # E.g. the program has put a question by its own access to the board, which still waits.
            return Permission(Permit.REFUSED, str(problem))
        if "waits" not in answer:
            return Permission(Permit(answer["permit"]), str(answer["note"]))
        number = int(answer["waits"])
        self._tell({"wants": command.title, "question": f"{Approval.letter}{number}"})
        try:
            return await self._answer_to(number)
        except asyncio.CancelledError:
            # The program no longer wants it. When the run itself has ended, its question is over already.
            with suppress(OpsroomError):
                await self._door.execute(self._actor, WithdrawPermission(approval=number))
            raise

    async def _answer_to(self, number: int) -> Permission:
        with self._decisions.of(number) as happened:
            while True:
                approval = (await self._readers.entities(Approval, "id = :id", id=number))[0]
                if approval.status != ApprovalStatus.PENDING:
                    return permission_of(approval)
                if approval.expires_at is not None and approval.expires_at <= self._clock():
                    # Somebody was faster, or nothing can be written now: its end is heard of, or it is tried again.
                    with suppress(OpsroomError):
                        await self._door.execute(System("dispatcher"), ExpireApproval(approval=number))
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if approval.expires_at is None else self._look_s):
                        await happened.wait()
                happened.clear()


def permission_of(approval: Approval) -> Permission:
    """What was decided. Whatever is no yes is a refusal."""
    match approval.status:
        case ApprovalStatus.CONSUMED:
            return Permission(Permit.ONCE, f"allowed once by the operator ({approval.name_tag})")
        case ApprovalStatus.APPROVED:
            return Permission(Permit.RUN, f"allowed for this run by the operator ({approval.name_tag})")
        case ApprovalStatus.CANCELLED:
            return Permission(Permit.REFUSED, f"nobody allowed it: {approval.note} ({approval.name_tag})")
        case _:
            return Permission(Permit.REFUSED, approval.note or "refused by the operator")
