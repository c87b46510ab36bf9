"""What a model says, told to the transcript and the room in lines instead of letters, without secrets."""

import time
from collections.abc import Callable

from core.agents.models.client import Notice
from core.agents.models.errors import Failure
from core.agents.models.keys import Secret, scrub
from core.agents.runner import Desk, Told

_LINE = 300  # code points that are gathered before they are told
_LONGEST_S = 1.0  # so long words wait for more words
_TOLD_MAX = 20_000  # code points that are told of one answer
_THOUGHT_MAX = 200


class Saying:
    """Gathers the text of one answer and tells it, cut where words end: so no secret is torn over two lines."""

    def __init__(self, desk: Desk, secrets: tuple[Secret, ...], clock: Callable[[], float] = time.monotonic) -> None:
        self._desk = desk
        self._secrets = secrets
        self._clock = clock
        self._waits = ""
        self._told = 0
        self._at = clock()
        self._thought = ""

    def add(self, text: str) -> None:
        """More of the answer."""
        if self._told > _TOLD_MAX:
            return
        self._waits += text
        if len(self._waits) < _LINE and self._clock() - self._at < _LONGEST_S:
            return
        if len(self._waits) > _TOLD_MAX + _LINE:  # one endless word: what is shown of it ends well before its own end
            self.end()
            return
        # A piece ends where a line or at least a word does.
        at = max(self._waits.rfind("\n"), self._waits.rfind(" ")) + 1
        if at:
            ready, self._waits = self._waits[:at], self._waits[at:]
            self._tell(ready)

    def think(self, text: str) -> None:
        """More of a thought: only how it begins is kept."""
        self._thought += text[: max(0, 2 * _THOUGHT_MAX - len(self._thought))]

    def end(self) -> None:
        """The answer has ended, or was cut."""
        if self._waits:
            self._tell(self._waits)
            self._waits = ""
        if thought := scrub(self._thought, self._secrets).strip():
            short = thought if len(thought) <= _THOUGHT_MAX else thought[:_THOUGHT_MAX] + "…"
            self._desk.tell(Told.THOUGHT, text=short)
            self._thought = ""

    def _tell(self, text: str) -> None:
        self._at = self._clock()
        if not (said := scrub(text, self._secrets).strip()):
            return
        self._told += len(text)
        room = _TOLD_MAX - (self._told - len(text))
        self._desk.say(said if len(said) <= room else said[:room] + "…")


def notice_words(notice: Notice) -> str:
    """Why the run waits, for people."""
    wait = f"{notice.wait_s:.0f} s" if notice.wait_s >= 1 else "less than a second"
    if notice.kind is Failure.LOADING:
        return f"the server loads its model; asked again in {wait}"
    if notice.kind in (Failure.RATE_LIMITED, Failure.OVERLOADED):
        return f"the provider cools down; asked again in {wait} ({notice.error.message})"
    return f"tried again in {wait}: {notice.error.message}"
