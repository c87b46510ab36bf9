"""A goal as a text that a person edits, and back: every line that cannot be understood is named, nothing is lost.

Pure. The first line of a list's entry stands at the margin; what belongs to it is indented.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.entities import Goal
from core.domain.limits import TEXT_MAX, TITLE_MAX
from tui.text import plain

TITLE = "title:"
SECTIONS = ("description:", "must-haves:", "constraints:", "out of scope:")
_DESCRIPTION, _MUST_HAVES, _CONSTRAINTS, _OUT = SECTIONS
HELP = (
    "# One thing a line; lines that begin with # are left out.",
    "# A must-have is: text — how to verify it. Leave its id (M1) in front, also when you",
    "# reword it; a new one gets its own.",
)
DASH = " — "
_OPEN_DASH = re.compile(r" —(?=\s|$)")
_HIDDEN_DASH = " \\—"
_ID = re.compile(r"(M\d+)(?:[.:)]?\s+|$)")


@dataclass(frozen=True, slots=True)
class Draft:
    """What the text says, in the fields of `EditGoal`; a must-have is (id or "", text, verify)."""

    title: str
    description: str
    must_haves: tuple[tuple[str, str, str], ...]
    constraints: tuple[str, ...]
    out_of_scope: tuple[str, ...]

    def changes(self, since: "Draft") -> dict[str, Any]:
        """The arguments of `EditGoal` for what differs; what a person did not touch is not sent."""
        found: dict[str, Any] = {}
        for name in ("title", "description", "constraints", "out_of_scope"):
            if getattr(self, name) != getattr(since, name):
                found[name] = getattr(self, name)
        if self.must_haves != since.must_haves:
            found["must_haves"] = [
                {"id": name, "text": text, "verify": verify} for name, text, verify in self.must_haves
            ]
        return found


@dataclass(frozen=True, slots=True)
class Problem:
    """A line (the first is 1) and what is wrong with it."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.words}"


def first_of(problems: Sequence[Problem]) -> str:
    """The first of them, and how many more there are."""
    more = len(problems) - 1
    return f"{problems[0]}  (and {more} more)" if more else str(problems[0])


def draft_of(goal: Goal) -> Draft:
    """What the goal says now, with every control character drawn: a part that nobody touches is not sent back."""
    must_haves = tuple((must["id"], plain(must["text"]), plain(must.get("verify", ""))) for must in goal.must_haves)
    limits, outside = (tuple(plain(text) for text in texts) for texts in (goal.constraints, goal.out_of_scope))
    return Draft(plain(goal.title), plain(goal.description).strip("\n"), must_haves, limits, outside)


def to_text(draft: Draft) -> str:
    """The text to edit."""
    lines = [f"{TITLE} {_entry(draft.title)}", "", _DESCRIPTION]
    lines += [_hidden(each) for each in draft.description.split("\n")] if draft.description else []
    lines += ["", _MUST_HAVES]
    for name, text, verify in draft.must_haves:
        shown = ("\\" if text.startswith("\\") else "") + _OPEN_DASH.sub(lambda _: _HIDDEN_DASH, text)
        lines.append(f"{name} {_entry(shown)}" + (f"{DASH}{_entry(verify)}" if verify else ""))
    lines += ["", _CONSTRAINTS, *(_entry(_hidden(each)) for each in draft.constraints)]
    lines += ["", _OUT, *(_entry(_hidden(each)) for each in draft.out_of_scope)]
    return "\n".join([*lines, "", *HELP]) + "\n"


def _entry(text: str) -> str:
    """What stands on more lines is indented below its first."""
    return text.replace("\n", "\n  ")


def _hidden(text: str) -> str:
    """A line of the text that looks like one of ours gets a backslash, which is taken away again."""
    bare = text.strip().casefold()
    ours = text.startswith(("#", "\\", " ", "\t")) or bare in SECTIONS or bare.startswith(TITLE) or not text.strip()
    return f"\\{text}" if ours and text else text


