"""The two sentences that tell why a thing is where it is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """`why` it is here, and what happens `next` without and with you."""

    why: str
    next: str = ""
