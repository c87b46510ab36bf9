"""The hot conditions stay on their partial indexes, and nothing in the core writes but under BEGIN IMMEDIATE."""

import re
import sqlite3
from pathlib import Path

import pytest

from core.blackboard import queries
from core.blackboard.migrations import migrate
from core.blackboard.transaction import Transaction
from tests.unit.blackboard_support import ROOT, a_goal, a_task

HOT = {
    "tasks_ready": ("tasks", queries.READY_TASKS),
    "tasks_busy": ("tasks", queries.BUSY_TASKS),
    "runs_live": ("runs", queries.LIVE_RUNS),
    "approvals_one_pending": ("approvals", queries.PENDING_APPROVALS),
    "rounds_one_open": ("rounds", queries.OPEN_ROUNDS),
    "goals_alive": ("goals", queries.ALIVE_GOALS),
}
# They read only: a deferred BEGIN cannot fail to become a writing one there.
READING = {"readers.py", "checks.py", "past.py"}


@pytest.fixture(scope="module")
def connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, Path("board.db"), 0)
    connection.execute("BEGIN IMMEDIATE")
    tx = Transaction(connection, 5)
    goals = [a_goal(tx, status="archived") for _ in range(200)] + [a_goal(tx, status="active")]
    for number in range(2_000):
        a_task(tx, goals[-1], status="done", priority=number % 9)
    for number in range(20):
        a_task(tx, goals[-1], priority=number % 9)
    connection.execute("COMMIT")
    return connection


def plan_of(connection: sqlite3.Connection, table: str, condition: str) -> str:
    rows = connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE {condition}", {"limit": 50})
    return "\n".join(row[3] for row in rows)


@pytest.mark.parametrize("analyzed", [False, True], ids=["fresh", "analyzed"])
@pytest.mark.parametrize("index", HOT)
def test_hot_conditions_use_their_partial_index(connection: sqlite3.Connection, index: str, analyzed: bool) -> None:
    if analyzed:
        connection.execute("ANALYZE")
    assert f"USING INDEX {index}" in plan_of(connection, *HOT[index])


def test_ready_tasks_come_sorted_from_the_index(connection: sqlite3.Connection) -> None:
    assert "TEMP B-TREE" not in plan_of(connection, *HOT["tasks_ready"])


def test_looking_at_a_row_its_events_and_its_words_reads_no_whole_table(connection: sqlite3.Connection) -> None:
    for table, condition in (
        ("tasks", "id = 1"),
        ("tasks", "goal_id = 1 ORDER BY id"),
        ("tasks", "idempotency_key = 'a'"),
        ("task_deps", "depends_on = 1"),
        ("events", "id > 1 ORDER BY id LIMIT 9"),
        ("events", "entity = 'tasks' AND entity_id = 1 ORDER BY id"),
        ("comments", "task_id = 1 ORDER BY id"),
        ("search", "rowid = 17"),
    ):
        plan = plan_of(connection, table, condition)
        found = re.search(r"SCAN", plan) and "VIRTUAL TABLE INDEX 0:=" not in plan
        assert not found, plan
        assert "TEMP B-TREE" not in plan, plan


def test_only_begin_immediate_writes() -> None:
    wrong = []
    for place in (ROOT / "core").rglob("*.py"):
        for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), start=1):
            starts = re.search(r"""["']\s*BEGIN\b(?! IMMEDIATE)""", line) and place.name not in READING
            if starts or re.search(r"\bexecutescript\(|isolation_level=[\"']", line):
                wrong.append(f"{place.relative_to(ROOT)}:{number}: {line.strip()}")
    assert wrong == []


def test_only_the_blackboard_opens_connections() -> None:
    opening = re.compile(r"\b(sqlite3|aiosqlite)\.connect\(")
    places = {
        place.relative_to(ROOT).parts[:2]
        for folder in ("core", "tui")
        for place in (ROOT / folder).rglob("*.py")
        if opening.search(place.read_text(encoding="utf-8"))
    }
    assert places == {("core", "blackboard")}
