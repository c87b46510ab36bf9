"""An event as a row of the history, and in full: who did what to which thing, why, and what it changed.

Pure. Everything in an event may be an agent's text: it is shown literally.
"""

import json
import time
from collections.abc import Mapping
from typing import Any

from core.domain.actors import HUMAN
from core.domain.entities import ENTITIES, AgentRecord, Approval, Entity, Event
from core.domain.history import is_decision, note_of
from tui.panes.differences import Differences, of_payload
from tui.projection import WORDS, Projection
from tui.text import act_in_words, ago, amount, in_words
from tui.widgets.prose import Block
from tui.widgets.row import Cell, Column, Row

LOG = (
    Column("", width=1),
    Column("when", width=8),
    Column("who", width=11),
    Column("what", width=19),
    Column("on", width=5),
    Column("why", min_width=8, drop_below=58),
)
DECISION = "★"
_MOST = 2_000  # characters of one fact; all of it is read where the thing itself is shown
_DULL = frozenset({
    "version", "updated_at", "fence", "lease_until", "created_at", "progress_at", "id",
    "content_hash", "subject_hash", "payload_hash", "prompt_hash", "reviewed_hash", "sha256", "idempotency_key",
})  # fmt: skip
_TABLES = {word: table for table, word in WORDS.items()}
_LETTERS = {"goal": "G", "task": "T", "round": "N", "run": "R", "agent": "A", "approval": "Q", "company": "C"}
_ABOUT = (("subject", "subject_id"), ("scope", "scope_id"))
_NUMBERS = {
    "task_id": "T", "goal_id": "G", "round_id": "N", "run_id": "R", "parent_id": "T", "retry_of": "T",
    "current_run": "R", "depends_on": "T",
}  # fmt: skip


def row_id(event: Event) -> str:
    """The id of an event's row."""
    return f"event:{event.id}"


def number_of(row: str | None) -> int:
    """The number of the event of a row; 0 for none."""
    return int((row or "").partition(":")[2] or 0)


def day_and_time(ms: int) -> str:
    """The local date and time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms / 1000))


def event_row(event: Event, view: Projection, now: int) -> Row:
    """One line: a star for decisions, when, who, what, on which thing, and why."""
    decides = is_decision(event)
    at = time.localtime(event.at / 1000)
    is_today = time.localtime(now / 1000)[:3] == at[:3]
    who: Cell = ("you", "strong") if event.actor == HUMAN else event.actor
    words: Cell = act_in_words(event.kind)
    cells: tuple[Cell, ...] = (
        (DECISION, "warn") if decides else "",
        (time.strftime("%H:%M:%S" if is_today else "%d %b", at), "dim"),
        (event.actor, "dim") if event.actor == "system" else who,
        (act_in_words(event.kind), "strong") if decides else words,
        (tag_of(thing_of(event, view)), "info"),
        note_of(event),
    )
    return Row(row_id(event), cells)


def tag_of(ref: str) -> str:
    """How people name what a reference means: T12."""
    kind, _, number = ref.partition(":")
    return "" if kind == "company" else f"{_LETTERS.get(kind, kind + ' ')}{number}" if ref else ""


def thing_of(event: Event, view: Projection) -> str:
    """What a person would open for it, e.g. `task:12`: of a comment or an output the task or goal it belongs to."""
    word = WORDS.get(event.entity, event.entity)
    if word in _LETTERS:
        return f"{word}:{event.entity_id}"
    kept: Entity | None = view.tables.rows.get(event.entity, {}).get(event.entity_id)
    facts: Mapping[str, Any] = event.changed

    def fact(name: str) -> Any:
        return facts.get(name, getattr(kept, name, None))

    for kind_name, number_name in _ABOUT:
        kind, number = fact(kind_name), fact(number_name)
        if isinstance(kind, str) and kind in _LETTERS and isinstance(number, int):
            return f"{kind}:{number}"
    for name, kind in (("task_id", "task"), ("goal_id", "goal"), ("run_id", "run"), ("agent_id", "agent")):
        if isinstance(number := fact(name), int):
            return f"{kind}:{number}"
    return ""


def subject_of(ref: str, view: Projection) -> str:
    """Where a thing stands in the room: a question's is what it is about."""
    kind, _, number = ref.partition(":")
    if kind == "approval" and number.isdecimal():
        asked = view.tables.get(Approval, int(number))
        return asked.entity if asked is not None else ""
    return ref


