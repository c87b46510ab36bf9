"""Queries about tasks."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.commands.registry import Answer, Slug
from core.domain.entities import Approval, Goal, Review, Task
from core.domain.errors import NotFound
from core.domain.goals import canonical_hash
from core.domain.reviewing import criteria_of, required_dimensions, standing
from core.domain.states import TaskStatus
from core.reading.comments import comments_of
from core.reading.outputs import outputs_of
from core.reading.registry import LIMIT, Id, Limit, Look, Query, answers
from core.reading.shapes import LINE, LINES_MAX, TEXT, clipped, fit, lines, page
from core.reading.visible import COMMENT_SEEN, REVIEW_SEEN

_QUESTIONS_SHOWN, _IN_SHORT = 5, 10
_LIST = 3_000  # characters of each list in a task


class ListTasks(Query):
    """Tasks by id; of one goal, round (id), status or assignee (slug) only if it is named."""

    example = {"goal": 3, "status": "pending"}
    goal: Id | None = None
    round: Id | None = Field(None, description="The round's id, not its number")
    status: TaskStatus | None = None
    assignee: Slug | None = None
    limit: Limit = LIMIT
    after: Id | None = Field(None, description="Later than this one: `next` of the page before")


@answers(ListTasks)
async def list_tasks(look: Look, query: ListTasks) -> Answer:
    """{"tasks": [{id, tag, goal, round, title, status, risk, priority, assignee, must_haves}], "total", "next"}."""
    about = query.model_dump(include={"goal", "round", "status", "assignee"})
    columns = {"goal": "goal_id", "round": "round_id", "status": "tasks.status", "assignee": "slug"}
    chosen = [f"{columns[name]} = :{name}" for name, value in about.items() if value is not None]
    where = " AND ".join(chosen) or "true"
    below = f"FROM tasks LEFT JOIN agents ON agents.id = assignee_id WHERE {where}"
    rows = await look.readers.all(
        "SELECT tasks.id, goal_id AS goal, round_id AS round, title, tasks.status, risk, priority, open_deps,"
        f" slug AS assignee, must_haves {below} AND tasks.id > :after ORDER BY tasks.id LIMIT :most",
        after=query.after or 0, most=query.limit + 1, **about,
    )  # fmt: skip
    shown, following = page(rows, query.limit, _line)
    total = await look.readers.value(f"SELECT count(*) {below}", **about)
    return {"tasks": shown, "total": total, "next": following}


def _line(row: Mapping[str, Any]) -> Answer:
    values = {name: value for name, value in row.items() if name != "open_deps"}
    musts = json.loads(row["must_haves"])
    return {**values, "tag": f"T{row['id']}", "waits_for": row["open_deps"], "must_haves": musts}


class ReadTask(Query):
    """A task whole; with `expand` also its criteria, newest comments, outputs and reviews."""

    example = {"task": 12, "expand": True}
    task: Id
    expand: bool = Field(False, description="Also criteria, comments, outputs, reviews and what they left standing")


@answers(ReadTask)
async def read_task(look: Look, query: ReadTask) -> Answer:
    """{id, tag, goal, round, title, status, …, depends_on, needed_by, questions, counts}.

    With `expand` also `criteria`, `dimensions` (those that a verdict must name), `subject_hash`, `standing` (findings
    of earlier refusals by number), `reviews`, `comments` and `outputs` as their lists answer.
    """
    found = await look.readers.entities(Task, "id = :id", id=query.task)
    if not found:
        raise NotFound(f"There is no T{query.task} on this board.", "List what there is and use an id from it.")
    task = found[0]
    goal = (await look.readers.entities(Goal, "id = :id", id=task.goal_id))[0]
    whole = {**_texts(task, goal), **await _around(look, task, goal)}
    return {**whole, **await _expanded(look, task, goal)} if query.expand else whole


def _texts(task: Task, goal: Goal) -> Answer:
    of = f"task:{task.id}"
    texts = {must["id"]: must["text"] for must in goal.must_haves}
    return {
        "id": task.id, "tag": task.name_tag, "title": task.title, "status": str(task.status),
        "intent": clipped(task.intent, of, "intent"), "end_state": clipped(task.end_state, of, "end_state"),
        "constraints": lines(task.constraints, of, "constraints"),
        "must_haves": fit([{"id": must, "text": texts.get(must, "")} for must in task.must_haves], _LIST),
        "arguments": _structure(task.arguments, of, "arguments"),
        "capabilities": list(task.capabilities), "repository": task.repository,
        "tags": lines(task.tags, of, "tags"), "risk": str(task.risk),
        "priority": task.priority, "created_by": task.created_by,
        "block_kind": None if task.block_kind is None else str(task.block_kind),
        "reason": clipped(task.reason, of, "reason"), "attempts": task.attempts,
        "review_attempts": task.review_attempts, "review_step": str(task.review_step),
        "plan": None if task.plan_comment is None else {"comment": task.plan_comment, "open_until": task.plan_until},
        "created_at": task.created_at, "updated_at": task.updated_at,
    }  # fmt: skip


def _structure(value: dict[str, Any], of: str, field: str) -> dict[str, Any] | str:
    """A structure, or the beginning of its JSON when it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= TEXT else clipped(text, of, field)


