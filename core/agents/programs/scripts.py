"""Output of plain scripts: text as it is, or one JSON object a line (docs/agents.md)."""

import json
import re
from collections.abc import Mapping
from typing import Any

from core.agents.programs.pieces import (
    Asked,
    Called,
    Finished,
    Piece,
    Resulted,
    Said,
    Scope,
    SessionIs,
    Used,
)
from core.domain.budgets import MONEY_MAX

_COUNT_MAX = 1_000_000_000_000
_TIME_MAX = 2**53  # ms
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]")


def without_controls(text: str) -> str:
    """The words alone: no colours, no moves of the cursor."""
    return _CONTROL.sub("", text)


def object_of(line: str) -> Mapping[str, Any] | None:
    """The JSON object that a line is; None if it is anything else."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def word(value: object) -> str:
    """A text; JSON of anything else; empty for nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def number(value: object, most: int = _COUNT_MAX) -> int:
    """A count that somebody else told, within bounds; 0 for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        return 0
    return int(value)


def mapping(value: object) -> Mapping[str, Any]:
    """An object within an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


class TextParser:
    """Each line is something said."""

    needs_result = False

    def take(self, line: str) -> list[Piece]:
        """The line's words."""
        said = without_controls(line).rstrip()
        return [Said(said)] if said else []


class JsonParser:
    """Lines of `{"type": …}`; what is no such object is something said."""

    needs_result = False

    def take(self, line: str) -> list[Piece]:
        """What the object tells."""
        facts = object_of(line)
        if facts is None:
            return TextParser().take(line)
        piece = _piece(facts)
        return [] if piece is None else [piece]


def _piece(facts: Mapping[str, Any]) -> Piece | None:
    match facts.get("type"):
        case "text":
            return Said(word(facts.get("text")))
        case "tool_call":
            return Called(word(facts.get("id")), word(facts.get("name")), word(facts.get("arguments")))
        case "tool_result":
            return Resulted(word(facts.get("id")), word(facts.get("text")), facts.get("failed") is True)
        case "permission":
            return Asked(word(facts.get("wants")))
        case "usage":
            cost = None if facts.get("cost_micros") is None else number(facts["cost_micros"], MONEY_MAX)
            return Used(number(facts.get("tokens_in")), number(facts.get("tokens_out")), cost, Scope.STEP)
        case "session":
            return SessionIs(word(facts.get("id")))
        case "result":
            return _finished(facts)
        case _:
            return None


def _finished(facts: Mapping[str, Any]) -> Finished:
    status, why = facts.get("status"), word(facts.get("reason"))
    if status in ("succeeded", "no_reply"):
        return Finished(True, str(status), why)
    if status == "rate_limited":
        return Finished(False, "rate_limited", why, number(facts.get("retry_at"), _TIME_MAX) or None)
    return Finished(False, "failed", why or f"it ended with the status {word(status)!r}")
