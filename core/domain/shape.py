"""What a task must say before anybody can do it and anybody can check it (S2-33, S3-20)."""

from collections.abc import Sequence
from typing import Protocol

from core.domain.entities import Goal


class Shaped(Protocol):
    """A task, made already or still to be made."""

    @property
    def end_state(self) -> str: ...

    @property
    def must_haves(self) -> Sequence[str]: ...


def missing_of(new: Shaped, goal: Goal) -> list[str]:
    """All that a task lacks, in words; empty when it is well-formed."""
    missing = []
    if not new.end_state.strip():
        missing.append("an end state that can be checked (end_state)")
    wanted = [must["id"] for must in goal.must_haves if not must["waived_by"]]
    if wanted and not new.must_haves:
        missing.append(f"the must-have that it serves (must_haves: {', '.join(wanted[:20])})")
    return missing
