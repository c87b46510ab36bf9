"""Takes in what a program tells: for the transcript, for its tokens and money, and for when it goes in circles."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.agents.giving_up import not_done
from core.agents.models.keys import Secret, scrub
from core.agents.owing import is_no_reply
from core.agents.programs.pieces import (
    Asked,
    Called,
    Finished,
    Noted,
    Piece,
    Planned,
    Resulted,
    Said,
    Scope,
    SessionIs,
    Thought,
    Turned,
    Used,
)
from core.agents.programs.settings import ProgramSettings
from core.agents.runner import Desk, Outcome, Told
from core.agents.stuck import Stuck
from core.domain.states import RunStatus

UNKNOWN = "unknown"
_SAID_MAX = 20_000  # code points that are told of one piece
_TOOL_MAX = 4000
_SHORT = 300
_NOTE_MAX = 4000
_LAST_LINES = 20


class Watch:
    """One run, also over several processes. `stop` is given the outcome when a limit of the run is reached.

    Where `is_metered` (the gateway counts), what the program tells of itself is for the transcript alone.
    """

    def __init__(
        self, desk: Desk, settings: ProgramSettings, secrets: tuple[Secret, ...], stop: Callable[[Outcome], None],
        is_metered: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self._desk = desk
        self._settings = settings
        self._secrets = secrets
        self._stop = stop
        self._is_metered = is_metered
        self._stuck = Stuck()
        self._calls: dict[str, str] = {}
        self._steps = 0
        self._turns = 0
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self.tally = Tally()
        self.session = ""
        self.finished: Finished | None = None

    def begin(self) -> None:
        """A process begins: the first one, or one that goes on with the session."""
        self.tally.begin()
        self.finished = None
        self._last.clear()

    def go_on(self, session: str, used: Sequence[int]) -> None:
        """The run goes on with the session of earlier ones, which used this (tokens in and out, micros) together."""
        self.session = session
        self.tally.before = (*used, 0, 0, 0)[:3]
        self._desk.tell(Told.NOTICE, text=f"goes on with the session {session}")

    @property
    def last_words(self) -> str:
        """The last that was said, a line each."""
        return "\n".join(self._last)

    @property
    def said_nothing_on_purpose(self) -> bool:
        """Whether its last words are NO_REPLY."""
        told = self.finished is not None and self.finished.ok and self.finished.kind == "no_reply"
        return told or is_no_reply(self.last_words)

    def counted(self, outcome: Outcome) -> Outcome:
        """The outcome with what the run has used, as it told, and by what it can be gone on with."""
        tally = self.tally
        return replace(
            outcome, tokens_in=tally.tokens_in, tokens_out=tally.tokens_out, cost_micros=tally.cost_micros,
            session=self.session,
        )  # fmt: skip

    async def take(self, piece: Piece) -> None:
        """One piece of what it tells."""
        match piece:
            case Said():
                said = self._clean(piece.text).strip()
                if said:
                    self._desk.say(_cut(said, _SAID_MAX))
                    self._last.extend(said.splitlines()[-_LAST_LINES:])
            case Thought():
                self._desk.tell(Told.THOUGHT, text=_cut(self._clean(piece.text).strip(), _SHORT))
            case Called():
                self._called(piece)
            case Resulted():
                self._resulted(piece)
            case Asked():
                self._desk.tell(Told.PERMISSION, wants=_cut(self._clean(piece.wants), 1000))
            case Noted():
                self.note(piece.text)
            case Planned():
                self._desk.tell(Told.PLAN, text=_cut(self._clean(piece.text), _NOTE_MAX))
            case Used():
                await self._used(piece)
            case SessionIs():
                self._session(piece.id)
            case Turned():
                self._turned()
            case Finished():
                self.finished = replace(piece, why=_cut(self._clean(piece.why), 1000))

    def skipped(self, length: int) -> None:
        """A line that was too long to be read."""
        self.note(f"a line of {length:,} bytes was skipped: too long")

    def note(self, text: str) -> None:
        """Anything else, without secrets."""
        self._desk.tell(Told.NOTICE, text=_cut(self._clean(text), _NOTE_MAX))

    def _clean(self, text: str) -> str:
        return scrub(text, self._secrets)

    def _session(self, session: str) -> None:
        if session and session != self.session and session.isprintable() and len(session) <= 200:
            self.session = self._clean(session)
            self._desk.tell(Told.SESSION, id=self.session)

    def _called(self, call: Called) -> None:
        name, arguments = self._clean(call.name), self._clean(call.arguments)
        if len(self._calls) < 1000:  # those whose result has not come
            self._calls[call.id] = f"{name} {arguments}"
        self._desk.tell(Told.TOOL, id=self._clean(call.id), name=name[:200], arguments=_cut(arguments, _TOOL_MAX))

    def _resulted(self, result: Resulted) -> None:
        text = self._clean(result.text)
        name = self._clean(result.id)
        action = self._calls.pop(result.id, name)
        self._desk.tell(Told.RESULT, id=name, text=_cut(text, _TOOL_MAX), failed=result.failed)
        self._steps += 1
        if why := self._stuck.note(self._steps, action, text, failed=result.failed and not result.refused):
            self._stop(Outcome(RunStatus.FAILED, "stuck", why))

    def _turned(self) -> None:
        self._turns += 1
        if self._turns > self._settings.turns:
            self._stop(Outcome(RunStatus.FAILED, "turns", not_done(self._settings.turns)))

    async def _used(self, used: Used) -> None:
        tally = self.tally
        tally.note(used)
        cost = UNKNOWN if used.cost_micros is None else used.cost_micros
        self._desk.tell(
            Told.USAGE, tokens_in=used.tokens_in, tokens_out=used.tokens_out, cost=cost, of=str(used.scope)
        )  # fmt: skip
        if self._is_metered():
            return
        await self._desk.spent(tally.tokens_in, tally.tokens_out, tally.cost_micros)
        if tally.tokens_in + tally.tokens_out >= self._settings.tokens:
            told = f"it used {tally.tokens_in + tally.tokens_out:,} tokens; {self._settings.tokens:,} are its limit"
            self._stop(Outcome(RunStatus.FAILED, "tokens", f'{told} ("tokens" of its runner)'))
        limit = self._settings.cost_micros
        if limit is not None and tally.unknown:
            self._stop(Outcome(RunStatus.FAILED, "cost", "its money is limited, and it tells no cost"))
        elif limit is not None and tally.cost_micros >= limit:
            told = f"it cost ${tally.cost_micros / 1_000_000:.4f}; ${limit / 1_000_000:.4f} is its limit"
            self._stop(Outcome(RunStatus.FAILED, "cost", f'{told} ("cost_micros" of its runner)'))


class Tally:
    """Adds up what was used, whatever each count is of: totals replace the total before, steps add."""

    def __init__(self) -> None:
        self._ended = (0, 0, 0)  # of the processes that are over
        self._now = (0, 0, 0)
        self._session = (0, 0, 0)
        self.before: tuple[int, ...] = (0, 0, 0)  # of the session, by earlier runs
        self.unknown = False

    def begin(self) -> None:
        """Another process: its own counts begin at nothing, those of the session go on."""
        self._ended, self._now = _sum(self._ended, self._now), (0, 0, 0)

    def note(self, used: Used) -> None:
        """One count."""
        told = (used.tokens_in, used.tokens_out, used.cost_micros or 0)
        self.unknown = self.unknown or used.cost_micros is None
        match used.scope:
            case Scope.STEP:
                self._now = _sum(self._now, told)
            case Scope.PROCESS:
                self._now = told
            case Scope.SESSION:
                rest = [max(0, one - before) for one, before in zip(told, self.before, strict=True)]
                self._session = (rest[0], rest[1], rest[2])

    @property
    def _all(self) -> tuple[int, int, int]:
        return _sum(_sum(self._ended, self._now), self._session)

    @property
    def tokens_in(self) -> int:
        """Of the run."""
        return self._all[0]

    @property
    def tokens_out(self) -> int:
        """Of the run."""
        return self._all[1]

    @property
    def cost_micros(self) -> int:
        """Of the run, as far as it is known."""
        return self._all[2]


def _sum(one: tuple[int, int, int], other: tuple[int, int, int]) -> tuple[int, int, int]:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"
