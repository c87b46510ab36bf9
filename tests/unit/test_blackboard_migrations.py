"""The schema's steps: each whole or not at all, with a copy of the board before, and retried after a failure."""

import stat
from pathlib import Path

import pytest

from core.blackboard import board as board_module
from core.blackboard import migrations
from core.blackboard.board import Board
from core.blackboard.migrations import statements
from core.domain.errors import BoardCorrupt, BoardError, BoardOwned
from tests.unit.blackboard_support import a_board, a_board_file, a_goal, now_ms, plain, the_writer

KNOWN = tuple(migrations.steps().values())
GOOD = "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\nINSERT INTO notes(text) VALUES ('a;b');"


def use_steps(monkeypatch: pytest.MonkeyPatch, *later: str) -> None:
    steps = dict(enumerate((*KNOWN, *later), start=1))
    monkeypatch.setattr(migrations, "steps", lambda: steps)
    for module in (migrations, board_module):
        monkeypatch.setattr(module, "SCHEMA_VERSION", len(steps))


async def an_old_board(tmp_path: Path) -> Path:
    path = a_board_file(tmp_path)
    async with a_board(path) as board:
        await the_writer(board).submit(a_goal)
    return path


async def test_an_old_board_is_brought_up_to_date_with_a_dated_copy_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await an_old_board(tmp_path)
    use_steps(monkeypatch, GOOD)
    async with a_board(path, clock=lambda: 1_796_030_337_000) as board:
        assert await board.readers.value("SELECT text FROM notes") == "a;b"
        assert await board.readers.value("PRAGMA user_version") == len(KNOWN) + 1
        assert await board.readers.value("SELECT count(*) FROM goals") == 1
    copy = path.with_name(f"board.db.backup-{len(KNOWN)}-20261130T091857Z")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with plain(copy, "ro") as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(KNOWN),)
        assert connection.execute("SELECT count(*) FROM goals").fetchone() == (1,)


async def test_a_step_that_fails_in_the_middle_leaves_the_old_board_and_is_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await an_old_board(tmp_path)
    use_steps(monkeypatch, GOOD + "\nINSERT INTO nowhere VALUES (1);")
    for _ in range(2):
        with pytest.raises(BoardError, match="nowhere"):
            await Board.open(path, clock=now_ms)
        with plain(path) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (len(KNOWN),)
            assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'notes'").fetchone() == (0,)
    use_steps(monkeypatch, GOOD)
    async with a_board(path) as board:
        assert await board.readers.value("SELECT count(*) FROM notes") == 1
        await the_writer(board).submit(a_goal)


async def test_steps_before_the_failing_one_stay_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await an_old_board(tmp_path)
    use_steps(monkeypatch, GOOD, "DROP TABLE nowhere;")
    with pytest.raises(BoardError):
        await Board.open(path, clock=now_ms)
    with plain(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(KNOWN) + 1,)


async def test_a_step_that_breaks_references_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await an_old_board(tmp_path)
    use_steps(monkeypatch, "INSERT INTO task_deps VALUES (1, 7, 8, 'hold', 0, 1);")
    with pytest.raises(BoardCorrupt, match=f"step {len(KNOWN) + 1} of the schema would break 2 references"):
        await Board.open(path, clock=now_ms)


async def test_the_schema_is_not_changed_under_a_living_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = await an_old_board(tmp_path)
    async with a_board(path) as owner:
        use_steps(monkeypatch, GOOD)
        for role in ("auto", "reader", "owner"):
            with pytest.raises(BoardOwned, match="owns it"):
                await Board.open(path, clock=now_ms, role=role)
        await the_writer(owner).submit(a_goal)


def test_statements_are_told_apart() -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  INSERT INTO b VALUES (1);\n  DELETE FROM c;\nEND;"
    sql = f"-- why\nCREATE TABLE a(x);\n\n{trigger}\nINSERT INTO a VALUES ('x;\ny');\n"
    assert list(statements(sql)) == ["CREATE TABLE a(x);", trigger, "INSERT INTO a VALUES ('x;\ny');"]
    with pytest.raises(ValueError, match="semicolon"):
        list(statements("CREATE TABLE a(x)"))


def test_steps_are_numbered_without_a_gap() -> None:
    assert list(migrations.steps()) == list(range(1, migrations.SCHEMA_VERSION + 1))
