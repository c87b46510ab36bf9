"""What a run's program does on the board by its access: told to the transcript, and looked at for what the run owes."""

import json
from collections.abc import Callable, Mapping

from core.agents.access import Heard
from core.agents.models.keys import Secret, scrub, scrubbed
from core.agents.owing import Owed
from core.agents.runner import Desk, Told
from core.agents.stuck import Stuck
from core.commands.registry import REGISTRY

_TEXT_MAX = 500  # code points of one argument that the transcript keeps
_KEPT_MAX = 2000  # of all of them


class Debt:
    """Hears of each call. `met` says whether the board has got what the run owes; `circling` hears why it is stuck."""

    def __init__(self, desk: Desk, owed: Owed, secrets: tuple[Secret, ...], circling: Callable[[str], None]) -> None:
        self._desk = desk
        self._owed = owed
        self._secrets = secrets
        self._circling = circling
        self._stuck = Stuck()
        self._calls = 0
        self.met = False

    def hear(self, heard: Heard) -> None:
        """One call, carried out or refused."""
        self._calls += 1
        if heard.error:
            self._desk.tell(Told.REFUSED, command=self._clean(heard.name)[:100], error=self._clean(heard.error)[:1000])
        elif heard.name in REGISTRY:
            answer = heard.answer or {}
            self._desk.note_call(heard.name, self._short(heard.arguments), answer)
            self.met = self.met or self._owed.met_by(heard.name, answer)
        else:
            self._desk.note_call(heard.name, self._short(heard.arguments), None)
        action = self._clean(f"{heard.name} {_text(heard.arguments)}")
        result = self._clean(heard.error) or _text(heard.answer or {})
        if why := self._stuck.note(self._calls, action, result, failed=bool(heard.error)):
            self._circling(why)

    def _clean(self, text: str) -> str:
        return scrub(text, self._secrets)

    def _short(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """As the transcript keeps them: long texts by their beginning, and nothing secret."""
        clean = {
            self._clean(name)[:100]: f"{value[:_TEXT_MAX]}…"
            if isinstance(value, str) and len(value) > _TEXT_MAX
            else value
            for name, value in scrubbed(arguments, self._secrets).items()
        }
        text = _text(clean)
        return clean if len(text) <= _KEPT_MAX else {"cut": text[:_KEPT_MAX]}


def _text(facts: Mapping[str, object]) -> str:
    return json.dumps(facts, sort_keys=True, ensure_ascii=False, default=str)
