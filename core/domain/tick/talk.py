"""Who is called to talk: the coordinator in an exploration, and the seats of a discussion, turn by turn."""

from collections.abc import Iterator

from core.domain.facts import Facts
from core.domain.tick.actions import Item


def explore(facts: Facts, now: int) -> Iterator[Item]:
    """The operator said something in an exploration: the coordinator answers (S2-07)."""
    yield from ()


def discuss(facts: Facts, now: int) -> Iterator[Item]:
    """Turns of the discussion of a goal that is planned (S2-08, S2-30)."""
    yield from ()
