"""The red line of the rehearsal: lines of the person's own file leave the company only with their word.

A quote is an output that is marked for publication: the program itself holds it, shows it whole, and asks.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.agents.rehearsal.deliveries import QUOTE, deliver, written
from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.words import counted, named
from core.domain.entities import Approval, Task
from core.domain.states import ApprovalKind, ApprovalStatus


class Word(StrEnum):
    """What the operator, or a red line, said about exactly these lines."""

    NOTHING_TO_QUOTE = "nothing_to_quote"
    NOT_ASKED = "not_asked"
    WAITS = "waits"
    GRANTED = "granted"
    USED = "used"
    REFUSED = "refused"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Permission:
    """The word on a quote, the approval that holds it, and a note or the name of the red line."""

    word: Word
    approval: int | None = None
    note: str = ""


def quote_of(path: str, marks: list[dict[str, Any]]) -> dict[str, Any]:
    """Exactly what would go out: the operator sees the lines that they let out, here and nowhere else."""
    return {"kind": QUOTE, "path": path, "lines": [{"line": mark["line"], "text": mark["text"]} for mark in marks]}


async def quote(shift: Shift, task: Task, path: str, marks: list[dict[str, Any]]) -> Permission:
    """Deliver the lines if that is allowed; else the question, or what was said. Nothing is asked twice in a goal."""
    if not marks:
        return Permission(Word.NOTHING_TO_QUOTE)
    content = quote_of(path, marks)
    said = await word_on(shift, task, hashlib.sha256(written(content)).hexdigest())
    if said.word not in (Word.NOT_ASKED, Word.GRANTED):
        return said
    title = f"Quote {counted(len(marks), 'marked line')} of {named(path, 120)} in the report"
    answer = await deliver(shift, task, title, content, publish=True)
    if "waits" in answer:
        return Permission(Word.WAITS, answer["waits"])
    if not answer.get("allowed", True):
        return Permission(Word.BLOCKED, note=str(answer["line"]))
    return Permission(Word.GRANTED, said.approval)


async def word_on(shift: Shift, task: Task, sha256: str) -> Permission:
    """The newest word on these bytes in this goal."""
    asked = await shift.find(
        Approval,
        "kind = :kind AND json_extract(payload, '$.sha256') = :sha256 AND status <> 'pending'"
        " AND entity IN (SELECT 'task:' || id FROM tasks WHERE goal_id = :goal) ORDER BY id DESC LIMIT 1",
        kind=str(ApprovalKind.RED_LINE), sha256=sha256, goal=task.goal_id,
    )  # fmt: skip
    if not asked:
        return Permission(Word.NOT_ASKED)
    words = {ApprovalStatus.APPROVED: Word.GRANTED, ApprovalStatus.CONSUMED: Word.USED}
    word = words.get(asked[0].status, Word.REFUSED)
    if word == Word.GRANTED and asked[0].entity != f"task:{task.id}":
        # A word given to a task that has ended cannot be used by another one.
        return Permission(Word.NOT_ASKED)
    return Permission(word, asked[0].id, asked[0].note)


def told(said: Permission, marks: list[Mapping[str, Any]]) -> str:
    """What the handoff says of it."""
    match said.word:
        case Word.GRANTED if said.approval is None:
            return f"No red line held the quote: {len(marks)} lines."
        case Word.GRANTED:
            return f"The operator approved the quote (Q{said.approval}): {len(marks)} lines."
        case Word.REFUSED:
            why = f": {named(said.note, 80)}" if said.note else ""
            return f"Figures only: the operator did not approve the quote (Q{said.approval}{why})."
        case Word.BLOCKED:
            return f"Figures only: the red line {said.note} blocked the quote."
        case Word.USED:
            return f"The lines were quoted before, with Q{said.approval}; they are not quoted again."
        case _:
            return "No marked line in it, so there is nothing to quote."
