"""Decisions that can be undone are held for a few seconds before they are sent. Pure; the clock is injected."""

from collections.abc import Callable
from dataclasses import dataclass

from core.commands.registry import Command
from core.domain.inbox_marks import Part

HOLD_S = 5.0


@dataclass(frozen=True, slots=True)
class Held:
    """A decision that waits to be sent. `subject` is e.g. `goal:3`; `words` say what it does, e.g. `approve G3`.

    `effect` is what has happened when the board has taken it. Those that are held `together` (a number, and words for
    all of them) are taken back together; `part` is what such a decision was shown as.
    """

    subject: str
    words: str
    command: Command
    due: float
    effect: str = ""
    together: tuple[int, str] | None = None
    part: Part | None = None

    @property
    def all_words(self) -> str:
        """What it does, with all that it is held together with."""
        return self.together[1] if self.together else self.words


class Holding:
    """What is held now, oldest first; at most one decision a subject."""

    def __init__(self, monotonic: Callable[[], float], seconds: float = HOLD_S) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        self._held: dict[str, Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def hold(
        self, subject: str, words: str, command: Command, effect: str = "",
        *, together: tuple[int, str] | None = None, part: Part | None = None,
    ) -> Held | None:  # fmt: skip
        """Hold a decision; returns the one on the same subject that it takes the place of."""
        before = self._held.pop(subject, None)
        due = self._monotonic() + self._seconds
        self._held[subject] = Held(subject, words, command, due, effect, together, part)
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
        """Forget the youngest one, and those that are held together with it; they are never sent."""
        last = self._held.popitem()[1] if self._held else None
        if last is not None and last.together:
            self._held = {name: held for name, held in self._held.items() if held.together != last.together}
        return last

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
