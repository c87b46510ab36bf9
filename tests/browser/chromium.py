"""Chromium without a window, steered over loopback by its DevTools protocol. It asks no other machine for anything."""

import asyncio
import base64
import contextlib
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
START_S = 60.0
PATIENCE_S = 60.0
FLAGS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--mute-audio",
    "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--window-size=1200,800", "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def program() -> str | None:
    """Where a browser is, if there is one."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Page:
    """One page. `asked` are the addresses that it asked for, `shown` what the room sent to it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self._number = 0
        self.asked: list[str] = []
        self.shown = ""

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser, and wait for its answer."""
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": self._number, "method": method, "params": parameters, **session})
        return await asyncio.wait_for(answer, PATIENCE_S)

    async def attach(self) -> None:
        """Begin with an empty page."""
        target = await self.call("Target.createTarget", url="about:blank")
        found = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            await self.call(f"{domain}.enable")

    async def hear(self) -> None:
        """Take what the browser tells."""
        async for message in self._socket:
            told = message.json()
            if "id" in told:
                answer = self._answers.pop(told["id"])
                if "error" in told:
                    answer.set_exception(AssertionError(told["error"]))
                else:
                    answer.set_result(told["result"])
                continue
            about = told.get("params", {})
            match told.get("method"):
                case "Network.requestWillBeSent":
                    self.asked.append(about["request"]["url"])
                case "Network.webSocketCreated":
                    self.asked.append(about["url"])
                case "Network.webSocketFrameReceived" if about["response"]["opcode"] == 2:
                    data = base64.b64decode(about["response"]["payloadData"])
                    self.shown += data.decode("utf-8", "replace")

    async def open(self, url: str) -> None:
        """Load an address."""
        await self.call("Page.navigate", url=url)

    async def press(self, key: str) -> None:
        """A key, as a person presses it."""
        text = {"text": key} if len(key) == 1 else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def value(self, script: str) -> Any:
        """What an expression is in the page."""
        found = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    async def until(self, words: str) -> None:
        """Wait until the room showed these words."""
        async with asyncio.timeout(PATIENCE_S):
            while words not in self.shown:  # noqa: ASYNC110 - frames come as they come
                await asyncio.sleep(0.05)

    async def until_is(self, script: str) -> None:
        """Wait until an expression is true in the page."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self.value(script):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.05)


@asynccontextmanager
async def a_page(home: Path) -> AsyncIterator[Page]:
    """An empty page in a browser of its own."""
    found = program()
    assert found is not None
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        found, *FLAGS, f"--user-data-dir={home}", stdin=null, stdout=null, stderr=null, start_new_session=True
    )
    try:
        port, path = await _address(home / "DevToolsActivePort")
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
        ):
            page = Page(socket)
            hearing = asyncio.create_task(page.hear())
            await page.attach()
            yield page
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
    finally:
        process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 10)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(told: Path) -> tuple[str, str]:
    async with asyncio.timeout(START_S):
        while True:
            with contextlib.suppress(OSError, ValueError):
                port, path = (await asyncio.to_thread(told.read_text)).split()
                return port, path
            await asyncio.sleep(0.05)
