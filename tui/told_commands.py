"""Hints of the board for a person: names of commands, which agents send, become what is pressed or typed. Pure."""

import re
from typing import Literal

Where = Literal["room", "shell"]

# By command: what is pressed in the room (a key and its word), and the subcommand that is typed.
_BY_COMMAND: dict[str, tuple[str, str]] = {
    "ReviewGoal": ("a approve", "opsroom goal review"),
    "ReadyGoal": ("a ready", "opsroom goal ready"),
    "DispatchGoal": ("d dispatch", "opsroom goal dispatch"),
    "CancelGoal": ("b cancel", "opsroom goal cancel"),
    "RecallGoal": ("R recall", "opsroom goal recall"),
    "AcceptGoal": ("a accept", "opsroom approve"),
    "SendBackGoal": ("r send back", "opsroom revise"),
    "EndDiscussion": ("E end talk", "opsroom goal end-discussion"),
    "ArchiveGoal": ("", "opsroom goal archive"),
    "EnqueueTask": ("d enqueue", ""),
    "CancelTask": ("b cancel", "opsroom block"),
    "ResumeTask": ("a resume", "opsroom approve"),
    "UnblockTask": ("a unblock", "opsroom approve"),
    "SpeakToRun": ("s say", "opsroom runs say"),
    "PauseRun": ("p pause", "opsroom runs pause"),
    "ResumeRun": ("p resume", "opsroom runs resume"),
    "KillRun": ("x end", "opsroom runs kill"),
    "ResumeSession": ("c go on", "opsroom runs continue"),
}
_ROW = re.compile(r"\s*\([A-Z]\d?-?\d+\)")
_LISTED = "Possible now: "
_LISTED_ONE = re.compile(r"([A-Z][A-Za-z]+) \(→ [a-z_]+\)")
_IN_BRACKETS = re.compile(r" \(([A-Z][a-z]+[A-Z][A-Za-z]+)\)")


def hint_for(where: Where, hint: str) -> str:
    """The hint with keys ("room") or subcommands ("shell"); empty when it lists only what agents and the board do."""
    if hint.startswith(_LISTED):
        names = dict.fromkeys(_LISTED_ONE.findall(hint))
        ways = list(dict.fromkeys(way for name in names if (way := _way(where, name))))
        return f"{_LISTED}{', '.join(ways)}." if ways else ""
    return _IN_BRACKETS.sub(lambda found: f" ({way})" if (way := _way(where, found[1])) else "", hint)


def about_in_words(about: str) -> str:
    """A command's line of help without the rows of the requirements, e.g. `(S1-10)`."""
    return _ROW.sub("", about)


def pressed_for(command: str) -> str:
    """The key by which the room sends a command, on a thing that it fits; empty when it has none."""
    return _way("room", command).partition(" ")[0]


def _way(where: Where, command: str) -> str:
    pressed, typed = _BY_COMMAND.get(command, ("", ""))
    return pressed if where == "room" else typed
