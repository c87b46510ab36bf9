"""Readers: short, read-only, and a snapshot that belongs to exactly one event."""

import asyncio
import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.readers import RECENT_RUNS, Readers, _dicts
from core.blackboard.transaction import Transaction
from core.domain.entities import AgentRecord, Comment, Goal, Output, Run, Task
from core.domain.errors import BoardError
from tests.unit.blackboard_support import a_board, a_board_file, a_goal, a_task, now_ms, plain, the_writer


@contextlib.asynccontextmanager
async def some_readers(path: Path) -> Any:
    readers = await Readers.open(path)
    try:
        yield readers
    finally:
        await readers.close()


def an_agent(tx: Transaction) -> AgentRecord:
    return tx.insert(
        AgentRecord,
        "AgentHired",
        slug="ada",
        name="Ada",
        role="executor",
        capabilities=("inventory",),
        runner={"kind": "rehearsal"},
        status="active",
        max_runs=1,
        budget_micros=0,
    )


def a_run(tx: Transaction, agent: AgentRecord, status: str) -> Run:
    usual = {"fence": 1, "tokens_in": 0, "tokens_out": 0, "cost_micros": 0}
    words = dict.fromkeys(("model", "prompt_hash", "exit_kind", "detail", "session"), "")
    return tx.insert(Run, "RunQueued", agent_id=agent.id, kind="execute", status=status, **usual, **words)


def an_output(tx: Transaction, goal: Goal, **fields: Any) -> Output:
    usual = {"goal_id": goal.id, "type": "document", "title": "t", "summary": "s", "sha256": "", "size": 1}
    return tx.insert(Output, "OutputDelivered", created_by="ada", **{**usual, **fields})


