"""Marks on what waits for a person, and what one answer to all of them would do. Pure.

A mark holds what the item said when it was marked: whatever says something else since is never part of an answer.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from core.domain.goals import canonical_hash
from core.domain.inbox_item import Choice, InboxItem
from core.domain.states import ApprovalKind

READ_ALONE: dict[str, str] = {
    ApprovalKind.RED_LINE: "a red line is read and allowed alone",
    ApprovalKind.PERMISSION: "what a program asks is read and allowed alone",
    ApprovalKind.GOAL_FAILURE: "a goal is given up alone",
    ApprovalKind.GOAL_CHANGE: "a changed goal is read and approved alone",
    ApprovalKind.CHALLENGE: "a challenge is read and upheld alone",
    ApprovalKind.ORG_CHANGE: "a changed organisation is read and approved alone",
    ApprovalKind.AUTONOMY: "stage B is switched on alone",
}
"""Kinds to which a yes has a question of its own, and why they are left out of a yes to several."""
MUST_BE_READ = frozenset(
    {"draft", "exploring", "report", "plan", ApprovalKind.HIRE_AGENT, ApprovalKind.QUESTION, ApprovalKind.EXCHANGE}
)
"""Kinds that say more than the line of a question has room for: a yes counts for what was on the screen."""


def fingerprint(item: InboxItem) -> str:
    """A hash of all that an item tells and would do (sha256, hex): another one means that it has changed."""
    choices = [
        [choice.key, choice.verb, choice.command, choice.arguments, choice.effect, choice.note_field]
        for choice in item.choices
    ]
    told = {"id": item.id, "entity": item.entity, "kind": str(item.kind), "title": item.title, "why": item.why}
    return canonical_hash({**told, "since": item.since, "until": item.until, "choices": choices})


def shown_hash(item: InboxItem, choice: Choice) -> str:
    """The hash that the board compares when it takes this choice; else that of what the item tells."""
    named = choice.arguments.get("payload_hash") or choice.arguments.get("content_hash")
    return named if isinstance(named, str) else fingerprint(item)


class Marks:
    """Which items are marked, in the order of marking, each with what it said then."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._shown)

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._shown

    @property
    def shown(self) -> Mapping[str, str]:
        """The marked items by id, each with its fingerprint when it was marked."""
        return self._shown

    def set(self, marked: Collection[str], items: Mapping[str, InboxItem]) -> None:
        """Marked are exactly these; what was marked before keeps what it said then."""
        self._shown = {name: shown for name, shown in self._shown.items() if name in marked}
        for name in sorted(set(marked) - self._shown.keys()):
            if name in items:
                self._shown[name] = fingerprint(items[name])

    def drop(self, item_ids: Iterable[str]) -> None:
        """Take marks away."""
        for name in item_ids:
            self._shown.pop(name, None)


@dataclass(frozen=True, slots=True)
class Part:
    """One decision of several: `shown` is the fingerprint of the item that the person was asked about."""

    item: InboxItem
    choice: Choice
    shown: str


@dataclass(frozen=True, slots=True)
class Batch:
    """One answer to several items, and those that it leaves out, by id, with the reason."""

    key: str
    parts: tuple[Part, ...]
    left_out: tuple[tuple[str, str], ...] = ()


CHANGED, GONE = "it changed since you marked it", "it waits no longer"


def batch(key: str, marks: Mapping[str, str], items: Iterable[InboxItem], was_read: Callable[[str], bool]) -> Batch:
    """What a key does to what is marked. `was_read` tells of a fingerprint whether that was on the screen."""
    there = {item.id: item for item in items}
    parts: list[Part] = []
    left_out: list[tuple[str, str]] = []
    for name, shown in marks.items():
        item = there.get(name)
        if item is None:
            left_out.append((name, GONE))
            continue
        choice = next((each for each in item.choices if each.key == key), None)
        why = _left_out(item, choice, shown, was_read)
        if choice is None or why:
            left_out.append((name, why))
        else:
            parts.append(Part(item, choice, shown))
    return Batch(key, tuple(parts), tuple(left_out))


def _left_out(item: InboxItem, choice: Choice | None, shown: str, was_read: Callable[[str], bool]) -> str:
    """Why an item is no part of one answer to several; empty if it is."""
    if fingerprint(item) != shown:
        return CHANGED
    if choice is None:
        return "it does not wait for that"
    if not choice.undoable:
        return f"{choice.verb} cannot be taken back: decide it alone"
    if choice.key == "a":
        if item.kind in READ_ALONE:
            return READ_ALONE[item.kind]
        if choice.note_field:
            return f"{choice.verb} needs words of its own"
        if item.kind in MUST_BE_READ and not was_read(shown):
            return "it was not on your screen yet: open it first"
    if choice.key == "r" and not choice.note_field:
        return f"r means {choice.verb} there: decide it alone"
    return ""


def still_same(parts: Iterable[Part], items: Iterable[InboxItem]) -> Batch:
    """Those decisions whose item is there as it was shown; the others are left out."""
    there = {item.id: item for item in items}
    kept: list[Part] = []
    left_out: list[tuple[str, str]] = []
    key = ""
    for part in parts:
        key = part.choice.key
        now = there.get(part.item.id)
        if now is not None and fingerprint(now) == part.shown:
            kept.append(part)
        else:
            left_out.append((part.item.id, GONE if now is None else "it changed since you were asked"))
    return Batch(key, tuple(kept), tuple(left_out))
