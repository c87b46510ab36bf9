"""Decisions that can be undone are held for a few seconds before they are sent. Pure; the clock is injected."""

from collections.abc import Callable
from dataclasses import dataclass

from core.commands.registry import Command

HOLD_S = 5.0


@dataclass(frozen=True, slots=True)
class Held:
    """A decision that waits to be sent. `subject` is e.g. `goal:3`; `words` say what it does, e.g. `approve G3`.

    `effect` is what has happened when the board has taken it.
    """

    subject: str
    words: str
    command: Command
    due: float
    effect: str = ""


class Holding:
    """What is held now, oldest first; at most one decision a subject."""

    def __init__(self, monotonic: Callable[[], float], seconds: float = HOLD_S) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        self._held: dict[str, Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, subject: str, words: str, command: Command, effect: str = "") -> Held | None:
        """Hold a decision; returns the one on the same subject that it takes the place of."""
        before = self._held.pop(subject, None)
        self._held[subject] = Held(subject, words, command, self._monotonic() + self._seconds, effect)
        return before

    def all(self) -> list[Held]:
        """All that is held, the oldest first."""
        return list(self._held.values())

    def of(self, subject: str) -> Held | None:
        """The decision that is held on a subject."""
        return self._held.get(subject)

    def last(self) -> Held | None:
        """The youngest one: the one that `u` takes back."""
        return next(reversed(self._held.values()), None)

    def take_back(self) -> Held | None:
        """Forget the youngest one; it is never sent."""
        return self._held.popitem()[1] if self._held else None

    def seconds_left(self, held: Held) -> int:
        """Whole seconds until it is sent, at least 1 while it waits."""
        return max(1, -int(-(held.due - self._monotonic()) // 1))

    def due(self) -> list[Held]:
        """Those whose time has come; they are held no longer."""
        now = self._monotonic()
        return [self._held.pop(held.subject) for held in list(self._held.values()) if held.due <= now]

    def drain(self) -> list[Held]:
        """All of them, for the end: a decision that was made is sent, not lost."""
        held, self._held = list(self._held.values()), {}
        return held
