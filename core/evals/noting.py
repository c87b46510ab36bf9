"""A desk that notes every call of a run, done or refused."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from core.agents.process import Child
from core.agents.runner import Desk, Permission, Told, Wish
from core.commands.registry import Answer, parse
from core.domain.errors import Fenced, OpsroomError
from core.evals.expecting import Call


class NotingDesk(Desk):
    """The desk that it is given, with ears: `note` hears each call, `hear` each answer to a query as JSON."""

    def __init__(self, inner: Desk, note: Callable[[Call], None], hear: Callable[[str], None]) -> None:
        self.actor = inner.actor
        self.readers = inner.readers
        self._inner = inner
        self._note = note
        self._hear = hear

    async def call(self, command: str, /, **arguments: Any) -> Answer:
        """As of any desk. What came too late, after the run's end, is noted as refused like the rest."""
        try:
            answer = await self._inner.call(command, **arguments)
        except OpsroomError as error:
            self._note(Call(command, _plain(command, arguments), "fenced" if isinstance(error, Fenced) else str(error)))
            raise
        self._note(Call(command, _plain(command, arguments)))
        return answer

    async def read(self, query: str, /, **arguments: Any) -> Answer:
        """As of any desk. Who looks does nothing: that is no call, but what was seen is known from then on."""
        answer = await self._inner.read(query, **arguments)
        self._hear(json.dumps(answer, ensure_ascii=False, default=str))
        return answer

    def say(self, text: str) -> None:
        """As of any desk."""
        self._inner.say(text)

    def tell(self, kind: Told, **facts: Any) -> None:
        """As of any desk."""
        self._inner.tell(kind, **facts)

    async def spent(self, tokens_in: int, tokens_out: int, cost_micros: int) -> None:
        """As of any desk."""
        await self._inner.spent(tokens_in, tokens_out, cost_micros)

    async def ask_permission(self, wish: Wish) -> Permission:
        """As of any desk."""
        return await self._inner.ask_permission(wish)

    def clock_stopped(self) -> AbstractAsyncContextManager[None]:
        """As of any desk."""
        return self._inner.clock_stopped()

    def worked_s(self) -> float:
        """As of any desk."""
        return self._inner.worked_s()

    def heard(self) -> None:
        """As of any desk."""
        self._inner.heard()

    async def may_go_on(self) -> None:
        """As of any desk."""
        await self._inner.may_go_on()

    async def remark(self) -> str:
        """As of any desk."""
        return await self._inner.remark()

    async def remark_now(self) -> str | None:
        """As of any desk."""
        return await self._inner.remark_now()

    def remarks_reached(self) -> None:
        """As of any desk."""
        self._inner.remarks_reached()

    async def start(self, *argv: str, cwd: Path | None = None) -> Child:
        """As of any desk."""
        return await self._inner.start(*argv, cwd=cwd)


def _plain(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as JSON, as the command understood them if it did."""
    try:
        return parse(command, arguments).model_dump(mode="json", exclude_unset=True)
    except OpsroomError:
        plain: dict[str, Any] = json.loads(json.dumps(arguments, default=str))
        return plain
