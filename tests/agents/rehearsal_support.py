"""A rehearsal company at work on a real folder: real board, ticker and child processes; the test is the operator.

Nothing here sleeps: whoever waits looks again when the board says that something happened.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from core.agents.rehearsal.deliveries import Delivery, deliveries_of
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import Answer, parse
from core.company import OpenCompany, wall_clock
from core.domain.entities import Approval, Comment, Entity, Event, Goal, Output, Review, Round, Run, Task
from core.domain.states import RunKind
from core.rehearsal import found_rehearsal

E = TypeVar("E", bound=Entity)
T = TypeVar("T")
PATIENCE_S = 40.0

FILES = {
    "README.md": b"# Things\n\n## Usage\n\nSee [the notes](docs/notes.md) and [nothing](docs/gone.md).\n",
    "docs/notes.md": b"Notes\n\nTODO: write them\n",
    "src/main.py": b"import os\n\n# TODO: one-secret\nprint(os)\n# FIXME: two-secret\n",
    "src/copy.txt": b"the same\n",
    "src/twin.txt": b"the same\n",
    "empty.txt": b"",
    "data.bin": b"\0TODO\n",
}
SECRETS = ("one-secret", "two-secret")


class Clock:
    """The wall clock, which a test may set forward."""

    def __init__(self) -> None:
        self.offset = 0

    def __call__(self) -> int:
        return wall_clock() + self.offset


class Play:
    """An open company, and what the operator does in it."""

    def __init__(self, company: OpenCompany, clock: Clock) -> None:
        self.company = company
        self.clock = clock
        self.events: list[Event] = []
        self._woken = asyncio.Event()

    def hear(self, events: Sequence[Event]) -> None:
        """The board's listener."""
        self.events += events
        self._woken.set()

    async def do(self, command: str, **arguments: Any) -> Answer:
        """A command of the operator."""
        return await self.company.execute(parse(command, arguments))

    async def all(self, cls: type[E], where: str = "true ORDER BY id", **parameters: Any) -> list[E]:
        """Rows as they are now."""
        return await self.company.board.readers.entities(cls, where, **parameters)

    async def one(self, cls: type[E], where: str, **parameters: Any) -> E:
        """The one row, as soon as there is one."""
        return (await self.until(lambda: self.all(cls, where, **parameters)))[0]

    async def until(self, look: Callable[[], Awaitable[T]]) -> T:
        """What `look` finds, once it finds something."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self._woken.clear()
                found = await look()
                if found:
                    return found
                await self._woken.wait()

    async def pass_time(self, ms: int) -> None:
        """Let time pass, and tick."""
        self.clock.offset += ms
        assert self.company.ticker is not None
        await self.company.ticker.tick()

    async def start(self) -> None:
        """The operator starts the company."""
        await self.do("StartCompany")

    async def dispatched(self) -> Goal:
        """The CEO's draft, read, approved and dispatched."""
        goal = await self.one(Goal, "status = 'draft'")
        await self.do("ReviewGoal", goal=goal.id, content_hash=goal.content_hash)
        await self.do("DispatchGoal", goal=goal.id)
        return goal

    async def question(self) -> Approval:
        """The next question to the operator."""
        return await self.one(Approval, "status = 'pending'")

    async def decide(self, decision: str, note: str = "") -> Approval:
        """Answer the next question."""
        approval = await self.question()
        await self.do("DecideApproval", approval=approval.id, decision=decision, note=note)
        return approval

    async def reported(self, goal: Goal) -> str:
        """The newest audit with all figures, once the goal has a report to accept."""
        await self.one(Goal, "id = :id AND status = 'reporting'", id=goal.id)
        newest = (await self.all(Output, "task_id IS NULL AND path IS NOT NULL ORDER BY id DESC LIMIT 1"))[0]
        return (self.company.folder / "outputs" / (newest.path or "")).read_text(encoding="utf-8")

    async def composed(self, goal: Goal) -> str:
        """The newest report as the program composed it."""
        await self.one(Goal, "id = :id AND status = 'reporting'", id=goal.id)
        return (await self.all(Output, "task_id IS NULL AND path IS NULL ORDER BY id DESC LIMIT 1"))[0].content or ""

    async def audited(self, decision: str = "approved", note: str = "") -> tuple[Goal, str]:
        """From the start to the report, with this answer to the question about the quote."""
        await self.start()
        goal = await self.dispatched()
        await self.decide(decision, note)
        return goal, await self.reported(goal)

    async def quiet(self) -> None:
        """No run is queued or at work any more."""

        async def none_live() -> bool:
            return not await self.all(Run, "status IN ('queued', 'starting', 'running')")

        await self.until(none_live)

    async def deliveries(self) -> list[Delivery]:
        """All outputs of tasks, opened."""
        return await deliveries_of(self.company.board.readers, self.company.folder, await self.all(Task))

    async def figures(self, kind: str) -> dict[str, Any]:
        """The newest result of one kind of work."""
        return [delivery.result for delivery in await self.deliveries() if delivery.kind == kind][-1]

    async def everything_written(self) -> str:
        """All text of outputs, comments and reviews, and all delivered files."""
        outputs, comments, reviews = await self.all(Output), await self.all(Comment), await self.all(Review)
        files = [path.read_text(encoding="utf-8") for path in (self.company.folder / "outputs").iterdir()]
        return "\n".join([*map(str, outputs), *map(str, comments), *map(str, reviews), *files])

    async def titles(self, round_number: int) -> list[str]:
        """The titles of a round's tasks."""
        rounds = await self.all(Round, "number = :number", number=round_number)
        return [task.title for task in await self.all(Task, "round_id = :id ORDER BY id", id=rounds[0].id)]


@asynccontextmanager
async def a_rehearsal(
    folder: Path, audited: Path, runner: Callable[[Path], RehearsalRunner] = RehearsalRunner
) -> AsyncIterator[Play]:
    """A company that audits a folder, founded if it is not there yet; the operator has not started it."""
    clock = Clock()
    if not await asyncio.to_thread(folder.exists):
        await found_rehearsal(folder, audited, clock=clock)
    company = await OpenCompany.open(folder, {"rehearsal": runner(audited)}, role="owner", clock=clock)
    play = Play(company, clock)
    company.board.follow(play.hear, after=0)
    try:
        await company.start()
        yield play
    finally:
        await company.close()


class Killed(RehearsalRunner):
    """Its first run of a kind is killed by the operator after some commands, as from the room."""

    def __init__(self, audited: Path, kind: RunKind, after: int) -> None:
        super().__init__(audited)
        self.kind = kind
        self.after = after
        self.kill: Callable[[int], Awaitable[Any]] | None = None

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        if assignment.run.kind == self.kind and self.kill is not None:
            kill, self.kill = self.kill, None
            desk.call = self._killing(assignment.run.id, desk.call, kill)  # type: ignore[method-assign]
        return await super().run(assignment, desk)

    def _killing(self, run_id: int, call: Any, kill: Callable[[int], Awaitable[Any]]) -> Any:
        left = self.after

        async def counted(command: str, **arguments: Any) -> Answer:
            nonlocal left
            answer: Answer = await call(command, **arguments)
            left -= 1
            if left == 0:
                await kill(run_id)
                await asyncio.Event().wait()
            return answer

        return counted
