"""Events as they happen: each once and in order from a cursor on, for the operator, until the server ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import core.server.events as stream
from tests.server.served import CORA, Served, a_served_company, error_of


async def told(response: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def test_a_stream_tells_each_event_once_from_its_cursor_on(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served, served.client() as client:
        readers = served.company.board.readers
        async with client.stream("GET", "/api/events?after=0") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            last = await readers.last_event()
            seen: list[int] = []
            written = False
            async for event in told(response):
                seen.append(event["id"])
                if event["id"] == last and not written:
                    # A text that would end an event of the stream if it were not drawn.
                    await served.do("CreateGoal", title="One", description="a\n\ndata: {}\r\n\u2028x")
                    written, last = True, await readers.last_event()
                if written and event["id"] == last:
                    break
        assert seen == [event.id for event in await readers.events_after(0)]
        async with client.stream("GET", "/api/events", headers={"Last-Event-ID": str(last - 1)}) as response:
            assert (await anext(told(response)))["id"] == last


async def test_without_a_cursor_it_begins_now(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served, served.client() as client:
        before = await served.company.board.readers.last_event()
        async with client.stream("GET", "/api/events") as response:
            await served.do("EditCompany", mission="Look")
            event = await anext(told(response))
        assert (event["id"], event["kind"]) == (before + 1, "CompanyEdited")


async def test_silence_is_told_and_agents_hear_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(stream, "STREAMS_MAX", 1)
    async with a_served_company(tmp_path / "acme") as served:
        async with served.client() as client, client.stream("GET", "/api/events") as response:
            lines = response.aiter_lines()
            assert [await anext(lines) for _ in range(3)] == [": the board's events", "", ": nothing new"]
            assert error_of(await client.get("/api/events")) == (429, "too_many")
        run = await served.run(CORA)
        async with served.client(run.token) as client:
            assert error_of(await client.get("/api/events")) == (403, "forbidden")


async def test_who_goes_away_frees_its_place_and_the_end_of_the_server_ends_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(stream, "STREAMS_MAX", 1)
    ended = asyncio.Event()

    async def listen(served: Served, open_: asyncio.Event) -> None:
        async with served.client() as client, client.stream("GET", "/api/events") as response:
            lines = response.aiter_lines()
            await anext(lines)
            open_.set()
            async for _ in lines:
                pass
        ended.set()

    async with a_served_company(tmp_path / "acme") as served:
        async with served.client() as client:
            for _ in range(3):
                while True:
                    async with client.stream("GET", "/api/events") as response:
                        if response.status_code == 200:
                            break
                    await asyncio.sleep(0.01)
        open_ = asyncio.Event()
        while True:
            listening = asyncio.create_task(listen(served, open_))
            await asyncio.wait({listening, asyncio.create_task(open_.wait())}, return_when="FIRST_COMPLETED")
            if open_.is_set():
                break
    async with asyncio.timeout(30):
        await listening
    assert ended.is_set()
