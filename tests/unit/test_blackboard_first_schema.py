"""A board of the first schema, with rows and events that lack what came later, is brought up to date and goes on."""

import sqlite3
from pathlib import Path

import pytest

from core.blackboard import migrations
from core.blackboard.fold import rebuild_and_compare
from core.blackboard.rows import as_json, stored
from core.domain.budgets import MONEY_MAX
from core.domain.entities import Budget, Entity, Goal, Output, Review, Task
from core.domain.records import fields_of
from core.domain.states import ReviewStep
from tests.unit.blackboard_support import a_board, the_writer

USUAL = {"created_at": 5, "updated_at": 5, "verified_at": 5, "version": 1}
ROWS: tuple[tuple[type[Entity], dict[str, object]], ...] = (
    (Goal, {
        "title": "Audit", "description": "", "must_haves": [{"id": "M1", "text": "count", "waived_by": ""}],
        "constraints": [], "status": "active", "origin": "operator", "created_by": "human", "content_hash": "x",
        "split": 0, "round_cap": 8, "reason": "",
    }),
    (Task, {
        "goal_id": 1, "title": "Count", "intent": "", "end_state": "", "constraints": [], "must_haves": ["M1"],
        "capabilities": [], "arguments": {}, "risk": "standard", "status": "review", "fence": 1, "attempts": 0,
        "review_attempts": 0, "priority": 2, "open_deps": 0, "offer": 1, "broadcasts": 0, "created_by": "cora",
        "reason": "",
    }),
    (Output, {
        "goal_id": 1, "task_id": 1, "type": "data", "title": "Figures", "summary": "", "content": "42", "sha256": "x",
        "size": 2, "created_by": "ada",
    }),
    (Review, {
        "subject": "task", "subject_id": 1, "subject_hash": "x", "reviewer": "rita", "attempt": 1,
        "verdict": "needs_revision", "dimensions": {}, "findings": [], "opened_outputs": [1], "rebuttal": "",
    }),
)  # fmt: skip


def an_old_board(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path, isolation_level=None) as connection:
        for statement in migrations.statements(migrations.steps()[1]):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={migrations.APPLICATION_ID}")
        connection.execute("PRAGMA user_version=1")
        for cls, values in ROWS:
            names = [name for name in fields_of(cls) if name not in cls.added]
            row = {name: {"id": 1, **USUAL, **values}.get(name) for name in names}
            marks = ", ".join("?" * len(row))
            connection.execute(
                f"INSERT INTO {cls.table}({', '.join(row)}) VALUES ({marks})", [stored(v) for v in row.values()]
            )
            connection.execute(
                "INSERT INTO events(at, actor, entity, entity_id, kind, changed) VALUES (5, 'human', ?, 1, 'Made', ?)",
                (cls.table, as_json(row)),
            )
        for status, table in (("active", "goals"), ("review", "tasks")):
            connection.execute("INSERT INTO counts VALUES (?, ?, 1)", (table, status))
    connection.close()


async def test_rows_and_events_of_the_first_schema_agree_after_it_and_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "company" / "board.db"
    an_old_board(path)
    async with a_board(path) as board:
        writer = the_writer(board)
        assert await writer.submit(lambda tx: rebuild_and_compare(tx.connection)) == []
        task = await writer.submit(lambda tx: tx.get(Task, 1))
        assert (task.tags, task.plan_until, task.plans, task.criteria) == ((), None, 0, ())
        assert task.review_step == ReviewStep.REVIEW
        goal = await writer.submit(lambda tx: tx.get(Goal, 1))
        assert (goal.exploring, goal.out_of_scope) == (False, ())
        changed = await writer.submit(lambda tx: tx.update(tx.get(Task, 1), "TaskEdited", tags=("live_trading",)))
        assert changed.tags == ("live_trading",)
        assert await writer.submit(lambda tx: rebuild_and_compare(tx.connection)) == []


def a_board_of_schema_two(path: Path, budget_micros: int) -> None:
    """A board from before there were budgets, with an agent that was given one."""
    an_old_board(path)
    row = {
        "id": 1, "slug": "ada", "name": "Ada", "role": "executor", "capabilities": [], "manager_id": None,
        "runner": {"kind": "rehearsal"}, "status": "active", "max_runs": 1, "budget_micros": budget_micros,
        "cooldown_until": None, "created_at": 5, "updated_at": 5, "version": 1,
    }  # fmt: skip
    with sqlite3.connect(path, isolation_level=None) as connection:
        for statement in migrations.statements(migrations.steps()[2]):
            connection.execute(statement)
        connection.execute("PRAGMA user_version=2")
        marks = ", ".join("?" * len(row))
        connection.execute(
            f"INSERT INTO agents({', '.join(row)}) VALUES ({marks})", [stored(value) for value in row.values()]
        )
        connection.execute(
            "INSERT INTO events(at, actor, entity, entity_id, kind, changed)"
            " VALUES (6, 'human', 'agents', 1, 'AgentHired', ?)",
            (as_json(row),),
        )
        connection.execute("INSERT INTO counts VALUES ('agents', 'active', 1)")
    connection.close()


@pytest.mark.parametrize(("given", "held"), [(500_000, [500_000]), (2**62, [MONEY_MAX]), (0, [])])
async def test_what_an_agent_was_given_before_there_were_budgets_holds_it(
    tmp_path: Path, given: int, held: list[int]
) -> None:
    path = tmp_path / "company" / "board.db"
    a_board_of_schema_two(path, given)
    for _ in range(2):
        async with a_board(path) as board:
            writer = the_writer(board)
            budgets = await writer.submit(lambda tx: tx.select(Budget, "scope = 'agent' AND scope_id = 1"))
            assert [(each.limit_micros, each.period) for each in budgets] == [(micros, "day") for micros in held]
            assert [each.created_at for each in budgets] == [6 for _ in held]
            assert await writer.submit(lambda tx: rebuild_and_compare(tx.connection)) == []
