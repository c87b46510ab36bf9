"""How answers look: clipped texts with a mark how to read the rest, and pages that end before they grow too long."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from core.blackboard.readers import Readers
from core.commands.registry import Answer
from core.domain.errors import NotFound

PAGE_MAX = 14_000  # characters of JSON of one page; a single item may be longer
# Fields that hold more than one text: ReadText gives them whole, a part a line.
LISTED = frozenset(
    {"must_haves", "constraints", "out_of_scope", "answers", "criteria", "arguments", "tags", "dimensions", "findings",
     "capabilities", "payload"}
)  # fmt: skip
LINES_MAX = 40  # lines of a list inside of one thing
TEXT, LINE = 2_000, 500  # characters shown of a long text, and of one line of a list

T = TypeVar("T")


def clipped(text: str, of: str, field: str, most: int = TEXT) -> str:
    """The text, or its beginning with the query that reads the rest. `of` is e.g. `task:12`."""
    if len(text) <= most:
        return text
    how = json.dumps({"of": of, "field": field} | ({} if field in LISTED else {"offset": most}))
    return f"{text[:most]}… [{len(text) - most:,} more characters: ReadText {how}]"


def lines(texts: Sequence[str], of: str, field: str) -> list[str]:
    """The lines of a list, each clipped; what is too much is named in a last line."""
    shown = fit([clipped(text, of, field, LINE) for text in texts[:LINES_MAX]])
    left = len(texts) - len(shown)
    return [*shown, f"… [{left} more: ReadText {json.dumps({'of': of, 'field': field})}]"] if left else shown


def fit(items: Sequence[T], most: int = TEXT) -> list[T]:
    """The first items, at least one, as long as all of their JSON has at most so many characters."""
    size = 0
    for number, item in enumerate(items):
        size += len(json.dumps(item, ensure_ascii=False))
        if number and size > most:
            return list(items[:number])
    return list(items)


def page(
    rows: Sequence[Mapping[str, Any]],
    limit: int,
    shape: Callable[[Mapping[str, Any]], Answer],
    cursor: str = "id",
    most: int = PAGE_MAX,
) -> tuple[list[Answer], Any]:
    """The rows of one page in shape, and the cursor after it: None when there are no more.

    `rows` are to be one more than `limit`, if there are so many. A page ends early when it grows too long.
    """
    shown = fit([shape(row) for row in rows[:limit]], most)
    following = rows[len(shown) - 1][cursor] if shown and len(shown) < len(rows) else None
    return shown, following


async def require(readers: Readers, table: str, letter: str, number: int) -> None:
    """Raises NotFound unless there is such a row."""
    if await readers.value(f"SELECT 1 FROM {table} WHERE id = :id", id=number) is None:
        raise NotFound(f"There is no {letter}{number} on this board.", "List what there is and use an id from it.")
