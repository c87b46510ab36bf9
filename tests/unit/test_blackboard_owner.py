"""One owner a board, freed by the kernel; a lease whose fence never counts backwards."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from core.blackboard.board import Board
from core.blackboard.owner import Ownership, check_lease, release_lease, take_lease
from core.domain.errors import BoardOwned, Fenced
from tests.unit.blackboard_support import a_board, a_board_file, a_goal, a_program, now_ms, outcome, the_writer, until


def test_only_one_owns_and_says_who_it_is(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    first = Ownership.try_take(path, socket="board.db.sock")
    assert first is not None
    assert Ownership.try_take(path) is None
    told = json.loads((tmp_path / "board.db.owner").read_text())
    assert told.keys() == {"pid", "started", "socket"}
    assert told["socket"] == "board.db.sock"
    assert f"process {told['pid']}" in Ownership.describe_holder(path)
    assert stat.S_IMODE((tmp_path / "board.db.owner").stat().st_mode) == 0o600
    first.release()
    first.release()
    second = Ownership.try_take(path)
    assert second is not None
    second.release()


def test_without_a_holder_or_with_a_torn_file_there_are_still_words(tmp_path: Path) -> None:
    assert Ownership.describe_holder(tmp_path / "board.db") == "another process"
    (tmp_path / "board.db.owner").write_text('{"pid": 1')
    assert Ownership.describe_holder(tmp_path / "board.db") == "another process"


async def test_a_child_program_does_not_keep_the_board(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    first = Ownership.try_take(path)
    assert first is not None
    child = a_program("input()", stdin=subprocess.PIPE, close_fds=False)
    first.release()
    # The kernel lets the parent go on a moment before it has closed the child's copies.
    taken: list[Ownership | None] = []
    await until(lambda: taken.append(Ownership.try_take(path)) or taken[-1])
    assert child.poll() is None
    child.communicate("\n")
    assert taken[-1] is not None
    taken[-1].release()


def test_a_killed_owner_frees_the_board(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    program = a_program(
        """
        import sys, time
        from pathlib import Path
        from core.blackboard.owner import Ownership
        owned = Ownership.try_take(Path(sys.argv[1]))
        print("mine", flush=True)
        time.sleep(60)
        """,
        path,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "mine\n"
    assert Ownership.try_take(path) is None
    assert f"process {program.pid}" in Ownership.describe_holder(path)
    program.kill()
    outcome(program)
    taken = Ownership.try_take(path)
    assert taken is not None
    taken.release()


async def test_roles(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    async with a_board(path, role="reader") as reader:
        assert not reader.is_owner
        async with a_board(path, role="owner") as owner:
            assert owner.is_owner
            with pytest.raises(BoardOwned, match=r"process \d+ .* owns it"):
                await Board.open(path, clock=now_ms, role="owner")
            async with a_board(path) as other:
                assert other.writer is None
                assert not await other.try_own()
                await owner.close()
                assert await other.try_own()
                assert await other.try_own()
                await the_writer(other).submit(a_goal)
        assert await reader.readers.value("SELECT count(*) FROM goals") == 1


async def test_a_failed_opening_lets_the_board_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_board_file(tmp_path)

    async def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no thread left")

    with monkeypatch.context() as patch:
        patch.setattr("core.blackboard.board.Writer.open", fails)
        with pytest.raises(RuntimeError):
            await Board.open(path, clock=now_ms)
    async with a_board(path, role="owner") as board:
        assert board.is_owner


async def test_the_fence_rises_on_a_take_over_and_stays_on_a_renewal(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        submit = the_writer(board).submit
        assert await submit(lambda tx: take_lease(tx, "ticker", "a", 1_000)) == 1
        assert await submit(lambda tx: take_lease(tx, "ticker", "a", 1_000)) == 1
        assert await submit(lambda tx: take_lease(tx, "ticker", "b", 1_000)) == 2
        await submit(lambda tx: check_lease(tx, "ticker", "b", 2))
        with pytest.raises(Fenced, match=r"b \(fence 2\) has it now"):
            await submit(lambda tx: (a_goal(tx), check_lease(tx, "ticker", "a", 1)))
        assert await board.readers.value("SELECT count(*) FROM goals") == 0
        await submit(lambda tx: release_lease(tx, "ticker", "a"))
        await submit(lambda tx: check_lease(tx, "ticker", "b", 2))
        await submit(lambda tx: release_lease(tx, "ticker", "b"))
        with pytest.raises(Fenced, match="nobody has it now"):
            await submit(lambda tx: check_lease(tx, "ticker", "b", 2))
        assert await submit(lambda tx: take_lease(tx, "ticker", "b", 1_000)) == 3
        with pytest.raises(Fenced):
            await submit(lambda tx: check_lease(tx, "mail", "b", 1))
