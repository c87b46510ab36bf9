"""Each law of the simulator is seen to be broken where it is: one that could never fire would show nothing (S2-39)."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from core.blackboard.transaction import Transaction
from core.domain.limits import STALL_MS
from core.domain.states import RunKind
from core.simulation.laws import COUNTERS, FORBIDDEN, broken_laws, standing_still, waiting_for_nothing
from core.simulation.report import duplicates
from tests.unit.ticking import tick
from tests.unit.world import World, a_company

Change = Callable[[Transaction], None]


class Undone(Exception):
    """Raised to take a change of the board back."""


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """T1 is done, T2 at work, T3 pending with a question; G2 is in its first turn; bob was named and answers."""
    async with a_company(tmp_path) as made:
        goal = await made.an_active_goal("Count", "Sort", "Name", must_haves=("count",))
        await made.brought_to(1, "done")
        await made.brought_to(2, "working")
        cora = await made.run("cora", RunKind.MENTION, goal_id=goal.id)
        await made.do(cora, "RequestApproval", kind="question", entity="task:3", title="Is it needed?")
        await made.finish(cora)
        await made.operator("AddComment", goal=goal.id, kind="decision", body="Count links once.")
        await made.operator("AddComment", goal=goal.id, kind="question", body="@rita how many?")
        await made.run("bob", RunKind.MENTION, goal_id=goal.id)
        other = await made.a_goal()
        await made.operator("DispatchGoal", goal=other.id)
        assert "OpenTurn" in await tick(made)
        assert await made.read(broken_laws) == []
        yield made


def sql(*statements: str) -> Change:
    """A change by hand, behind the program's back."""

    def change(tx: Transaction) -> None:
        for statement in statements:
            assert tx.connection.execute(statement).rowcount > 0, f"it changes nothing: {statement}"

    return change


