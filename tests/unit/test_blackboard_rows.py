"""Rows, entities and the fold: every way to read a row gives the same, and the events tell the whole story."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.blackboard.fold import Tables, event_of, fold, rebuild_and_compare
from core.blackboard.migrations import migrate
from core.blackboard.rows import changed_entity, columns, from_values, maker, stored
from core.blackboard.transaction import Transaction
from core.domain.entities import ENTITIES, Event, Goal, Task
from core.domain.errors import Conflict
from core.domain.records import decode, encode, fields_of
from core.domain.states import Risk, TaskStatus
from tests.unit.blackboard_support import a_board_file, a_goal, a_task, plain

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES: list[Any] = [None, "", "x", 7, True, False, 1.5, (), ("a", "ü"), {}, {"b": 1, "a": [1]}, [], TaskStatus.DONE]


def in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, Path("board.db"), 0)
    connection.execute("BEGIN IMMEDIATE")
    return connection


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_the_fast_way_to_store_equals_the_plain_one(value: Any) -> None:
    assert stored(value) == encode(value)
    assert type(stored(value)) is type(encode(value))


def test_the_fast_ways_to_make_an_entity_equal_the_plain_one() -> None:
    connection = in_memory()
    tx = Transaction(connection, 5)
    goal = a_goal(tx, must_haves=({"id": "m1", "text": "all files", "waived_by": ""},), split=True, constraints=("a",))
    task = a_task(tx, goal, arguments={"depth": [1, {"x": 2}]}, must_haves=("m1",), assignee_id=None)
    for entity in (goal, task):
        cls = type(entity)
        row = connection.execute(f"SELECT {columns(cls)} FROM {cls.table}").fetchone()
        named = dict(zip(fields_of(cls), row, strict=True))
        assert decode(cls, named) == maker(cls)(row) == from_values(cls)(named) == entity
        assert [type(getattr(entity, name)) for name in fields_of(cls)] == [
            type(getattr(decode(cls, named), name)) for name in fields_of(cls)
        ]
    changed = changed_entity(task, {"status": "done", "capabilities": '["a"]', "risk": Risk.HIGH})
    assert (changed.status, changed.capabilities, changed.risk) == (TaskStatus.DONE, ("a",), Risk.HIGH)
    assert task.status is TaskStatus.PENDING
    with pytest.raises(ValueError, match="asleep"):
        changed_entity(task, {"status": "asleep"})


def test_every_field_is_a_column_of_its_table() -> None:
    connection = in_memory()
    for table, cls in ENTITIES.items():
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        assert set(names) == set(fields_of(cls)), table


def test_a_stale_row_is_not_written() -> None:
    tx = Transaction(in_memory(), 5)
    goal = a_goal(tx)
    tx.update(goal, "GoalRevised", title="new")
    with pytest.raises(Conflict, match=f"G{goal.id} changed meanwhile"):
        tx.update(goal, "GoalRevised", title="newer")


STEP = st.tuples(
    st.sampled_from(["goal", "task", "revise", "move", "fail"]),
    TEXT,
    st.integers(0, 30),
    st.sampled_from(list(TaskStatus)),
)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEP, max_size=40))
def test_the_tables_are_a_fold_of_the_events(steps: list[tuple[str, str, int, TaskStatus]]) -> None:
    connection = in_memory()
    tx = Transaction(connection, 5)
    live = Tables()
    goals, tasks = [a_goal(tx)], []
    for act, text, number, status in steps:
        if act == "goal":
            goals.append(a_goal(tx, title=text, must_haves=({"id": "m", "text": text, "waived_by": ""},)))
        elif act == "task":
            tasks.append(a_task(tx, goals[number % len(goals)], title=text, arguments={text: number}))
        elif act == "revise":
            place = number % len(goals)
            goals[place] = tx.update(goals[place], "GoalRevised", title=text, constraints=(text,))
        elif act == "move" and tasks:
            place = number % len(tasks)
            tasks[place] = tx.update(tasks[place], "TaskMoved", status=status, fence=number)
        elif act == "fail":
            rolled_back(tx, text)
    for event in tx.events:
        live.apply(event)
    assert rebuild_and_compare(connection) == []
    stored_events = [event_of(row) for row in connection.execute("SELECT * FROM events ORDER BY id")]
    assert fold(stored_events).rows == live.rows
    for task in tasks:
        assert live.get(Task, task.id) == task == tx.get(Task, task.id)
    counted = "SELECT status, count(*) FROM tasks GROUP BY status"
    for status, count in connection.execute(counted).fetchall():
        assert tx.count("tasks", status) == count
    connection.close()


def rolled_back(tx: Transaction, text: str) -> None:
    tx.connection.execute("SAVEPOINT attempt")
    a_goal(tx, title=text)
    tx.events.pop()
    tx.connection.execute("ROLLBACK TO attempt")


def test_a_change_behind_the_codes_back_is_told(tmp_path: Path) -> None:
    path = a_board_file(tmp_path)
    with plain(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        tx = Transaction(connection, 5)
        a_task(tx, a_goal(tx))
        connection.execute("UPDATE goals SET title = 'forged'")
        others = ", ".join(name for name in fields_of(Goal) if name != "id")
        connection.execute(f"INSERT INTO goals(id, {others}) SELECT 7, {others} FROM goals")
        connection.execute("DELETE FROM tasks")
        connection.execute("COMMIT")
        assert rebuild_and_compare(connection) == [
            "goals 1: title is 'forged', but the events say 'Audit the folder'",
            "goals 7: in the table, but no event tells of it",
            "tasks 1: events tell of it, but it is not in the table",
        ]


def test_events_of_other_things_and_unknown_rows_are_left_aside() -> None:
    tables = Tables()
    usual: dict[str, Any] = {"at": 1, "actor": "system", "run_id": None, "kind": "x", "cause": None}
    assert tables.apply(Event(id=1, entity="ticker", entity_id=1, changed={"tick": 3}, **usual)) is None
    assert tables.apply(Event(id=2, entity="goals", entity_id=9, changed={"title": "late"}, **usual)) is None
    assert len(tables) == 0
    goal = a_goal(Transaction(in_memory(), 5))
    tables = Tables([goal])
    told = Event(id=3, entity="goals", entity_id=goal.id, changed={"note": "no field", "title": "new"}, **usual)
    assert tables.apply(told) == changed_entity(goal, {"title": "new"})
    assert [row.id for row in tables.all(Goal)] == [goal.id]
