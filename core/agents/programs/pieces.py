"""What any program tells while it works, whatever its own format: a neutral stream."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Scope(StrEnum):
    """What a count is of: one step more, this process so far, or the whole session over several processes."""

    STEP = "step"
    PROCESS = "process"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Said:
    """Words."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What a model thought, as far as the program shows it."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """The program used one of its own tools; `arguments` as a text to compare and show."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Resulted:
    """What came of a call. `refused`: it failed because it was not allowed, and not by an error."""

    id: str
    text: str
    failed: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The program wants a permission, or says that it was refused one."""

    wants: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Something else that a person may want to know, e.g. a change to a file."""

    text: str


@dataclass(frozen=True, slots=True)
class Planned:
    """What it means to do now: a heading, and a line a step."""

    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens, and millionths of a US dollar; None where the program does not know its cost."""

    tokens_in: int
    tokens_out: int
    cost_micros: int | None
    scope: Scope


@dataclass(frozen=True, slots=True)
class SessionIs:
    """By what id it can be gone on with."""

    id: str


@dataclass(frozen=True, slots=True)
class Turned:
    """One more answer of its model has begun."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The program's own word on how it ended. `kind` names a failure, `retry_at` (ms UTC) goes with rate_limited."""

    ok: bool
    kind: str = ""
    why: str = ""
    retry_at: int | None = None


Piece = Said | Thought | Called | Resulted | Asked | Noted | Planned | Used | SessionIs | Turned | Finished


class Parser(Protocol):
    """Makes pieces of a program's lines. `needs_result`: without a Finished it has not come to its end."""

    needs_result: bool

    def take(self, line: str) -> list[Piece]:
        """What a line tells; never raises, whatever stands in it."""
        ...
