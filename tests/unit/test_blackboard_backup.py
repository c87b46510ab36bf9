"""Backups of a board in use, and what the doctor finds."""

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest

from core.blackboard import checks
from core.blackboard.backup import backup
from core.blackboard.checks import check_board
from core.blackboard.fold import rebuild_and_compare
from core.blackboard.migrations import SCHEMA_VERSION
from core.domain.errors import BoardCorrupt, BoardError, Conflict
from tests.unit.blackboard_support import a_board, a_board_file, a_goal, a_task, plain, the_writer

NOON = 1_796_040_000_000


def verdicts(path: Path) -> dict[str, str]:
    return {check.name: check.verdict for check in check_board(path)}


async def test_a_backup_while_the_owner_writes_is_whole(tmp_path: Path) -> None:
    async with a_board(tmp_path / "board.db") as board:
        writer = the_writer(board)
        await writer.submit(lambda tx: [a_goal(tx) for _ in range(500)] and None)

        async def writes() -> None:
            while True:
                await writer.submit(lambda tx: (a_task(tx, a_goal(tx)), None)[1])

        task = asyncio.create_task(writes())
        try:
            copy = await asyncio.to_thread(backup, board.path, tmp_path / "copy.db", NOON)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    with plain(copy, "ro") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert rebuild_and_compare(connection) == []
    async with a_board(copy) as restored:
        assert await restored.readers.value("SELECT count(*) FROM goals") >= 500
        await the_writer(restored).submit(a_goal)


def test_a_backup_is_private_dated_and_never_overwrites(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    folder = tmp_path / "backups"
    folder.mkdir()
    copy = backup(path, folder, NOON)
    assert copy == folder / "board.db.backup-20261130T120000Z"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with pytest.raises(Conflict, match="never overwrites"):
        backup(path, folder, NOON)
    assert [place.name for place in folder.iterdir()] == [copy.name]


def test_a_backup_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match="no board"):
        backup(tmp_path / "none.db", tmp_path / "copy.db", NOON)
    path = tmp_path / "board.db"
    path.write_text("diary" * 1_000)
    with pytest.raises(BoardCorrupt):
        backup(path, tmp_path / "copy.db", NOON)
    with pytest.raises(BoardError):
        backup(a_board_file(tmp_path), tmp_path / "no" / "folder" / "copy.db", NOON)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["board.db", "company"]


async def test_a_healthy_board_in_use_passes_every_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_LITTLE_SPACE", 0)
    async with a_board(tmp_path / "board.db") as board:
        await the_writer(board).submit(lambda tx: (a_task(tx, a_goal(tx)), None)[1])
        found = check_board(board.path)
    assert {check.verdict for check in found} == {"ok"}, found
    assert {check.name for check in found} == {
        *("sqlite", "full text", "modes", "file system", "log", "space", "schema"),
        *("integrity", "references", "events", "counts"),
    }
    assert all(check.text.endswith(".") for check in found)


def test_what_somebody_changed_by_hand_is_found(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        connection.execute("UPDATE counts SET n = n")
        connection.execute("INSERT INTO counts VALUES ('goals', 'draft', 3)")
        connection.execute("INSERT INTO task_deps VALUES (1, 7, 8, 'hold', 0, 1)")
    path.chmod(0o644)
    found = verdicts(path)
    assert found["counts"] == found["references"] == found["events"] == "fail"
    assert found["modes"] == "warn"
    assert found["integrity"] == "ok"


def test_a_damaged_a_foreign_a_newer_and_a_missing_board_are_told(tmp_path: Path) -> None:
    assert verdicts(tmp_path / "none.db")["file"] == "fail"
    diary = tmp_path / "diary.db"
    diary.write_text("diary" * 1_000)
    assert verdicts(diary)["file"] == "fail"
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()[0]
        connection.execute("PRAGMA user_version=999")
    assert verdicts(path)["schema"] == "fail"
    with plain(path) as connection:
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xab" * 4096)
    found = verdicts(path)
    assert found["integrity"] == found["events"] == "fail"


def test_a_large_log_and_little_space_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        connection.execute("CREATE TABLE big(x)")
        monkeypatch.setattr(checks, "_LARGE_LOG", 1_000)
        monkeypatch.setattr(checks, "_LITTLE_SPACE", 1 << 60)
        found = verdicts(path)
    assert found["log"] == found["space"] == "warn"


@pytest.mark.parametrize(("version", "verdict"), [((3, 37, 2), "fail"), ((3, 40, 1), "ok"), ((3, 51, 3), "ok")])
def test_the_verdict_on_sqlite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int], verdict: str
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    found = next(check for check in check_board(tmp_path / "none.db") if check.name == "sqlite")
    assert found.verdict == verdict
    assert ("WAL-reset" in found.text) == (version == (3, 40, 1))
