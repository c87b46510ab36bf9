"""What the operator refused, and why: the next draft leaves out what the reason names (S1). Pure."""

import re
from collections.abc import Iterable, Sequence

from core.agents.rehearsal.works import WORKS, wanted
from core.domain.entities import Goal

_ONLY = re.compile(r"\bonly\b|\bjust\b|只|仅", re.IGNORECASE)


def named_in(reason: str) -> list[str]:
    """The kinds of work that a text names, in the order of the table."""
    text = reason.casefold()
    return [kind for kind, work in WORKS.items() if any(word in text for word in work.words)]


def left_after(kinds: Sequence[str], reason: str) -> list[str]:
    """The works that are left of a refused draft: without those that its reason names, or only those."""
    named = named_in(reason)
    keeps = _ONLY.search(reason) is not None
    return [kind for kind in kinds if not named or (kind in named) == keeps]


def next_kinds(refused: Iterable[Goal]) -> list[str]:
    """The works of the next draft after these, oldest first; empty when a reason leaves nothing else to propose.

    Exactly what was refused is never proposed again.
    """
    kinds = list(WORKS)
    for goal in refused:
        had = [kind for kind in WORKS if kind in wanted(goal)]
        kinds = [kind for kind in left_after(had, goal.reason) if kind in kinds]
        if kinds == had:
            return []
    return kinds
