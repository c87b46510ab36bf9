"""A company in virtual time: the real board, door, ticker and dispatcher, scripted agents, a scripted operator."""

import asyncio
import functools
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.agents.transcript import Transcripts
from core.blackboard.board import Board
from core.commands.door import LocalDoor
from core.commands.registry import Answer, parse
from core.dispatcher import Caps, Dispatcher
from core.domain.actors import HUMAN, Operator
from core.domain.entities import Comment, Goal, Run
from core.domain.errors import OpsroomError
from core.domain.guardrails import GuardrailBook
from core.domain.inbox import Choice, InboxItem
from core.domain.limits import TICK_MS
from core.domain.plan import Action
from core.domain.states import Role
from core.guardrails import shipped
from core.simulation.agents import CAPABILITIES, GOOD, RUN_MINUTES, Habits, Scripted
from core.simulation.clock import Clock
from core.simulation.laws import FORGOTTEN, UNSEEN, broken_laws, standing_still, waiting_for_nothing
from core.ticker import Ticked, Ticker
from core.waiting import owed

Staff = tuple[tuple[str, Role, tuple[str, ...]], ...]
STAFF: Staff = (
    ("vera", Role.CEO, ()),
    ("cora", Role.COORDINATOR, ()),
    ("rita", Role.REVIEWER, ()),
    ("chad", Role.CHALLENGER, ()),
    ("ada", Role.EXECUTOR, CAPABILITIES[:2]),
    ("bob", Role.EXECUTOR, CAPABILITIES[1:]),
    ("eve", Role.EXECUTOR, CAPABILITIES),
)
MOST_TICKS_A_STEP = 60
CAPS = Caps(runs_at_once=4, starts_per_minute=30)


