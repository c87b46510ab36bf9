"""The writer: commits in groups, each command whole or not at all, events before answers."""

import asyncio
import sqlite3
import sys
from pathlib import Path

import pytest

from core.blackboard.board import Board
from core.blackboard.transaction import Transaction
from core.blackboard.writer import Writer
from core.domain.entities import Event, Goal
from core.domain.errors import BoardError, Conflict
from tests.unit.blackboard_support import a_board, a_board_file, a_goal, a_task, now_ms, plain, the_writer


async def test_many_callers_share_commits(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)

        async def caller() -> None:
            for _ in range(20):
                await writer.submit(a_goal)

        await asyncio.gather(*(caller() for _ in range(64)))
        assert writer.commands == 64 * 20
        assert writer.batches < writer.commands / 8


async def test_one_batch_is_bounded(tmp_path: Path) -> None:
    writer = await Writer.open(a_board_file(tmp_path), clock=now_ms, batch_limit=8)
    sizes: list[int] = []
    writer.listen(lambda events: sizes.append(len(events)))
    await asyncio.gather(*(writer.submit(a_goal) for _ in range(100)))
    await writer.close()
    assert sum(sizes) == 100
    assert max(sizes) <= 8


async def test_a_failing_command_takes_its_rows_counts_words_and_events_back(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        heard: list[Event] = []
        board.follow(heard.extend)

        def fails(tx: Transaction) -> None:
            a_goal(tx, title="verworfen")
            raise Conflict("no", "try again")

        writer = the_writer(board)
        before, failed, after = await asyncio.gather(
            writer.submit(lambda tx: a_goal(tx, title="before")),
            writer.submit(fails),
            writer.submit(lambda tx: a_goal(tx, title="after")),
            return_exceptions=True,
        )
        assert isinstance(before, Goal)
        assert isinstance(after, Goal)
        assert isinstance(failed, Conflict)
        assert [event.changed["title"] for event in heard] == ["before", "after"]
        assert [event.id for event in heard] == [1, 2]
        assert await board.readers.value("SELECT n FROM counts WHERE entity = 'goals' AND status = 'draft'") == 2
        assert await board.readers.search("verworfen") == []


async def test_an_error_of_sqlite_in_a_command_is_its_callers_alone(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)
        wrong, good = await asyncio.gather(
            writer.submit(lambda tx: tx.all("SELECT * FROM nothing")), writer.submit(a_goal), return_exceptions=True
        )
        assert isinstance(wrong, sqlite3.OperationalError)
        assert isinstance(good, Goal)


async def test_a_command_with_an_await_inside_is_refused(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:

        async def awaits(tx: Transaction) -> None:
            a_goal(tx)

        with pytest.raises(TypeError, match="no await"):
            await the_writer(board).submit(awaits)
        assert await board.readers.value("SELECT count(*) FROM goals") == 0


async def test_listeners_hear_before_the_caller_goes_on(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        order: list[str] = []
        unsubscribe = the_writer(board).listen(lambda events: order.append(f"heard {len(events)}"))
        await the_writer(board).submit(a_goal)
        order.append("answered")
        unsubscribe()
        unsubscribe()
        await the_writer(board).submit(a_goal)
        assert order == ["heard 1", "answered"]


async def test_a_command_without_events_calls_no_listener(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        the_writer(board).listen(lambda events: pytest.fail(f"heard {events}"))
        assert await the_writer(board).submit(lambda tx: tx.value("SELECT 7")) == 7


async def test_a_listener_that_raises_harms_nobody(tmp_path: Path) -> None:
    told: list[Exception] = []
    writer = await Writer.open(a_board_file(tmp_path), clock=now_ms, on_listener_error=told.append)
    heard: list[Event] = []

    def broken(events: object) -> None:
        raise RuntimeError("a pane broke")

    writer.listen(broken)
    writer.listen(heard.extend)
    await writer.submit(a_goal)
    await writer.submit(a_goal)
    await writer.close()
    assert len(heard) == 2
    assert [str(error) for error in told] == ["a pane broke"] * 2


async def test_cancelling_a_command_at_any_time_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)

        def goal_and_tasks(tx: Transaction) -> None:
            goal = a_goal(tx)
            for _ in range(3):
                a_task(tx, goal)

        for turn in range(60):
            task = asyncio.create_task(writer.submit(goal_and_tasks))
            # From "not even started" over "in the queue" and "in the commit" to "answered".
            for _ in range(turn % 4):
                await asyncio.sleep(0)
            if turn % 5:
                await asyncio.sleep(turn / 20_000)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await writer.submit(a_goal)
        torn = "SELECT count(*) FROM goals g WHERE (SELECT count(*) FROM tasks WHERE goal_id = g.id) NOT IN (0, 3)"
        assert await board.readers.value(torn) == 0
        assert await board.readers.value("SELECT count(*) % 3 FROM tasks") == 0
        assert await board.readers.value("SELECT count(*) FROM goals") >= 60


async def test_what_was_queued_when_its_caller_left_still_happens(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        task = asyncio.create_task(the_writer(board).submit(a_goal))
        await asyncio.sleep(0)
        task.cancel()
        await the_writer(board).submit(a_goal)
        assert await board.readers.value("SELECT count(*) FROM goals") == 2


async def test_time_never_runs_backwards_even_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    times = iter([5_000, 4_000, 6_000])
    async with a_board(path, clock=lambda: next(times, 1_000)) as board:
        # The clock is asked once for opening.
        made = [await the_writer(board).submit(a_goal) for _ in range(3)]
        assert [goal.created_at for goal in made] == [4_000, 6_000, 6_000]
    async with a_board(path, clock=lambda: 10) as board:
        assert (await the_writer(board).submit(a_goal)).created_at == 6_000


async def test_close_carries_out_what_is_queued_and_then_refuses(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    board = await Board.open(path, clock=now_ms, create=True)
    heard: list[Event] = []
    board.follow(heard.extend)
    writer = the_writer(board)
    waiting = [asyncio.create_task(writer.submit(a_goal)) for _ in range(50)]
    await asyncio.sleep(0)
    await board.close()
    assert len(await asyncio.gather(*waiting)) == len(heard) == 50
    with pytest.raises(BoardError, match="closed"):
        await writer.submit(a_goal)
    await board.close()
    assert not path.with_name("board.db-wal").exists()
    with plain(path) as connection:
        assert connection.execute("SELECT count(*) FROM goals").fetchone() == (50,)


async def test_a_commit_that_fails_tells_every_caller_and_keeps_nothing(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)
        heard: list[Event] = []
        writer.listen(heard.extend)

        def breaks_the_commit(tx: Transaction) -> None:
            tx.connection.execute("PRAGMA defer_foreign_keys=ON")
            tx.connection.execute("UPDATE goals SET id = id")
            a_task(tx, Goal(**{**goal_fields, "id": 999}))

        goal = await writer.submit(a_goal)
        goal_fields = {name: getattr(goal, name) for name in Goal.__slots__} | {"id": goal.id}
        heard.clear()
        answers = await asyncio.gather(
            writer.submit(a_goal), writer.submit(breaks_the_commit), writer.submit(a_goal), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [BoardError] * 3
        assert len({id(answer) for answer in answers}) == 3
        assert heard == []
        await writer.submit(a_goal)
        assert await board.readers.value("SELECT count(*) FROM goals") == 2


async def test_the_writer_gets_the_interpreter_back_soon_beside_a_busy_loop(tmp_path: Path) -> None:
    usual = sys.getswitchinterval()
    try:
        sys.setswitchinterval(0.005)
        async with a_board(tmp_path / "board.db"):
            assert sys.getswitchinterval() == pytest.approx(0.0005, rel=0.01)
        sys.setswitchinterval(0.0001)
        async with a_board(tmp_path / "board.db"):
            assert sys.getswitchinterval() == pytest.approx(0.0001, rel=0.01)
    finally:
        sys.setswitchinterval(usual)
