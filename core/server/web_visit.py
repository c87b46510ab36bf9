"""One visitor of the room in a browser: a process of its own, which ends when the visitor leaves."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

LEAVE_S = 6.0  # until a room that was left has let go of everything; then it is ended
COLUMNS, LINES = 500, 200  # no room is larger


class Visit(AppService):
    """The room's process, between its pipes and the browser's websocket."""

    def __init__(self, argv: Sequence[str], websocket: web.WebSocketResponse) -> None:
        super().__init__(
            "", write_bytes=websocket.send_bytes, write_str=websocket.send_str, close=self._close,
            download_manager=DownloadManager(),
        )  # fmt: skip
        self._argv = tuple(argv)
        self._websocket = websocket

    async def follow(self, columns: int, lines: int) -> None:
        """Show the room until the visitor leaves, or the room does."""
        try:
            await self.start(*_bounded(columns, lines))
            async for message in self._websocket:
                if message.type is WSMsgType.TEXT:
                    await self._hear(_understood(message.data))
        finally:
            leaving = asyncio.ensure_future(self._leave())
            try:
                await asyncio.shield(leaving)
            except asyncio.CancelledError:  # the server ends meanwhile
                await leaving
                raise

    async def run(self) -> None:
        """Bring to the browser what the room shows; whatever ends the room ends the visit."""
        try:
            await super().run()
        finally:
            await self._close()

    async def on_data(self, payload: bytes) -> None:
        """Somebody who left sees nothing more, but a room that ends must not wait at a full pipe."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            await super().on_data(payload)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        environment = self._build_environment(width=width, height=height)
        self._process = process = await asyncio.create_subprocess_exec(
            *self._argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
        self._stdin = process.stdin
        return process

    async def _hear(self, message: Any) -> None:
        match message:
            case ["stdin", str(text)]:
                await self.send_bytes(text.encode("utf-8", "replace"))
            case ["resize", {"width": int(columns), "height": int(lines)}]:
                await self.set_terminal_size(*_bounded(columns, lines))
            case ["ping", str(data)]:
                await self._websocket.send_json(["pong", data[:100]])
            case ["focus"]:
                await self.focus()
            case ["blur"]:
                await self.blur()

    async def _close(self) -> None:
        with contextlib.suppress(ConnectionError, RuntimeError):
            await self._websocket.close()

    async def _leave(self) -> None:
        """The room ends as after its key; one that does not is killed. Nothing is left behind."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self.send_meta({"type": "quit"})
                self.stdin.close()
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()
        self.stdin.close()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=1.0)  # to the end of what it said
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _bounded(columns: int, lines: int) -> tuple[int, int]:
    return max(1, min(columns, COLUMNS)), max(1, min(lines, LINES))


def _understood(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