async def _around(look: Look, task: Task, goal: Goal) -> Answer:
    slug = "SELECT slug FROM agents WHERE id = :id"
    return {
        "goal": {"id": goal.id, "tag": goal.name_tag, "title": goal.title, "status": str(goal.status)},
        "round": await look.readers.one("SELECT id, number, status FROM rounds WHERE id = :id", id=task.round_id),
        "parent": task.parent_id, "retry_of": task.retry_of,
        "assignee": await look.readers.value(slug, id=task.assignee_id),
        "last_assignee": await look.readers.value(slug, id=task.last_assignee_id),
        "depends_on": await _edges(look, task, "task_id", "depends_on"),
        "needed_by": await _edges(look, task, "depends_on", "task_id"),
        "questions": await _questions(look, task), "counts": await _counted(look, task),
    }  # fmt: skip


async def _edges(look: Look, task: Task, end: str, other: str) -> list[Answer]:
    rows = await look.readers.all(
        f"SELECT tasks.id AS task, title, status, on_fail, met FROM task_deps JOIN tasks ON tasks.id = {other}"
        f" WHERE {end} = :id ORDER BY task_deps.id LIMIT {LINES_MAX}",
        id=task.id,
    )
    return fit([{**row, "met": bool(row["met"])} for row in rows], _LIST)


async def _counted(look: Look, task: Task) -> Answer:
    """How many there are that this actor may see."""
    counted = await look.readers.one(
        f"SELECT (SELECT count(*) FROM comments WHERE task_id = :task AND {COMMENT_SEEN}) AS comments,"
        " (SELECT count(*) FROM outputs WHERE task_id = :task) AS outputs,"
        f" (SELECT count(*) FROM reviews WHERE subject = 'task' AND subject_id = :task AND {REVIEW_SEEN}) AS reviews,"
        " (SELECT count(*) FROM tasks WHERE parent_id = :task) AS parts",
        task=task.id, **look.sees,
    )  # fmt: skip
    return counted or {}


async def _questions(look: Look, task: Task) -> list[Answer]:
    """The newest questions to the operator about the task; what exactly is asked only for who asked it."""
    asked = f"entity = :entity ORDER BY id DESC LIMIT {_QUESTIONS_SHOWN}"
    found = await look.readers.entities(Approval, asked, entity=f"task:{task.id}")
    return fit([_question(look, one) for one in found], _LIST)


def _question(look: Look, one: Approval) -> Answer:
    of = f"approval:{one.id}"
    told = {
        "id": one.id, "kind": str(one.kind), "title": one.title, "status": str(one.status),
        "requested_by": one.requested_by, "note": clipped(one.note, of, "note", LINE),
    }  # fmt: skip
    return {**told, "payload": _structure(one.payload, of, "payload")} if _is_own(look, one) else told


def _is_own(look: Look, approval: Approval) -> bool:
    return bool(look.sees["sees_all"]) or approval.requested_by == look.slug


async def _expanded(look: Look, task: Task, goal: Goal) -> Answer:
    seen = f"subject = 'task' AND subject_id = :task AND {REVIEW_SEEN} ORDER BY id"
    reviews = await look.readers.entities(Review, seen, task=task.id, **look.sees)
    hashes = await look.readers.all("SELECT id, sha256 FROM outputs WHERE task_id = :task ORDER BY id", task=task.id)
    of = f"task:{task.id}"
    criteria = [
        {"id": one["id"], "text": clipped(one["text"], of, _source(task, one["id"]), LINE)}
        for one in criteria_of(task, goal)
    ]
    stands = [{"number": one.number, "by": one.reviewer, **_finding(one.finding, of)} for one in standing(reviews)]
    told = fit([_review(one) for one in reversed(reviews)], _LIST)
    return {
        "criteria": fit(criteria, _LIST), "dimensions": [str(name) for name in required_dimensions(task.risk)],
        "subject_hash": canonical_hash([[row["id"], row["sha256"]] for row in hashes]),
        "standing": fit(stands, _LIST), "reviews": told[::-1],
        "comments": await comments_of(look, "task_id = :subject", task.id, limit=_IN_SHORT, most=_LIST),
        "outputs": await outputs_of(look, "outputs.task_id = :subject", task.id, limit=_IN_SHORT, most=_LIST),
    }  # fmt: skip


def _source(task: Task, criterion: str) -> str:
    """The field of the task that a criterion's text is read from: before the first verdict none is frozen."""
    if task.criteria:
        return "criteria"
    return "constraints" if criterion.startswith("constraint:") else "end_state"


def _review(review: Review) -> Answer:
    of = f"review:{review.id}"
    return {
        "id": review.id, "reviewer": review.reviewer, "verdict": str(review.verdict), "stage": str(review.stage),
        "attempt": review.attempt,
        "dimensions": {name: clipped(text, of, "dimensions", LINE) for name, text in review.dimensions.items()},
        "findings": [_finding(one, of) for one in review.findings[:LIMIT]],
        "opened_outputs": list(review.opened_outputs), "rebuttal": clipped(review.rebuttal, of, "rebuttal", LINE),
        "rebuttal_answer": review.rebuttal_answer, "rebutted_by": review.rebutted_by, "at": review.created_at,
    }  # fmt: skip


def _finding(finding: Mapping[str, Any], of: str) -> Answer:
    return {
        name: clipped(value, of, "findings", LINE) if isinstance(value, str) else value
        for name, value in finding.items()
        if value is not None
    }
