"""The schema's steps: numbered files, each carried out whole or not at all, with a dated copy of the board before."""

import re
import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from core.blackboard.backup import backup, stamp_of
from core.blackboard.files import beside, board_error
from core.domain.errors import BoardCorrupt, BoardTooNew

APPLICATION_ID = 0x4F505352  # "OPSR": tells a board from any other SQLite file


@cache
def steps() -> dict[int, str]:
    """The SQL of every step by its number; numbers run from 1 without a gap."""
    found: dict[int, str] = {}
    for file in files("core.blackboard").joinpath("schema").iterdir():
        if named := re.fullmatch(r"(\d{4})_\w+\.sql", file.name):
            found[int(named[1])] = file.read_text(encoding="utf-8")
    return dict(sorted(found.items()))


SCHEMA_VERSION: int = max(steps())


def statements(sql: str) -> Iterator[str]:
    """The single statements of a step; a trigger's inner semicolons do not end it."""
    lines: list[str] = []
    for line in sql.splitlines():
        if not lines and (not line.strip() or line.lstrip().startswith("--")):
            continue
        lines.append(line)
        text = "\n".join(lines)
        if line.rstrip().endswith(";") and sqlite3.complete_statement(text):
            yield text
            lines = []
    if lines:
        raise ValueError(f"a statement of the schema does not end with a semicolon: {lines[0]}")


def version_of(connection: sqlite3.Connection) -> int:
    """The schema version of the open file; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The version, if this program can work with it. Raises BoardTooNew, or BoardCorrupt for another program's file."""
    version = version_of(connection)
    if version > SCHEMA_VERSION:
        raise BoardTooNew(
            f"{path} has schema {version}, this Opsroom knows {SCHEMA_VERSION}; nothing was changed.",
            "Open it with a newer Opsroom, or restore the backup that lies beside it.",
        )
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if mark != APPLICATION_ID and not is_empty:
        raise BoardCorrupt(f"{path} is a database of another program; nothing was changed.", "Name another folder.")
    return version


def migrate(connection: sqlite3.Connection, path: Path, now_ms: int) -> None:
    """Bring the board to this program's schema. The caller owns the board and holds the opening lock.

    A failure in the middle leaves the version that was there, and the next call starts again.
    Raises BoardTooNew, BoardCorrupt, BoardFull, BoardReadOnly, BoardError.
    """
    try:
        version = check_version(connection, path)
        if version == SCHEMA_VERSION:
            return
        if version > 0:
            _keep_copy(path, version, now_ms)
        connection.execute("PRAGMA journal_mode=WAL")
        # Steps that rebuild a table need this off; it does nothing inside a transaction.
        connection.execute("PRAGMA foreign_keys=OFF")
        for number, sql in steps().items():
            if number > version:
                _carry_out(connection, path, number, sql)
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error as error:
        raise board_error(error, path) from error


def _keep_copy(path: Path, version: int, now_ms: int) -> None:
    target = beside(path, f"backup-{version}-{stamp_of(now_ms)}")
    # A retry within the same second finds the copy of the first try, of the same board.
    if not target.exists():
        backup(path, target, now_ms)


def _carry_out(connection: sqlite3.Connection, path: Path, number: int, sql: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(sql):
            connection.execute(statement)
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise BoardCorrupt(
                f"{path}: step {number} of the schema would break {len(broken)} references; nothing was changed.",
                "Report it, and go on with the older Opsroom.",
            )
        # Without statistics a later index can draw the planner off the partial ones.
        connection.execute("ANALYZE")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
