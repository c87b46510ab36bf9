"""Requests at once: none leaves whose limit is taken by those on their way; and what nobody tells is estimated."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.server.gateway import gate
from core.server.gateway.estimate import said_bytes, taken_of, tokens_in_of
from tests.models.script import Hang, Turn
from tests.models.server import ModelServer
from tests.server.gateway import COST, PRICE, REAL, STREAMED, WIRES, Program, asked, asking

AT_ONCE = 12


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Turn("I claim it.", pause_s=0.02), key=REAL) as found:
        yield found


async def many(program: Program) -> Counter[int]:
    """The statuses of many requests that are sent at once."""
    answers = await asyncio.gather(*(program.ask(stream=True) for _ in range(AT_ONCE)))
    return Counter(answer.status_code for answer in answers)


async def sent(server: ModelServer, count: int = 1) -> None:
    """Until so many requests have reached the provider."""
    async with asyncio.timeout(60):
        while len(server.requests) < count:  # noqa: ASYNC110 - a state of another thread
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("scope", ["company", "agent"])
async def test_requests_at_once_do_not_overdraw_a_budget(tmp_path: Path, server: ModelServer, scope: str) -> None:
    async with asking(tmp_path, server) as program:
        about = {"slug": "ada"} if scope == "agent" else {}
        await program.served.do("SetBudget", scope=scope, limit_micros=3 * COST, **about)
        assert await many(program) == {200: 3, 402: AT_ONCE - 3}
        assert (await program.run()).cost_micros == 3 * COST


@pytest.mark.parametrize(("runner", "priced", "passed"), [
    ({"cost_micros": 2 * COST}, True, 2), ({"tokens": 150}, True, 2), ({"cost_micros": 10**9}, False, 1),
])  # fmt: skip
async def test_requests_at_once_do_not_overdraw_a_limit_of_their_run(
    tmp_path: Path, server: ModelServer, runner: dict[str, Any], priced: bool, passed: int
) -> None:
    async with asking(tmp_path, server, runner=runner, priced=priced) as program:
        assert await many(program) == {200: passed, 402: AT_ONCE - passed}


async def test_with_room_for_all_they_leave_at_once(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Hang())
    async with asking(tmp_path, server) as program:
        await program.served.do("SetBudget", scope="company", limit_micros=10**9)
        asking_it = asyncio.create_task(many(program))
        await sent(server, AT_ONCE)
        asking_it.cancel()
        await asyncio.gather(asking_it, return_exceptions=True)


async def test_what_another_run_has_on_its_way_counts_and_who_waits_too_long_is_told_to_come_back(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "WAIT_S", 0.2)
    server.replies(Hang())
    async with asking(tmp_path, server) as program:
        served = program.served
        await served.do("EditAgent", agent="cora", runner={"kind": "outside", "gateway": "models"})
        other = Program(served, await served.run(2))
        await served.do("SetBudget", scope="company", limit_micros=COST)
        first = asyncio.create_task(program.ask())
        await sent(server)
        answer = await other.ask("anthropic")
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
        assert "What other requests on their way may cost" in answer.json()["error"]["message"]
        assert len(server.requests) == 1
        assert await served.company.board.readers.value("SELECT count(*) FROM approvals") == 0, "nothing to ask yet"
        server.replies(Turn("Yes."))
        await served.do("SetBudget", scope="company", limit_micros=10**9)
        assert (await other.ask("anthropic")).status_code == 200, "room for both"
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_who_waits_goes_as_soon_as_the_one_before_has_gone(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Hang(), Turn("Yes."))
    async with asking(tmp_path, server) as program:
        await program.served.do("SetBudget", scope="company", limit_micros=COST)
        first = asyncio.create_task(program.ask(messages=[{"role": "user", "content": "x"}]))
        await sent(server)
        second = asyncio.create_task(program.ask())
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert (await second).status_code == 200
        line = next(line for line in await program.lines() if "gone" in line.get("note", ""))
        assert line["estimated"] is True
        assert 0 < line["cost"] < COST, "what it asked was sent, and what it would have got was not"


@pytest.mark.parametrize("wire", WIRES)
async def test_a_stream_that_is_left_before_its_end_is_counted_by_its_bytes(
    tmp_path: Path, server: ModelServer, wire: str
) -> None:
    server.replies(Turn("x" * 400, size=100, frames=-3 if wire in ("openai", "anthropic") else -2, hangs=True))
    async with asking(tmp_path, server) as program, program.client() as client:
        got = 0
        async with client.stream("POST", STREAMED[wire], json=asked(wire, stream=True)) as answer:
            async for chunk in answer.aiter_bytes():
                got += chunk.count(b"x")
                if got >= 300:
                    break
        line = (await program.ended_lines())[0]
        assert line["estimated"] is True
        assert 75 <= line["tokens_out"] <= 110
        assert line["cost"] >= 75 * PRICE.tokens_out
        assert program.access.metered.estimated == 1


async def test_an_answer_that_tells_no_usage_is_counted_and_meets_the_budget(
    tmp_path: Path, server: ModelServer
) -> None:
    server.replies(Turn("x" * 4000, usage=None))
    async with asking(tmp_path, server) as program:
        await program.served.do("SetBudget", scope="company", limit_micros=COST)
        for wire in WIRES:
            answers = [await program.ask(wire, stream=stream) for stream in (True, False)]
            assert [answer.status_code for answer in answers] == ([200, 402] if wire == "openai" else [402, 402])
        assert (await program.lines())[0]["tokens_out"] >= 1000


def test_what_a_request_is_taken_to_use() -> None:
    body = {"messages": [{"role": "user", "content": "one two " * 1000}], "max_tokens": 50, "n": 3}
    taken = taken_of(body, b" " * 8000)
    assert (taken.tokens_in, taken.tokens_out) == (2000, 150)
    assert taken_of({"generationConfig": {"maxOutputTokens": 7}}, b"{}").tokens_out == 7
    assert taken_of({"max_tokens": 64_000}, b"{}").tokens_out == taken_of({}, b"{}").tokens_out == 4096
    picture = {"content": [{"type": "image", "source": {"data": "A" * 1_000_000}}]}
    assert tokens_in_of(picture, b" " * 1_000_100) < 20_000
    assert said_bytes("openai", r'{"choices":[{"delta":{"content":"a\"b","role":"assistant"}}]}') == 4
