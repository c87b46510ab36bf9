"""What the operator says in an exploration, understood by its words (English; works also by Chinese words). Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.agents.rehearsal.works import WORKS

_CLAUSES = re.compile(r"[.;,!\n。；，！]|\bbut\b|(?=\bexcept\b)|(?=\bwithout\b)|(?=除了)|但", re.IGNORECASE)
_NOT = re.compile(
    r"\b(no|not|non|none|without|except|skip|drop|leave out|don't|never|neither)\b|不要|不用|除了|别|去掉", re.I
)
_ALL = re.compile(r"\b(all|everything|the lot|whole audit)\b|全部|所有|都要", re.IGNORECASE)
_NOTHING = re.compile(
    r"^\W*(?:say\W+)?(?:no|none|nothing|nope|n/a|no limits?|no constraints?|nothing (?:else|more)|that is all|没有|无)"
    r"(?:\W+(?:please|thanks|thank you))?\W*$",
    re.IGNORECASE,
)
_YES = re.compile(r"\b(yes|ready|ok|okay|fine|good|go|right|agreed|done)\b|好|可以|是的|准备好", re.IGNORECASE)
_PIECES = re.compile(r"[;,\n；，、]")


class Topic(StrEnum):
    """What one question of the exploration is about, in the order in which they come."""

    WHAT = "what"
    VERIFY = "verify"
    LIMITS = "limits"
    SCOPE = "scope"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Wish:
    """Works that the operator wants and does not want; `unknown` when a text names none of them."""

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing that we know was named."""
        return not (self.wanted or self.unwanted)


def wish_of(text: str) -> Wish:
    """The works that a text names, clause by clause: 'all, but no duplicates' wants five and not the sixth."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for clause in _CLAUSES.split(text):
        named = works_in(clause)
        if named and _NOT.search(clause):
            unwanted += named
        elif named:
            wanted += named
        elif _ALL.search(clause) and not _NOT.search(clause):
            wanted += list(WORKS)
    kept = [kind for kind in WORKS if kind in wanted and kind not in unwanted]
    return Wish(tuple(kept), tuple(kind for kind in WORKS if kind in unwanted))


def works_in(text: str) -> list[str]:
    """The kinds of work whose name or words stand in a text."""
    low = text.casefold()
    return [
        kind
        for kind, work in WORKS.items()
        if kind.replace("_", " ") in low or work.capability in low or any(word in low for word in work.words)
    ]


def says_nothing(text: str) -> bool:
    """'No', 'nothing', '没有': there is nothing to note."""
    return bool(_NOTHING.match(text.strip()))


def says_yes(text: str) -> bool:
    """Agreement, without a word against it."""
    return bool(_YES.search(text)) and not _NOT.search(text)


def pieces(text: str, limit: int = 20) -> tuple[str, ...]:
    """What is listed in a text, piece by piece, each once."""
    found = (piece.strip(" .。") for piece in _PIECES.split(text))
    return tuple(dict.fromkeys(piece[:500] for piece in found if piece))[:limit]


def next_topic(asked: Sequence[Topic], *, has_works: bool, to_verify: bool) -> Topic:
    """The question that comes next: first what is lacking for a goal at all, then what nobody was asked about yet."""
    if not has_works:
        return Topic.WHAT
    if to_verify:
        return Topic.VERIFY
    return next((topic for topic in (Topic.LIMITS, Topic.SCOPE) if topic not in asked), Topic.READY)
