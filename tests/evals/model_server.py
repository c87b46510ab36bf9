"""The scripted model server as evals ask it: by chat completions, with a key, in whole pieces."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.models.script import Act, Call, Turn
from tests.models.server import ModelServer

KEY = "a key of the test"
_PIECE = 65_536  # letters: how an answer is cut is looked at elsewhere


def calling(*calls: tuple[str, Any], text: str = "") -> Turn:
    """A turn that calls tools; arguments that are a text go out as they are."""
    return Turn(text, tuple(Call(name, arguments) for name, arguments in calls), size=_PIECE)


def saying(text: str) -> Turn:
    """A turn that calls nothing."""
    return Turn(text, size=_PIECE)


class Model:
    """A model behind the server. `url` ends with `/v1`."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self.url = f"{server.url}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of the requests so far."""
        return [asked.body for asked in self._server.requests]

    def replies(self, *acts: Act) -> None:
        """One after the other; the last one for ever."""
        self._server.replies(*acts)


@asynccontextmanager
async def a_model_server() -> AsyncIterator[Model]:
    """A server for as long as the context lasts; what every run owes a model was then in each request."""
    with ModelServer(key=KEY) as server:
        model = Model(server)
        yield model
    for asked in model.requests:
        assert [message["role"] for message in asked["messages"][:2]] == ["system", "user"]
        assert asked["tools"]