def again(table: str, where: str, **changed: Any) -> Change:
    """A second row like one that is there."""

    def change(tx: Transaction) -> None:
        row = {**tx.all(f"SELECT * FROM {table} WHERE {where} ORDER BY id DESC LIMIT 1")[0], **changed}
        row["id"] = tx.value(f"SELECT max(id) + 1 FROM {table}")
        if "idempotency_key" in row:
            row["idempotency_key"] = f"again:{row['id']}"
        tx.connection.execute(
            f"INSERT INTO {table}({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )

    return change


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(tx: Transaction) -> None:
        for each in changes:
            each(tx)

    return change


def without_index(name: str) -> Change:
    """The schema itself refuses what this law forbids; the law is looked at without that."""

    def change(tx: Transaction) -> None:
        tx.connection.execute(f"DROP INDEX {name}")

    return change


CONSUMED = "INSERT INTO events(at, actor, entity, entity_id, kind, changed) SELECT max(at), 'human', 'approvals', 1,"
BREAKS: dict[str, Change] = {
    "two runs work on one task at once": again("runs", "task_id = 2 AND kind = 'execute'"),
    "a task is held by two live runs": sql(
        "UPDATE tasks SET assignee_id = (SELECT id FROM agents WHERE slug = 'bob') WHERE id = 2"
    ),
    "a current run is not a live run of its task": sql("UPDATE tasks SET current_run = 1 WHERE id = 2"),
    "a task has a current run and nobody works on it": sql("UPDATE tasks SET current_run = 1 WHERE id = 3"),
    "a held task has no assignee": sql("UPDATE tasks SET assignee_id = NULL WHERE id = 2"),
    "somebody judged their own work": sql("UPDATE reviews SET reviewer = 'ada'"),
    "a task is done without an approval": sql("DELETE FROM reviews"),
    "two questions of one kind wait about one thing": both(
        without_index("approvals_one_pending"),
        again("approvals", "status = 'pending'"),
    ),
    "an approval was used without being approved": sql("UPDATE approvals SET status = 'consumed'"),
    "an approval was used twice": sql(*[f"{CONSUMED} 'ApprovalConsumed', '{{}}' FROM events"] * 2),
    "a question about what has ended still waits": sql("UPDATE approvals SET entity = 'task:1'"),
    "an ended goal has open tasks, rounds or runs": sql("UPDATE goals SET status = 'done' WHERE id = 1"),
    "a round is open and all its tasks have ended": sql("UPDATE rounds SET open_tasks = 0"),
    "a round is reviewed while it has open tasks": sql("UPDATE rounds SET status = 'reviewing'"),
    "an event tells of a time before another's": sql(
        "UPDATE events SET at = 0 WHERE id = (SELECT max(id) FROM events)"
    ),
    "the last word on a done task is no approval": again("reviews", "true", verdict="rejected"),
    "a task of high risk is done by the word of one reviewer": sql("UPDATE tasks SET risk = 'high' WHERE id = 1"),
    "the second look is the first reviewer's": again("reviews", "true", stage="second"),
    "a verdict was contradicted twice": both(
        sql("UPDATE reviews SET rebuttal_answer = 'REJECT'"), again("reviews", "true", stage="reply")
    ),
    "three refusals and no question to the operator": sql("UPDATE tasks SET review_attempts = 3 WHERE id = 3"),
    "somebody works on a task whose plan stands open for objection": sql(
        "UPDATE tasks SET plan_until = 1 WHERE id = 2"
    ),
    "a discussion has more turns than it may": sql("UPDATE turns SET number = 6"),
    "a goal has two open turns, or one after its discussion": sql("UPDATE goals SET status = 'active' WHERE id = 2"),
    "a goal is talked over that is no draft": sql("UPDATE goals SET exploring = 1 WHERE id = 1"),
    "work on a goal begins before its discussion is over": sql("UPDATE goals SET status = 'planning' WHERE id = 1"),
    "a round was opened above the cap that the operator did not ask for": sql("UPDATE rounds SET number = 9"),
    "a mention woke who wrote it": sql("UPDATE comments SET author = 'rita' WHERE body LIKE '@rita%'"),
    "two runs answer for one agent where it was named": again("runs", "kind = 'mention' AND status = 'running'"),
    "a mention is held and nobody was asked": sql("UPDATE mentions SET status = 'held'"),
    "a run that is not at work holds money back": sql("UPDATE runs SET reserved_micros = 5 WHERE status = 'succeeded'"),
    "a goal was reported that lacks a must-have": sql("UPDATE goals SET status = 'reporting' WHERE id = 1"),
    "a goal was reported though a decision is in no output": sql("UPDATE goals SET status = 'reporting' WHERE id = 1"),
    COUNTERS: sql("UPDATE counts SET n = n + 1 WHERE entity = 'tasks' AND status = 'done'"),
}


async def seen(world: World, change: Change, look: Callable[[Transaction], Any]) -> Any:
    """What is seen after a change, which is then taken back."""
    found: list[Any] = []

    def act(tx: Transaction) -> None:
        change(tx)
        found.append(look(tx))
        raise Undone

    with pytest.raises(Undone):
        await world.read(act)
    return found[0]


async def test_every_law_is_seen_to_be_broken_where_it_is(world: World) -> None:
    assert set(BREAKS) == {*FORBIDDEN, COUNTERS}
    blind = []
    for law, change in BREAKS.items():
        if law not in {named for named, _ in await seen(world, change, broken_laws)}:
            blind.append(law)
    assert blind == []
    assert await world.read(broken_laws) == []


@pytest.mark.parametrize(
    "statement", ["UPDATE rounds SET total_tasks = 9", "UPDATE tasks SET open_deps = 3 WHERE id = 3"]
)
async def test_each_kept_count_is_compared_with_what_it_counts(world: World, statement: str) -> None:
    assert COUNTERS in {law for law, _ in await seen(world, sql(statement), broken_laws)}


async def test_what_waits_for_nothing_and_what_stands_still_is_named(world: World) -> None:
    nothing = sql("UPDATE tasks SET status = 'blocked' WHERE id = 3")
    assert "T3 is blocked" in await seen(world, nothing, lambda tx: waiting_for_nothing(tx, set()))
    assert await seen(world, nothing, lambda tx: waiting_for_nothing(tx, {"task:3", "goal:2"})) == []
    still = sql(
        "UPDATE runs SET status = 'killed' WHERE goal_id = 2 OR task_id = 2",
        "UPDATE tasks SET status = 'blocked' WHERE status <> 'done'",
        f"UPDATE rounds SET progress_at = progress_at - {STALL_MS}",
    )
    # A round that is still called open is no excuse, whoever knows of it: it has to be stalled by then.
    for known in (set(), {"round:1", "goal:2"}):
        assert "round 1 of G1 is open" in await seen(world, still, lambda tx, k=known: standing_still(tx, k))
    told = both(still, sql("UPDATE rounds SET status = 'stalled'"))
    assert "round 1 of G1 is stalled" in await seen(world, told, lambda tx: standing_still(tx, set()))
    assert await seen(world, told, lambda tx: standing_still(tx, {"round:1", "goal:2"})) == []


async def test_work_that_is_done_a_second_time_is_counted(world: World) -> None:
    assert await world.read(duplicates) == []
    twice = both(
        again("runs", "task_id = 1 AND kind = 'execute'"),
        lambda tx: again(
            "events", "entity = 'runs' AND kind = 'RunStarted'", entity_id=tx.value("SELECT max(id) FROM runs")
        )(tx),
    )
    assert len(await seen(world, twice, duplicates)) == 1
