"""The rest of a text that was too long where it was shown."""

import json
from typing import Any

from pydantic import Field

from core.commands.registry import INTEGER_MAX, Answer
from core.domain.errors import Invalid, NotFound
from core.reading.registry import Look, Query, answers
from core.reading.shapes import LISTED
from core.reading.visible import COMMENT_SEEN, EXPERIENCE_SEEN, REVIEW_SEEN

PIECE, PIECE_MAX = 8_000, 16_000  # characters
# Of what is which text read; and what an agent may see of it.
_TEXTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "goal": ("goals", ("description", "must_haves", "constraints", "out_of_scope", "reason"), "true"),
    "round": ("rounds", ("answers",), "true"),
    "task": ("tasks", ("intent", "end_state", "constraints", "criteria", "arguments", "tags", "reason"), "true"),
    "comment": ("comments", ("body",), COMMENT_SEEN),
    "output": ("outputs", ("summary",), "true"),
    "review": ("reviews", ("dimensions", "findings", "rebuttal"), REVIEW_SEEN),
    "decision": ("decisions", ("text",), "true"),
    "approval": ("approvals", ("note", "payload"), "(:field = 'note' OR :sees_all OR requested_by = :me)"),
    "experience": ("experiences", ("body",), EXPERIENCE_SEEN),
    "knowledge": ("knowledge", ("body",), "true"),
    "agent": ("agents", ("duties", "capabilities"), "true"),
}


class ReadText(Query):
    """A long text from a character on, as the mark at a clipped text says."""

    example = {"of": "task:12", "field": "intent", "offset": 3000}
    of: str = Field(pattern=rf"^({'|'.join(_TEXTS)}):[1-9][0-9]{{0,17}}$", description="e.g. comment:5")
    field: str = Field(max_length=40, description="e.g. body")
    offset: int = Field(0, ge=0, le=INTEGER_MAX, description="First character: `next` of the piece before")
    size: int = Field(PIECE, ge=1, le=PIECE_MAX, description="Characters of the piece")


@answers(ReadText)
async def read_text(look: Look, query: ReadText) -> Answer:
    """{of, field, offset, text, characters, next}. What is no single text is read as its JSON, a part a line."""
    kind, _, number = query.of.partition(":")
    table, fields, seen = _TEXTS[kind]
    if query.field not in fields:
        raise Invalid(f"{kind} has no text {query.field!r} to read.", f"It has: {', '.join(fields)}.")
    row = await look.readers.one(
        f"SELECT {query.field} AS text FROM {table} WHERE id = :id AND {seen}",
        id=int(number), field=query.field, **look.sees,
    )  # fmt: skip
    if row is None:
        raise NotFound(f"There is no {query.of} on this board that you may read.", "Use an id from a list.")
    text = _readable(row["text"]) if query.field in LISTED else row["text"]
    end = query.offset + query.size
    return {
        "of": query.of, "field": query.field, "offset": query.offset, "text": text[query.offset : end],
        "characters": len(text), "next": end if end < len(text) else None,
    }  # fmt: skip


def _readable(stored: str) -> str:
    """A stored structure a part a line: a list of texts as its lines, anything else as JSON."""
    value: Any = json.loads(stored)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False, indent=1)
