"""What was sent back and came again: every version with its note, author and time, and what differs.

From the event log: a version is what a thing said when it was sent back; the last one is what it says now.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.company import OpenCompany
from core.domain.entities import Approval, Goal, Output
from core.domain.states import ApprovalKind, ApprovalStatus, GoalStatus
from tui.panes.coverage import person
from tui.panes.differences import Differences, of_payload
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.widgets.prose import Block
from tui.widgets.row import Cell

FIELDS = ("title", "description", "must_haves", "constraints", "out_of_scope")
MOST_EVENTS = 2_000
MOST_VERSIONS = 20

_OF_GOAL = (
    "SELECT id, at, actor, changed, '' AS note FROM events WHERE entity = 'goals' AND entity_id = :goal"
    " UNION ALL SELECT e.id, e.at, e.actor, '{}', c.body FROM comments c JOIN events e ON e.entity = 'comments'"
    " AND e.entity_id = c.id AND e.kind = 'GoalSentToAuthor' WHERE c.goal_id = :goal"
    f" ORDER BY id DESC LIMIT {MOST_EVENTS}"
)
_SENT_BACK = (
    "SELECT c.body AS note, e.at AS at FROM comments c JOIN events e ON e.entity = 'comments' AND e.entity_id = c.id"
    " AND e.kind = 'GoalNoteWritten' WHERE c.goal_id = :goal ORDER BY e.id"
)


@dataclass(frozen=True, slots=True)
class Version:
    """What a thing said: who wrote it and when (ms UTC); and the note and time with which it went back, if it did."""

    content: Mapping[str, Any]
    author: str
    at: int
    note: str = ""
    back_at: int | None = None


async def read_versions(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    """A block a version, the newest first; none for what was never sent back."""
    thing = view.find(ref)
    versions: list[Version] = []
    if isinstance(thing, Goal) and thing.status == GoalStatus.DRAFT:
        rows = await company.board.readers.all(_OF_GOAL, goal=thing.id)
        versions = versions_of(list(reversed(rows)))
    elif isinstance(thing, Goal) and thing.status == GoalStatus.REPORTING:
        versions = await _reports(company, thing)
    blocks = blocks_of(versions)
    asked = await company.board.readers.entities(Approval, "entity = :ref ORDER BY id DESC LIMIT 50", ref=ref)
    for question in asked:
        if question.status == ApprovalStatus.PENDING:
            blocks += blocks_of(_questions([each for each in reversed(asked) if each.kind == question.kind]))
    return blocks


def versions_of(rows: Iterable[Mapping[str, Any]]) -> list[Version]:
    """The versions of a draft, the oldest first, from its events in their order: its changes, and the notes."""
    content: dict[str, Any] = {}
    found: list[Version] = []
    author, at, is_new = "", 0, True
    for row in rows:
        if row["note"]:
            found.append(Version(dict(content), author, at, row["note"], row["at"]))
            is_new = False
            continue
        changed = {name: value for name, value in json.loads(row["changed"]).items() if name in FIELDS}
        if changed and any(content.get(name) != value for name, value in changed.items()):
            content |= changed
            author, at, is_new = row["actor"], row["at"], True
    return [*found, Version(content, author, at)] if is_new and found else found


def blocks_of(versions: Sequence[Version]) -> list[Block]:
    """The newest first, each with what differs from the one before; a single one that never went back says nothing."""
    if not any(version.note for version in versions):
        return []
    blocks = []
    for number, version in enumerate(versions, 1):
        before = versions[number - 2] if number > 1 else None
        differences = _between(before, version) if before is not None else None
        heading: tuple[Cell, ...] = (
            (f"Version {number}", "strong"), (f"{person(version.author)} {clock_time(version.at)}", "dim"),
            (differences.counts() if differences is not None else "", "info"),
        )  # fmt: skip
        back = f"→ sent back by you at {clock_time(version.back_at)}: {version.note}" if version.back_at else ""
        same = "Nothing in it differs from the version before." if differences and not differences.sections else ""
        after = f"after your note: {before.note}" if before is not None else ""
        body = "\n".join(part for part in (after, same, back) if part)
        drawing = differences if differences is not None and differences.sections else None
        blocks.append(Block(heading, body, "warn" if number == len(versions) else "dim", drawing))
    return list(reversed(blocks[-MOST_VERSIONS:]))


def _between(before: Version, after: Version) -> Differences | None:
    found = of_payload({"before": before.content, "after": after.content})
    if found is None:
        return None
    # must-haves are shown also where nothing in them differs: here only differences count
    sections = tuple((title, lines) for title, lines in found.sections if any(each.kind != "same" for each in lines))
    told = {title for title, _lines in sections}
    return Differences(sections, (*(title for title, _lines in found.sections if title not in told), *found.same))


def _questions(asked: Sequence[Approval]) -> list[Version]:
    """The versions of a question that was sent back and asked anew."""
    versions = []
    for approval in asked:
        went_back = approval.status == ApprovalStatus.REVISION_REQUESTED
        if went_back or approval.status == ApprovalStatus.PENDING:
            at = approval.decided_at if went_back else None
            versions.append(
                Version(_content(approval), approval.requested_by, approval.created_at, approval.note, at)
            )  # fmt: skip
        else:
            versions.clear()  # decided otherwise: what came later is another matter
    return versions


def _content(approval: Approval) -> dict[str, Any]:
    payload = approval.payload
    if approval.kind in (ApprovalKind.GOAL_CHANGE, ApprovalKind.ORG_CHANGE) and "after" in payload:
        after = payload["after"]
        return dict(after) if isinstance(after, Mapping) else {"chart": [str(row) for row in after]}
    return {"title": approval.title, **payload}


async def _reports(company: OpenCompany, goal: Goal) -> list[Version]:
    """The reports of a goal that were sent back, and the one that waits; kept on the board, or said where they are."""
    readers = company.board.readers
    notes = await readers.all(_SENT_BACK, goal=goal.id)
    reports = await readers.entities(Output, "goal_id = :goal AND task_id IS NULL ORDER BY id", goal=goal.id)
    versions: list[Version] = []
    for place, note in enumerate([*notes, None]):
        begun = notes[place - 1]["at"] if place else 0
        ended = note["at"] if note is not None else None
        own = [each for each in reports if begun <= each.created_at and (ended is None or each.created_at <= ended)]
        if own:
            last = own[-1]
            lines = (last.content or last.summary).splitlines()
            content = {"title": last.title, "report": [line for line in lines if line.strip()]}
            versions.append(Version(content, last.created_by, last.created_at, note["note"] if note else "", ended))
    return versions
