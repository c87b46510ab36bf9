"""What the operator can do with a run at work, by its runner's kind: speak, pause, go on with its session. Pure."""

from collections.abc import Mapping
from typing import Any

# Their runners take words up between turns, and hold before a turn.
HEARING = frozenset({"chat", "acp"})
REMARKS_WAITING = 20


def can_hear(kind: str) -> bool:
    """Whether a run of this kind of runner can be spoken to and paused."""
    return kind in HEARING


def cannot_hear(kind: str) -> str:
    """Why a run of this kind cannot, to be said after its name."""
    if kind == "command":
        return "is a program that got its prompt once: it can neither hear nor pause"
    return f"works by a runner of the kind {kind or 'unknown'!r}, which can neither hear nor pause"


def cannot_continue(runner: Mapping[str, Any]) -> str:
    """Why no session of this runner can be gone on with, to be said after its agent's name; empty if one can."""
    match runner.get("kind", ""):
        case "acp":
            return ""
        case "command" if runner.get("program", "script") != "script":
            return ""
        case "command":
            return "is a script of your own, which has no sessions"
        case kind:
            return f"works by a runner of the kind {kind or 'unknown'!r}, whose sessions end with their run"