def event_blocks(event: Event, before: Mapping[str, Any] | None, view: Projection, now: int) -> list[Block]:
    """The event in full; `before` are the facts that it changed, None while they are being read."""
    who = "you" if event.actor == HUMAN else event.actor
    by = f"{who} in R{event.run_id}" if event.run_id else who
    ref = thing_of(event, view)
    own = ENTITIES.get(event.entity)
    named = (
        f"{own.letter}{event.entity_id}"
        if own is not None and own.letter
        else f"{in_words(WORDS.get(event.entity, event.entity.removesuffix('s')))} {event.entity_id}"
    )
    lines = [f"#{amount(event.id)} · {day_and_time(event.at)} · {ago(now, event.at)} ago", f"by {by}, on {named}"]
    if tag_of(ref) and tag_of(ref) != named:
        lines[-1] += f" of {tag_of(ref)}"
    if event.cause:
        lines.append(f"because of #{amount(event.cause)}")
    decides = is_decision(event)
    heading: tuple[Cell, ...] = (
        (act_in_words(event.kind), "strong"),
        (f"{DECISION} decision", "warn") if decides else "",
    )
    blocks = [Block(heading, "\n".join(lines), "warn" if decides else "info")]
    if note := note_of(event):
        blocks.append(Block((("why" if decides else "what it says", "strong"),), note, "good"))
    if before is None:
        return [*blocks, Block((("facts", "strong"),), "reading what was there before…", "dim")]
    facts = differences(event, before, view)
    if facts.sections:
        title = "what it began with" if "id" in event.changed else "what it changed"
        blocks.append(Block(((title, "strong"),), "", "dim", facts))
    return blocks


def differences(event: Event, before: Mapping[str, Any], view: Projection) -> Differences:
    """The facts before and after, in words; bookkeeping is left out."""
    is_new = "id" in event.changed
    after = {
        in_words(name.removesuffix("_id")): _fact(name, value, view)
        for name, value in _joined(event.changed).items()
        if name not in _DULL and not (is_new and value in (None, "", 0, False, [], {}))
    }
    olds = {in_words(name.removesuffix("_id")): _fact(name, value, view) for name, value in _joined(before).items()}
    found = of_payload({"before": {name: olds.get(name) for name in after}, "after": after})
    assert found is not None  # both sides are mappings
    return Differences(tuple((title.lower(), parts) for title, parts in found.sections), found.same)


def _joined(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts; what something is about stands in two of them, its kind and its number, and is told as one: T2."""
    joined = dict(facts)
    for kind, number in _ABOUT:
        if facts.get(kind) in _LETTERS and isinstance(facts.get(number), int):
            joined[kind] = tag_of(f"{facts[kind]}:{joined.pop(number)}") or facts[kind]
    return joined


def _fact(name: str, value: Any, view: Projection) -> Any:
    """A stored value as people read it."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if name in _NUMBERS:
            return f"{_NUMBERS[name]}{value}"
        if name in ("agent_id", "assignee_id", "last_assignee_id", "manager_id"):
            agent = view.tables.get(AgentRecord, value)
            return agent.slug if agent is not None else f"A{value}"
        if name.endswith(("_at", "_until")):
            return day_and_time(value)
        return f"${value / 1_000_000:,.4f}" if name.endswith("_micros") else str(value)
    if value == HUMAN and name.endswith("_by"):
        return "you"
    if isinstance(value, dict):
        value = [
            f"{in_words(key)}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"[:_MOST]
            for key, each in value.items()
        ]
    if isinstance(value, list) and all(isinstance(each, (str, int)) or "text" in each for each in value):
        return value[:100]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST else f"{text[:_MOST]}… {amount(len(text) - _MOST)} characters more"
