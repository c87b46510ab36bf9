"""What a scripted model does with a request: a turn in any wire format, or a fault."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

CREATED = 1_700_000_000


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` that are a text go out as they are, also when they are no JSON."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)


@dataclass(frozen=True)
class Tokens:
    """Input without what came from or went to the cache."""

    fresh: int = 80
    cache_read: int = 20
    cache_write: int = 0
    out: int = 10

    @property
    def total_in(self) -> int:
        return self.fresh + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Turn:
    """What the model says and calls.

    `finish` is `length`, `filter` or `refusal` instead of the plain end. Streamed texts and arguments go out in pieces
    of `size` letters, `pause_s` apart. `frames` cuts the stream after so many events (negative: so many before its
    end); then the connection breaks, or (`ends`) the body ends properly, or (`hangs`) nothing more comes.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thought: str = ""
    usage: Tokens | None = Tokens()
    finish: str = ""
    size: int = 8
    pause_s: float = 0.0
    frames: int | None = None
    ends: bool = False
    hangs: bool = False


@dataclass(frozen=True)
class Refuse:
    """A refusal in the provider's own form, or with `body` as it stands. `code` is the provider's word for it."""

    status: int
    message: str = "scripted"
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True)
class Raw:
    """Status 200 and these bytes, `times` times, in the name of this type; no length is told."""

    body: bytes
    content_type: str = "text/event-stream"
    times: int = 1


@dataclass(frozen=True)
class Hang:
    """The request is read, and nothing is answered."""


@dataclass(frozen=True)
class Drop:
    """The request is read, and the connection closed without an answer, as when a kept-alive one ran out."""


Act = Turn | Refuse | Raw | Hang | Drop


@dataclass(frozen=True)
class Asked:
    """A request as the server saw it, whatever its wire format.

    `said` is the last text of the user, `results` the texts of the tool results since then, `tools` the names on
    offer, `called` the names of all calls that the conversation holds, `key` the key that came with it, `connection`
    the number of the connection that it came on.
    """

    wire: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    model: str
    stream: bool
    tools: tuple[str, ...]
    said: str
    results: tuple[str, ...]
    key: str
    connection: int
    called: tuple[str, ...] = ()


Script = Callable[[Asked], Act]


class Ids:
    """Ids in the providers' shapes, the same in every run."""

    def __init__(self) -> None:
        self._count: Iterator[int] = itertools.count(1)

    def new(self, prefix: str) -> str:
        return f"{prefix}{next(self._count):024d}"


def pieces(text: str, size: int) -> list[str]:
    """A text in pieces of `size` letters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def texts(content: object) -> str:
    """The text of a message's content: a string, or blocks of which some hold text."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    told = (block.get("text", "") for block in blocks if isinstance(block, dict) and block.get("type") != "tool_result")
    return "\n".join(text for text in told if text)
