"""What a run's program has used of models through the gateway: the board's own count, beside what the program tells."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request of a program through the gateway, for the transcript; never what was said in it.

    `status` is what the program got (HTTP). Tokens are None where the provider told none, `cost_micros` where no price
    is known. `note` says what went wrong, e.g. `cut`. Requests that use no tokens (lists of models) are not `paid`.
    `estimated` tokens are by the bytes of both ways, where the provider did not tell them (all).
    """

    provider: str
    wire: str
    model: str
    status: int
    ms: int
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_read: int = 0
    cache_write: int = 0
    cost_micros: int | None = None
    paid: bool = True
    note: str = ""
    estimated: bool = False

    @property
    def counted(self) -> bool:
        """Its tokens are known, be it by an estimate."""
        return self.tokens_in is not None or self.tokens_out is not None

    @property
    def cost_unknown(self) -> bool:
        """Something was used, and what it cost nobody can tell."""
        return self.paid and self.cost_micros is None and (self.counted or self.status < 300)

    def facts(self) -> dict[str, Any]:
        """The line of the transcript, plain JSON."""
        told = {name: value for name, value in asdict(self).items() if value not in (None, "", 0) and name != "paid"}
        told.pop("cost_micros", None)
        if self.cost_unknown:
            told["cost"] = UNKNOWN
        elif self.cost_micros is not None:
            told["cost"] = self.cost_micros
        return told


async def _kept_nowhere(tokens_in: int, tokens_out: int, cost_micros: int) -> None:
    """Nobody counts."""


@dataclass(slots=True)
class Metered:
    """One run's requests so far. Where `counts`, these figures are the run's, whatever its program tells of itself.

    `stop` is set when the run may ask no model any more: the kind of its end and why; the `stopping` hear of it, once.
    `limited_until` (ms UTC) is until when the provider rests, as the program was last told.
    `stir` is called whenever something moves on the way,
    `hear` gets each request for the transcript, `keep` the sums (tokens in, tokens out, micros) for the board.
    """

    requests: int = 0
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_micros: int = 0
    unknown: int = 0
    estimated: int = 0
    limited_until: int = 0
    stop: tuple[str, str] | None = None
    stopping: list[Callable[[str, str], None]] = field(default_factory=list, repr=False)
    stir: Callable[[], None] = field(default=lambda: None, repr=False)
    hear: Callable[[dict[str, Any]], None] = field(default=lambda facts: None, repr=False)
    keep: Callable[[int, int, int], Awaitable[None]] = field(default=_kept_nowhere, repr=False)

    @property
    def counts(self) -> bool:
        """Whether an answer's tokens were told here."""
        return self.answers > 0

    async def note(self, call: ModelCall) -> None:
        """Take in one request that is over."""
        self.hear(call.facts())
        self.unknown += call.cost_unknown
        self.estimated += call.estimated
        if call.counted:
            self.answers += 1
            self.tokens_in += call.tokens_in or 0
            self.tokens_out += call.tokens_out or 0
            self.cost_micros += call.cost_micros or 0
            await self.keep(self.tokens_in, self.tokens_out, self.cost_micros)

    def end(self, kind: str, why: str) -> None:
        """Let no further request through, and have the run ended."""
        if self.stop is None:
            self.stop = (kind, why)
            for stopping in tuple(self.stopping):
                stopping(kind, why)
