"""Ids as people type them (G1, T12, Q3, N2), lists of words, and the commands to type next."""

import os
import re
import shlex
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from core.domain.errors import Conflict, Invalid
from core.domain.inbox import Choice, InboxItem

KINDS = {"G": "goal", "T": "task", "Q": "approval", "N": "round", "C": "company"}
LETTERS = {**{kind: letter for letter, kind in KINDS.items()}, "experience": "E", "run": "R"}
HASH_MIN = 16
_ID = re.compile(r"([A-Za-z]?)([0-9]{1,15})")
_BY_KEY = {"a": "approve", "b": "reject", "r": "revise"}


def folder_of(text: str) -> Path:
    """A folder as it was typed. Raises Invalid for an empty name."""
    if not text:
        raise Invalid("The folder's name is empty.", "Give a path; `.` is this folder.")
    return Path(os.path.abspath(text))


def number_of(text: str, kind: str) -> int:
    """The number of a thing whose kind is known: G1, g1 or 1 for a goal. Raises Invalid."""
    letter = LETTERS[kind]
    found = _ID.fullmatch(text)
    if found is None or found[1].upper() not in ("", letter):
        raise Invalid(f"{text!r} is no {kind}'s id.", f"Type it like {letter}1.")
    return int(found[2])


def entity_of(text: str) -> tuple[str, int]:
    """The kind and the number of a thing: ('goal', 1) for G1. Raises Invalid."""
    found = _ID.fullmatch(text)
    kind = KINDS.get(found[1].upper()) if found else None
    if found is None or kind is None:
        known = ", ".join(f"{letter}1 ({kind})" for letter, kind in KINDS.items())
        raise Invalid(f"{text!r} is no id of something that can wait for you.", f"Type it like {known}.")
    return kind, int(found[2])


def hash_of(text: str | None) -> str | None:
    """A hash as far as it was typed. Raises Invalid for one that could be another's."""
    if text is not None and len(text) < HASH_MIN:
        raise Conflict(
            f"{text!r} is too short for a hash: it has at least {HASH_MIN} signs.", "`goal show` shows the whole of it."
        )
    return text


def words_of(text: str | None, known: Iterable[str], what: str) -> list[str]:
    """A comma-separated list of known words; empty when nothing is asked. Raises Invalid, which lists the known."""
    if text is None:
        return []
    words = [word.strip() for word in text.split(",")]
    listed = sorted(known)
    unknown = [word for word in words if word not in listed]
    if unknown:
        raise Invalid(f"Unknown {what} {', '.join(map(repr, unknown))}.", f"Known: {', '.join(listed) or 'none'}.")
    return words


def in_list(column: str, words: list[str]) -> tuple[str, dict[str, str]]:
    """A condition for a column and its parameters; true for an empty list."""
    if not words:
        return "true", {}
    parameters = {f"{column}_{i}": word for i, word in enumerate(words)}
    return f"{column} IN ({', '.join(':' + name for name in parameters)})", parameters


def tag_of(item: InboxItem) -> str:
    """What a person types for an inbox item."""
    if item.id.startswith("approval:"):
        return f"Q{item.id.partition(':')[2]}"
    kind, _, number = item.entity.partition(":")
    # What has a name instead of a number is called by it, e.g. hire:scout.
    return f"{LETTERS.get(kind, kind[:1].upper())}{number}" if number.isdecimal() else item.entity


def typeable(item: InboxItem) -> list[Choice]:
    """The choices of an item that a subcommand takes; to edit what is asked needs the room."""
    return [choice for choice in item.choices if choice.key in (*_BY_KEY, "d", "f", "M")]


def typed(item: InboxItem, choice: Choice, folder: Path) -> str:
    """The exact command that takes a choice."""
    place = quoted(folder)
    if choice.command == "StartCompany":
        return f"opsroom start {place}"
    if choice.command == "EditCompany":
        return f"opsroom company {place} --mission 'what it is for'"
    if choice.command == "DispatchGoal":
        return f"opsroom goal dispatch {place} {tag_of(item)}"
    if choice.command == "RaiseBudget":
        return _raising(item, choice, place)
    if choice.command == "StopCompany":
        return f"opsroom stop {place}"
    if choice.command == "PauseAgent":
        return f"opsroom agent pause {place} {choice.arguments['agent']}"
    if choice.command == "PauseGoal":
        return f"opsroom goal pause {place} {LETTERS['goal']}{choice.arguments['goal']}"
    if choice.key == "f":
        return f"opsroom approve {place} {tag_of(item)} --for-run"
    reason = " --note 'why'" if choice.note_field else ""
    return f"opsroom {_BY_KEY[choice.key]} {place} {tag_of(item)}{reason}"


def _raising(item: InboxItem, choice: Choice, place: str) -> str:
    """The command that raises a budget; it names an agent as `agent:5` says."""
    kind, _, number = item.entity.partition(":")
    whose = {"company": "company", "goal": f"G{number}"}.get(kind, str(choice.arguments.get("slug") or f"A{number}"))
    dollars = f"{Decimal(int(str(choice.arguments['micros']))) / 1_000_000:f}"
    return f"opsroom budget raise {place} {whose} {dollars}{' --once' if choice.arguments.get('once') else ''}"


def quoted(folder: Path) -> str:
    """A folder as it is typed in a shell."""
    return shlex.quote(str(folder))


def while_at_work(folder: Path) -> str:
    """When anything of a company is done, for the end of a sentence: whoever owns its board works."""
    dir_ = quoted(folder)
    return f"while a room, `opsroom serve {dir_}` or `opsroom run {dir_} --headless` is open"
