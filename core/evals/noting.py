"""A desk that notes every call of a run, done or refused."""

import json
from collections.abc import Callable
from typing import Any

from core.agents.runner import Desk
from core.commands.registry import Answer, parse
from core.domain.errors import Fenced, OpsroomError
from core.evals.expecting import Call


class NotingDesk(Desk):
    """The desk that it is given, with ears: `note` hears each call, `hear` each answer to a query as JSON."""

    def __init__(self, inner: Desk, note: Callable[[Call], None], hear: Callable[[str], None]) -> None:
        # The same desk in all but what is heard: its parts are shared, so nothing need be passed on one by one.
        vars(self).update(vars(inner))
        self._note = note
        self._hear = hear

    async def call(self, command: str, /, **arguments: Any) -> Answer:
        """As of any desk. What came too late, after the run's end, is noted as refused like the rest."""
        try:
            answer = await super().call(command, **arguments)
        except OpsroomError as error:
            self._note(Call(command, _plain(command, arguments), "fenced" if isinstance(error, Fenced) else str(error)))
            raise
        self._note(Call(command, _plain(command, arguments)))
        return answer

    async def read(self, query: str, /, **arguments: Any) -> Answer:
        """As of any desk. Who looks does nothing: that is no call, but what was seen is known from then on."""
        answer = await super().read(query, **arguments)
        self._hear(json.dumps(answer, ensure_ascii=False, default=str))
        return answer


def _plain(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as JSON, as the command understood them if it did."""
    try:
        return parse(command, arguments).model_dump(mode="json", exclude_unset=True)
    except OpsroomError:
        plain: dict[str, Any] = json.loads(json.dumps(arguments, default=str))
        return plain
