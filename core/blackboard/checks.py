"""What the doctor asks of a board: is it whole, private, on a good disk, and does it agree with itself?"""

import contextlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.blackboard.files import beside, board_error, file_system_type, file_system_warning, missing, uri_of
from core.blackboard.fold import rebuild_and_compare
from core.blackboard.migrations import SCHEMA_VERSION, check_version
from core.blackboard.transaction import COUNTED
from core.domain.errors import BoardError

Verdict = Literal["ok", "warn", "fail"]
_MIB = 1024 * 1024
_LARGE_LOG = 64 * _MIB
_LITTLE_SPACE = 256 * _MIB
_FIXED_WAL_RESET = (3, 51, 3)


@dataclass(frozen=True, slots=True)
class Check:
    """One question: its name, the verdict, and a sentence that says what was found and what to do."""

    name: str
    verdict: Verdict
    text: str


def check_board(path: Path) -> list[Check]:
    """All checks, also of a damaged board; never raises for what a board can suffer. Blocks; reads the whole file."""
    checks = [_sqlite_version(), _full_text()]
    if not path.exists():
        return [*checks, Check("file", "fail", str(missing(path)))]
    checks += [_modes(path), _file_system(path), _log_size(path), _free_space(path)]
    try:
        with contextlib.closing(sqlite3.connect(uri_of(path, "ro"), uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA busy_timeout=5000")
            checks.extend(_inside(connection, path))
    except sqlite3.Error as error:
        checks.append(Check("file", "fail", str(board_error(error, path))))
    return checks


def _inside(connection: sqlite3.Connection, path: Path) -> Iterator[Check]:
    # One moment for all: the owner may be writing.
    connection.execute("BEGIN")
    try:
        version = check_version(connection, path)
    except BoardError as error:
        yield Check("schema", "fail", str(error))
        return
    if version < SCHEMA_VERSION:
        older = f"The schema is {version}, this Opsroom's is {SCHEMA_VERSION}: opening the board will migrate it."
        yield Check("schema", "warn", older)
        return
    yield Check("schema", "ok", f"Schema {version}.")
    questions: dict[str, Callable[[sqlite3.Connection], list[str]]] = {
        "integrity": _integrity,
        "references": _references,
        "events": rebuild_and_compare,
        "counts": _counts,
    }
    for name, question in questions.items():
        try:
            faults = question(connection)
        except (sqlite3.Error, TypeError, ValueError, KeyError) as error:
            faults = [f"it cannot be read ({error})"]
        yield Check(name, "fail", f"{_FAULTY[name]}: {'; '.join(faults[:5])}.") if faults else _SOUND[name]


_SOUND = {
    "integrity": Check("integrity", "ok", "The file's pages are whole."),
    "references": Check("references", "ok", "Every reference leads somewhere."),
    "events": Check("events", "ok", "The tables are what the events tell."),
    "counts": Check("counts", "ok", "The kept counts are right."),
}
_FAULTY = {
    "integrity": "The file is damaged, restore the newest backup",
    "references": "References lead nowhere, restore the newest backup",
    "events": "The tables differ from what the events tell, somebody changed the file by hand",
    "counts": "The kept counts are wrong, somebody changed the file by hand",
}


def _integrity(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    return [row[0] for row in rows if row[0] != "ok"]


def _references(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("PRAGMA foreign_key_check").fetchall()
    return [f"{table} {number} refers to a missing row of {parent}" for table, number, parent, _ in rows]


def _counts(connection: sqlite3.Connection) -> list[str]:
    kept = {(e, s): n for e, s, n in connection.execute("SELECT entity, status, n FROM counts WHERE n <> 0")}
    real = {
        (table, status): n
        for table in sorted(COUNTED)
        for status, n in connection.execute(f"SELECT status, count(*) FROM {table} GROUP BY status")
    }
    keys = sorted(kept.keys() | real.keys())
    return [
        f"{entity} {status}: kept {kept.get((entity, status), 0)}, counted {real.get((entity, status), 0)}"
        for entity, status in keys
        if kept.get((entity, status), 0) != real.get((entity, status), 0)
    ]


def _sqlite_version() -> Check:
    text = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < (3, 38):
        return Check("sqlite", "fail", f"{text} is too old: 3.38 is needed. Use a newer Python.")
    if sqlite3.sqlite_version_info < _FIXED_WAL_RESET:
        harmless = "the WAL-reset bug (fixed in 3.51.3) needs two checkpointing connections, and a board has one."
        return Check("sqlite", "ok", f"{text}; {harmless} Do not write to the board with other programs.")
    return Check("sqlite", "ok", f"{text}.")


def _full_text() -> Check:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
        except sqlite3.Error:
            return Check(
                "full text", "fail", "This Python's SQLite has no FTS5. Use one that has, e.g. from python.org."
            )
    return Check("full text", "ok", "FTS5 is there.")


def _modes(path: Path) -> Check:
    open_files = [
        f"{place.name} {stat.S_IMODE(place.stat().st_mode):04o}"
        for place in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm")), beside(path, "owner"))
        if place.exists() and stat.S_IMODE(place.stat().st_mode) & 0o077
    ]
    if open_files:
        return Check("modes", "warn", f"Others can read the board ({', '.join(open_files)}): chmod 600 these files.")
    return Check("modes", "ok", "Only you can read the board.")


def _file_system(path: Path) -> Check:
    warning = file_system_warning(path)
    if warning is not None:
        return Check("file system", "warn", warning)
    return Check("file system", "ok", f"{file_system_type(path) or 'An unknown type'}, as far as known safe for locks.")


def _log_size(path: Path) -> Check:
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        held = "some program keeps an old read open; close other programs that have the board open."
        return Check("log", "warn", f"The write-ahead log has {size // _MIB} MiB: {held}")
    return Check("log", "ok", f"The write-ahead log has {size // 1024} KiB.")


def _free_space(path: Path) -> Check:
    found = os.statvfs(path.parent)
    free = found.f_bavail * found.f_frsize
    if free < _LITTLE_SPACE:
        return Check("space", "warn", f"Only {free // _MIB} MiB are free beside the board. Free some space.")
    return Check("space", "ok", f"{free // _MIB} MiB are free.")
