"""One answer of the model: streamed into the transcript, counted, and clean of secrets."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace

from core.agents.chat.meter import Meter
from core.agents.chat.telling import Saying
from core.agents.models.client import ModelClient
from core.agents.models.conversation import (
    Answer,
    Assistant,
    Gathered,
    Message,
    ModelRequest,
    Text,
    Thought,
)
from core.agents.models.errors import RETRIED, ModelError
from core.agents.models.keys import Secret, scrub, scrubbed
from core.agents.runner import Desk, Told


class Asking:
    """Asks the model of one run. `secrets` stand in nothing that comes out of here."""

    def __init__(self, client: ModelClient, desk: Desk, meter: Meter, secrets: tuple[Secret, ...]) -> None:
        self._client = client
        self._desk = desk
        self._meter = meter
        self._secrets = secrets

    @property
    def knows_schemas(self) -> bool:
        """Whether the server took the schema of an answer, as far as it was asked; else it is told in words."""
        return "response_format" not in self._client.without

    async def answer(self, request: ModelRequest) -> Answer:
        """The whole answer. One that was cut is asked for once more: nothing of it was used. Raises ModelError."""
        try:
            return await self._once(request)
        except ModelError as error:
            # The client itself tries again only what has not begun.
            if not error.partial or error.kind not in RETRIED or error.until is not None:
                raise
            self._desk.tell(Told.NOTICE, text=f"the answer was cut and is asked for once more: {error.message}")
        return await self._once(request)

    async def _once(self, request: ModelRequest) -> Answer:
        found = Gathered()
        saying = Saying(self._desk, self._secrets)
        try:
            async with aclosing(self._client.stream(request)) as pieces:
                async for piece in pieces:
                    found.take(piece)
                    if isinstance(piece, Text):
                        saying.add(piece.text)
                    elif isinstance(piece, Thought):
                        saying.think(piece.text)
        except ModelError as error:
            self._meter.note_try(error.usage)
            await self._meter.settle()
            raise
        finally:
            saying.end()
        answer = _cleaned(found.answer(), self._secrets)
        await self._meter.note(answer.usage, *_texts(request, answer))
        return answer


def _cleaned(answer: Answer, secrets: tuple[Secret, ...]) -> Answer:
    """The answer without secrets in what it says and calls; thoughts go back to the provider as they came."""
    calls = tuple(
        replace(
            call, name=scrub(call.name, secrets), text=scrub(call.text, secrets), problem=scrub(call.problem, secrets),
            arguments=_arguments(call.arguments, secrets),
        )
        for call in answer.calls
    )  # fmt: skip
    return replace(answer, text=scrub(answer.text, secrets), calls=calls)


def _arguments(arguments: Mapping[str, object] | None, secrets: tuple[Secret, ...]) -> Mapping[str, object] | None:
    if arguments is None or not secrets:
        return arguments
    cleaned: dict[str, object] = scrubbed(arguments, secrets)
    return cleaned


def _texts(request: ModelRequest, answer: Answer) -> tuple[str, str]:
    """What was sent and what came, for a count of their tokens."""
    if answer.usage is not None:
        return "", ""
    sent = [layer.text for layer in request.system] + [_text(message) for message in request.messages]
    sent += [f"{tool.name} {tool.about} {tool.schema}" for tool in request.tools]
    return "\n".join(sent), _text(answer.message()) + "".join(each.text for each in answer.thoughts)


def _text(message: Message) -> str:
    if isinstance(message, Assistant):
        return message.text + "".join(f"{call.name} {call.text}" for call in message.calls)
    return message.text
