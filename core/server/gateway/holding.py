"""What requests on their way are taken to use until it is counted, so that many at once overdraw no limit (F24)."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """What one request holds back: tokens, and micros of a US dollar (None: its price is not known)."""

    run_id: int
    tokens: int
    micros: int | None


@dataclass(slots=True)
class Holds:
    """Those of one company's gateway. `lock` makes looking and holding one act."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    _held: set[Hold] = field(default_factory=set, repr=False)
    _freed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def add(self, hold: Hold) -> Hold:
        """Hold this back until `release`."""
        self._held.add(hold)
        return hold

    def release(self, hold: Hold) -> None:
        """It is counted: who waits looks again."""
        self._held.discard(hold)
        self._freed.set()
        self._freed = asyncio.Event()

    @property
    def freed(self) -> asyncio.Event:
        """Set at the next `release`."""
        return self._freed

    def of(self, run_id: int) -> list[Hold]:
        """Those of a run."""
        return [hold for hold in self._held if hold.run_id == run_id]

    def micros(self) -> dict[int, int]:
        """What is held back by run; budgets hold only what has a price."""
        found: Counter[int] = Counter()
        for hold in self._held:
            found[hold.run_id] += hold.micros or 0
        return dict(found)
