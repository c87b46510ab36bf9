"""The room's page for browsers: who is let in, what is told to others, and that nobody's process is left behind."""

import asyncio
import sys
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import psutil
import pytest
from yarl import URL

from core.domain.errors import Invalid
from core.server import web_visit
from core.server.web import COOKIE, WebRoom

# Speaks as a room does: begins, shows its number and size, echoes keys, and ends when it is told to, if it listens.
ROOM = """
import json, os, sys
def say(kind, data):
    os.write(1, kind + len(data).to_bytes(4, "big") + data)
os.write(1, b"__GANGLION__\\n")
say(b"D", f"room {os.getpid()} {os.environ['COLUMNS']}x{os.environ['ROWS']}".encode())
while head := sys.stdin.buffer.read(5):
    data = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
    if head[:1] == b"D":
        if data == b"crash":
            os._exit(3)
        say(b"D", b"key " + data)
    elif (meta := json.loads(data))["type"] == "resize":
        say(b"D", f"now {meta['width']}x{meta['height']}".encode())
    elif meta["type"] == "quit" and sys.argv[1] == "polite":
        say(b"M", b'{"type": "exit"}')
        break
if sys.argv[1] == "deaf":
    import time
    time.sleep(600)
"""


class Site:
    """A room that is served, and somebody's browser."""

    def __init__(self, url: str, browser: aiohttp.ClientSession) -> None:
        self.url, self.browser = URL(url), browser
        self.page = self.url.with_query(None)

    async def get(self, url: URL | str, **headers: str) -> tuple[int, str, "aiohttp.ClientResponse"]:
        async with self.browser.get(url, headers=headers, allow_redirects=False) as answer:
            return answer.status, (await answer.read()).decode("utf-8", "replace"), answer

    def visit(self, **headers: str) -> "aiohttp.client._WSRequestContextManager":
        usual = {"Origin": str(self.page.origin())}
        wanted = {name: value for name, value in {**usual, **headers}.items() if value}
        return self.browser.ws_connect(self.page / "ws" % {"width": 90, "height": 30}, headers=wanted)

    async def let_in(self) -> None:
        status, _, _ = await self.get(self.url)
        assert status == 303


def argv(manner: str = "polite") -> list[str]:
    return [sys.executable, "-c", ROOM, manner]


def a_browser() -> aiohttp.ClientSession:
    """Keeps cookies, also of an address in numbers."""
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with WebRoom(argv(), most=2).listening() as url, a_browser() as browser:
        yield Site(url, browser)


async def begun(websocket: aiohttp.ClientWebSocketResponse) -> tuple[psutil.Process, str]:
    """The process behind it, and its size."""
    _, number, size = (await websocket.receive_bytes()).decode().split()
    return psutil.Process(int(number)), size


async def gone(process: psutil.Process) -> None:
    async with asyncio.timeout(20):
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)


async def test_the_address_with_the_token_opens_the_page_and_leaves_the_token_behind(site: Site) -> None:
    status, _, answer = await site.get(site.url)
    assert (status, answer.headers["Location"]) == (303, site.page.path)
    cookie = answer.cookies[COOKIE]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (site.page.path, True, "Strict")
    status, text, answer = await site.get(site.page)
    assert status == 200
    assert site.url.query["token"] not in text
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "sandbox allow-scripts allow-same-origin" in policy, "an address in a text opens nothing"
    assert (answer.headers["X-Frame-Options"], answer.headers["Referrer-Policy"]) == ("DENY", "no-referrer")
    assert "http://" not in text.replace(f"ws://{site.page.authority}", ""), "nothing comes from elsewhere"
    assert "https://" not in text
    for file in ("js/textual.js", "css/xterm.css", "fonts/RobotoMono-VariableFont_wght.ttf"):
        assert (await site.get(site.page / "static" / file))[0] == 200


@pytest.mark.parametrize("token", ["", "x", "é", "a" * 43])
async def test_without_the_token_there_is_a_plain_refusal(site: Site, token: str) -> None:
    wrong = site.page.with_query({"token": token} if token else {})
    for url in (wrong, site.page / "ws", site.page / "static/js/textual.js", site.page.origin() / "elsewhere"):
        status, text, answer = await site.get(url, Cookie=f"{COOKIE}={'b' * 43}")
        assert (status, answer.content_type) == (403, "text/plain")
        assert "Open the whole address" in text
        assert COOKIE not in answer.cookies
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await site.visit()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
    ],
    ids=lambda value: str(value),
)
async def test_other_names_and_other_pages_get_nothing_even_with_the_cookie(
    site: Site, headers: dict[str, str], status: int
) -> None:
    await site.let_in()
    told = await site.get(site.page, **headers)
    assert (told[0], told[2].content_type) == (status, "text/plain")
    with pytest.raises(aiohttp.WSServerHandshakeError, match=str(status)):
        await site.visit(**headers)


async def test_a_websocket_without_a_page_is_refused(site: Site) -> None:
    await site.let_in()
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await site.visit(Origin="")


async def test_a_visitor_has_a_room_of_its_own_which_ends_with_the_page(site: Site) -> None:
    await site.let_in()
    async with site.visit() as one, site.visit() as other:
        first, size = await begun(one)
        second, _ = await begun(other)
        assert (size, first.pid != second.pid) == ("90x30", True)
        for odd in ("no json", "[" * 40_000, "{}", '["resize", {"width": "9"}]', '["stdin", 5]', '["boo"]', "[]"):
            await one.send_str(odd)
        await one.send_json(["stdin", "a\ud800"])
        assert await one.receive_bytes() == b"key a?"
        await one.send_json(["resize", {"width": 10**9, "height": -4}])
        assert await one.receive_bytes() == b"now 500x1"
        await one.send_json(["ping", "7"])
        assert await one.receive_json() == ["pong", "7"]
        await one.close()
        await gone(first)
        assert second.is_running()
        await other.send_json(["stdin", "crash"])
        assert (await other.receive()).type is aiohttp.WSMsgType.CLOSE, "a room that ended closes the page"


async def test_there_are_so_many_visitors_and_no_more(site: Site) -> None:
    await site.let_in()
    async with site.visit() as one, site.visit() as other:
        await begun(one)
        process, _ = await begun(other)
        status, text, _ = await site.get(site.page)
        assert (status, "Close one of their pages" in text) == (503, True)
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
            await site.visit()
        await other.close()
        await gone(process)
        async with asyncio.timeout(20):
            while (await site.get(site.page))[0] == 503:  # noqa: ASYNC110 - the process of the other ends
                await asyncio.sleep(0.02)
        async with site.visit() as third:
            assert (await begun(third))[0].pid != process.pid


async def test_a_room_that_does_not_end_is_ended_also_when_the_server_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_visit, "LEAVE_S", 0.2)
    async with a_browser() as browser:
        async with WebRoom(argv("deaf")).listening() as url:
            site = Site(url, browser)
            await site.let_in()
            async with site.visit() as one:
                left, _ = await begun(one)
            await gone(left)
            two = await site.visit()
            stays, _ = await begun(two)
        await gone(stays)


async def test_it_listens_on_this_machine_alone() -> None:
    with pytest.raises(Invalid, match="this machine alone"):
        async with WebRoom(argv()).listening("0.0.0.0"):
            pass
    async with WebRoom(argv()).listening("::1") as url:
        assert urlsplit(url).hostname == "::1"
