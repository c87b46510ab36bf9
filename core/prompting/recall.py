"""What agents are reminded of: kept experiences and sections of knowledge that are about the same (S4-01, L3)."""

import json
from typing import TypeVar

from core.blackboard.readers import Readers
from core.blackboard.search import any_of, places_of
from core.domain.entities import Entity, Experience, Knowledge

E = TypeVar("E", bound=Entity)


async def recall_experiences(readers: Readers, words: str, limit: int) -> list[Experience]:
    """The kept experiences in which any word occurs, most relevant first, of equal ones the newest; at most `limit`.

    `words` are the texts of the task and its goal, what matters most first. No word, no experience.
    """
    return await _recall(readers, Experience, words, limit, "AND found.status = 'kept'")


async def recall_knowledge(readers: Readers, words: str, limit: int) -> list[Knowledge]:
    """The sections of `knowledge/` in which any word occurs, in their heading or body, like `recall_experiences`.

    Each has its `place` (`knowledge/setup.md § Install`) and its `first_line`.
    """
    return await _recall(readers, Knowledge, words, limit, "")


async def _recall(readers: Readers, cls: type[E], words: str, limit: int, condition: str) -> list[E]:
    query = any_of(words)
    if not query or limit < 1:
        return []
    first, last = places_of(cls.table)
    hits = await readers.all(
        f"SELECT found.id FROM search CROSS JOIN {cls.table} AS found ON found.id = search.rowid - :first"
        f" WHERE search MATCH :query AND search.rowid BETWEEN :first AND :last {condition}"
        " ORDER BY bm25(search), found.id DESC LIMIT :limit",
        query=query, first=first, last=last, limit=limit,
    )  # fmt: skip
    ids = [hit["id"] for hit in hits]
    # What was removed between the two reads is left out.
    rows = await readers.entities(cls, "id IN (SELECT value FROM json_each(:ids))", ids=json.dumps(ids))
    return sorted(rows, key=lambda row: ids.index(row.id))
