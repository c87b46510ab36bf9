"""What became of a thing that waited: who decided it, how and when. Fed with events; only what is watched is kept."""

import time
from collections.abc import Iterable, Mapping

from core.blackboard.fold import Tables
from core.domain.actors import HUMAN, SYSTEM
from core.domain.entities import Approval, Event
from core.domain.inbox import InboxItem
from core.domain.states import ApprovalStatus
from tui.text import act_in_words, capital, in_words, one_line

_TABLES = {"goal": "goals", "task": "tasks", "round": "rounds", "company": "company"}
_DECIDED: Mapping[ApprovalStatus, str] = {
    ApprovalStatus.CONSUMED: "approved", ApprovalStatus.REVISION_REQUESTED: "sent back",
    ApprovalStatus.CANCELLED: "withdrawn",
}  # fmt: skip
OVER = "it waits no longer"


class Meanwhile:
    """Watches the things of the inbox; an act on one that is not watched costs nothing."""

    def __init__(self) -> None:
        self._watched: dict[str, set[int]] = {}
        self._acts: dict[tuple[str, int], Event] = {}

    def watch(self, items: Iterable[InboxItem]) -> None:
        """These wait now; what was heard of others is forgotten."""
        watched: dict[str, set[int]] = {}
        for item in items:
            kind, _, number = item.entity.partition(":")
            if kind in _TABLES and number.isdecimal():
                watched.setdefault(_TABLES[kind], set()).add(int(number))
        self._watched = watched
        self._acts = {at: event for at, event in self._acts.items() if at[1] in watched.get(at[0], ())}

    def hear(self, event: Event) -> None:
        """Something happened; an act that moves a thing counts, one that only touches it does not."""
        if event.entity_id in self._watched.get(event.entity, ()):
            moves = {"status", "reviewed_hash", "dispatching", "plan_until", "exploring"} & event.changed.keys()
            if moves or (event.entity, event.entity_id) not in self._acts:
                self._acts[event.entity, event.entity_id] = event

    def became(self, item: InboxItem, tables: Tables) -> str:
        """What became of an item that waits no longer, e.g. `rejected by you at 12:03`."""
        kind, _, number = item.id.partition(":")
        if kind == "approval" and number.isdecimal():
            return _answered(tables.get(Approval, int(number)))
        kind, _, number = item.entity.partition(":")
        event = self._acts.get((_TABLES.get(kind, ""), int(number) if number.isdecimal() else 0))
        if event is None:
            return OVER
        return f"{act_in_words(event.kind)} {_by(event.actor)} at {_clock(event.at)}"


def _answered(approval: Approval | None) -> str:
    if approval is None or approval.status == ApprovalStatus.PENDING:
        return OVER
    word = _DECIDED.get(approval.status) or in_words(approval.status)
    at = approval.decided_at or approval.updated_at
    note = f": {one_line(approval.note)}" if approval.note else ""
    return f"{word} {_by(approval.decided_by)} at {_clock(at)}{note}"


def _by(actor: str | None) -> str:
    if actor == HUMAN:
        return "by you, elsewhere,"
    return "by the board" if actor in (None, SYSTEM) else f"by {actor}"


def _clock(ms: int) -> str:
    return time.strftime("%H:%M", time.localtime(ms / 1000))


def told(item: InboxItem, became: str) -> str:
    """The line of an item that was decided meanwhile."""
    return f"{capital(became)} — {item.title}"
