"""What the operator writes on the board: a kind named by its first word, names completed, and what was written before.

Pure; the composer shows it, `core.domain.mentions` knows who is woken.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.errors import Invalid
from core.domain.states import CommentKind

SLASHES: dict[str, tuple[CommentKind, str]] = {
    "/note": (CommentKind.NOTE, "a note, which wakes nobody"),
    "/ask": (CommentKind.QUESTION, "a question"),
    "/mail": (CommentKind.MAIL_REQUEST, "mail that waits for an answer"),
    "/inform": (CommentKind.MAIL_INFORM, "mail that needs no answer"),
    "/object": (CommentKind.OBJECTION, "an objection"),
    "/decide": (CommentKind.DECISION, "a decision, to be carried out"),
}
"""The first words that choose a kind, and what they mean. Without one it is a plain word of the dialogue."""

BY_PERSONS = (CommentKind.DIALOGUE, *(kind for kind, _ in SLASHES.values()))
"""The kinds that a person writes; the others belong to the work of agents."""

RETURN = "⏎"
"""Stands for a new line in the one line of the composer."""

_SLASH = re.compile(r"(/[a-z]+)(?:\s+|$)")
_BEGUN_NAME = re.compile(r"(?<![A-Za-z0-9_.@-])@([a-z0-9-]*)$")
_BEGUN_SLASH = re.compile(r"^/[a-z]*$")
PAST_MOST = 200


@dataclass(frozen=True, slots=True)
class Letter:
    """A kind and a text, ready for the board."""

    kind: CommentKind
    body: str


def read_letter(text: str, plain_kind: CommentKind = CommentKind.DIALOGUE) -> Letter:
    """What a line of the composer means. Raises Invalid, which names the words that are known."""
    body, kind = text, plain_kind
    if found := _SLASH.match(text):
        if found[1] not in SLASHES:
            raise Invalid(
                f"There is no {found[1]}.", f"Known: {' '.join(SLASHES)}; begin with a space for a plain text."
            )
        kind, body = SLASHES[found[1]][0], text[found.end() :]
    return Letter(kind, body.replace(RETURN, "\n").strip())


def complete(text: str, at: int, names: Iterable[str]) -> tuple[str, int, Sequence[str]]:
    """Complete the name or the first word before the cursor.

    Returns the text, the cursor, and what it may be when more than one fits; nothing changes where nothing fits.
    """
    before = text[:at]
    if found := _BEGUN_NAME.search(before):
        sign, begun, known = "@", found[1], sorted(names)
    elif _BEGUN_SLASH.match(before):
        sign, begun, known = "", before, list(SLASHES)
    else:
        return text, at, ()
    fits = [name for name in known if name.startswith(begun)]
    if not fits:
        return text, at, ()
    whole = _shared(fits) + (" " if len(fits) == 1 and not text[at:].startswith(" ") else "")
    start = at - len(begun)
    done = text[:start] + whole + text[at:]
    return done, start + len(whole), [] if len(fits) == 1 else [sign + name for name in fits]


def _shared(words: Sequence[str]) -> str:
    """What they all begin with."""
    first, last = min(words), max(words)
    same = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:same]


def told(answer: dict[str, Any]) -> str:
    """What became of a comment, from the board's answer: who was woken, who is unknown, who waits for a person."""
    woken = answer.get("wakes", ())
    parts = [f"woke {', '.join(woken)}"] if woken else []
    if answer.get("calls"):
        parts.append(f"the {answer['calls']} is called")
    if answer.get("adjusts"):
        parts.append(f"{answer['adjusts']} adjusts the plan first")
    parts = parts or ["woke nobody"]
    if held := answer.get("held"):
        parts.append(f"held back: {', '.join(held)}")
    if unknown := answer.get("unknown"):
        parts.append("; ".join(unknown_name(name, nearest) for name, nearest in unknown.items()))
    if answer.get("asked"):
        parts.append(f"you are asked: Q{answer['asked']}")
    return " · ".join(parts)


def unknown_name(name: str, nearest: Sequence[str]) -> str:
    """That nobody has this name, and who may be meant."""
    meant = " or ".join(f"@{each}" for each in nearest)
    return f"unknown @{name}" + (f" — did you mean {meant}?" if meant else "")


class Past:
    """What was written in this room, the youngest last; stepping back keeps what is being written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._at: int | None = None
        self._draft = ""

    def __bool__(self) -> bool:
        return bool(self._lines)

    def keep(self, line: str) -> None:
        """Remember a line, also one that was not sent."""
        self._at = None
        if line.strip() and (not self._lines or self._lines[-1] != line):
            self._lines = [*self._lines[1 - PAST_MOST :], line]

    def step(self, by: int, now: str) -> str | None:
        """The line before (-1) or after (+1) the one that shows; None where there is none."""
        at = len(self._lines) if self._at is None else self._at
        if self._at is None:
            self._draft = now
        to = at + by
        if not 0 <= to <= len(self._lines):
            return None
        self._at = None if to == len(self._lines) else to
        return self._draft if self._at is None else self._lines[to]
