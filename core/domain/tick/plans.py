"""Plans that stand open for objection: silence lets them run (S3-13)."""

from collections.abc import Iterator

from core.domain.facts import Facts
from core.domain.tick.actions import Item


def objections(facts: Facts, now: int) -> Iterator[Item]:
    """Plans whose window is over."""
    yield from ()
