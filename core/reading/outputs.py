"""What was delivered: lists without content, and the content of one, piece by piece."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from core.commands.outputs import hash_file
from core.commands.registry import INTEGER_MAX, Answer
from core.domain.entities import Output
from core.domain.errors import Conflict, Invalid, NotFound
from core.reading.registry import LIMIT, Id, Limit, Look, Query, answers
from core.reading.shapes import LINE, PAGE_MAX, clipped, page, require

PIECE, PIECE_MAX = 8_000, 16_000  # bytes
_SUBJECTS = {
    "task": ("tasks", "T", "outputs.task_id = :subject"),
    "goal": ("goals", "G", "outputs.goal_id = :subject"),
    "round": ("rounds", "round ", "outputs.task_id IN (SELECT id FROM tasks WHERE round_id = :subject)"),
}


class ListOutputs(Query):
    """What was delivered for a task, a round (id) or a goal, oldest first, without the content."""

    example = {"goal": 3}
    task: Id | None = None
    goal: Id | None = None
    round: Id | None = Field(None, description="The round's id, not its number")
    limit: Limit = LIMIT
    after: Id | None = Field(None, description="Later than this one: `next` of the page before")


@answers(ListOutputs)
async def list_outputs(look: Look, query: ListOutputs) -> Answer:
    """{"outputs": [{id, tag, task, title, type, summary, size, must_haves, superseded, by, at}], "total", "next"}.

    `superseded`: a newer run of its task delivered, so it covers nothing.
    """
    named = [name for name in _SUBJECTS if getattr(query, name) is not None]
    if len(named) != 1:
        raise Invalid("Outputs are those of one task, round or goal.", "Name exactly one of them.")
    table, letter, where = _SUBJECTS[named[0]]
    subject: int = getattr(query, named[0])
    await require(look.readers, table, letter, subject)
    return await outputs_of(look, where, subject, query.limit, query.after)


async def outputs_of(
    look: Look, where: str, subject: int, limit: int = LIMIT, after: int | None = None, most: int = PAGE_MAX
) -> Answer:
    """The outputs for a condition, as ListOutputs answers."""
    rows = await look.readers.all(
        "SELECT id, task_id AS task, title, type, summary, size, path, must_haves, publish, created_by AS by,"
        " created_at AS at, task_id IS NOT NULL AND run_id IS NOT (SELECT run_id FROM outputs AS newer"
        " WHERE newer.task_id = outputs.task_id ORDER BY newer.id DESC LIMIT 1) AS superseded"
        f" FROM outputs WHERE {where} AND id > :after ORDER BY id LIMIT :most",
        subject=subject, after=after or 0, most=limit + 1,
    )  # fmt: skip
    shown, following = page(rows, limit, _line, most=most)
    total = await look.readers.value(f"SELECT count(*) FROM outputs WHERE {where}", subject=subject)
    return {"outputs": shown, "total": total, "next": following}


def _line(row: Mapping[str, Any]) -> Answer:
    return {
        **row, "tag": f"O{row['id']}", "summary": clipped(row["summary"], f"output:{row['id']}", "summary", LINE),
        "must_haves": json.loads(row["must_haves"]), "publish": bool(row["publish"]),
        "superseded": bool(row["superseded"]),
    }  # fmt: skip


class ReadOutput(Query):
    """The content of an output, from a byte on; the program checks that it is what was delivered."""

    example = {"output": 17}
    output: Id
    offset: int = Field(0, ge=0, le=INTEGER_MAX, description="First byte: `next` of the piece before")
    size: int = Field(PIECE, ge=4, le=PIECE_MAX, description="Bytes of the piece")


@answers(ReadOutput)
async def read_output(look: Look, query: ReadOutput) -> Answer:
    """{id, tag, title, type, task, goal, path, sha256, size, offset, text, is_text, next}; offsets in bytes.

    `text` begins and ends with a whole character; it is empty when the output is no text (UTF-8). Raises Conflict when
    its file is gone or is not what was delivered.
    """
    found = await look.readers.entities(Output, "id = :id", id=query.output)
    if not found:
        raise NotFound(f"There is no O{query.output} on this board.", "ListOutputs tells what there is.")
    output = found[0]
    if output.path is None:
        whole = (output.content or "").encode()
        data, start = whole[query.offset : query.offset + query.size + 3], query.offset
    else:
        folder = look.readers.path.parent / "outputs"
        data = await asyncio.to_thread(_piece, folder, output, query.offset, query.size + 3)
        start = query.offset
    text, start, end = _whole_characters(data, start, query.size)
    return {
        "id": output.id, "tag": output.name_tag, "title": output.title, "type": str(output.type),
        "task": output.task_id, "goal": output.goal_id, "path": output.path, "sha256": output.sha256,
        "size": output.size, "offset": start, "text": text or "", "is_text": text is not None,
        "next": end if text is not None and end < output.size else None,
    }  # fmt: skip


def _piece(folder: Path, output: Output, offset: int, size: int) -> bytes:
    """A piece of a delivered file, if that is what was delivered. Blocks. Raises Conflict."""
    name = output.path or ""
    hint = "Say so in your verdict or to the author; it has to be delivered again."
    try:
        sha256, _ = hash_file(folder, name)
        with (folder / name).resolve().open("rb") as file:
            file.seek(offset)
            data = file.read(size)
    except (Invalid, OSError) as error:
        why = error.message if isinstance(error, Invalid) else f"{name!r} cannot be read: {error.strerror}."
        raise Conflict(f"{output.name_tag} is not there as delivered: {why}", hint) from None
    if sha256 != output.sha256:
        raise Conflict(f"{output.name_tag} is not there as delivered: {name!r} was changed since.", hint)
    return data


def _whole_characters(data: bytes, start: int, size: int) -> tuple[str | None, int, int]:
    """The text of whole characters in a piece with its first and last byte's place; None when it is no UTF-8 text.

    `data` has up to three bytes more than `size`, so that a character on the edge is there to its end.
    """
    skipped = next((n for n, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
    end = min(size, len(data))
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    piece = data[skipped:end]
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        return None, start, start
    return (None, start, start) if "\x00" in text else (text, start + skipped, start + end)
