"""A company at work without a screen: it runs until its goals have ended or a person owes a decision.

With `approve_all` the approving choice of every inbox item is taken, in the inbox's own words; nothing else is decided.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from core.blackboard.queries import ALIVE_GOALS, LIVE_RUNS
from core.commands.registry import parse
from core.company import OpenCompany
from core.domain.agenda import BEATS
from core.domain.company_items import NO_MISSION
from core.domain.entities import AgentRecord, Company, Event, Goal, Round, Run
from core.domain.errors import Conflict, NotFound
from core.domain.goals import mission_is_defined
from core.domain.inbox import Choice, InboxItem
from core.domain.states import GOAL_FINAL, AgentStatus, ApprovalKind, GoalStatus, Role
from core.waiting import owed

PATIENCE_S = 600.0
SAME_DECISION_MAX = 3  # every loop ends at a person, also when the person said yes to everything
_SETTLE_S = 5.0
_LOOK_S = 0.02
# These come and go without anything having moved.
_IDLE = frozenset({"TickStepFailed", "TicksMissed", "ClockStepped", *BEATS})
_ENDED = GOAL_FINAL | {GoalStatus.ARCHIVED}
# What a person is told of while the goals that are there go on.
_HINDERS_NOTHING = frozenset({"no ceo", NO_MISSION})
_ORDER = {"draft": 0, "dispatch": 1, "report": 3}


class Ending(StrEnum):
    """Why a headless run is over."""

    DONE = "done"
    WAITS = "waits"
    UNSUCCESSFUL = "unsuccessful"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended, in words, and what a person owes if it waits: inbox items, a start, or a first goal."""

    how: Ending
    words: str
    owed: tuple[InboxItem, ...] = ()
    needs: Literal["", "start", "goal"] = ""


