"""Until when a provider is not asked again with a key; shared by all agents of a company (F14)."""

from collections.abc import Callable

from core.agents.models.endpoint import Line


class Cooldowns:
    """`now` gives the time in ms UTC. Safe between threads: each act is one operation on a dict."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._until: dict[Line, int] = {}

    def cool(self, line: Line, until: int) -> None:
        """Ask nothing before `until` (ms UTC). A later time wins: another request may have been told of it before."""
        self._until[line] = max(until, self._until.get(line, 0))

    def until(self, line: Line) -> int | None:
        """When the provider may be asked again; None if it may be asked now."""
        until = self._until.get(line, 0)
        return until if until > self._now() else None