class Simulation:
    """Stepped by hand: `step` lets 30 seconds pass and everything happen that they make possible."""

    def __init__(
        self, board: Board, folder: Path, clock: Clock, seed: int, habits: Habits, caps: Caps = CAPS,
        run_minutes: float = RUN_MINUTES,
    ) -> None:  # fmt: skip
        self.board = board
        self.folder = folder
        self.clock = clock
        self.source = random.Random(seed)
        self.agents = Scripted(seed, habits, clock, run_minutes=run_minutes)
        self.caps = caps
        self.owners = 0
        self.decided = 0
        self.on_broken: Callable[[str, str], None] = _fail
        self.ticks: list[Ticked] = []
        self.take_up()

    def take_up(self) -> None:
        """A new owner of the board, as after a restart of the program."""
        assert self.board.writer is not None
        self.owners += 1
        self.door = LocalDoor(self.board.writer, f"owner:{self.owners}", GuardrailBook(shipped()))
        self.transcripts = Transcripts(self.folder / "runs", self.clock)
        self.dispatcher = Dispatcher(
            self.door, self.board.readers, {"rehearsal": self.agents}, self.folder, self.caps, self.transcripts,
            clock=self.clock,
        )  # fmt: skip
        self.ticker = Ticker(
            self.board.writer, self.door, self.dispatcher.lost,
            clock=self.clock, monotonic=lambda: self.clock() / 1000, on_tick=self.ticks.append,
        )  # fmt: skip
        self.deaf = self.board.writer.listen(self.dispatcher.hear)

    async def die(self) -> None:
        """The program ends without a word: nothing is written, whoever worked is gone."""
        self.deaf()
        tasks = list(self.dispatcher._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.transcripts.stop()

    async def operator(self, command: str, **arguments: Any) -> Answer:
        """What the person does."""
        return await self.door.execute(Operator(), parse(command, arguments))

    async def read(self, look: Any) -> Any:
        """What a function of a transaction sees."""
        assert self.board.writer is not None
        return await self.board.writer.submit(look)

    async def settle(self) -> None:
        """Wait until every run has ended or hangs."""
        await self.agents.stage.play(lambda: self.dispatcher._tasks)

    async def step(self, ms: int = TICK_MS) -> None:
        """Time passes; ticks and runs follow each other until nothing more happens. The laws hold all along."""
        self.clock.advance(ms)
        if self.agents.stage.wake_due():
            await self.settle()
        for _ in range(MOST_TICKS_A_STEP):
            ticked = await self.ticker.tick()
            started = await self.dispatcher.start_queued()
            await self.check()
            await self.settle()
            await self.check()
            if not started and not ticked.plan.actions:
                return

    async def check(self) -> None:
        """Look whether every law of the board holds; `on_broken` hears of those that do not."""
        for law, where in await self.read(broken_laws):
            self.on_broken(law, where)

    async def check_nothing_is_forgotten(self) -> None:
        """Every open task, round and goal can move, or somebody or something is named that it waits for."""
        _, plan = await self.ticker.look()
        known = {item.entity for item in await self.inbox()}
        known |= {entity for action in plan.actions for entity in _about(action)} | {held.entity for held in plan.held}
        for law, look in ((FORGOTTEN, waiting_for_nothing), (UNSEEN, standing_still)):
            for where in await self.read(functools.partial(look, known=known)):
                self.on_broken(law, where)

    async def inbox(self) -> list[InboxItem]:
        """What waits for the person."""
        return await owed(self.board.readers)

    async def decide(self, item: InboxItem, choice: Choice) -> None:
        """Press a key; what changed meanwhile is refused, as in the room."""
        arguments = dict(choice.arguments)
        if choice.note_field:
            arguments[choice.note_field] = "because"
        try:
            await self.operator(choice.command, **arguments)
            self.decided += 1
        except OpsroomError as error:
            logging.getLogger(__name__).info("%s: %s", item.id, error)

    async def decide_all(self, kindly: bool) -> None:
        """Answer everything that waits: at random, or with the first choice."""
        for item in await self.inbox():
            if item.choices:
                await self.decide(item, item.choices[0] if kindly else self.source.choice(item.choices))

    async def answer_questions(self) -> None:
        """Say something where the coordinator asked about a goal that is talked over."""
        for goal in await self.board.readers.entities(Goal, "exploring = 1 ORDER BY id"):
            last = "goal_id = :g AND task_id IS NULL AND kind = 'dialogue' ORDER BY id DESC LIMIT 1"
            words = await self.board.readers.entities(Comment, last, g=goal.id)
            if words and words[0].author != HUMAN:
                await self.operator("AddComment", goal=goal.id, kind="dialogue", body="Every file, counted once.")

    async def end_hanging(self) -> None:
        """The person's patience is over."""
        for run in sorted(self.agents.hanging):
            await self.operator("KillRun", run=run)
        await asyncio.sleep(0)
        await self.settle()

    async def live_runs(self) -> list[Run]:
        """Runs that have not ended."""
        return await self.board.readers.entities(Run, "status IN ('queued', 'starting', 'running')")

    async def events(self) -> int:
        """How many events there are."""
        return await self.board.readers.last_event()


def _fail(law: str, where: str) -> None:
    raise AssertionError(f"{law}: {where}")


def _about(action: Action) -> Iterator[str]:
    """What a planned action is about."""
    for name in ("task", "round", "goal"):
        number = action.arguments.get(name) or action.arguments.get(f"{name}_id")
        if number:
            yield f"{name}:{number}"
            break
    if entity := action.arguments.get("entity"):
        yield str(entity)
    for name in ("offers", "tasks"):
        yield from (f"task:{number}" for number in action.arguments.get(name, ()))


@asynccontextmanager
async def a_simulation(
    folder: Path,
    seed: int = 1,
    habits: Habits = GOOD,
    *,
    started: bool = True,
    mission: str = "",
    staff: Staff = STAFF,
    caps: Caps = CAPS,
    run_minutes: float = RUN_MINUTES,
) -> AsyncIterator[Simulation]:
    """A company at the beginning of its time."""
    clock = Clock()
    board = await Board.open(folder / "board.db", clock=clock, create=True, role="owner")
    simulation = Simulation(board, folder, clock, seed, habits, caps, run_minutes)
    try:
        await simulation.operator("CreateCompany", name="Test", mission=mission)
        for slug, role, capabilities in staff:
            await simulation.operator("HireAgent", slug=slug, name=slug, role=role, capabilities=capabilities)
        if started:
            await simulation.operator("StartCompany")
        yield simulation
    finally:
        await simulation.die()
        await board.close()
