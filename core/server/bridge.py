"""MCP over standard input and output, for programs that only start servers themselves: each line goes to `/mcp`.

The bridge knows nothing of tools: it carries messages to the company's server, and says in the protocol's words when
nobody answers there. A server that was restarted is found again with the next message.
"""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from core.domain.errors import Invalid
from core.server.answers import BODY_MAX
from core.server.guard import NAMES

if TYPE_CHECKING:
    import httpx2

ANSWER_S = 60.0


def client_of(environment: Mapping[str, str]) -> "httpx2.AsyncClient":
    """A client of the server that OPSROOM_URL names, with OPSROOM_TOKEN. Raises Invalid."""
    import httpx2

    url, token = environment.get("OPSROOM_URL", ""), environment.get("OPSROOM_TOKEN", "")
    try:
        parts = urlsplit(url)
        is_ours = parts.scheme == "http" and parts.hostname in NAMES and parts.port is not None
    except ValueError:
        is_ours = False
    if not is_ours:
        raise Invalid("OPSROOM_URL names no server on this machine.", "E.g. OPSROOM_URL=http://127.0.0.1:4711")
    if not token or not token.isascii() or not token.isprintable():
        raise Invalid("OPSROOM_TOKEN holds no token.", "Give the token of your run, or the operator's.")
    headers = {"Authorization": f"Bearer {token}"}
    # No proxy that the environment names may see the token.
    return httpx2.AsyncClient(base_url=url, headers=headers, timeout=ANSWER_S, trust_env=False)


def client_at(socket: Path) -> "httpx2.AsyncClient":
    """A client of the owner's socket: the operator's own access."""
    import httpx2

    transport = httpx2.AsyncHTTPTransport(uds=str(socket))
    return httpx2.AsyncClient(transport=transport, base_url="http://opsroom", timeout=ANSWER_S)


async def bridge(client: "httpx2.AsyncClient", lines: AsyncIterator[bytes], write: Callable[[bytes], None]) -> None:
    """Carry each message there and its answer back, until there are no more lines."""
    async for line in lines:
        if line.strip() and (answer := await _carried(client, line)) is not None:
            write(json.dumps(answer).encode() + b"\n")


async def _carried(client: "httpx2.AsyncClient", line: bytes) -> Any:
    """The answer to one message; None when it needs none."""
    import httpx2

    try:
        asked = json.loads(line)
    except (ValueError, RecursionError):
        return _failed(None, -32700, "The line is no JSON.")
    number = asked.get("id") if isinstance(asked, dict) else None
    if len(line) > BODY_MAX:
        return _failed(number, -32600, f"The message has more than {BODY_MAX // 1_048_576} MiB. Send less at once.")
    try:
        response = await client.post("/mcp", content=line, headers={"Content-Type": "application/json"})
        if response.status_code == 202:
            return None
        answer = response.json()
    except (httpx2.HTTPError, ValueError) as error:
        why = f"The company's server does not answer ({type(error).__name__})."
        hint = "Open the room (opsroom DIR) or start `opsroom serve DIR`, then try again."
        return None if number is None else _failed(number, -32000, f"{why} {hint}")
    if isinstance(answer, dict) and "jsonrpc" in answer:
        return answer
    problem = answer.get("error", {}) if isinstance(answer, dict) else {}
    words = f"{problem.get('message', 'The server refused this.')} {problem.get('hint', '')}".strip()
    return None if number is None else _failed(number, -32000, words)


def _failed(number: Any, code: int, words: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}}


async def lines_of(descriptor: int) -> AsyncIterator[bytes]:
    """The lines that come to a file descriptor, until its end."""
    loop = asyncio.get_running_loop()
    came: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        chunk = b"?"
        while chunk:
            try:
                chunk = os.read(descriptor, 65_536)
            except OSError:
                chunk = b""
            try:
                loop.call_soon_threadsafe(came.put_nowait, chunk)
            except RuntimeError:
                return  # the loop is closed: nobody listens any more

    # A thread of its own, which does not hold the program's end up: a pipe, a file and a terminal are read alike.
    threading.Thread(target=read, name="standard input", daemon=True).start()
    rest = bytearray()
    while chunk := await came.get():
        rest += chunk
        *whole, last = rest.split(b"\n")
        rest = bytearray(last)
        for line in whole:
            yield bytes(line)
    if rest:
        yield bytes(rest)
