"""Finding words on the board, as far as one may see it."""

import json
from typing import Literal

from pydantic import Field

from core.blackboard.search import SEARCHED, query_of, snippet_of
from core.commands.registry import Answer
from core.domain.errors import Invalid
from core.reading.registry import LIMIT, Limit, Look, Query, Words, answers
from core.reading.visible import COMMENT_SEEN, EXPERIENCE_SEEN

_FAR = 500  # hits that can be paged through; who needs more looks for other words
_SEEN = (
    f"(entity <> 'comments' OR entity_id IN (SELECT id FROM comments WHERE id = entity_id AND {COMMENT_SEEN}))"
    f" AND (entity <> 'experiences' OR entity_id IN (SELECT id FROM experiences WHERE id = entity_id"
    f" AND {EXPERIENCE_SEEN}))"
)
# Where a hit belongs, and by whom it is.
_ABOUT = {
    "goals": "NULL AS task, id AS goal, title, created_by AS by",
    "tasks": "id AS task, goal_id AS goal, title, created_by AS by",
    "comments": "task_id AS task, goal_id AS goal, kind AS title, author AS by",
    "outputs": "task_id AS task, goal_id AS goal, title, created_by AS by",
    "experiences": "task_id AS task, NULL AS goal, '' AS title, author AS by",
    "knowledge": "NULL AS task, NULL AS goal, path || ' § ' || heading AS title, '' AS by",
}
Where = Literal["goals", "tasks", "comments", "outputs", "experiences", "knowledge"]


class SearchBoard(Query):
    """What holds all of these words: goals, tasks, comments, outputs, experiences and knowledge; best first."""

    example = {"words": "archive links", "where": "outputs"}
    words: Words
    where: Where | None = Field(None, description="Only among these")
    limit: Limit = LIMIT
    offset: int = Field(0, ge=0, le=_FAR, description="`next` of the page before")


@answers(SearchBoard)
async def search_board(look: Look, query: SearchBoard) -> Answer:
    """{"hits": [{of, task, goal, title, by, snippet}], "next": offset | None}. `of` is e.g. `comment:5`, as ReadText
    takes it. Raises Invalid when there is no word to look for.
    """
    wanted = query_of(query.words)
    if not wanted:
        raise Invalid(f"{query.words!r} holds no word.", "Name words that stand in what you look for.")
    hits = await look.readers.all(
        f"SELECT entity, entity_id FROM search WHERE search MATCH :wanted AND {_SEEN}"
        " AND (:where IS NULL OR entity = :where) ORDER BY rank, rowid LIMIT :most OFFSET :offset",
        wanted=wanted, where=query.where, most=query.limit + 1, offset=query.offset, **look.sees,
    )  # fmt: skip
    shown = [(hit["entity"], hit["entity_id"]) for hit in hits[: query.limit]]
    told: dict[tuple[str, int], Answer] = {}
    for table in {table for table, _ in shown}:
        told |= await _told(look, table, [number for of, number in shown if of == table], query.words)
    following = query.offset + query.limit if len(hits) > query.limit else None
    # What was removed between the two looks is left out.
    found = [told[pair] for pair in shown if pair in told]
    return {"hits": found, "next": following if following is None or following <= _FAR else None}


async def _told(look: Look, table: str, ids: list[int], words: str) -> dict[tuple[str, int], Answer]:
    text = " || char(10) || ".join(f"coalesce({name}, '')" for name in SEARCHED[table])
    rows = await look.readers.all(
        f"SELECT id, {_ABOUT[table]}, {text} AS text FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))",
        ids=json.dumps(ids),
    )
    return {
        (table, row["id"]): {
            "of": f"{table.removesuffix('s')}:{row['id']}", "task": row["task"], "goal": row["goal"],
            "title": row["title"], "by": row["by"], "snippet": snippet_of(row["text"], words),
        }
        for row in rows
    }  # fmt: skip
