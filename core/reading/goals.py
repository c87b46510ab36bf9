"""Queries about goals and their rounds."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.aggregate import light_outputs
from core.commands.registry import Answer
from core.domain.coverage import Coverage, cover
from core.domain.entities import Decision, Goal, Round, Task
from core.domain.errors import NotFound
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus
from core.reading.registry import LIMIT, Id, Limit, Look, Query, answers
from core.reading.shapes import LINE, LINES_MAX, clipped, fit, lines, page

_ANSWER, _LIST = 1_500, 5_000  # characters of an answer of a review, and of each list in a goal
_NO_SUCH = "List what there is and use an id from it."


class ListGoals(Query):
    """The goals, newest first; one status only if it is named."""

    example = {"status": "active"}
    status: GoalStatus | None = None
    limit: Limit = LIMIT
    before: Id | None = Field(None, description="Older than this one: `next` of the page before")


@answers(ListGoals)
async def list_goals(look: Look, query: ListGoals) -> Answer:
    """{"goals": [{id, tag, title, status, origin, round, tasks_open, tasks}], "next": id | None}."""
    rows = await look.readers.all(
        "SELECT id, title, status, origin, (SELECT max(number) FROM rounds WHERE goal_id = goals.id) AS round,"
        " (SELECT count(*) FROM tasks WHERE goal_id = goals.id AND status NOT IN ('done', 'failed', 'cancelled'))"
        " AS tasks_open, (SELECT count(*) FROM tasks WHERE goal_id = goals.id) AS tasks FROM goals"
        " WHERE (:status IS NULL OR status = :status) AND (:before IS NULL OR id < :before)"
        " ORDER BY id DESC LIMIT :most",
        status=query.status, before=query.before, most=query.limit + 1,
    )  # fmt: skip
    shown, following = page(rows, query.limit, lambda row: {**row, "tag": f"G{row['id']}"})
    return {"goals": shown, "next": following}


class ReadGoal(Query):
    """A goal whole: text, must-haves with what covers them, decisions, round, what is blocked or waits for a person."""

    example = {"goal": 3}
    goal: Id


@answers(ReadGoal)
async def read_goal(look: Look, query: ReadGoal) -> Answer:
    """{id, tag, title, description, status, …, must_haves, decisions, round, tasks, blocked, questions}.

    `must_haves` have `state` open, covered or waived, and `outputs` (ids); `tasks` counts by status; `note` is what the
    coordinator is to take into account next.
    """
    found = await look.readers.entities(Goal, "id = :id", id=query.goal)
    if not found:
        raise NotFound(f"There is no G{query.goal} on this board.", _NO_SUCH)
    goal, of = found[0], f"goal:{query.goal}"
    coverage = await _coverage(look, goal)
    return {
        "id": goal.id, "tag": goal.name_tag, "title": goal.title, "status": str(goal.status),
        "description": clipped(goal.description, of, "description"),
        "constraints": lines(goal.constraints, of, "constraints"),
        "out_of_scope": lines(goal.out_of_scope, of, "out_of_scope"),
        **_covered(goal, coverage),
        "round": await _round(look, goal), "round_cap": goal.round_cap,
        "tasks": await _counts(look, "goal_id", goal.id),
        "blocked": await _blocked(look, goal), "questions": await _questions(look, goal),
        "note": clipped(goal.reason, of, "reason", LINE), "origin": str(goal.origin), "created_by": goal.created_by,
        "reviewed": is_reviewed(goal), "exploring": goal.exploring, "paused": goal.paused_at is not None,
        "content_hash": goal.content_hash, "created_at": goal.created_at,
    }  # fmt: skip


async def _coverage(look: Look, goal: Goal) -> Coverage:
    done = "goal_id = :goal AND status = 'done' ORDER BY id"
    return cover(
        goal,
        await look.readers.entities(Task, done, goal=goal.id),
        await light_outputs(look.readers, goal.id),
        await look.readers.entities(Decision, "goal_id = :goal ORDER BY id", goal=goal.id),
    )


def _covered(goal: Goal, coverage: Coverage) -> Answer:
    of, verify = f"goal:{goal.id}", {must["id"]: must.get("verify", "") for must in goal.must_haves}
    # What nothing carries out yet is what somebody still has to do.
    decisions = sorted(coverage.decisions, key=lambda decision: (not decision.is_open, -int(decision.id)))
    musts = fit(
        [{"id": must.id, "text": must.text, "verify": clipped(verify[must.id], of, "must_haves", LINE),
          "state": must.state, "outputs": list(must.outputs[-LINES_MAX:])} for must in coverage.must_haves],
        _LIST,
    )  # fmt: skip
    told = fit(
        [{"id": int(one.id), "text": clipped(one.text, f"decision:{one.id}", "text", LINE), "state": one.state,
          "outputs": list(one.outputs[-LINES_MAX:])} for one in decisions],
        _LIST,
    )  # fmt: skip
    return {
        "must_haves": musts, "must_haves_left_out": len(coverage.must_haves) - len(musts),
        "decisions": told, "decisions_left_out": len(decisions) - len(told),
    }  # fmt: skip


async def _counts(look: Look, column: str, number: int) -> dict[str, int]:
    sql = f"SELECT status, count(*) AS n FROM tasks WHERE {column} = :id GROUP BY status ORDER BY status"
    return {row["status"]: row["n"] for row in await look.readers.all(sql, id=number)}


async def _round(look: Look, goal: Goal) -> Answer | None:
    return await look.readers.one(
        "SELECT id, number, status, open_tasks, total_tasks FROM rounds WHERE goal_id = :goal"
        " ORDER BY number DESC LIMIT 1",
        goal=goal.id,
    )


async def _blocked(look: Look, goal: Goal) -> list[Answer]:
    rows = await look.readers.all(
        "SELECT id, title, status, block_kind, reason FROM tasks WHERE goal_id = :goal"
        f" AND status IN ('blocked', 'waiting_human') ORDER BY id LIMIT {LIMIT}",
        goal=goal.id,
    )
    return fit([{**row, "reason": clipped(row["reason"], f"task:{row['id']}", "reason", LINE)} for row in rows], _LIST)


async def _questions(look: Look, goal: Goal) -> list[Answer]:
    """What waits for the operator about the goal, its rounds and its tasks."""
    rows = await look.readers.all(
        "SELECT id, kind, entity, title, requested_by, created_at FROM approvals WHERE status = 'pending' AND"
        " (entity = 'goal:' || :goal OR entity IN (SELECT 'round:' || id FROM rounds WHERE goal_id = :goal"
        f" UNION SELECT 'task:' || id FROM tasks WHERE goal_id = :goal)) ORDER BY id LIMIT {LIMIT}",
        goal=goal.id,
    )
    return fit(rows, _LIST)


class ReadRound(Query):
    """A round: its state, its review's answers and decision, and its tasks."""

    example = {"round": 4}
    round: Id = Field(description="The round's id, not its number")


