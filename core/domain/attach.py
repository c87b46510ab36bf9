"""What the operator can do with a run, by its runner: speak, pause, go on with its session, take its terminal. Pure."""

from collections.abc import Mapping
from typing import Any

from core.domain.runner_uses import PROGRAMS

# Their runners take words up between turns, and hold before a turn.
HEARING = frozenset({"chat", "acp"})
# Programs of the catalogue that go on with a session in a terminal of their own.
IN_TERMINAL = frozenset({"claude", "codex", "opencode"})
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


def shares_sessions(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether these settings mean the same program by the same kind of runner: ids of sessions are a program's own."""
    return all(one.get(name) == other.get(name) for name in ("kind", "program", "command"))


def no_terminal(runner: Mapping[str, Any]) -> str:
    """Why the terminal cannot be given to the program of this runner, to be said after its agent's name; empty if it
    can."""
    kind, program = runner.get("kind") or "unknown", str(runner.get("program", "script"))
    if kind not in PROGRAMS:
        return f"works by a runner of the kind {kind!r}, which is no program for a terminal"
    if program == "script":
        return "is a program of your own, of which no way to go on in a terminal is known"
    if program not in IN_TERMINAL:
        return f"works by {program[:40]!r}, which does not go on with a session in a terminal"
    return "asks its model through the gateway, with the token of a run" if runner.get("gateway") else ""
