"""Ids and names in a text that lead somewhere: T3, G12, R7, Q3, @coordinator. Pure.

A target is found by its letters and counts only when the board has the thing; the text itself stays what it is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from core.domain.entities import AgentRecord, Approval, Entity, Round, Run
from tui.projection import Projection
from tui.text import in_words

LETTERS = {"G": "goal", "T": "task", "R": "run", "Q": "approval"}
TAGS = {kind: letter for letter, kind in LETTERS.items()} | {"agent": "A", "round": "N"}
# An id stands alone: no part of a word, of a path, of R2-D2 or of 1.T3. A name is as mentions are.
_TARGET = re.compile(
    r"(?<![\w@/#.-])(?P<letter>[GTRQ])(?P<number>[1-9][0-9]{0,14})(?![\w-]|\.\w)"
    r"|(?<![A-Za-z0-9_.@-])@(?P<name>[A-Za-z][A-Za-z0-9_-]{0,39})"
)
_TYPED = re.compile(r"(?P<letter>[GTRQAgtrqa])(?P<number>[1-9][0-9]{0,14})")
_TYPED_LETTERS = LETTERS | {"A": "agent"}
MOST_IN_A_LINE = 200


@dataclass(frozen=True, slots=True)
class Target:
    """Where in a text it stands, and what it names, e.g. `task:3`."""

    start: int
    end: int
    ref: str


Finder = Callable[[str], list[Target]]


_KINDS: dict[str, type[Entity]] = {"run": Run, "approval": Approval}


def thing(view: Projection, ref: str) -> Entity | None:
    """What a reference names, as far as the memory holds it; also runs and questions."""
    kind, _, digits = ref.partition(":")
    if kind in _KINDS:
        return view.tables.get(_KINDS[kind], int(digits) if digits.isdecimal() else None)
    return view.find(ref)


def exists(view: Projection, ref: str) -> bool:
    """Whether the board has this thing. Of runs the memory holds the last ones; their numbers have no gaps."""
    kind, _, digits = ref.partition(":")
    if kind == "run":
        return digits.isdecimal() and 0 < int(digits) <= max(view.tables[Run], default=0)
    return kind in ("goal", "task", "agent", "approval", "round") and thing(view, ref) is not None


def by_name(view: Projection, name: str) -> str:
    """The agent of this short name as `agent:3`; empty when nobody has it."""
    wanted = name.rstrip("-").lower()
    return next((f"agent:{each.id}" for each in view.tables.all(AgentRecord) if each.slug == wanted), "")


def targets_in(view: Projection, text: str) -> list[Target]:
    """The targets in a line of text, from left to right."""
    found: list[Target] = []
    for match in _TARGET.finditer(text):
        if match["letter"]:
            ref = f"{LETTERS[match['letter']]}:{match['number']}"
            ref = ref if exists(view, ref) else ""
        else:
            ref = by_name(view, match["name"])
        if ref:
            found.append(Target(match.start(), match.end(), ref))
            if len(found) == MOST_IN_A_LINE:
                break
    return found


def typed(view: Projection, text: str) -> str:
    """The thing that somebody typed: `T345`, `g12`, `@ada` or `ada`; empty when the board has no such thing."""
    text = text.strip()
    if (match := _TYPED.fullmatch(text)) is not None:
        ref = f"{_TYPED_LETTERS[match['letter'].upper()]}:{match['number']}"
        return ref if exists(view, ref) else ""
    return by_name(view, text.removeprefix("@")) if text.removeprefix("@") else ""


def is_id(text: str) -> bool:
    """Whether a text has the form of an id, whatever the board has."""
    return _TYPED.fullmatch(text.strip()) is not None


def tag_of(view: Projection, ref: str) -> str:
    """`T3` for `task:3`; the short name of an agent."""
    kind, _, number = ref.partition(":")
    if kind == "agent":
        return view.slug(int(number)) or f"A{number}"
    return f"{TAGS.get(kind, '')}{number}"


def words_of(view: Projection, ref: str) -> str:
    """What the thing is called: a title, an agent's name, whose run; as somebody wrote it."""
    found = thing(view, ref)
    match found:
        case Run():
            return f"{view.slug(found.agent_id)} {in_words(found.kind)}"
        case Round():
            return f"Round {found.number} of G{found.goal_id}"
        case None:
            return "an old run" if ref.startswith("run:") else ""
        case _:
            return str(getattr(found, "title", "") or getattr(found, "name", ""))