def _shown(text: str) -> str:
    return text.removeprefix("\\")


def read_text(text: str, known: Sequence[str]) -> tuple[Draft | None, list[Problem]]:
    """The draft, or what is wrong line by line. `known` are the ids of the must-haves that the goal has."""
    return _Reader(known).read(text)


class _Reader:
    def __init__(self, known: Sequence[str]) -> None:
        self._known = known
        self._problems: list[Problem] = []
        self._title = ""
        self._description: list[str] = []
        self._entries: dict[str, list[tuple[int, str]]] = {name: [] for name in SECTIONS[1:]}

    def read(self, text: str) -> tuple[Draft | None, list[Problem]]:
        section = ""
        for number, line in enumerate(text.split("\n"), 1):
            head = line.strip().casefold()
            if line.startswith("#"):
                continue
            if head in SECTIONS:
                section = head
            elif line[: len(TITLE)].casefold() == TITLE and section == "":
                section, self._title = TITLE, line[len(TITLE) :].strip()
            else:
                self._take(section, number, line)
        draft = Draft(
            self._checked(1, self._title.strip(), TITLE_MAX, "the title"),
            "\n".join(self._description).strip("\n"),
            self._must_haves(),
            self._texts(_CONSTRAINTS),
            self._texts(_OUT),
        )
        if not draft.title:
            self._problems.insert(0, Problem(1, f"there is no title; begin a line with {TITLE}"))
        if len(draft.description) > TEXT_MAX:
            self._problems.append(Problem(1, f"the description is longer than {TEXT_MAX} characters"))
        self._problems.sort(key=lambda problem: problem.line)
        return (None if self._problems else draft), self._problems

    def _take(self, section: str, number: int, line: str) -> None:
        if section == _DESCRIPTION:
            self._description.append(_shown(line))
        elif not line.strip() and not (line.startswith("  ") and self._entries.get(section)):
            return
        elif section == TITLE and line.startswith(" "):
            self._title += "\n" + line[2:]
        elif section in self._entries:
            entries = self._entries[section]
            if line.startswith(("  ", "\t")):
                if entries:
                    entries[-1] = (entries[-1][0], f"{entries[-1][1]}\n{line.removeprefix('  ').lstrip(chr(9))}")
                else:
                    self._problems.append(Problem(number, "nothing stands above it that it could belong to"))
            else:
                entries.append((number, line))
        else:
            names = ", ".join(SECTIONS)
            self._problems.append(Problem(number, f"it belongs to no part; begin a part with one of: {names}"))

    def _checked(self, number: int, text: str, most: int, what: str) -> str:
        if len(text) > most:
            self._problems.append(Problem(number, f"{what} has {len(text)} characters; at most {most} are possible"))
        return text

    def _texts(self, section: str) -> tuple[str, ...]:
        return tuple(
            self._checked(number, _shown(text).rstrip(), TEXT_MAX, "it") for number, text in self._entries[section]
        )

    def _must_haves(self) -> tuple[tuple[str, str, str], ...]:
        found: list[tuple[str, str, str]] = []
        used: set[str] = set()
        for number, line in self._entries[_MUST_HAVES]:
            name = ""
            if match := _ID.match(line):
                name, line = match[1], line[match.end() :]
                if name in used:
                    self._problems.append(Problem(number, f"{name} is there twice; leave the id of a new one out"))
                elif name not in self._known:
                    self._problems.append(Problem(number, f"the goal has no {name}; leave the id of a new one out"))
                used.add(name)
            text, _, verify = _shown(line).partition(DASH)
            text = self._checked(number, text.replace(_HIDDEN_DASH, " —").strip(), TITLE_MAX, "a must-have")
            if not text:
                self._problems.append(Problem(number, "it says nothing; take the whole line away to drop it"))
            found.append((name, text, self._checked(number, verify.strip(), TEXT_MAX, "its verification")))
        return tuple(found)
