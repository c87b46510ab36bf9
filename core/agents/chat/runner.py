"""The runner of agents on a model server: opens the line, talks, and says how it ended and what it cost."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from core.agents.chat.answers import Unfit
from core.agents.chat.asking import Asking
from core.agents.chat.ending import Ended, outcome_of
from core.agents.chat.meter import Meter
from core.agents.chat.settings import ChatSettings, from_runner
from core.agents.chat.talk import Talk
from core.agents.chat.telling import notice_words
from core.agents.models.client import ModelClient, Notice
from core.agents.models.cooldown import Cooldowns
from core.agents.models.errors import ModelError
from core.agents.models.prices import Price
from core.agents.models.waiting import Retrying
from core.agents.runner import Assignment, Desk, Outcome, Told
from core.domain.states import RunStatus

KIND = "chat"


def _now() -> int:
    return time.time_ns() // 1_000_000


class ChatRunner:
    """One for a company: its runs share the cool-downs (F14). `settings` hold for all agents; None: each has its own.

    `prices` is the operator's table by model. `now` (ms UTC), `sleep` (seconds), `chance` (0…1) and `retrying` are
    those of the model client.
    """

    def __init__(
        self,
        settings: ChatSettings | None = None,
        *,
        prices: Mapping[str, Price] | None = None,
        cooldowns: Cooldowns | None = None,
        retrying: Retrying | None = None,
        now: Callable[[], int] = _now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._prices = prices or {}
        self.cooldowns = cooldowns or Cooldowns(now)
        self._retrying = retrying
        self._now = now
        self._sleep = sleep
        self._chance = chance

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        """Talk until the run has given what it owes, or a limit is reached. Cancelling closes the line at once.

        Raises Invalid, NotFound or Forbidden for settings or a key that cannot be used, and Fenced.
        """
        settings = self._settings or await from_runner(assignment.settings)
        meter = Meter(desk, settings, self._prices, self._now)

        def hear(notice: Notice) -> None:
            meter.note_try(notice.error.usage)
            desk.tell(Told.NOTICE, text=notice_words(notice))

        client = ModelClient(
            settings.endpoint, limits=settings.limits, retrying=self._retrying, cooldowns=self.cooldowns, tell=hear,
            now=self._now, sleep=self._sleep, chance=self._chance,
        )  # fmt: skip
        secrets = (settings.key,) if settings.key is not None else ()
        try:
            talk = Talk(assignment, desk, settings, Asking(client, desk, meter, secrets), meter)
            outcome = await _through(talk)
        except Unfit as unfit:
            outcome = Outcome(RunStatus.FAILED, "answers", str(unfit))
        finally:
            await client.close()
        detail = outcome.detail
        if meter.unknown and self._settings is None:  # an eval has no company.toml to name a price in
            detail = f"{detail}; {meter.unknown_words}" if detail else meter.unknown_words
        return replace(
            outcome, detail=detail, tokens_in=meter.tokens_in, tokens_out=meter.tokens_out,
            cost_micros=meter.cost_micros,
        )  # fmt: skip


async def _through(talk: Talk) -> Outcome:
    try:
        return await talk.through()
    except Ended as end:
        outcome = end.outcome
    except ModelError as error:
        outcome = outcome_of(error)
    # What the run was for stands on the board: it did not fail because of what came after.
    if talk.is_over:
        return Outcome(RunStatus.SUCCEEDED, "done", f"done; then {outcome.exit_kind}: {outcome.detail}")
    return outcome
