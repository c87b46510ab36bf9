"""The 30 s heart: facts → plan → commands. Runs only in the board's owner, and never calls a model.

Tick number = floor((wall − anchor) / period), so it is the same in every process; missed ticks collapse into one.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.blackboard.owner import release_lease, take_lease
from core.blackboard.writer import Writer
from core.commands.door import TICKER_LEASE, LocalDoor
from core.commands.registry import parse
from core.commands.ticks import NoteTick
from core.domain.actors import HUMAN, System
from core.domain.agenda import BEATS
from core.domain.entities import Event, Run
from core.domain.errors import BoardError, Fenced, OpsroomError
from core.domain.facts import Facts
from core.domain.limits import TICK_MS
from core.domain.plan import Action, Plan, Step, plan_tick
from core.gathering import gather

LEASE_TTL_MS = 3 * TICK_MS
SLICE_S = 1.0
DEBOUNCE_S = 0.02
JUMP_MS = 2_000
log = logging.getLogger(__name__)

# Bookkeeping and news that give a tick nothing new to decide.
QUIET = frozenset(
    {
        "RunRenewed", "RunQueued", "RunStarted", "RunConfirmed", "RunPrompted", "RunProcessStarted", "TaskRunQueued",
        "TaskBroadcast", "TaskOffered",
        "OfferAnswered", "OfferReturned", "MentionTaken", "ApprovalRequested", "RoundProgressed", "RoundStalled",
        *BEATS, "AutoDispatchCounted", "HumanLooked", "TickStepFailed", "TicksMissed", "ClockStepped",
        "CommentAdded", "DecisionMade", "MentionHeld", "MentionDropped",
        "BudgetSet", "BudgetRaised", "BudgetWarned", "RunCostTold",
        "OutputAdded", "AgentCooledDown", "DependencyAdded",
        "ExperienceNoted", "ExperienceKept", "ExperienceDropped", "ExperienceUsed", "KnowledgeIndexed",
        "KnowledgeRemoved",
    }
)  # fmt: skip


def _is_word_of_person(event: Event) -> bool:
    """A person's word may be what a talk waits for; they do not write so often that it costs anything."""
    return event.kind == "CommentAdded" and event.actor == HUMAN


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick did: its number, its plan, and the steps that failed with their error."""

    number: int
    plan: Plan
    failed: Mapping[Step, str]


class Ticker:
    """`clock` is the wall in ms, `monotonic` never steps. `lost` tells which live runs are gone.

    `before` is awaited before each tick looks at anything, e.g. to read the guardrails again.

    `trouble` says why the last tick did nothing, if it did not.
    """

    def __init__(
        self,
        writer: Writer,
        door: LocalDoor,
        lost: Callable[[Iterable[Run]], Mapping[int, str]],
        *,
        clock: Callable[[], int],
        monotonic: Callable[[], float],
        anchor: int = 0,
        on_tick: Callable[[Ticked], None] | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._writer = writer
        self._door = door
        self._lost = lost
        self._clock = clock
        self._monotonic = monotonic
        self._anchor = anchor
        self._on_tick = on_tick
        self._before = before
        self._wake = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._last = 0
        self.trouble = ""
        self._told: dict[Step, str] = {}

    def number(self) -> int:
        """The number of the tick that the wall clock is in."""
        return self._number_at(self._clock())

    def _number_at(self, now: int) -> int:
        return (now - self._anchor) // TICK_MS

    def due_in_ms(self) -> int:
        """Time until the next clock tick."""
        return TICK_MS - (self._clock() - self._anchor) % TICK_MS

    def poke(self) -> None:
        """Tick at once (debounced)."""
        self._wake.set()

    def hear(self, events: Sequence[Event]) -> None:
        """A listener of the board: ticks at once when something happened that a tick can act on."""
        if any(event.kind not in QUIET or _is_word_of_person(event) for event in events):
            self._wake.set()

    async def look(self) -> tuple[Facts, Plan]:
        """What the next tick would do, without doing it."""
        # The board's time, not the wall's: it never runs backwards, and all that is stored was stamped by it.
        facts, now = await self._writer.submit(lambda tx: (gather(tx, self._number_at(tx.now), self._lost), tx.now))
        return facts, plan_tick(facts, now)

    async def tick(self) -> Ticked:
        """One tick: each step in its own transaction; a failing step is recorded and the next still runs."""
        async with self._one_at_a_time:
            if self._before is not None:
                await self._before()
            number = self.number()
            fence = await self._writer.submit(lambda tx: take_lease(tx, TICKER_LEASE, self._door.owner, LEASE_TTL_MS))
            _facts, plan = await self.look()
            actor = System("ticker", fence)
            failed = dict(plan.broken)
            for step in Step:
                if actions := plan.of(step):
                    await self._carry_out(actor, step, actions, failed)
            await self._record(number, failed)
        ticked = Ticked(number, plan, failed)
        if self._on_tick is not None:
            self._on_tick(ticked)
        return ticked

    async def _carry_out(self, actor: System, step: Step, actions: Sequence[Action], failed: dict[Step, str]) -> None:
        try:
            await self._door.execute_all(actor, [parse(action.act, dict(action.arguments)) for action in actions])
        except (BoardError, Fenced):
            raise
        except Exception:
            # Once more one by one: a single action that is stale or wrong must not hold up its whole step.
            for action in actions:
                try:
                    await self._door.execute(actor, parse(action.act, dict(action.arguments)))
                except (BoardError, Fenced):
                    raise
                except Exception as error:
                    failed[step] = f"{action.act}: {type(error).__name__}: {error}"
                    if not isinstance(error, OpsroomError):
                        log.exception("%s in step %s of a tick failed", action.act, step.name)

    async def _record(self, number: int, failed: Mapping[Step, str]) -> None:
        """Each failure is told once, not at every tick (F18)."""
        for step, error in failed.items():
            if self._told.get(step) != error:
                facts = {"tick": number, "step": step.name, "error": error}
                await self._door.execute(System("ticker"), NoteTick(kind="TickStepFailed", facts=facts))
        self._told = dict(failed)

    async def run(self) -> None:
        """Tick until cancelled. Sleeps in slices so that suspend and clock steps are seen."""
        offset = self._clock() - int(self._monotonic() * 1000)
        self._last = self.number()
        await self._tick_safely()
        while True:
            # Not wait_for: before Python 3.12 it can swallow the cancellation that ends this loop.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(SLICE_S, self.due_in_ms() / 1000 + 0.001)):
                    await self._wake.wait()
            if self._wake.is_set():
                await asyncio.sleep(DEBOUNCE_S)
                self._wake.clear()
                await self._tick_safely()
            offset = await self._watch_clock(offset)
            number = self.number()
            if number > self._last:
                missed = number - self._last - 1
                self._last = number
                if missed:
                    await self._note("TicksMissed", {"tick": number, "missed": missed})
                await self._tick_safely()

    async def _watch_clock(self, offset: int) -> int:
        now = self._clock() - int(self._monotonic() * 1000)
        if abs(now - offset) > JUMP_MS:
            await self._note("ClockStepped", {"tick": self.number(), "by_ms": now - offset})
            self._last = min(self._last, self.number())
        return now

    async def _note(self, kind: str, facts: dict[str, int]) -> None:
        with contextlib.suppress(BoardError):
            await self._door.execute(System("ticker"), NoteTick(kind=kind, facts=dict(facts)))

    async def _tick_safely(self) -> None:
        try:
            await self.tick()
            self.trouble = ""
        except Exception as error:
            # E.g. a full disk: reading goes on, and the next tick tries again.
            self.trouble = str(error)
            log.warning("tick %s did nothing: %s", self.number(), error, exc_info=not isinstance(error, OpsroomError))

    async def give_up_lease(self) -> None:
        """At a clean end: the next owner's first tick need not wait."""
        with contextlib.suppress(BoardError):
            await self._writer.submit(lambda tx: release_lease(tx, TICKER_LEASE, self._door.owner))
