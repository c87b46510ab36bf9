"""The red line of the rehearsal: lines of the person's own file go into the report only with their word."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.words import counted, named
from core.domain.entities import Approval, Task
from core.domain.goals import canonical_hash
from core.domain.states import ApprovalKind, ApprovalStatus

RED_LINE = "secret_exposure"


class Word(StrEnum):
    """What the operator said about exactly these lines."""

    NOTHING_TO_QUOTE = "nothing_to_quote"
    NOT_ASKED = "not_asked"
    GRANTED = "granted"
    USED = "used"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Permission:
    """The operator's word on a payload, and the approval that holds it."""

    word: Word
    payload: dict[str, Any]
    approval: int | None = None
    note: str = ""


def payload_of(path: str, marks: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Exactly what would be done: the operator sees the lines that they let out, here and nowhere else."""
    return {
        "act": "quote",
        "path": path,
        "lines": [mark["line"] for mark in marks],
        "text": [mark["text"] for mark in marks],
        "red_line": RED_LINE,
    }


def question(payload: Mapping[str, Any]) -> str:
    """What the operator is asked: the file, and how many lines."""
    count = len(payload["lines"])
    return f"Quote {counted(count, 'marked line')} of {named(str(payload['path']), 120)} in the report?"


async def permission(shift: Shift, task: Task, path: str, marks: list[Mapping[str, Any]]) -> Permission:
    """The newest word on these lines in this goal; the same question is never asked twice."""
    payload = payload_of(path, marks)
    if not marks:
        return Permission(Word.NOTHING_TO_QUOTE, payload)
    asked = await shift.find(
        Approval,
        "kind = :kind AND payload_hash = :hash AND status <> 'pending'"
        " AND entity IN (SELECT 'task:' || id FROM tasks WHERE goal_id = :goal) ORDER BY id DESC LIMIT 1",
        kind=str(ApprovalKind.RED_LINE), hash=canonical_hash(payload), goal=task.goal_id,
    )  # fmt: skip
    if not asked:
        return Permission(Word.NOT_ASKED, payload)
    words = {ApprovalStatus.APPROVED: Word.GRANTED, ApprovalStatus.CONSUMED: Word.USED}
    word = words.get(asked[0].status, Word.REFUSED)
    if word == Word.GRANTED and asked[0].entity != f"task:{task.id}":
        # A word given to a task that has ended cannot be used by another one.
        return Permission(Word.NOT_ASKED, payload)
    return Permission(word, payload, asked[0].id, asked[0].note)


async def ask(shift: Shift, task: Task, payload: dict[str, Any]) -> None:
    """Put the question before the operator; the run ends with it, and the answer wakes the task."""
    await shift.act("AskOperator", task=task.id, kind="red_line", title=question(payload), payload=payload)
