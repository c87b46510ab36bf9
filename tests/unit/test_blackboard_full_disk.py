"""A full disk: said as such, nothing acknowledged is lost, and writing goes on when space returns."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.blackboard.board import Board
from core.blackboard.fold import rebuild_and_compare
from core.blackboard.writer import Writer
from core.domain.entities import Goal
from core.domain.errors import BoardFull
from tests.unit.blackboard_support import a_board, a_goal, now_ms, plain, the_writer


async def fill(writer: Writer) -> list[Goal]:
    """Write until nothing fits any more; what was acknowledged."""
    made: list[Goal] = []
    for _ in range(5_000):
        answers = await asyncio.gather(
            *(writer.submit(lambda tx: a_goal(tx, description="x" * 9_000)) for _ in range(4)), return_exceptions=True
        )
        made += [answer for answer in answers if isinstance(answer, Goal)]
        errors = [answer for answer in answers if not isinstance(answer, Goal)]
        assert all(isinstance(error, BoardFull) for error in errors)
        if len(errors) == 4:
            return made
    pytest.fail("it never got full")


async def test_a_board_that_may_not_grow_is_full_and_goes_on_later(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    async with a_board(path) as board:
        writer = the_writer(board)
        await writer.submit(a_goal)
        await writer.submit(lambda tx: tx.value(f"PRAGMA max_page_count={tx.value('PRAGMA page_count') + 40}"))
        made = await fill(writer)
        with pytest.raises(BoardFull, match=r"No space is left .* kept"):
            await writer.submit(lambda tx: a_goal(tx, description="y" * 300_000))
        assert await board.readers.value("SELECT count(*) FROM goals") == len(made) + 1
        await writer.submit(lambda tx: tx.value("PRAGMA max_page_count=100000"))
        assert (await writer.submit(lambda tx: a_goal(tx, description="y" * 300_000))).id == len(made) + 2
    with plain(path) as connection:
        assert rebuild_and_compare(connection) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if os.geteuid() != 0 or mount is None or umount is None:
        pytest.skip("only root can mount a small disk")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no small disk here: {done.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run([umount, "--lazy", str(folder)], check=False)


async def test_a_full_disk_keeps_what_was_acknowledged_and_goes_on_when_space_returns(small_disk: Path) -> None:
    path, other = small_disk / "board.db", small_disk / "other"
    async with a_board(path) as board:
        writer = the_writer(board)
        with other.open("wb") as file:
            file.write(b"\0" * 1_000_000)
        made = await fill(writer)
        assert made
        assert await board.readers.value("SELECT count(*) FROM goals") == len(made)
        with pytest.raises(BoardFull):
            await writer.submit(lambda tx: a_goal(tx, description="y" * 200_000))
        os.truncate(other, 0)
        again = await writer.submit(lambda tx: a_goal(tx, description="y" * 9_000))
        ids = [goal.id for goal in made] + [again.id]
        assert [row["id"] for row in await board.readers.all("SELECT id FROM goals ORDER BY id")] == ids
    with plain(path, "ro") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rebuild_and_compare(connection) == []


async def test_a_board_cannot_be_made_on_a_full_disk_and_is_made_later(small_disk: Path) -> None:
    other = small_disk / "other"
    with other.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        file.writelines(b"\0" * 4096 for _ in range(2_000))
    with pytest.raises(BoardFull):
        await Board.open(small_disk / "board.db", clock=now_ms, create=True)
    os.truncate(other, 0)
    async with a_board(small_disk / "board.db") as board:
        await the_writer(board).submit(a_goal)
