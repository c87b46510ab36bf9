"""What the tasks below something delivered, gathered in one look, and the material of a round's review (S2-11, S2-34).

Everything is bounded, and says how much was left out.
"""

import json
from typing import Any

from core.blackboard.readers import Readers
from core.blackboard.rows import from_values
from core.domain.coverage import cover
from core.domain.entities import Comment, Decision, Goal, Output, Round, Task
from core.domain.errors import Invalid, NotFound
from core.domain.records import fields_of

LIMIT = 200
LIMIT_MAX = 2_000
CONTENT_MAX = 2_000  # characters of an inline output
COMMENTS_MAX = 200
BODY_MAX = 2_000
_BELOW = (
    "WITH RECURSIVE below(id) AS (SELECT :subject UNION SELECT tasks.id FROM tasks JOIN below ON parent_id = below.id)"
)
_SCOPES = {
    "goal": ("goals", "goal_id = :subject", ""),
    "task": ("tasks", "task_id IN (SELECT id FROM below)", _BELOW),
    "round": ("rounds", "task_id IN (SELECT id FROM tasks WHERE round_id = :subject)", ""),
}


async def aggregate_outputs(
    readers: Readers, *, goal: int | None = None, task: int | None = None, round: int | None = None, limit: int = LIMIT
) -> dict[str, Any]:
    """The outputs of a goal, of a task and all below it, or of a round, oldest first, with their tasks' status.

    {"of": "task:3", "total", "left_out", "bytes", "outputs": [{id, task, …, content, content_cut}]}. `superseded`: a
    newer run of its task delivered, so it covers nothing. Raises NotFound, and Invalid unless one subject is named.
    """
    named = [
        (name, number) for name, number in (("goal", goal), ("task", task), ("round", round)) if number is not None
    ]
    if len(named) != 1:
        raise Invalid("Outputs are gathered for one goal, task or round.", "Name exactly one of them.")
    name, number = named[0]
    table, where, before = _SCOPES[name]
    if await readers.value(f"SELECT 1 FROM {table} WHERE id = :id", id=number) is None:
        raise NotFound(f"There is no {name} {number} on this board.", "List what there is and use an id from it.")
    most = max(0, min(limit, LIMIT_MAX))
    sums = await readers.one(
        f"{before} SELECT count(*) AS n, coalesce(sum(size), 0) AS bytes FROM outputs WHERE {where}", subject=number
    )
    total = sums["n"] if sums else 0
    rows = await readers.all(
        f"{before} SELECT outputs.id, task_id AS task, tasks.title AS task_title, tasks.status AS task_status,"
        " outputs.type, outputs.title, outputs.summary, outputs.path, outputs.size, outputs.sha256,"
        " outputs.must_haves, outputs.publish, outputs.created_by, outputs.created_at, outputs.task_id IS NOT NULL"
        " AND outputs.run_id IS NOT (SELECT run_id FROM outputs AS newer WHERE newer.task_id = outputs.task_id"
        " ORDER BY newer.id DESC LIMIT 1) AS superseded,"
        f" substr(outputs.content, 1, {CONTENT_MAX}) AS content, length(outputs.content) > {CONTENT_MAX} AS content_cut"
        f" FROM outputs LEFT JOIN tasks ON tasks.id = task_id WHERE {where.replace('goal_id', 'outputs.goal_id')}"
        " ORDER BY outputs.id LIMIT :most",
        subject=number, most=most,
    )  # fmt: skip
    return {
        "of": f"{name}:{number}", "total": total, "left_out": total - len(rows),
        "bytes": sums["bytes"] if sums else 0, "outputs": [_described(row) for row in rows],
    }  # fmt: skip


def _described(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row, "must_haves": json.loads(row["must_haves"]), "publish": bool(row["publish"]),
        "content_cut": bool(row["content_cut"]), "superseded": bool(row["superseded"]),
    }  # fmt: skip


