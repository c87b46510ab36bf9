"""What is written down of a run while it works: its transcript without secrets, and what the board keeps of it."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from core.agents.access import Access
from core.agents.metered import Metered
from core.agents.models.keys import Secret, scrub, scrubbed
from core.agents.runner import Outcome, Told
from core.agents.spent import Spent
from core.agents.transcript import Say
from core.commands.attach import RecordSession
from core.commands.budgets import RecordCost
from core.commands.door import Door
from core.commands.runs import RecordProcess
from core.domain.actors import System
from core.domain.errors import OpsroomError

_SYSTEM = System("dispatcher")


class Recording:
    """Of one run; `written` adds a line to its transcript, `beside` does something that nobody waits for."""

    def __init__(
        self, run_id: int, door: Door, written: Say, beside: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:  # fmt: skip
        self._run_id = run_id
        self._door = door
        self._written = written
        self._beside = beside
        self._secrets: list[Secret] = []  # what the run's program knows; its words are kept without
        self.metered = Metered()
        self.spent = Spent(self._keep)

    def follow(self, access: Access) -> None:
        """The run's program has this way to the board, and to models: what it knows is secret, what it uses counts."""
        self.metered, self._secrets = access.metered, access.secrets
        self.metered.hear, self.metered.keep = (lambda facts: self.say(str(Told.MODEL), facts)), self._keep

    def say(self, kind: str, facts: dict[str, Any]) -> None:
        """A line for the transcript."""
        self._written(kind, scrubbed(facts, self._secrets) if self._secrets else facts)

    def tell(self, kind: str, facts: dict[str, Any]) -> None:
        """A line of the runner's; a session is kept on the board too, for a run that is killed or lost."""
        self.say(kind, facts)
        if kind == Told.SESSION:
            self._beside(self._note_session(str(facts.get("id", ""))))

    def notice(self, text: str) -> None:
        """A line about the run."""
        self.say(str(Told.NOTICE), {"text": text})

    def clean(self, text: str) -> str:
        """The text without secrets."""
        return scrub(text, self._secrets)

    def end(self, outcome: Outcome) -> None:
        """The last line."""
        told = {"status": str(outcome.status), "exit": outcome.exit_kind, "detail": outcome.detail}
        self.say("outcome", told)

    async def note_process(self, pid: int, started: int) -> None:
        """The fingerprint of a process of the run (F17)."""
        await self._door.execute(_SYSTEM, RecordProcess(run=self._run_id, pid=pid, pid_started=started))

    async def note_spent(self, tokens_in: int, tokens_out: int, cost_micros: int) -> None:
        """What the run tells that it has used; what the gateway counts is not counted again from its words."""
        if not self.metered.counts:
            await self.spent.note(tokens_in, tokens_out, cost_micros)

    async def _keep(self, tokens_in: int, tokens_out: int, cost_micros: int) -> None:
        cost = RecordCost(run=self._run_id, tokens_in=tokens_in, tokens_out=tokens_out, cost_micros=cost_micros)
        # The end of the run tells the same sums again.
        with suppress(OpsroomError):
            await self._door.execute(_SYSTEM, cost)

    async def _note_session(self, session: str) -> None:
        with suppress(OpsroomError):
            await self._door.execute(_SYSTEM, RecordSession(run=self._run_id, session=session))
