"""What a CEO sees before it proposes the next goal: bounded, so that no prompt grows with the company's age (S1-07)."""

from collections.abc import Iterable, Mapping
from typing import Any

from core.domain.states import GoalStatus, Origin

REFILL_MAX = 12  # goals a list, the newest
REFILL_READ = 500  # ended goals that are looked at
_TEXT_MAX = 300  # code points


def material(mission: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The mission; goals that were finished, and that ended otherwise, with their reasons; drafts that were rejected.

    `rows` are ended goals, newest first: id, title, description, status, origin, reason, `dispatched`, `accepted`.
    `left_out` counts what is not listed.
    """
    lists: dict[str, list[dict[str, str]]] = {"finished": [], "cancelled": [], "rejected": []}
    left_out = 0
    for row in rows:
        told = lists[_list_of(row)]
        if len(told) == REFILL_MAX:
            left_out += 1
            continue
        texts = {name: _cut(str(row[name])) for name in ("title", "description", "reason")}
        told.append({"goal": f"G{row['id']}", "status": str(row["status"]), **texts})
    return {"mission": mission[: 10 * _TEXT_MAX], **lists, "left_out": left_out}


def _list_of(row: Mapping[str, Any]) -> str:
    if row["accepted"] or row["status"] == GoalStatus.DONE:
        return "finished"
    return "rejected" if row["origin"] == Origin.CEO and not row["dispatched"] else "cancelled"


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"
