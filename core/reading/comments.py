"""What was said below tasks and goals."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.commands.registry import Answer
from core.domain.errors import Invalid
from core.domain.states import CommentKind
from core.reading.registry import LIMIT, Id, Limit, Look, Query, answers
from core.reading.shapes import PAGE_MAX, clipped, page, require
from core.reading.visible import COMMENT_SEEN

BODY = 1_500


class ListComments(Query):
    """The newest comments below a task, or at a goal itself, in their order; one kind only if it is named."""

    example = {"task": 12, "kind": "handoff"}
    task: Id | None = None
    goal: Id | None = Field(None, description="Words at the goal itself; those at its tasks stand there")
    kind: CommentKind | None = None
    limit: Limit = LIMIT
    before: Id | None = Field(None, description="Older than this one: `next` of the page before")


@answers(ListComments)
async def list_comments(look: Look, query: ListComments) -> Answer:
    """{"comments": [{id, author, kind, body, reply_to, confidence, at}], "total", "next"}, oldest of the page first."""
    if (query.task is None) == (query.goal is None):
        raise Invalid("Comments are those of a task or of a goal.", "Name exactly one of them.")
    if query.task is not None:
        await require(look.readers, "tasks", "T", query.task)
        return await comments_of(look, "task_id = :subject", query.task, query.kind, query.limit, query.before)
    await require(look.readers, "goals", "G", query.goal or 0)
    where = "goal_id = :subject AND task_id IS NULL"
    return await comments_of(look, where, query.goal or 0, query.kind, query.limit, query.before)


async def comments_of(
    look: Look,
    where: str,
    subject: int,
    kind: CommentKind | None = None,
    limit: int = LIMIT,
    before: int | None = None,
    most: int = PAGE_MAX,
) -> Answer:
    """The newest comments for a condition, as ListComments answers."""
    about = {"subject": subject, "kind": kind, **look.sees}
    seen = f"FROM comments WHERE {where} AND (:kind IS NULL OR kind = :kind) AND {COMMENT_SEEN}"
    rows = await look.readers.all(
        f"SELECT id, author, kind, body, reply_to, confidence, created_at AS at {seen}"
        " AND (:before IS NULL OR id < :before) ORDER BY id DESC LIMIT :most",
        before=before, most=limit + 1, **about,
    )  # fmt: skip
    shown, following = page(rows, limit, _word, most=most)
    total = await look.readers.value(f"SELECT count(*) {seen}", **about)
    return {"comments": shown[::-1], "total": total, "next": following}


def _word(row: Mapping[str, Any]) -> Answer:
    return {**row, "body": clipped(row["body"], f"comment:{row['id']}", "body", BODY)}
