"""A model server on loopback that says what a script says, and is strict about the protocol."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Message = dict[str, Any]
KEY = "a key of the test"


def calling(*calls: tuple[str, Any]) -> Message:
    """A message that calls tools; arguments that are a text go out as they are."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls)
        ],
    }


def saying(text: str) -> Message:
    """A message that calls nothing."""
    return {"role": "assistant", "content": text}


@dataclass
class Model:
    """`script` gives the next message, or a whole response, to a request; `requests` are those so far."""

    script: Callable[[Message], Message | Response] = field(default=lambda _: saying("Nothing to do."))
    requests: list[Message] = field(default_factory=list)
    url: str = ""

    def replies(self, *messages: Message | Response) -> None:
        """One after the other; the last one for ever."""
        left = list(messages)
        self.script = lambda _asked: left.pop(0) if len(left) > 1 else left[0]

    async def complete(self, request: Request) -> Response:
        asked = await request.json()
        self.requests.append(asked)
        if problem := broken(request, asked):
            return JSONResponse({"error": {"message": problem}}, status_code=400)
        message = self.script(asked)
        if isinstance(message, Response):
            return message
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        told = {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}
        return Response(json.dumps(told), media_type="application/json")


def broken(request: Request, asked: Message) -> str:
    """What of the protocol a request does not keep."""
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return "no key"
    messages = asked["messages"]
    if [message["role"] for message in messages[:2]] != ["system", "user"]:
        return "a conversation begins with a system and a user message"
    for number, message in enumerate(messages):
        called = [call["id"] for call in message.get("tool_calls", ())]
        answered = [each.get("tool_call_id") for each in messages[number + 1 : number + 1 + len(called)]]
        if called != answered:
            return f"calls {called} were answered by {answered}"
    names = [tool["function"]["name"] for tool in asked["tools"]]
    if not names or len(names) != len(set(names)):
        return "tools have names of their own"
    return ""


@asynccontextmanager
async def a_model_server() -> AsyncIterator[Model]:
    """A server for as long as the context lasts."""
    model = Model()
    app = Starlette(routes=[Route("/v1/chat/completions", model.complete, methods=["POST"])])
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    serving = asyncio.create_task(server.serve())
    try:
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        model.url = f"http://127.0.0.1:{port}/v1"
        yield model
    finally:
        server.should_exit = True
        await serving
