"""Who sends a request: the operator or one run, by a bearer token. Tokens are kept as hashes, in this process alone.

The token of a run is bound to its agent (S1-23), to the run and to its fence (C-19).
"""

import hashlib
import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from core.agents.access import Heard
from core.agents.models.keys import REMOVED, Secret
from core.agents.runner import Assignment
from core.commands.registry import REGISTRY
from core.domain.actors import Agent, Operator
from core.domain.errors import Fenced, Forbidden, Invalid
from core.domain.states import Role, RunKind
from core.prompting.prompt import Prompt
from core.reading.offered import Offered, offered
from core.reading.registry import READS
from core.server.answers import TooMany, Unauthorized
from core.server.gateway.passage import Passage

OPERATOR_TOKEN = "operator.token"
KEY_MAX = 200
REQUESTS_PER_RUN = 5_000
AT_ONCE, PER_SECOND = 120, 20  # requests of one token: a burst, and what it gains again
MODELS_AT_ONCE, MODELS_PER_SECOND = 60, 2  # of its requests to models, which are counted for themselves
ENDED_KEPT = 2_000  # ended runs' tokens that are still told what happened
_TOKEN = re.compile(r"(?:run-\d{1,19}|operator)-[\w-]{43}", re.ASCII)
_NO_TOKEN = "Send `Authorization: Bearer …` with OPSROOM_TOKEN of your run, or the operator's token."


@dataclass(frozen=True, slots=True)
class Commissioned:
    """What a run was begun for: its agent's role, its kind, what it was told, and what it is about in a few words."""

    role: Role
    kind: RunKind
    about: str
    prompt: Prompt | None = None

    @property
    def offered(self) -> Offered:
        """What it may send through this server: what its prompt tells it of, and no more (F15)."""
        return offered(self.role, self.kind)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request. `run` is None for the operator, whom the door alone restricts; `listeners` hear.

    `passage` is a run's way to a model provider, None for those that have none. `secrets` are what its program knows
    and the board must not.
    """

    actor: Operator | Agent
    run: Commissioned | None = None
    listeners: Sequence[Callable[[Heard], None]] = field(default=(), repr=False, compare=False)
    passage: Passage | None = field(default=None, repr=False, compare=False)
    secrets: Sequence[Secret] = field(default=(), repr=False, compare=False)

    def require(self, name: str) -> None:
        """Raises Forbidden for a command or query that this run is not offered, Invalid if there is none such."""
        if self.run is None:
            return
        names = self.run.offered.names
        if name in names:
            return
        hint = f"It has: {', '.join(sorted(names))}."
        if name not in REGISTRY and name not in READS:
            raise Invalid(f"There is no command or query {name[:80]!r}.", hint)
        raise Forbidden(f"{name} is not offered to {self.label}; nothing was done.", hint)

    def require_operator(self, what: str) -> None:
        """Raises Forbidden for anybody else."""
        if not isinstance(self.actor, Operator):
            raise Forbidden(f"{what} is for the operator.", "Read what you need by the queries that you are offered.")

    def require_run(self, said_run: str | None) -> None:
        """Raises Forbidden when the request names a run that is not this one; the operator is none (S1-23)."""
        own = str(self.actor.run_id) if isinstance(self.actor, Agent) else None
        if said_run is not None and said_run.strip().removeprefix("R") != own:
            raise Forbidden(
                f"The request is from {self.label}, and names run {said_run[:20]!r}; nothing was done.",
                "Use the token that your own run was given, or name no run.",
            )

    def tell(self, heard: Heard) -> None:
        """Let those who listen know of a call."""
        for listener in self.listeners:
            listener(heard)

    def key(self, said: str | None) -> str | None:
        """The door's idempotency key: runs have theirs for themselves. Raises Invalid."""
        if not said:
            return None
        if len(said) > KEY_MAX:
            raise Invalid(f"An idempotency key has at most {KEY_MAX} characters.", "Send a shorter one.")
        return said if isinstance(self.actor, Operator) else f"run:{self.actor.run_id}:{said}"

    @property
    def label(self) -> str:
        """The caller in a sentence."""
        return "the operator" if isinstance(self.actor, Operator) else f"R{self.actor.run_id} of {self.actor.slug}"


def commissioned(assignment: Assignment) -> Commissioned:
    """What a run is begun for."""
    things = [thing.name_tag for thing in (assignment.task, assignment.goal) if thing is not None]
    return Commissioned(assignment.agent.role, assignment.run.kind, ", ".join(things), assignment.prompt)


@dataclass(slots=True)
class _Rate:
    """Lets a burst through, and then so many a second. `looked` is when it was looked at (seconds)."""

    at_once: int
    per_second: int
    looked: float
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.at_once

    def take(self, now: float) -> None:
        """Raises TooMany."""
        self.left = min(self.at_once, self.left + (now - self.looked) * self.per_second)
        self.looked = now
        if self.left < 1:
            told = f"More than {self.per_second} requests a second."
            raise TooMany(told, "Wait a second, and ask for less.", retry_s=1)
        self.left -= 1


