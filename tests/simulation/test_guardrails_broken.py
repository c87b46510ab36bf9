"""A guardrail file that breaks while the company works, and one that is broken from the start (S2-05; F15, F20)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import Answer, parse
from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.actors import System
from core.domain.entities import Company, Run
from core.domain.errors import Conflict, Forbidden
from core.domain.guardrails import GUARDRAILS_FILE
from core.domain.inbox import InboxItem
from core.domain.states import RunStatus
from core.guardrails import SHIPPED, write_shipped
from core.waiting import owed

BROKEN = "red_lines:\n  - name: one\n    action: shout\n"
PLACE = "guardrails.yaml, line 3, column 13: unknown action 'shout'"
PATIENCE_S = 20.0


class Working:
    """A runner whose runs stay at work until they are let go."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.let_go = asyncio.Event()

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        self.seen.append(assignment.run.id)
        await self.let_go.wait()
        return Outcome(RunStatus.SUCCEEDED)


class Room:
    """An open company whose ticks and starts a test makes by hand, unless it starts the loops."""

    def __init__(self, company: OpenCompany, runner: Working) -> None:
        self.company = company
        self.runner = runner

    async def operator(self, command: str, **arguments: Any) -> Answer:
        return await self.company.execute(parse(command, arguments))

    async def queue(self, key: str) -> int:
        command = parse("QueueRun", {"kind": "mention", "agent_id": 1, "key": key})
        return int((await self.company.execute(command, actor=System()))["id"])

    async def beat(self) -> None:
        """One tick, one look at what is queued."""
        assert self.company.ticker is not None
        assert self.company.dispatcher is not None
        await self.company.ticker.tick()
        await self.company.dispatcher.start_queued()

        async def begun() -> bool:
            return not await self.company.board.readers.entities(Run, "status = 'starting'")

        await self.until(begun)

    def write(self, text: str) -> None:
        """The operator saves the file."""
        (self.company.folder / GUARDRAILS_FILE).write_text(text)

    async def itself(self) -> Company:
        return (await self.company.board.readers.entities(Company, "true"))[0]

    async def inbox(self) -> list[InboxItem]:
        return [item for item in await owed(self.company.board.readers) if item.kind == "stopped"]

    async def status(self, run: int) -> RunStatus:
        return (await self.company.board.readers.entities(Run, "id = :id", id=run))[0].status

    async def until(self, holds: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not await holds():  # noqa: ASYNC110 - what a test waits for has no event
                await asyncio.sleep(0.02)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Room]:
    runner = Working()
    company = await OpenCompany.open(folder, {"rehearsal": runner}, role="owner")
    try:
        yield Room(company, runner)
    finally:
        await company.close()


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """A founded company with an agent that may have three runs at once; it is started."""
    place = tmp_path / "company"
    await create_company(place, Config(name="Test", mission=""))
    async with opened(place) as room:
        await room.operator("HireAgent", slug="ada", name="Ada", role="executor", max_runs=3)
        await room.operator("StartCompany")
    return place


async def test_a_new_company_has_the_shipped_file(folder: Path) -> None:
    assert (folder / GUARDRAILS_FILE).read_bytes() == SHIPPED.read_bytes()


async def test_a_file_that_breaks_stops_dispatching_within_a_tick_and_runs_at_work_go_on(folder: Path) -> None:
    async with opened(folder) as room:
        first = await room.queue("first")
        await room.beat()
        assert room.runner.seen == [first]
        room.write(BROKEN)
        second = await room.queue("second")
        await room.beat()
        company = await room.itself()
        assert not company.dispatching
        assert company.stop_reason.startswith(PLACE)
        (item,) = await room.inbox()
        assert item.urgent
        assert item.why.startswith(PLACE)
        assert (await room.status(first), await room.status(second)) == (RunStatus.RUNNING, RunStatus.QUEUED)
        room.runner.let_go.set()
        await room.company.dispatcher.idle()  # type: ignore[union-attr]
        assert await room.status(first) == RunStatus.SUCCEEDED
        assert room.runner.seen == [first]