@answers(ReadRound)
async def read_round(look: Look, query: ReadRound) -> Answer:
    """{id, goal, number, status, decision, answers, counts, tasks: [{id, tag, title, status, must_haves, assignee}]}.

    `tasks_next` is the `after` of ListTasks with this round, when there are more.
    """
    found = await look.readers.entities(Round, "id = :id", id=query.round)
    if not found:
        raise NotFound(f"There is no round {query.round} on this board.", "ReadGoal names the id of a goal's round.")
    round_, of = found[0], f"round:{query.round}"
    rows = await look.readers.all(
        "SELECT tasks.id, title, tasks.status, must_haves, slug AS assignee FROM tasks"
        " LEFT JOIN agents ON agents.id = assignee_id WHERE round_id = :round ORDER BY tasks.id LIMIT :most",
        round=round_.id, most=LINES_MAX + 1,
    )  # fmt: skip
    tasks, following = page(rows, LINES_MAX, _task_line)
    return {
        "id": round_.id, "goal": round_.goal_id, "number": round_.number, "status": str(round_.status),
        "decision": None if round_.decision is None else str(round_.decision),
        "answers": {name: clipped(text, of, "answers", _ANSWER) for name, text in round_.answers.items()},
        "counts": await _counts(look, "round_id", round_.id), "tasks": tasks, "tasks_next": following,
    }  # fmt: skip


def _task_line(row: Mapping[str, Any]) -> Answer:
    return {**row, "tag": f"T{row['id']}", "must_haves": json.loads(row["must_haves"])}