@dataclass(slots=True)
class _Held:
    caller: Caller
    rate: _Rate
    models: _Rate
    sent: int = 0


@dataclass(slots=True)
class Tokens:
    """The tokens that this process gave out. `clock` gives seconds that never go back; `make` a new secret."""

    clock: Callable[[], float] = time.monotonic
    make: Callable[[], str] = lambda: token_urlsafe(32)
    _held: dict[str, _Held] = field(default_factory=dict, repr=False)
    _ended: "OrderedDict[str, int]" = field(default_factory=OrderedDict, repr=False)

    def give(
        self, actor: Agent, run: Commissioned, listeners: Sequence[Callable[[Heard], None]] = (),
        passage: Passage | None = None, secrets: Sequence[Secret] = (),
    ) -> str:  # fmt: skip
        """A token for one run (agent, run and fence); it ends with `end`."""
        token = f"run-{actor.run_id}-{self.make()}"
        self._hold(token, Caller(actor, run, listeners, passage, secrets))
        return token

    def admit_operator(self, token: str) -> None:
        """Let the operator's own token in."""
        self._hold(token, Caller(Operator()))

    def end(self, token: str) -> None:
        """The run is over: its token opens nothing any more."""
        held = self._held.pop(_hash(token), None)
        if held is not None and isinstance(held.caller.actor, Agent):
            self._ended[_hash(token)] = held.caller.actor.run_id
            while len(self._ended) > ENDED_KEPT:
                self._ended.popitem(last=False)

    def caller(self, token: str, said_run: str | None = None) -> Caller:
        """Who has this token; `said_run` is the run that the request names, if it names one.

        Raises Unauthorized, Fenced when its run has ended, Forbidden when it is another run's, TooMany.
        """
        held = self._find(token)
        held.rate.take(self.clock())
        if held.caller.run is not None and held.sent >= REQUESTS_PER_RUN:
            raise TooMany(
                f"This run has sent {REQUESTS_PER_RUN} requests: no more.", "End your work with what you have."
            )
        held.sent += 1
        held.caller.require_run(said_run)
        return held.caller

    def model_caller(self, token: str) -> Caller:
        """Who asks a model with this token; how often a run may is counted where it is passed on.

        Raises Unauthorized, Fenced when its run has ended, TooMany.
        """
        held = self._find(token)
        held.models.take(self.clock())
        return held.caller

    def knows(self, token: str) -> bool:
        """Whether it is one that was given out, be its run over or not."""
        return _hash(token) in self._held or _hash(token) in self._ended

    def without_tokens(self, value: Any) -> Any:
        """The same plain JSON without any token that was given out, be it another run's or the operator's."""
        if isinstance(value, str):
            return _TOKEN.sub(lambda found: REMOVED if self.knows(found[0]) else found[0], value)
        if isinstance(value, Mapping):
            return {self.without_tokens(name): self.without_tokens(part) for name, part in value.items()}
        return [self.without_tokens(part) for part in value] if isinstance(value, list) else value

    def _hold(self, token: str, caller: Caller) -> None:
        now = self.clock()
        rate, models = _Rate(AT_ONCE, PER_SECOND, now), _Rate(MODELS_AT_ONCE, MODELS_PER_SECOND, now)
        self._held[_hash(token)] = _Held(caller, rate, models)

    def _find(self, token: str) -> _Held:
        hashed = _hash(token)
        if (run_id := self._ended.get(hashed)) is not None:
            raise Fenced(f"Run R{run_id} has ended, and its token with it; nothing was done.", "Stop working.")
        held = self._held.get(hashed)
        if held is None:
            raise Unauthorized("This token is not known here.", _NO_TOKEN)
        return held


def bearer(header: str | None) -> str | None:
    """The token of an `Authorization` header; None without one. Raises Unauthorized for another scheme."""
    if header is None:
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("The Authorization header holds no bearer token.", _NO_TOKEN)
    return token.strip()


def no_token() -> Unauthorized:
    """The answer to a request that should have had a token."""
    return Unauthorized("This request has no token.", _NO_TOKEN)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def operator_token(folder: Path) -> str:
    """The operator's token from `operator.token` in the company's folder, made when there is none (mode 0600).

    Raises Invalid when others may read it, or when it is no token.
    """
    path = folder / OPERATOR_TOKEN
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(handle, "w") as file:
        token = f"operator-{token_urlsafe(32)}"
        file.write(f"{token}\n")
    return token


def _read(path: Path) -> str:
    again = f"Delete {path} and try again: a new one is made."
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Invalid(f"The operator's token cannot be read: {error.strerror}.", again) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise Invalid("The operator's token may be read by others, or is no file.", again)
        token = os.read(handle, 1_000).decode(errors="replace").strip()
    finally:
        os.close(handle)
    if len(token) < 32 or not token.isascii() or not token.isprintable() or " " in token:
        raise Invalid("The file of the operator's token holds none.", again)
    return token
