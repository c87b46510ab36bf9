"""What one run may ask of models through the gateway: a provider, its key, and the run's own limits."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.agents.metered import Metered
from core.agents.models.endpoint import Endpoint, Line
from core.agents.models.keys import Secret, key_from
from core.agents.models.providers import GatewayConfig, ProviderConfig
from core.agents.programs.settings import TOKENS
from core.agents.runner import Assignment
from core.domain.errors import Invalid

SETTLE_S = 5.0
SETTING = "gateway"  # of an agent's runner


@dataclass(frozen=True, slots=True)
class Passage:
    """A run's way to one provider. `tokens` and `cost_micros` are the limits of its run, None: the budgets alone.

    `over` is set when the run has ended: what is still on its way is cut. `under_way` are done once they are counted.
    `turn` is had by the one request that waits for room beside those on their way.
    """

    name: str
    provider: ProviderConfig
    key: Secret | None
    run_id: int
    metered: Metered = field(repr=False)
    tokens: int = TOKENS
    cost_micros: int | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    under_way: set["asyncio.Future[None]"] = field(default_factory=set, repr=False)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def line(self) -> Line:
        """What its cool-downs belong to: the same as those of chat agents on this provider with this key (F14)."""
        return Endpoint(self.provider.url, "", key=self.key).line

    @contextmanager
    def counting(self) -> Iterator[None]:
        """A request is on its way until what it used is counted."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.under_way.add(done)
        try:
            yield
        finally:
            self.under_way.discard(done)
            done.set_result(None)

    async def end(self) -> None:
        """The run is over: cut what is on its way, and wait until that is counted."""
        self.over.set()
        if self.under_way:
            await asyncio.wait(set(self.under_way), timeout=SETTLE_S)


async def passage_of(
    gateway: GatewayConfig, assignment: Assignment, metered: Metered, environment: Mapping[str, str] = os.environ
) -> Passage | None:
    """The passage of a run whose agent's runner names a provider as `gateway`; None where it names none.

    Raises Invalid for a name that the company does not have, and for an agent that would be given the key itself; and
    what `key_from` raises.
    """
    settings = assignment.settings
    name = settings.get(SETTING) or ""
    if not name:
        return None
    provider = gateway.providers.get(name) if isinstance(name, str) else None
    if provider is None:
        known = ", ".join(gateway.providers) or "none"
        raise Invalid(
            f"The runner names the gateway {str(name)[:80]!r}, and company.toml has no such provider.",
            f"Known in [gateway.providers]: {known}.",
        )
    _require_apart(gateway, settings.get("env"))
    key = await asyncio.to_thread(key_from, provider.key, environment) if provider.key else None
    tokens, cost = (_limit(settings.get(of)) for of in ("tokens", "cost_micros"))
    return Passage(name, provider, key, assignment.run.id, metered, tokens or TOKENS, cost)


def _require_apart(gateway: GatewayConfig, env: object) -> None:
    named = {str(each) for each in env} if isinstance(env, (list, tuple)) else set()
    for name, provider in gateway.providers.items():
        kind, _, variable = provider.key.partition(":")
        if kind == "env" and variable in named:
            raise Invalid(
                f"The runner's env names {variable}, the key of the gateway's provider {name}: it would be given away.",
                "Take it out of env: the program needs no key but its run's token.",
            )


def _limit(told: object) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) else None