class Headless:
    """Plays the operator of a company that this process owns and has started to tick.

    `wait` stays at decisions until somebody takes them from another process. `took` hears of each decision taken here.
    """

    def __init__(
        self,
        company: OpenCompany,
        *,
        approve_all: bool = False,
        wait: bool = False,
        patience_s: float = PATIENCE_S,
        took: Callable[[InboxItem, Choice], None] = lambda _item, _choice: None,
    ) -> None:
        self._company = company
        self._readers = company.board.readers
        self._approve_all = approve_all
        self._wait = wait
        self._patience_s = patience_s
        self._took = took
        self._goals: set[int] = set()
        self._taken: Counter[tuple[str, str]] = Counter()
        self._woken = asyncio.Event()
        self._waits = False

    async def run(self) -> Ended:
        """Go on until there is an end to tell."""
        unfollow = self._company.board.follow(self._hear)
        try:
            while True:
                self._woken.clear()
                ended = await self._look()
                if ended is not None:
                    await self._settle()
                    return ended
                if not await self._something_happens():
                    return Ended(Ending.STUCK, await self._what_it_waits_for())
        finally:
            unfollow()

    def _hear(self, events: Sequence[Event]) -> None:
        self._goals |= {event.entity_id for event in events if event.kind == "GoalCreated"}
        if any(event.kind not in _IDLE for event in events):
            self._woken.set()

    async def _something_happens(self) -> bool:
        # With `wait` a person may take their time.
        patience = None if self._waits else self._patience_s
        try:
            # Not wait_for: before Python 3.12 it can swallow a cancellation.
            async with asyncio.timeout(patience):
                await self._woken.wait()
        except TimeoutError:
            return False
        await asyncio.sleep(_LOOK_S)
        return True

    async def _settle(self) -> None:
        """Let the runs at work come to their end: what they did counts, and nothing has to be done twice."""
        dispatcher = self._company.dispatcher
        if dispatcher is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SETTLE_S):
                    await dispatcher.idle()

    async def _look(self) -> Ended | None:
        """The end, if it is there; otherwise take the decisions that may be taken."""
        alive = await self._readers.entities(Goal, ALIVE_GOALS)
        self._goals |= {goal.id for goal in alive}
        items = [item for item in await owed(self._readers) if item.kind not in _HINDERS_NOTHING]
        stopped = await self._stopped()
        self._waits = self._wait and bool(items or stopped or not alive)
        if self._approve_all and items:
            return await self._decide(items)
        if items:
            return None if self._wait else Ended(Ending.WAITS, "A decision waits for you.", tuple(items))
        if stopped and (alive or not self._goals):
            return None if self._wait else Ended(Ending.WAITS, stopped, needs="start")
        if not alive:
            return await self._over()
        return None

    async def _stopped(self) -> str:
        company = (await self._readers.entities(Company, "id = 1"))[0]
        if company.dispatching:
            return ""
        if company.stop_reason.startswith("stopped "):
            return f"The company was {company.stop_reason}."
        return f"The company is stopped ({company.stop_reason or 'nothing runs'})."

    async def _over(self) -> Ended | None:
        if not self._goals:
            # Nothing was alive from the start: the newest goal has ended before, or the first one is still to come.
            ended = await self._readers.value(
                "SELECT max(id) FROM goals WHERE status IN ('done', 'failed', 'cancelled')"
            )
            if ended is None:
                waits = Ended(Ending.WAITS, "The company has no goal.", needs="goal")
                return None if self._wait or await self._a_draft_may_come() else waits
            self._goals.add(int(ended))
        if await self._readers.value(f"SELECT count(*) FROM runs WHERE {LIVE_RUNS}"):
            return None
        return await self._judged()

    async def _judged(self) -> Ended | None:
        marks = ", ".join(str(number) for number in sorted(self._goals))
        goals = await self._readers.entities(Goal, f"id IN ({marks}) ORDER BY id")
        if any(goal.status not in _ENDED for goal in goals):
            # Drafted since this look began: look again.
            self._woken.set()
            return None
        bad = [goal for goal in goals if goal.status in (GoalStatus.FAILED, GoalStatus.CANCELLED)]
        if bad:
            words = "; ".join(f"{goal.name_tag} {goal.title} is {goal.status} ({goal.reason})" for goal in bad)
            return Ended(Ending.UNSUCCESSFUL, f"{words}.")
        return Ended(Ending.DONE, "; ".join(f"{goal.name_tag} {goal.title} is {goal.status}" for goal in goals) + ".")

    async def _a_draft_may_come(self) -> bool:
        company = (await self._readers.entities(Company, "id = 1"))[0]
        ceos = await self._readers.entities(AgentRecord, "role = :role AND status = :status",
                                            role=Role.CEO, status=AgentStatus.ACTIVE)  # fmt: skip
        return bool(ceos) and mission_is_defined(company.mission)

    async def _decide(self, items: Sequence[InboxItem]) -> Ended | None:
        for item in sorted(items, key=lambda item: _ORDER.get(item.kind, 2)):
            if item.kind == "stopped":
                # A stop holds until the operator starts the company again.
                return None if self._wait else Ended(Ending.WAITS, "The company is stopped.", (item,))
            if item.kind == ApprovalKind.PERMISSION and item.entity.startswith("run:"):
                # What a run's program may do is for a person alone: nobody has seen it when everything is approved.
                if self._wait:
                    continue
                return Ended(Ending.WAITS, "A program asks for your permission.", (item,))
            choice = approving(item)
            if choice is None:
                return Ended(Ending.UNSUCCESSFUL, f"Nobody here can decide this: {item.title} ({item.why}).", (item,))
            self._taken[item.kind, item.entity] += 1
            if self._taken[item.kind, item.entity] > SAME_DECISION_MAX:
                words = (
                    f"{item.title}: {choice.verb} was chosen {SAME_DECISION_MAX} times and it came back ({item.why})."
                )
                return Ended(Ending.UNSUCCESSFUL, words, (item,))
            await self._take(item, choice)
            # What it led to is looked at once more, also when it made no event of its own.
            self._woken.set()
        return None

    async def _take(self, item: InboxItem, choice: Choice) -> None:
        try:
            await self._company.execute(parse(choice.command, dict(choice.arguments)))
        except (Conflict, NotFound):
            # Somebody else was first, or it changed: the next look shows what is so now.
            return
        self._took(item, choice)

    async def _what_it_waits_for(self) -> str:
        runs = await self._readers.entities(Run, f"{LIVE_RUNS} ORDER BY id LIMIT 5")
        words = [f"{run.name_tag} ({run.kind}) is {run.status}" for run in runs]
        words += [
            f"round {round_.number} of G{round_.goal_id} is {round_.status} with {round_.open_tasks} open tasks"
            for round_ in await self._readers.entities(Round, "status <> 'closed' ORDER BY id LIMIT 5")
        ]
        words += [
            f"{goal.name_tag} is {goal.status}"
            for goal in await self._readers.entities(Goal, f"{ALIVE_GOALS} ORDER BY id LIMIT 5")
        ]
        held = self._company.dispatcher.held if self._company.dispatcher else {}
        words += [f"R{run_id} is held back: {why}" for run_id, why in list(held.items())[:5]]
        minutes = f"{self._patience_s / 60:g} minutes"
        return f"Nothing has happened for {minutes}. It waits for: {'; '.join(words) or 'a first goal'}."


def approving(item: InboxItem) -> Choice | None:
    """The choice of an item that lets the work go on."""
    return next((choice for choice in item.choices if choice.key in ("a", "d")), None)
