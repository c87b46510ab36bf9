"""What a wire format owes to the client: a path, headers, a body, and a reader of answers."""

from collections.abc import Iterator
from typing import Any, Protocol

from core.agents.models.conversation import ModelRequest, Piece, Usage


class Reader(Protocol):
    """Reads one answer. Calls are handed out at the end only: a cut answer never hands on half of what it asks."""

    @property
    def usage(self) -> Usage | None:
        """What the server counted so far."""
        ...

    @property
    def complete(self) -> bool:
        """The server said why the answer ended: whatever happens to the connection now takes nothing from it."""
        ...

    def feed(self, data: str) -> Iterator[Piece]:
        """The pieces in one event, or in a whole answer that was not streamed. Raises ModelError."""
        ...

    def end(self) -> Iterator[Piece]:
        """Calls, usage and the finish, when nothing more comes. Raises ModelError (truncated, empty)."""
        ...


class Wire(Protocol):
    """One wire format; knows nothing of time, tries and connections."""

    @property
    def path(self) -> str:
        """What the address of a request ends with."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """What every request carries; `key` may be empty."""
        ...

    def body(self, model: str, request: ModelRequest, without: frozenset[str], *, stream: bool) -> dict[str, Any]:
        """The request as the provider's object, without the fields that this server was found not to know."""
        ...

    def lesson(self, told: str, tried: dict[str, Any], *, guess: bool) -> str | None:
        """The field of the request `tried` that the server does not know, by its refusal `told`, and can do without.

        None if there is none; with `guess` also a field that the refusal does not name.
        """
        ...

    def reader(self, request: ModelRequest) -> Reader:
        """A reader for the answer to this request."""
        ...