async def test_the_dispatcher_alone_sees_it_before_it_starts_anything(folder: Path) -> None:
    async with opened(folder) as room:
        run = await room.queue("first")
        room.write(BROKEN)
        assert await room.company.dispatcher.start_queued() == 0  # type: ignore[union-attr]
        assert await room.status(run) == RunStatus.QUEUED
        assert not (await room.itself()).dispatching


async def test_mending_it_and_starting_the_company_goes_on(folder: Path) -> None:
    async with opened(folder) as room:
        room.write(BROKEN)
        run = await room.queue("first")
        await room.beat()
        with pytest.raises(Conflict, match="line 3, column 13"):
            await room.operator("StartCompany")
        room.write("red_lines: [\n")
        await room.beat()
        assert "line 2, column 1" in (await room.itself()).stop_reason  # what is wrong now, not what was
        room.write("red_lines: []\n")
        await room.operator("StartCompany")  # at once: nobody waits for a tick
        await room.beat()
        assert (await room.itself()).dispatching
        assert await room.status(run) == RunStatus.RUNNING
        assert await room.inbox() == []
        await room.beat()
        assert (await room.itself()).dispatching


async def test_a_mended_file_starts_nothing_by_itself_but_says_so(folder: Path) -> None:
    async with opened(folder) as room:
        room.write(BROKEN)
        run = await room.queue("first")
        await room.beat()
        room.write("red_lines: []\n")
        await room.beat()
        company = await room.itself()
        assert not company.dispatching
        assert "in order again" in company.stop_reason
        assert await room.status(run) == RunStatus.QUEUED


async def test_a_broken_file_is_told_once_not_at_every_tick(folder: Path) -> None:
    async with opened(folder) as room:
        room.write(BROKEN)
        await room.beat()
        before = await room.company.board.readers.last_event()
        for _ in range(5):
            await room.beat()
        assert await room.company.board.readers.last_event() == before


async def test_a_file_that_is_left_alone_writes_nothing(folder: Path) -> None:
    async with opened(folder) as room:
        await room.beat()
        before = await room.company.board.readers.last_event()
        for _ in range(5):
            await room.beat()
        assert await room.company.board.readers.last_event() == before


async def test_a_company_that_is_opened_with_a_broken_file_starts_nothing(folder: Path) -> None:
    (folder / GUARDRAILS_FILE).write_text(BROKEN)
    async with opened(folder) as room:
        assert (await room.itself()).dispatching  # as it was left
        run = await room.queue("first")
        await room.company.start()

        async def held() -> bool:
            return not (await room.itself()).dispatching

        await room.until(held)
        assert await room.status(run) == RunStatus.QUEUED
        assert room.runner.seen == []
        assert [item.why.startswith(PLACE) for item in await room.inbox()] == [True]
        with pytest.raises(Conflict, match="line 3, column 13"):
            await room.operator("StartCompany")


async def test_the_loops_notice_it_too_and_go_on_after_it_is_mended(folder: Path) -> None:
    async with opened(folder) as room:
        await room.company.start()
        room.write(BROKEN)
        room.company.ticker.poke()  # type: ignore[union-attr]

        async def held() -> bool:
            return not (await room.itself()).dispatching

        await room.until(held)
        run = await room.queue("first")
        (folder / GUARDRAILS_FILE).unlink()  # the shipped lines hold
        await room.operator("StartCompany")

        async def runs() -> bool:
            return await room.status(run) == RunStatus.RUNNING

        await room.until(runs)


async def test_new_red_lines_hold_for_the_next_act_without_a_restart(folder: Path) -> None:
    async with opened(folder) as room:
        assert room.company.local_door is not None
        book = room.company.local_door.book
        assert len(book.current.lines) == 6
        room.write("red_lines:\n  - name: mine\n    action: block_and_notify\n    patterns: [friday]\n")
        with pytest.raises(Forbidden):  # any command that looks at the lines reads them first
            await room.company.execute(parse("StartTask", {"task": 1}), actor=System())
        assert [line.name for line in book.current.lines] == ["mine"]


async def test_a_file_that_is_gone_means_the_shipped_lines(folder: Path) -> None:
    (folder / GUARDRAILS_FILE).unlink()
    async with opened(folder) as room:
        await room.beat()
        assert (await room.itself()).dispatching
        write_shipped(folder)
        await room.beat()
        assert (await room.itself()).dispatching
