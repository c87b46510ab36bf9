"""The room in a real browser: a draft is approved by keys in the page, and the board has it."""

import asyncio
import json
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from tests.browser.chromium import a_page, program
from tests.command_line import started
from tests.flows.world import a_draft, an_office

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(program() is None, reason="no chromium is installed (Debian: apt-get install chromium)"),
]


def of_the_goal(company: Path, column: str) -> Any:
    """What the board's file holds of the only goal."""
    with sqlite3.connect(f"file:{company / 'board.db'}?mode=ro", uri=True) as board:
        return board.execute(f"SELECT {column} FROM goals").fetchone()[0]


@asynccontextmanager
async def serving(company: Path, home: Path) -> AsyncIterator[tuple["subprocess.Popen[str]", str]]:
    """`opsroom serve --web`, and the address that it printed."""
    process = started(home, "serve", company, "--web", "--json")
    assert process.stdout is not None
    try:
        yield process, json.loads(await asyncio.to_thread(process.stdout.readline))["web"]
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = await asyncio.to_thread(process.communicate, timeout=30)
        assert (out, "Traceback" in err) == ("", False)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():  # noqa: ASYNC110 - states of other processes
            await asyncio.sleep(0.05)


async def test_a_draft_is_approved_through_the_page_and_a_visitor_who_leaves_leaves_nothing(tmp_path: Path) -> None:
    company = tmp_path / "acme"
    async with an_office(company) as office:
        await a_draft(office)
        await office.do("StopCompany", reason="nobody works meanwhile")
    async with serving(company, tmp_path) as (server, url), a_page(tmp_path / "browser") as page:
        await page.open(url)
        await page.until("Audit the folder")
        await page.until("approve")
        await asyncio.sleep(1)  # keys are deaf for a moment after a question appeared
        assert (await page.value("location.search"), await page.value("document.cookie")) == ("", "")
        (visitor,) = psutil.Process(server.pid).children(recursive=True)
        assert of_the_goal(company, "status") == "draft"
        assert of_the_goal(company, "reviewed_hash") is None
        await page.press("a")
        await until(lambda: of_the_goal(company, "reviewed_hash") is not None)  # once it was held for 5 s
        assert of_the_goal(company, "reviewed_hash") == of_the_goal(company, "content_hash")

        await page.press("q")
        await page.until_is("document.body.classList.contains('-closed')")
        await until(lambda: not visitor.is_running())
        await page.open(url)
        await page.until_is("document.body.classList.contains('-first-byte')")
        (visitor,) = psutil.Process(server.pid).children(recursive=True)
        await page.open("about:blank")  # as a page that is closed without a word
        await until(lambda: not visitor.is_running())
        assert server.poll() is None, "the company is served on"
        asked = {urlsplit(each).netloc for each in page.asked if not each.startswith(("data:", "about:"))}
        assert asked == {urlsplit(url).netloc}, "nothing is asked of anybody else"
