"""The board's file: private, the same one as when it was opened, and every trouble said in words."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from core.blackboard import files
from core.blackboard.board import Board
from core.domain.errors import BoardCorrupt, BoardError, BoardFull, BoardReadOnly, BoardReplaced, BoardTooNew
from tests.unit.blackboard_support import a_board, a_board_file, a_goal, a_program, now_ms, outcome, plain, the_writer


async def test_all_files_of_a_board_are_private(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        path = tmp_path / "new" / "board.db"
        async with a_board(path) as board:
            await the_writer(board).submit(a_goal)
            modes = {place.name: stat.S_IMODE(place.stat().st_mode) for place in path.parent.iterdir()}
        assert {"board.db", "board.db-wal", "board.db-shm", "board.db.owner"} <= modes.keys()
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    finally:
        os.umask(umask)


async def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)
    async with a_board(tmp_path / "board.db"):
        assert stat.S_IMODE(os.stat(tmp_path).st_mode) == 0o755


async def test_a_missing_board_says_what_to_do_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match=r"no board at .* `opsroom init DIR`"):
        await Board.open(tmp_path / "board.db", clock=now_ms)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["a b", "50%", "what?", "a#b", "数据", b"\xff\xfe".decode("utf-8", "surrogateescape")])
async def test_any_name_of_a_folder_works(tmp_path: Path, name: str) -> None:
    async with a_board(tmp_path / name / "board.db") as board:
        await the_writer(board).submit(a_goal)
        assert await board.readers.value("SELECT count(*) FROM goals") == 1
    assert (tmp_path / name / "board.db").exists()


async def test_a_replaced_file_stops_the_writing(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    async with a_board(path) as board:
        await the_writer(board).submit(a_goal)
        other = a_board_file(tmp_path)
        os.replace(other, path)
        with pytest.raises(BoardReplaced, match="replaced by another file"):
            await the_writer(board).submit(a_goal)
        with pytest.raises(BoardReplaced):
            board.check_identity()
    with plain(path) as connection:
        assert connection.execute("SELECT count(*) FROM goals").fetchone() == (0,)


async def test_a_deleted_file_stops_the_writing_for_good_and_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    async with a_board(path) as board:
        await the_writer(board).submit(a_goal)
        moved = path.rename(tmp_path / "moved.db")
        for _ in range(2):
            with pytest.raises(BoardReplaced, match="deleted or moved"):
                await the_writer(board).submit(a_goal)
        assert not path.exists()
        moved.rename(path)
        with pytest.raises(BoardReplaced):
            await the_writer(board).submit(a_goal)
        assert await board.readers.value("SELECT count(*) FROM goals") == 1


async def test_the_log_of_a_file_put_in_place_is_not_cleared_away(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    first = await Board.open(path, clock=now_ms, create=True)
    await the_writer(first).submit(a_goal)
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).rename(tmp_path / f"old.db{end}")
    await first.readers.close()
    first_ownership = first._ownership
    assert first_ownership is not None
    first_ownership.release()
    async with a_board(path) as second:
        await the_writer(second).submit(a_goal)
        await first.close()
        assert path.with_name("board.db-wal").exists()
        assert await second.readers.value("SELECT count(*) FROM goals") == 1


async def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        connection.execute("PRAGMA user_version=999")
    for role in ("owner", "auto", "reader"):
        with pytest.raises(BoardTooNew, match=r"schema 999.*newer Opsroom"):
            await Board.open(path, clock=now_ms, role=role)
    with plain(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    path.write_text("my diary, " * 1000)
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(BoardCorrupt, match=r"is not a database.*backup"):
            await Board.open(path, clock=now_ms, create=create)
    assert path.read_bytes() == before


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    path.touch()
    with plain(path) as connection:
        connection.execute("CREATE TABLE bookmarks(url TEXT)")
    with pytest.raises(BoardCorrupt, match="another program"):
        await Board.open(path, clock=now_ms)


async def test_damaged_pages_are_told_and_the_other_pages_stay_readable(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'goals'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xab" * size)
    async with a_board(path) as board:
        with pytest.raises(BoardCorrupt, match="damaged"):
            await the_writer(board).submit(a_goal)
        with pytest.raises(BoardCorrupt):
            await board.readers.all("SELECT * FROM goals")
        assert await board.readers.value("SELECT count(*) FROM events") == 0


async def test_a_board_whose_maker_was_killed_at_once_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    assert files.create_file(path)
    async with a_board(path) as board:
        await the_writer(board).submit(a_goal)


AS_NOBODY = """
    import asyncio, os, sys
    from pathlib import Path
    from core.blackboard.board import Board
    from core.domain.errors import OpsroomError
    import concurrent.futures.thread  # while its file can still be read

    async def main():
        path, act = Path(sys.argv[1]), sys.argv[2]
        if os.geteuid() == 0:
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
        role = "reader" if act == "read" else "auto"
        board = await Board.open(path, clock=lambda: 1, create=act == "create", role=role)
        print(await board.readers.value("SELECT count(*) FROM events"))
        await board.close()

    try:
        asyncio.run(main())
    except OpsroomError as error:
        print(type(error).__name__, error)
