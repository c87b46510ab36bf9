"""Several programs on one board: starts at once, kills in commits, crashes, followers and take-overs."""

import asyncio
import random
import signal
import time
from pathlib import Path

import pytest

from core.blackboard.board import Board
from core.blackboard.fold import rebuild_and_compare
from core.blackboard.migrations import SCHEMA_VERSION
from core.domain.entities import Event
from tests.unit.blackboard_support import (
    a_board,
    a_board_file,
    a_goal,
    a_program,
    now_ms,
    outcome,
    plain,
    the_writer,
    until,
)

HANG_S = 20

OPENS = """
    import asyncio, sys, time
    from pathlib import Path
    from core.blackboard.board import Board
    from tests.unit.blackboard_support import a_goal, now_ms

    async def main():
        path, go = Path(sys.argv[1]), Path(sys.argv[2])
        while not go.exists():
            time.sleep(0.001)
        board = await Board.open(path, clock=now_ms, create=True)
        print("owner" if board.is_owner else "reader", await board.readers.value("PRAGMA user_version"), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        while not await board.try_own():
            await asyncio.sleep(0.01)
        await board.writer.submit(a_goal)
        await board.close()

    asyncio.run(main())
"""


def test_eight_programs_start_on_one_new_board(tmp_path: Path) -> None:
    path, go = tmp_path / "company" / "board.db", tmp_path / "go"
    programs = [a_program(OPENS, path, go, stdin=-1) for _ in range(8)]
    go.touch()
    told = [program.stdout.readline() for program in programs if program.stdout is not None]
    assert sorted(told) == [f"owner {SCHEMA_VERSION}\n"] + [f"reader {SCHEMA_VERSION}\n"] * 7
    # All want to write now: each gets its turn as the owner before it ends.
    for program in programs:
        assert program.stdin is not None
        program.stdin.write("\n")
        program.stdin.flush()
    assert [outcome(program)[::2] for program in programs] == [(0, "")] * 8
    with plain(path) as connection:
        assert connection.execute("SELECT count(*) FROM goals").fetchone() == (8,)
        assert rebuild_and_compare(connection) == []


KILLED = """
    import asyncio, os, random, sys, time
    from pathlib import Path
    from core.blackboard.board import Board
    from tests.unit.blackboard_support import a_goal, a_task, now_ms

    async def writes(path, journal, life):
        board = await Board.open(path, clock=now_ms, create=True, role="owner")
        os.write(journal, b"open\\n")

        async def caller():
            while True:
                goal = await board.writer.submit(lambda tx: (goal := a_goal(tx), a_task(tx, goal))[0])
                os.write(journal, b"%d\\n" % goal.id)

        await asyncio.gather(*(caller() for _ in range(8)))

    path, journal = Path(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for life in range(20):
        size, child = os.path.getsize(sys.argv[2]), os.fork()
        if child == 0:
            asyncio.run(writes(path, journal, life))
        while os.path.getsize(sys.argv[2]) == size:
            time.sleep(0.001)
        time.sleep(random.Random(life).uniform(0, 0.15))
        os.kill(child, 9)
        os.waitpid(child, 0)
"""


