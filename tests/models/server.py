"""A model server on loopback in a thread of its own: it speaks four wire formats and does what a script says.

It stands for the providers, for our own client and for real agent programs alike, so it is strict about the protocols.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import h11

from tests.models import anthropic, chat, gemini, responses
from tests.models.script import Act, Asked, Drop, Hang, Ids, Raw, Refuse, Script, Turn

_READ = 64 * 1024
_WIRES = {"chat": chat, "responses": responses, "anthropic": anthropic, "gemini": gemini}
_PATHS = {"/chat/completions": "chat", "/responses": "responses", "/messages": "anthropic"}


def _broken(wire: str, body: dict[str, Any], headers: Mapping[str, str]) -> str:
    """What of its protocol a request does not keep; empty if nothing."""
    if wire == "anthropic":
        return anthropic.broken(body, headers.get("anthropic-beta", ""))
    return str(_WIRES[wire].broken(body))


class ModelServer:
    """`with ModelServer() as server`: `url` ends before `/v1`; `script` decides; `requests` are those so far.

    With `key` set, other keys meet a 401. `models` is what `GET /v1/models` lists.
    """

    def __init__(self, *turns: Act, key: str = "", models: tuple[str, ...] = ("scripted",)) -> None:
        self.key = key
        self.models = models
        self.requests: list[Asked] = []
        self.connections = 0
        self.errors: list[Exception] = []
        self.script: Script = lambda asked: Turn("Nothing to do.")
        if turns:
            self.replies(*turns)
        self._ids = Ids()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="model server", daemon=True)

    def replies(self, *turns: Act) -> None:
        """One after the other; the last one for ever."""
        left = list(turns)
        self.script = lambda asked: left.pop(0) if len(left) > 1 else left[0]

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        assert self._started.wait(10), "the model server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self.errors, f"the model server failed: {self.errors!r}"

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        at_work: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = asyncio.create_task(_Connection(self, reader, writer, self.connections).through())
            at_work.add(task)
            task.add_done_callback(at_work.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._started.set()
        await self._stop.wait()
        server.close()
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)

    def answer(self, asked: Asked) -> tuple[Act, list[bytes]]:
        """What is done with a request, and the events of its stream."""
        wire = _WIRES[asked.wire]
        self.requests.append(asked)
        if self.key and asked.key != self.key:
            return Refuse(
                401, "Incorrect API key provided.", "" if asked.wire == "anthropic" else "invalid_api_key"
            ), []
        if problem := _broken(asked.wire, asked.body, asked.headers):
            return Refuse(400, problem), []
        act = self.script(asked)
        return act, wire.frames(act, asked, self._ids) if isinstance(act, Turn) and asked.stream else []

    def whole(self, turn: Turn, asked: Asked) -> bytes:
        return json.dumps(_WIRES[asked.wire].whole(turn, asked, self._ids)).encode()


class _Connection:
    def __init__(
        self, server: ModelServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._number = number
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_READ)

    async def through(self) -> None:
        """Requests one after the other, until one of us closes."""
        try:
            while (request := await self._next(h11.Request)) is not None:
                body = bytearray()
                while (data := await self._next(h11.Data)) is not None:
                    body += data.data
                await self._answer(request, bytes(body))
                if self._http.our_state is not h11.DONE:
                    break
                self._http.start_next_cycle()
        except (ConnectionError, h11.ProtocolError):
            pass
        except Exception as error:  # of a script, or of the server: the test is to see it
            self._server.errors.append(error)
        finally:
            self._writer.transport.abort()

    async def _next(self, kind: type[Any]) -> Any:
        """The next event if it is of this kind; None at its end."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self._reader.read(_READ))
        return event if isinstance(event, kind) else None

    async def _answer(self, request: h11.Request, body: bytes) -> None:
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in request.headers}
        target = request.target.decode()
        path = unquote(urlsplit(target).path)
        if request.method == b"GET" and path.endswith("/models"):
            listed = [
                {"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in self._server.models
            ]
            await self._whole(200, json.dumps({"object": "list", "data": listed}).encode())
        elif path.endswith(("/count_tokens", ":countTokens")):
            told = {"totalTokens": 100} if path.endswith(":countTokens") else {"input_tokens": 100}
            await self._whole(200, json.dumps(told).encode())
        elif request.method != b"POST" or (asked := self._asked(target, headers, body)) is None:
            await self._whole(404, b'{"error": {"message": "There is nothing at this address."}}')
        else:
            await self._act(asked)

    def _asked(self, target: str, headers: dict[str, str], body: bytes) -> Asked | None:
        path, query = unquote(urlsplit(target).path), parse_qs(urlsplit(target).query)
        name, _, method = path.rpartition("/")[2].partition(":")
        wire = next((wire for end, wire in _PATHS.items() if path.endswith(end)), "gemini" if method else None)
        told = json.loads(body)
        if wire is None or not isinstance(told, dict):
            return None
        stream = method == "streamGenerateContent" if wire == "gemini" else bool(told.get("stream"))
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        key = headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer or "".join(query.get("key", ()))
        fine = not _broken(wire, told, headers)
        tools, said, results = _WIRES[wire].reading(told) if fine else ((), "", ())
        called = _WIRES[wire].called(told) if fine else ()
        model = name if wire == "gemini" else str(told.get("model"))
        return Asked(wire, target, headers, told, model, stream, tools, said, results, key, self._number, called)

    async def _act(self, asked: Asked) -> None:
        act, frames = self._server.answer(asked)
        match act:
            case Turn() if asked.stream:
                await self._stream(act, frames)
            case Turn():
                await self._whole(200, self._server.whole(act, asked))
            case Refuse():
                told = act.body if act.body is not None else json.dumps(_WIRES[asked.wire].refusal(act)).encode()
                await self._whole(act.status, told, dict(act.headers))
            case Raw():
                await self._begin(200, act.content_type)
                for _ in range(act.times):
                    await self._send(h11.Data(data=act.body))
                await self._send(h11.EndOfMessage())
            case Hang():
                await self._reader.read()
            case Drop():
                pass

    async def _stream(self, turn: Turn, frames: list[bytes]) -> None:
        await self._begin(200, "text/event-stream; charset=utf-8")
        for frame in frames[: turn.frames]:
            await self._send(h11.Data(data=frame))
            await asyncio.sleep(turn.pause_s)
        if turn.hangs:
            await self._reader.read()
        elif turn.frames is None or turn.ends:
            await self._send(h11.EndOfMessage())

    async def _begin(self, status: int, content_type: str) -> None:
        headers = [("content-type", content_type), ("transfer-encoding", "chunked"), ("cache-control", "no-cache")]
        await self._send(h11.Response(status_code=status, headers=headers))

    async def _whole(self, status: int, body: bytes, more: dict[str, str] | None = None) -> None:
        headers = {"content-type": "application/json", "content-length": str(len(body)), **(more or {})}
        await self._send(h11.Response(status_code=status, headers=list(headers.items())))
        await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())

    async def _send(self, event: Any) -> None:
        data = self._http.send(event)
        assert data is not None
        self._writer.write(data)
        await self._writer.drain()


if __name__ == "__main__":
    with ModelServer() as served:
        print(served.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