"""


@pytest.fixture
def public_folder() -> Path:
    # pytest's own folders cannot be entered by another user.
    folder = Path(tempfile.mkdtemp(prefix="opsroom-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def hand_over(place: Path, mode: int) -> None:
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    place.chmod(mode)


@pytest.mark.parametrize("act", ["open", "read"])
def test_a_folder_without_write_permission_is_said_with_owner_mode_and_cure(public_folder: Path, act: str) -> None:
    path = a_board_file(public_folder)
    for place in path.parent.iterdir():
        hand_over(place, 0o600)
    hand_over(path.parent, 0o555)
    code, out, err = outcome(a_program(AS_NOBODY, path, act))
    assert (code, err) == (0, "")
    assert out.startswith("BoardReadOnly ")
    assert "with mode 0555" in out
    assert "chmod" in out
    path.parent.chmod(0o755)


def test_a_read_only_file_is_said_with_owner_mode_and_cure(public_folder: Path) -> None:
    path = a_board_file(public_folder)
    for place in [path.parent, *path.parent.iterdir()]:
        hand_over(place, 0o755 if place.is_dir() else 0o600)
    hand_over(path, 0o400)
    code, out, _ = outcome(a_program(AS_NOBODY, path, "open"))
    assert code == 0
    assert out.startswith("BoardReadOnly ")
    assert "mode 0400" in out
    assert outcome(a_program(AS_NOBODY, path, "read"))[1] == "0\n"


def test_a_board_cannot_be_made_where_nothing_can_be_written(public_folder: Path) -> None:
    hand_over(public_folder, 0o555)
    code, out, _ = outcome(a_program(AS_NOBODY, public_folder / "board.db", "create"))
    assert code == 0
    assert out.startswith("BoardReadOnly ")


def test_errors_of_the_system_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "board.db"
    assert isinstance(files.board_error(OSError(28, "No space left"), path), BoardFull)
    assert isinstance(files.board_error(OSError(122, "Quota exceeded"), path), BoardFull)
    assert isinstance(files.board_error(OSError(30, "Read-only file system"), path), BoardReadOnly)
    assert type(files.board_error(RuntimeError("odd"), path)) is BoardError


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_network_file_systems_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(files, "file_system_type", lambda path: kind)
    warning = files.file_system_warning(tmp_path / "board.db")
    assert warning is not None
    assert kind in warning


def test_synced_folders_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "file_system_type", lambda path: "ext4")
    assert files.file_system_warning(tmp_path / "board.db") is None
    assert "synced folder" in (files.file_system_warning(tmp_path / "Dropbox" / "company" / "board.db") or "")
    (tmp_path / ".stfolder").mkdir()
    assert "synced folder" in (files.file_system_warning(tmp_path / "company" / "board.db") or "")


def test_the_type_of_the_file_system_is_known(tmp_path: Path) -> None:
    assert files.file_system_type(tmp_path / "not" / "yet" / "there")
    assert files.file_system_type(Path("/proc/self")) == "proc"