async def test_after_twenty_kills_every_acknowledged_write_is_there(tmp_path: Path) -> None:
    path, journal = tmp_path / "board.db", tmp_path / "journal"
    code, _, err = await asyncio.to_thread(lambda: outcome(a_program(KILLED, path, journal)))
    assert (code, err) == (0, "")
    words = journal.read_text().split()
    acknowledged = {int(word) for word in words if word != "open"}
    assert words.count("open") == 20
    assert len(acknowledged) > 100
    async with a_board(path, role="owner") as board:
        stored = {row["id"] for row in await board.readers.all("SELECT id FROM goals")}
        assert acknowledged <= stored
        assert await board.readers.value("SELECT count(*) FROM tasks") == len(stored)
        await the_writer(board).submit(a_goal)
    with plain(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rebuild_and_compare(connection) == []


CRASHES = """
    import asyncio, sys
    from pathlib import Path
    from core.blackboard.board import Board
    from tests.unit.blackboard_support import a_goal, now_ms

    async def main():
        board = await Board.open(Path(sys.argv[1]), clock=now_ms, create=True, role=sys.argv[2])
        board.follow(print, after=0)
        if board.writer is not None:
            await board.writer.submit(a_goal)
            queued = [asyncio.ensure_future(board.writer.submit(a_goal)) for _ in range(100)]
            await asyncio.sleep(0)
        if sys.argv[3] == "exit":
            sys.exit(1)
        raise RuntimeError("the program broke")

    asyncio.run(main())
"""


@pytest.mark.parametrize("role", ["owner", "reader"])
@pytest.mark.parametrize("way", ["raise", "exit"])
def test_a_program_that_breaks_before_it_closes_does_not_hang(tmp_path: Path, role: str, way: str) -> None:
    # Two seconds are the goal; the bound only tells an end from a hang on a busy machine.
    path = a_board_file(tmp_path)
    code, _, err = outcome(a_program(CRASHES, path, role, way), timeout=HANG_S)
    assert code == 1
    assert ("the program broke" in err) == (way == "raise")
    with plain(path) as connection:
        assert rebuild_and_compare(connection) == []


FOLLOWS = """
    import asyncio, sys
    from pathlib import Path
    from core.blackboard.board import Board
    from tests.unit.blackboard_support import now_ms

    async def main():
        board = await Board.open(Path(sys.argv[1]), clock=now_ms, role="reader")
        last, rows = await board.readers.snapshot()
        print(last, len(rows), flush=True)
        ended = asyncio.Event()

        def hear(events):
            for event in events:
                print(event.id, event.changed["title"], flush=True)
                if event.changed["title"] == "the last":
                    ended.set()

        board.follow(hear, after=last)
        await ended.wait()
        await board.close()

    asyncio.run(main())
"""


async def test_another_program_sees_every_event_once_after_its_snapshot(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)
        follower = a_program(FOLLOWS, board.path)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            await asyncio.gather(*(writer.submit(a_goal) for _ in range(random.randint(1, 40))))
            await asyncio.sleep(0.01)
        written = (await writer.submit(lambda tx: a_goal(tx, title="the last"))).id
        code, out, err = await asyncio.to_thread(outcome, follower)
        assert (code, err) == (0, "")
        first, *rest = out.splitlines()
        last, rows = (int(word) for word in first.split())
        assert last == rows
        assert [int(line.split()[0]) for line in rest] == list(range(last + 1, written + 1))


OWNS = """
    import asyncio, sys
    from pathlib import Path
    from core.blackboard.board import Board
    from tests.unit.blackboard_support import a_goal, now_ms

    async def main():
        board = await Board.open(Path(sys.argv[1]), clock=now_ms, role="owner")
        while True:
            print((await board.writer.submit(a_goal)).id, flush=True)
            await asyncio.sleep(0.002)

    asyncio.run(main())
"""


async def test_a_follower_goes_on_over_a_take_over_without_gap_or_double(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    owner = a_program(OWNS, path)
    assert owner.stdout is not None
    assert (await asyncio.to_thread(owner.stdout.readline)) == "1\n"
    async with a_board(path) as board:
        assert not board.is_owner
        heard: list[Event] = []
        board.follow(heard.extend, after=0)
        while len(heard) < 50:
            assert not await board.try_own()
            await asyncio.sleep(0.05)
        owner.send_signal(signal.SIGKILL)
        await asyncio.to_thread(owner.wait)
        assert await board.try_own()
        # Some before the follower has read what the dead owner left, some after.
        made = [await the_writer(board).submit(a_goal) for _ in range(20)]
        await until(lambda: len(heard) >= made[-1].id)
        live = [await the_writer(board).submit(a_goal) for _ in range(20)]
        assert [event.id for event in heard] == list(range(1, live[-1].id + 1))
        acknowledged = await asyncio.to_thread(lambda: outcome(owner)[1].split())
        assert made[0].id > int(acknowledged[-1])


async def test_following_in_the_owner_has_no_gap_while_it_catches_up(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)
        await writer.submit(lambda tx: [a_goal(tx) for _ in range(2_500)] and None)
        heard: list[Event] = []
        unsubscribe = board.follow(heard.extend, after=100)
        last = 0
        while not heard or heard[-1].id < 2_550:
            last = (await writer.submit(a_goal)).id
        assert [event.id for event in heard] == list(range(101, heard[-1].id + 1))
        await asyncio.sleep(0.05)
        assert heard[-1].id == last
        unsubscribe()
        await writer.submit(a_goal)
        assert heard[-1].id == last


async def test_a_follower_that_raises_is_called_again(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        heard: list[int] = []

        def breaks(events: list[Event]) -> None:
            heard.extend(event.id for event in events)
            raise RuntimeError("a pane broke")

        board.follow(breaks)
        for _ in range(3):
            await the_writer(board).submit(a_goal)
        assert heard == [1, 2, 3]


async def test_following_from_now_on_in_a_reader(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as owner, a_board(tmp_path / "board.db", role="reader") as reader:
        await the_writer(owner).submit(a_goal)
        heard: list[int] = []
        reader.follow(lambda events: heard.extend(event.id for event in events))
        await asyncio.sleep(0.3)
        await the_writer(owner).submit(a_goal)
        await until(lambda: heard)
        assert heard == [2]


async def test_opening_that_is_cancelled_at_any_time_leaves_the_board_free(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    for turn in range(12):
        task = asyncio.create_task(Board.open(path, clock=now_ms, create=True))
        await asyncio.sleep(turn * 0.003)
        task.cancel()
        opened = (await asyncio.gather(task, return_exceptions=True))[0]
        if isinstance(opened, Board):
            await opened.close()
    for _ in range(200):
        board = await Board.open(path, clock=now_ms, create=True)
        is_owner = board.is_owner
        await board.close()
        if is_owner:
            return
        await asyncio.sleep(0.05)
    pytest.fail("a cancelled opening kept the board")
