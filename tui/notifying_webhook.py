"""What a person is told of, sent to an address of theirs as JSON: off the loop's way, in bounds, failures told once.

The address may hold a key in its path: nothing but its host is ever told or logged.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2

from core.agents.models.transport import trusted
from tui.notifying import Telling
from tui.settings import is_loopback
from tui.text import one_line

ANSWER_S = 10.0
WAITS_S = (1.0, 5.0, 30.0)  # between tries; there is one try more
QUEUE = 100
LAST_S = 0.8  # what is still to be sent when the room is left has this long
_THINGS = 50
_CHARACTERS = 2_000


class Webhook:
    """One address. `tell` never waits; `problem` hears once that it fails, until it works again."""

    def __init__(
        self,
        url: str,
        company: str,
        problem: Callable[[str], None],
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._url = url
        self._host = urlsplit(url).hostname or ""
        self._company = company
        self.problem = problem
        self._sleep = sleep
        self._queue: deque[dict[str, Any]] = deque()
        self._missed = 0
        self._failing = False
        self._job: asyncio.Task[None] | None = None
        self._client: httpx2.AsyncClient | None = None

    def tell(self, telling: Telling, at: int) -> None:
        """Send this soon; `at` is ms UTC. Where too much waits, the oldest is left out and counted."""
        if len(self._queue) >= QUEUE:
            self._queue.popleft()
            self._missed += 1
        self._queue.append(message(telling, self._company, at))
        if self._job is None or self._job.done():
            self._job = asyncio.get_running_loop().create_task(self._send_all(), name="webhook")

    async def close(self) -> None:
        """Let what waits go if that is quick, and end."""
        if self._job is not None:
            await asyncio.wait({self._job}, timeout=LAST_S)
            self._job.cancel()
            with suppress(asyncio.CancelledError):
                await self._job
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _send_all(self) -> None:
        while self._queue:
            body = self._queue[0]
            missed = self._missed
            why = await self._sent({**body, "missed": missed} if missed else body)
            if self._queue and self._queue[0] is body:
                self._queue.popleft()
            if why:
                self._missed += 1
                self._told(why)
            else:
                self._missed -= missed
                self._failing = False

    def _told(self, why: str) -> None:
        if not self._failing:
            self._failing = True
            self.problem(f"The webhook at {self._host} got nothing: {why}. It is tried again with what comes next.")

    async def _sent(self, body: dict[str, Any]) -> str:
        """Try a bounded number of times; why it was not taken, empty if it was."""
        why = ""
        for wait in (0.0, *WAITS_S):
            if wait:
                await self._sleep(wait)
            why, again = await self._once(body)
            if not why or not again:
                break
        return why

    async def _once(self, body: dict[str, Any]) -> tuple[str, bool]:
        """Why it was not taken, and whether another try may help."""
        try:
            if self._client is None:
                self._client = await asyncio.to_thread(_opened, is_loopback(self._host))
            async with asyncio.timeout(ANSWER_S):
                asked = self._client.stream("POST", self._url, json=body, headers={"Idempotency-Key": body["id"]})
                async with asked as answer:  # of an answer nothing but its status is read
                    status = answer.status_code
        except TimeoutError:
            return f"no answer in {ANSWER_S:g} s", True
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return f"it cannot be reached ({type(error).__name__})", True
        if 200 <= status < 300:
            return "", False
        return f"it answered {status}", status in (408, 429) or status >= 500


def message(telling: Telling, company: str, at: int) -> dict[str, Any]:
    """The JSON that is sent. `id` is the same for each try; `text` is all of it in a line."""
    title, words = _text(telling.title), _text(telling.words)
    return {
        "id": f"{telling.notices[0].key if telling.notices else 'more'}@{at}",
        "company": _text(company),
        "at": at,
        "urgent": telling.urgent,
        "text": f"{_text(company)}: {title}: {words}",
        "count": len(telling.notices),
        "things": [
            {"id": each.key, "kind": each.kind, "about": each.tag, "ref": each.ref, "text": _text(each.words)}
            for each in telling.notices[:_THINGS]
        ],
    }


def _text(text: str) -> str:
    return one_line(text)[:_CHARACTERS]


def _opened(local: bool) -> httpx2.AsyncClient:
    # A proxy of the environment is for other machines alone; a redirect could lead to one that nobody named.
    return httpx2.AsyncClient(verify=trusted(), trust_env=not local, follow_redirects=False, timeout=ANSWER_S)
