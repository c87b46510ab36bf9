"""`opsroom serve --web` as a process: a visitor follows the owner, and never becomes it."""

import asyncio
import json
from pathlib import Path

import aiohttp
import psutil
import pytest
from yarl import URL

from tests.command_line import opsroom, started
from tests.server.test_socket_room import owner_pid
from tui.cli import main


@pytest.fixture
def company(tmp_path: Path) -> Path:
    folder = tmp_path / "acme"
    assert main(["init", str(folder)]) == 0
    assert main(["goal", "add", str(folder), "Write the lighthouse guide"]) == 0
    return folder


async def test_a_visitor_sees_the_board_and_ends_with_a_server_that_was_killed(company: Path, tmp_path: Path) -> None:
    server = started(tmp_path, "serve", company, "--web", "--json")
    assert server.stdout is not None
    try:
        url = URL(json.loads(await asyncio.to_thread(server.stdout.readline))["web"])
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
            (await browser.get(url)).close()
            page = url.with_query(None)
            async with browser.ws_connect(page / "ws", headers={"Origin": str(page.origin())}) as room:
                shown = ""
                async with asyncio.timeout(60):
                    while "lighthouse guide" not in shown:
                        shown += (await room.receive_bytes()).decode("utf-8", "replace")
                (visitor,) = psutil.Process(server.pid).children(recursive=True)
                assert owner_pid(company) == server.pid
                server.kill()
                await asyncio.to_thread(psutil.wait_procs, [visitor], 20)
                assert not visitor.is_running()
                assert owner_pid(company) is None
    finally:
        server.kill()
        await asyncio.to_thread(server.communicate)


def test_the_port_of_the_page_goes_with_the_page(company: Path, tmp_path: Path) -> None:
    done = opsroom(tmp_path, "serve", company, "--web-port", "4711")
    assert (done.returncode, "--web" in done.stderr) == (2, True)
