"""Whether a request of a run may leave: its token, its limits, the provider's rest, and the budgets."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from core.agents.models.cooldown import Cooldowns
from core.commands.door import Door
from core.commands.model_requests import AdmitModelRequest
from core.domain.actors import System
from core.domain.errors import BoardError, Fenced, Forbidden, NotFound
from core.server.answers import TooMany
from core.server.callers import Tokens, no_token
from core.server.gateway.holding import Hold, Holds
from core.server.gateway.passage import Passage
from core.server.gateway.wires import Spent

GATEWAY = System("gateway")
WAIT_S = 30.0  # for what is on its way: then the program is told to come back
COME_BACK_S = 5
_END = "End your work with what you have; the operator can allow more."


@dataclass(frozen=True, slots=True)
class Gate:
    """`door` is where the budgets are asked, None while this process does not own the board. `now` is ms UTC."""

    tokens: Tokens
    cooldowns: Cooldowns
    door: Callable[[], Door | None]
    now: Callable[[], int]
    holds: Holds = field(default_factory=Holds)

    def passage(self, tokens: list[str], name: str) -> tuple[Passage, str]:
        """The way of whoever sends these tokens to the provider of this name, and the token that counts.

        Raises Unauthorized, Fenced for the token of an ended run, Forbidden, NotFound for another provider, TooMany.
        """
        if not tokens:
            raise no_token()
        token = next((each for each in tokens if self.tokens.knows(each)), tokens[0])
        caller = self.tokens.model_caller(token)
        if caller.run is None:
            raise Forbidden(
                "The gateway is for the programs of runs.", "Ask the provider itself; the operator has its key."
            )
        if caller.passage is None:
            raise Forbidden(
                f"{caller.label} has no gateway: its agent's runner names none.",
                'The operator can give it one: "gateway": "NAME" in the runner\'s settings.',
            )
        if name != caller.passage.name:
            raise NotFound(
                f"{caller.label} has no gateway {name[:80]!r}.", f"It has: {caller.passage.name}."
            )  # fmt: skip
        return caller.passage, token

    def admit(self, passage: Passage) -> None:
        """Count a request of the run. Raises Spent, TooMany with the time to come back.

        A limit that is reached ends the run; what is on its way then is still answered.
        """
        metered = passage.metered
        if metered.stop is None and metered.requests >= passage.provider.requests_per_run:
            metered.end("requests", f"it sent {metered.requests:,} requests to its model, which is the limit of a run")
        self._limits(passage)
        metered.requests += 1
        metered.stir()
        if (until := self.cooldowns.until(passage.line)) is not None:
            raise self.resting(passage, until)

    async def hold(self, passage: Passage, tokens: int, micros: int | None) -> Hold:
        """Hold back what a request may use, until `holds.release`; `micros` None: its price is not known.

        It leaves alone whenever anything is left. With others on their way it waits until these leave room. Raises
        Spent, Fenced, BoardError, and TooMany when they take too long.
        """
        try:
            # One request of a run waits at a time: the others stand behind it.
            async with asyncio.timeout(WAIT_S), passage.turn:
                while True:
                    freed = self.holds.freed
                    async with self.holds.lock:
                        if await self._has_room(passage):
                            return self.holds.add(Hold(passage.run_id, tokens, micros))
                    await freed.wait()
        except TimeoutError:
            raise TooMany(
                "What other requests on their way may cost takes what is left of a budget or a limit; none was sent.",
                f"Wait {COME_BACK_S} s, and ask for less at once.",
                retry_s=COME_BACK_S,
            ) from None

    async def _has_room(self, passage: Passage) -> bool:
        self._limits(passage)
        metered, own = passage.metered, self.holds.of(passage.run_id)
        used = metered.tokens_in + metered.tokens_out
        if own and used + sum(hold.tokens for hold in own) >= passage.tokens:
            return False
        if own and (limit := passage.cost_micros) is not None:
            # What has no known price may cost all of it.
            held = sum(limit if hold.micros is None else hold.micros for hold in own)
            if metered.cost_micros + held >= limit:
                return False
        return await self._budgets(passage)

    def resting(self, passage: Passage, until: int) -> TooMany:
        """The answer while the provider rests, for all agents on this key (F14)."""
        passage.metered.limited_until = until
        wait_s = max(1, math.ceil((until - self.now()) / 1000))
        return TooMany(
            f"The provider {passage.name} takes no requests for now; none was sent.",
            f"Wait {wait_s} s.",
            retry_s=wait_s,
        )

    def _limits(self, passage: Passage) -> None:
        metered = passage.metered
        used = metered.tokens_in + metered.tokens_out
        if metered.stop is None and used >= passage.tokens:
            metered.end("tokens", f"it used {used:,} tokens; {passage.tokens:,} are its limit")
        if metered.stop is None and passage.cost_micros is not None:
            self._money(passage, passage.cost_micros)
        if metered.stop is not None:
            raise Spent(f"R{passage.run_id} may ask no model any more: {metered.stop[1]}.", _END)

    def _money(self, passage: Passage, limit: int) -> None:
        metered = passage.metered
        if metered.unknown:
            metered.end("cost", "its money is limited, and what a request cost is unknown (company.toml, [prices])")
        elif metered.cost_micros >= limit:
            spent = metered.cost_micros / 1_000_000
            metered.end("cost", f"it cost ${spent:.4f}; ${limit / 1_000_000:.4f} is its limit")

    async def _budgets(self, passage: Passage) -> bool:
        """Whether the budgets have room beside what is on its way."""
        door = self.door()
        if door is None:
            raise BoardError("This room no longer owns the board; nothing was sent.", "Stop working.")
        try:
            asked = AdmitModelRequest(run=passage.run_id, on_its_way=self.holds.micros())
            answer = await door.execute(GATEWAY, asked)
        except Fenced:
            passage.metered.end("fenced", "the run is over")
            raise
        if answer["held"]:
            passage.metered.end("budget", str(answer["held"]))
            raise Spent(f"No request was sent: {answer['held']}.", _END)
        return not answer["waits"]