async def test_rows_come_as_dicts_values_and_entities(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        goal = await the_writer(board).submit(a_goal)
        readers = board.readers
        assert await readers.all("SELECT id, title FROM goals WHERE id = :id", id=1) == [{"id": 1, "title": goal.title}]
        assert await readers.one("SELECT id FROM goals WHERE id = 9") is None
        assert await readers.value("SELECT title FROM goals") == goal.title
        assert await readers.value("SELECT title FROM goals WHERE id = 9") is None
        assert await readers.entities(Goal, "status = :status ORDER BY id LIMIT 5", status="draft") == [goal]
        assert await readers.entities(Goal, "id = 9") == []


async def test_events_come_in_order_and_in_pages(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        for number in range(5):
            await the_writer(board).submit(lambda tx, n=number: a_goal(tx, title=f"goal {n}", split=True))
        page = await board.readers.events_after(1, limit=3)
        assert [event.id for event in page] == [2, 3, 4]
        assert page[0].changed["title"] == "goal 1"
        assert page[0].changed["split"] is True
        assert await board.readers.events_after(5) == []
        assert await board.readers.last_event() == 5


async def test_nothing_is_written_through_a_reader(tmp_path: Path) -> None:
    async with some_readers(a_board_file(tmp_path)) as readers:
        with pytest.raises(BoardError):
            await readers.all("DELETE FROM events RETURNING id")
        assert await readers.value("PRAGMA query_only") == 1
        assert await readers.value("PRAGMA wal_autocheckpoint") == 0


async def test_wrong_sql_is_a_fault_of_the_program_not_of_the_board(tmp_path: Path) -> None:
    async with some_readers(a_board_file(tmp_path)) as readers:
        with pytest.raises(sqlite3.OperationalError):
            await readers.all("SELECT * FROM nothing")
        with pytest.raises(sqlite3.ProgrammingError):
            await readers.all("SELECT :missing")


async def test_data_version_changes_with_the_commits_of_others(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        first = await board.readers.data_version()
        assert await board.readers.data_version() == first
        await the_writer(board).submit(a_goal)
        assert await board.readers.data_version() != first


async def test_a_snapshot_holds_what_the_room_keeps_and_its_event(tmp_path: Path) -> None:
    def world(tx: Transaction) -> None:
        goal, agent = a_goal(tx), an_agent(tx)
        task = a_task(tx, goal)
        a_run(tx, agent, "running")
        for _ in range(RECENT_RUNS + 20):
            a_run(tx, agent, "succeeded")
        an_output(tx, goal, content="long text")
        an_output(tx, goal, path="report.md")
        tx.insert(Comment, "Noted", task_id=task.id, author="ada", kind="note", body="b")

    async with a_board(tmp_path / "board.db") as board:
        await the_writer(board).submit(world)
        last, rows = await board.readers.snapshot()
        assert last == await board.readers.last_event()
        runs = [row.id for row in rows if isinstance(row, Run)]
        assert runs == [1, *range(22, RECENT_RUNS + 22)]
        assert [(row.content, row.path) for row in rows if isinstance(row, Output)] == [("", None), (None, "report.md")]
        assert {type(row) for row in rows} == {Goal, AgentRecord, Task, Run, Output}


async def test_a_snapshot_is_of_one_moment_while_the_writer_writes(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)

        async def writes() -> None:
            while True:
                await writer.submit(lambda tx: (a_task(tx, a_goal(tx)), None)[1])

        task = asyncio.create_task(writes())
        try:
            for _ in range(20):
                last, rows = await board.readers.snapshot()
                goals = sum(isinstance(row, Goal) for row in rows)
                tasks = sum(isinstance(row, Task) for row in rows)
                assert goals == tasks == last // 2
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_cancelled_snapshot_leaves_no_read_transaction_open(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)
        await writer.submit(lambda tx: [a_goal(tx) for _ in range(200)] and None)
        for turn in range(30):
            task = asyncio.create_task(board.readers.snapshot())
            await asyncio.sleep(turn / 5_000)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await writer.submit(a_goal)
        # An open read transaction would still show the old count on one of the connections.
        seen = await asyncio.gather(*(board.readers.value("SELECT count(*) FROM goals") for _ in range(8)))
        assert set(seen) == {201}


@pytest.mark.parametrize(
    "text", ["审", "审计", "计文", "件夹", "数据", "analysis", "ANALYSIS", "analy", "审计 analysis"]
)
async def test_search_finds_short_chinese_words_and_beginnings(tmp_path: Path, text: str) -> None:
    async with a_board(tmp_path / "board.db") as board:
        await the_writer(board).submit(lambda tx: a_goal(tx, title="审计文件夹", description="数据 Analysis\nof files"))
        await the_writer(board).submit(lambda tx: a_goal(tx, title="other"))
        found = await board.readers.search(text)
        assert [(hit["entity"], hit["entity_id"]) for hit in found] == [("goals", 1)]
        assert found[0]["snippet"] == "审计文件夹 数据 Analysis of files"


@pytest.mark.parametrize(
    "text",
    ['"', "a AND", 'NOT "x', "*", "(", "words:", "col:x^2", "NEAR(a b)", "'; DROP TABLE goals", "-", "审*", "\x00", ""],
)
async def test_nothing_in_a_search_acts_as_syntax(tmp_path: Path, text: str) -> None:
    async with a_board(tmp_path / "board.db") as board:
        await the_writer(board).submit(lambda tx: a_goal(tx, title="unrelated"))
        assert await board.readers.search(text) == []


async def test_search_follows_a_revision(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        goal = await the_writer(board).submit(lambda tx: a_goal(tx, title="旧名"))
        await the_writer(board).submit(lambda tx: tx.update(goal, "GoalRevised", title="新名"))
        assert await board.readers.search("旧名") == []
        assert [hit["entity_id"] for hit in await board.readers.search("新名")] == [goal.id]


async def test_closed_readers_say_so(tmp_path: Path) -> None:
    readers = await Readers.open(a_board_file(tmp_path))
    await readers.close()
    await readers.close()
    with pytest.raises(BoardError, match="closed"):
        await readers.value("SELECT 1")
    with pytest.raises(BoardError, match="closed"):
        await readers.data_version()


async def test_a_board_that_was_killed_is_read_without_an_owner(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        a_goal(Transaction(connection, now_ms()))
        connection.execute("COMMIT")
        # A copy of file and log is what a killed owner leaves behind.
        left = tmp_path / "left.db"
        for end in ("", "-wal"):
            left.with_name(left.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    async with some_readers(left) as readers:
        assert await readers.value("SELECT count(*) FROM goals") == 1


def test_rows_of_another_cursor_get_their_own_names() -> None:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = _dicts()
    assert connection.execute("SELECT 1 AS a, 2 AS b").fetchall() == [{"a": 1, "b": 2}]
    assert connection.execute("SELECT 3 AS c").fetchall() == [{"c": 3}]
    connection.close()