async def round_material(readers: Readers, round_id: int) -> dict[str, Any]:
    """What a round's review is made from: {"goal_snapshot", "round_outputs", "round_comments"} (S2-11).

    Raises NotFound.
    """
    rounds = await readers.entities(Round, "id = :id", id=round_id)
    if not rounds:
        raise NotFound(f"There is no round {round_id} on this board.", "List the rounds of the goal.")
    return {
        "goal_snapshot": await _snapshot(readers, rounds[0]),
        "round_outputs": await aggregate_outputs(readers, round=round_id),
        "round_comments": await _comments(readers, rounds[0]),
    }


async def _snapshot(readers: Readers, round_: Round) -> dict[str, Any]:
    goal = (await readers.entities(Goal, "id = :id", id=round_.goal_id))[0]
    tasks = await readers.entities(Task, "goal_id = :goal ORDER BY id", goal=goal.id)
    outputs = await light_outputs(readers, goal.id)
    decisions = await readers.entities(Decision, "goal_id = :goal ORDER BY id", goal=goal.id)
    coverage = cover(goal, tasks, outputs, decisions)
    verify = {must["id"]: must.get("verify", "") for must in goal.must_haves}
    of_round = [task for task in tasks if task.round_id == round_.id]
    return {
        "goal": goal.id, "title": goal.title, "description": goal.description, "status": str(goal.status),
        "constraints": list(goal.constraints), "out_of_scope": list(goal.out_of_scope), "note": goal.reason,
        "round": round_.number, "round_cap": goal.round_cap,
        "must_haves": [
            {"id": must.id, "text": must.text, "verify": verify[must.id], "state": must.state,
             "outputs": list(must.outputs)}
            for must in coverage.must_haves
        ],
        "decisions": [
            {"id": int(decision.id), "text": decision.text, "state": decision.state, "outputs": list(decision.outputs)}
            for decision in coverage.decisions
        ],
        "tasks": [
            {"id": task.id, "title": task.title, "status": str(task.status), "must_haves": list(task.must_haves),
             "reason": task.reason}
            for task in of_round[:LIMIT]
        ],
        "tasks_left_out": max(len(of_round) - LIMIT, 0),
    }  # fmt: skip


async def light_outputs(readers: Readers, goal_id: int) -> list[Output]:
    """The outputs of a goal without their content (empty where there is one)."""
    return await light_outputs_where(readers, "goal_id = :goal ORDER BY id", goal=goal_id)


async def light_outputs_where(readers: Readers, where: str, **parameters: object) -> list[Output]:
    """The same for a condition written by us, with its parameters."""
    light = "CASE WHEN content IS NOT NULL THEN '' END AS content"
    names = ", ".join(light if name == "content" else name for name in fields_of(Output))
    rows = await readers.all(f"SELECT {names} FROM outputs WHERE {where}", **parameters)
    return [from_values(Output)(row) for row in rows]


async def _comments(readers: Readers, round_: Round) -> dict[str, Any]:
    """The newest comments on the round's tasks, and those on the goal since the round began, in order."""
    where = (
        "task_id IN (SELECT id FROM tasks WHERE round_id = :round)"
        " OR (goal_id = :goal AND task_id IS NULL AND created_at >= :since)"
    )
    about = {"round": round_.id, "goal": round_.goal_id, "since": round_.created_at}
    total = int(await readers.value(f"SELECT count(*) FROM comments WHERE {where}", **about))
    found = await readers.entities(Comment, f"{where} ORDER BY id DESC LIMIT {COMMENTS_MAX}", **about)
    return {
        "total": total, "left_out": total - len(found),
        "comments": [
            {"id": comment.id, "task": comment.task_id, "author": comment.author, "kind": str(comment.kind),
             "body": comment.body[:BODY_MAX], "cut": len(comment.body) > BODY_MAX, "at": comment.created_at}
            for comment in reversed(found)
        ],
    }  # fmt: skip
