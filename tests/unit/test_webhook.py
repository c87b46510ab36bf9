"""What is sent to the operator's own address: as JSON, each thing once, tried a few times, its failure told once."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tui.notifying import Notice, one, summed
from tui.notifying_webhook import QUEUE, WAITS_S, Webhook

SECRET = "hooks/T0KEN?key=S3CRET"


class Server:
    """A loopback server that answers with these statuses in turn, the last one for ever; None answers nothing."""

    def __init__(self, *statuses: int | None) -> None:
        self.statuses = list(statuses) or [200]
        self.heads: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = next(
                    int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length")
                )
                self.heads.append(head)
                self.bodies.append(json.loads(await reader.readexactly(length)))
                status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
                if status is None:
                    break
                where = "Location: http://127.0.0.1:1/else\r\n" if status == 302 else ""
                writer.write(f"HTTP/1.1 {status} X\r\n{where}Content-Length: 0\r\n\r\n".encode())
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def a_server(*statuses: int | None) -> AsyncIterator[Server]:
    server = Server(*statuses)
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/{SECRET}"
    async with listening:
        yield server


def a_webhook(url: str) -> tuple[Webhook, list[str], list[float]]:
    problems: list[str] = []
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Webhook(url, "Acme", problems.append, sleep=sleep), problems, waits


async def sent(webhook: Webhook) -> None:
    assert webhook._job is not None
    await webhook._job


def a_thing(number: int = 1, words: str = "May I?") -> Notice:
    return Notice(f"item:approval:{number}", "waits", f"T{number}", words, f"task:{number}")


async def test_a_thing_is_sent_once_as_json_that_says_what_and_which_company() -> None:
    async with a_server() as server:
        webhook, problems, _ = a_webhook(server.url)
        webhook.tell(one(a_thing(words="May I\x1b[2J?")), 1_767_268_800_000)
        await sent(webhook)
        await webhook.close()
    (body,) = server.bodies
    assert body["text"] == "Acme: T1 waits for you: May I␛[2J?"
    assert (body["company"], body["at"], body["urgent"], body["count"]) == ("Acme", 1_767_268_800_000, True, 1)
    assert body["things"] == [
        {"id": "item:approval:1", "kind": "waits", "about": "T1", "ref": "task:1", "text": "May I␛[2J?"}
    ]
    assert f"POST /{SECRET} " in server.heads[0]
    assert "content-type: application/json" in server.heads[0].lower()
    assert problems == []


async def test_several_are_one_message_in_bounds() -> None:
    async with a_server() as server:
        webhook, _, _ = a_webhook(server.url)
        webhook.tell(summed([a_thing(number, "x" * 9_000) for number in range(1, 200)]), 0)
        await sent(webhook)
        await webhook.close()
    (body,) = server.bodies
    assert body["count"] == 199
    assert len(body["things"]) == 50
    assert len(json.dumps(body)) < 120_000


@pytest.mark.parametrize(("statuses", "tries"), [((500, 429, 204), 3), ((None, 200), 2)])
async def test_what_may_pass_is_tried_again_after_a_while_with_the_same_id(
    statuses: tuple[int | None, ...], tries: int
) -> None:
    async with a_server(*statuses) as server:
        webhook, problems, waits = a_webhook(server.url)
        webhook.tell(one(a_thing()), 5)
        await sent(webhook)
        await webhook.close()
    assert len(server.bodies) == tries
    assert len({body["id"] for body in server.bodies}) == 1
    assert waits == list(WAITS_S[: tries - 1])
    assert problems == []


@pytest.mark.parametrize(
    ("status", "tries", "said"),
    [(404, 1, "it answered 404"), (302, 1, "it answered 302"), (503, len(WAITS_S) + 1, "it answered 503"),
     (None, len(WAITS_S) + 1, "it cannot be reached")],
)  # fmt: skip
async def test_a_failure_is_told_once_until_it_works_again_and_without_the_address(
    status: int | None, tries: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with a_server(status) as server:
        webhook, problems, _ = a_webhook(server.url)
        for number in (1, 2):
            webhook.tell(one(a_thing(number)), number)
            await sent(webhook)
        assert len(server.bodies) == 2 * tries
        assert len(problems) == 1
        assert said in problems[0]
        assert "127.0.0.1" in problems[0]
        server.statuses = [200]
        webhook.tell(one(a_thing(3)), 3)
        await sent(webhook)
        assert server.bodies[-1]["missed"] == 2
        webhook.tell(one(a_thing(4)), 4)
        await sent(webhook)
        assert "missed" not in server.bodies[-1]
        server.statuses = [404]
        webhook.tell(one(a_thing(5)), 5)
        await sent(webhook)
        await webhook.close()
    assert len(problems) == 2
    told = " ".join([*problems, caplog.text])
    assert "S3CRET" not in told
    assert "T0KEN" not in told


async def test_what_comes_while_it_cannot_be_reached_stays_in_bounds_and_leaving_does_not_wait_for_it() -> None:
    webhook, problems, _ = a_webhook("http://127.0.0.1:1/x")
    never = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await never.wait()

    webhook._sleep = sleep
    for number in range(3 * QUEUE):
        webhook.tell(one(a_thing(number)), number)
        await asyncio.sleep(0)
    assert len(webhook._queue) <= QUEUE
    await webhook.close()
    assert problems == []
