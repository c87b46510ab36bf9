"""What goes wrong between a chat agent and its model server, through the dispatcher: outcomes, costs, secrets."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path

import pytest

from core.agents.models.prices import Price
from core.agents.models.waiting import Retrying
from core.config import Config, PriceConfig, read_config, runner_kinds, write_config
from core.domain.entities import Run
from core.domain.states import RunStatus, TaskStatus
from core.runners import runners_for
from tests.agents.chat_support import CLAIM, KEY, STARTED, WORK, Office, an_office, call
from tests.models.script import Act, Asked, Call, Drop, Hang, Raw, Refuse, Tokens, Turn
from tests.models.server import ModelServer
from tests.models.world import Wire
from tests.stepped import PATIENCE_S

pytestmark = pytest.mark.usefixtures("key")
BRIEF = Retrying(tries=2)


async def broadcast(office: Office, *acts: Act) -> Run:
    """The end of a broadcast run in which the server does this."""
    office.script.set(broadcast=acts)
    return await office.ended("broadcast")


async def test_a_429_that_says_how_long_cools_the_provider_down_and_costs_no_attempt(
    tmp_path: Path, wire: Wire
) -> None:
    limited = Refuse(429, "slow down", "rate_limit_exceeded", {"Retry-After": "3600"})
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, wire, provider="scripted") as office:
            office.script.set(broadcast=CLAIM, execute=(STARTED, limited))
            run = await office.ended("execute")
            assert (run.status, run.exit_kind) == (RunStatus.RATE_LIMITED, "rate_limited")
            assert office.slept == []
            assert run.ended_at is not None
            for slug in ("ada", "rita"):
                until = (await office.agent(slug)).cooldown_until
                assert until is not None
                assert 3_590_000 < until - run.ended_at < 3_800_000
            task = await office.task()
            assert (task.status, task.attempts) == (TaskStatus.PENDING, 0)
            asked = len(server.requests)
            await office.step()
            assert len(server.requests) == asked


async def test_a_429_that_says_nothing_is_waited_for_and_told(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            run = await broadcast(office, Refuse(429), Refuse(503, "Loading model"), Refuse(500), *CLAIM)
            assert run.status == RunStatus.SUCCEEDED
            assert len(office.slept) == 3
            told = await office.transcript(run)
            for words in ("the provider cools down", "the server loads its model", "tried again in"):
                assert words in told


FAULTS: dict[str, tuple[Act, RunStatus, str]] = {
    "500": (Refuse(500, "on fire"), RunStatus.FAILED, "server"),
    "overloaded": (Refuse(529, "busy"), RunStatus.RATE_LIMITED, "overloaded"),
    "429 for ever": (Refuse(429), RunStatus.RATE_LIMITED, "rate_limited"),
    "quota": (Refuse(429, "You exceeded your current quota", "insufficient_quota"), RunStatus.FAILED, "quota"),
    "key": (Refuse(401, f"Incorrect API key provided: {KEY}"), RunStatus.FAILED, "key"),
    "garbage": (Raw(b"\xff\xfe\x00<html>" * 20), RunStatus.FAILED, "garbled"),
    "no choice": (Raw(b'{"choices": []}', "application/json"), RunStatus.FAILED, "empty"),
    "dropped": (Drop(), RunStatus.FAILED, "unreachable"),
    "cut in a call": (
        Turn(calls=(Call("ClaimTask", {"task": 1, "more": "x" * 99}),), frames=5), RunStatus.FAILED, "truncated",
    ),
    "cut in words": (Turn("I claim " * 20, frames=5), RunStatus.FAILED, "truncated"),
    "hung": (Hang(), RunStatus.TIMED_OUT, "silence"),
    "hung in the middle": (Turn("I claim " * 20, frames=5, hangs=True), RunStatus.TIMED_OUT, "silence"),
}  # fmt: skip
ONCE = frozenset({"quota", "key"})


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_of_the_server_ends_the_run_with_its_reason_and_nothing_half_done(
    tmp_path: Path, fault: str
) -> None:
    act, status, kind = FAULTS[fault]
    waits = {"first_s": 0.3, "silence_s": 0.3} if fault.startswith("hung") else {}
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, retrying=BRIEF, **waits) as office:
            run = await broadcast(office, act)
            assert (run.status, run.exit_kind) == (status, kind), run.detail
            assert run.detail
            assert len(server.requests) == 1 if fault in ONCE else len(server.requests) > 1
            assert (await office.task()).status == TaskStatus.PENDING
            assert KEY not in run.detail


async def test_an_answer_of_fifty_megabytes_is_not_read_to_its_end(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, retrying=BRIEF) as office:
            flood = b"data: " + json.dumps({"choices": [{"delta": {"content": "x" * 60_000}}]}).encode() + b"\n\n"
            run = await broadcast(office, Raw(flood, times=900))
            assert (run.status, run.exit_kind) == (RunStatus.FAILED, "too_large")
            assert len(await office.transcript(run)) < 100_000


async def test_a_cut_answer_is_asked_for_once_more(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            run = await broadcast(office, Turn("I will " * 20, frames=4), *CLAIM)
            assert run.status == RunStatus.SUCCEEDED
            assert "the answer was cut and is asked for once more" in await office.transcript(run)


async def test_what_is_done_stays_done_when_the_server_fails_afterwards(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, retrying=BRIEF) as office:
            office.script.set(broadcast=CLAIM, execute=(*WORK[:3], Refuse(500)))
            run = await office.ended("execute")
            assert run.status == RunStatus.SUCCEEDED
            assert "then server" in run.detail
            assert (await office.task()).status == TaskStatus.REVIEW


async def test_a_killed_run_ends_at_once_and_keeps_what_it_cost(tmp_path: Path, wire: Wire) -> None:
    prices = {"scripted": Price(Decimal(10), Decimal(30))}
    reached, loop = asyncio.Event(), asyncio.get_running_loop()

    def hear(kind: str, asked: Asked) -> None:
        if kind == "execute" and asked.results:
            loop.call_soon_threadsafe(reached.set)

    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, wire, prices=prices) as office:
            office.script.set(broadcast=CLAIM, execute=(STARTED, Hang()))
            office.script.hear = hear
            await office.ended("broadcast")
            while not await office.all(Run, "kind = 'execute'"):
                await office.begin()
            async with asyncio.timeout(PATIENCE_S):
                await reached.wait()
                await office.do("KillRun", run=(await office.run("execute")).id)
                assert office.company.dispatcher is not None
                await office.company.dispatcher.idle()
            run = await office.run("execute")
            assert (run.status, run.tokens_in, run.tokens_out) == (RunStatus.KILLED, 100, 10)
            assert run.cost_micros == 100 * 10 + 10 * 30
            assert (await office.task()).attempts == 0


async def test_a_kill_closes_the_line_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        chunk = {"choices": [{"index": 0, "delta": {"content": "I claim "}}]}
        writer.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        asked.set()
        while await reader.read(65536):
            pass
        closed.set()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    with ModelServer() as server:
        async with listening, an_office(tmp_path / "company", server, url=url) as office, asyncio.timeout(PATIENCE_S):
            while not asked.is_set():
                await office.begin()
                await asyncio.sleep(0.05)
            run = await office.run("broadcast")
            await office.do("KillRun", run=run.id)
            await closed.wait()
            assert (await office.run("broadcast")).status == RunStatus.KILLED
            assert "I claim" in await office.transcript(run)


async def test_money_is_limited_where_the_price_is_known(tmp_path: Path) -> None:
    prices = {"scripted": Price(Decimal(10), Decimal(30))}
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server, prices=prices, cost_micros=2000) as office:
            run = await broadcast(office, *(call("ReadOutput", output=number) for number in range(1, 9)))
            assert (run.status, run.exit_kind, run.cost_micros) == (RunStatus.FAILED, "cost", 2600)


async def test_a_cost_that_nobody_knows_is_said_to_be_unknown_and_tokens_are_counted(tmp_path: Path) -> None:
    with ModelServer() as server:
        async with an_office(tmp_path / "company", server) as office:
            run = await broadcast(office, Turn("NO_REPLY", usage=None))
            assert run.status == RunStatus.SUCCEEDED
            assert run.tokens_in > 1000
            assert run.tokens_out > 0
            assert "unknown" in run.detail
            assert '"cost": "unknown"' in await office.transcript(run)
        free = {"scripted": Price(Decimal(0), Decimal(0))}
        async with an_office(tmp_path / "free", server, prices=free) as office:
            run = await broadcast(office, Turn("NO_REPLY", usage=Tokens()))
            assert (run.detail, run.cost_micros) == ("", 0)


async def test_the_key_stands_in_no_file_of_the_company(tmp_path: Path, wire: Wire) -> None:
    folder = tmp_path / "company"
    with ModelServer() as server:
        async with an_office(folder, server, wire, retrying=BRIEF) as office:
            leaks = (
                Refuse(500, f"the key {KEY} is at fault"), Turn(f"Your key is {KEY}, I think.", size=5),
                call("AddComment", task=1, body=f"The key is {KEY}"), call(f"Call-{KEY}", **{KEY: KEY}),
                Turn(calls=(Call("ClaimTask", f'{{"task": {KEY}'),)), Turn(thought=f"{KEY} is it", text="NO_REPLY"),
            )  # fmt: skip
            run = await broadcast(office, *leaks)
            assert run.status == RunStatus.SUCCEEDED
            assert "[secret removed]" in await office.transcript(run)
            assert all(asked.key == KEY for asked in server.requests)
            refused = await office.ended("broadcast")
            assert refused.id >= run.id
    held = [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert held == []
    assert [path.name for path in folder.rglob("*.jsonl")]


def test_every_company_can_run_chat_agents_and_its_prices_are_read(tmp_path: Path) -> None:
    config = Config(name="x", prices={"my model": PriceConfig(tokens_in=0.1, tokens_out=0)})
    write_config(tmp_path, config)
    assert read_config(tmp_path) == config
    assert set(runners_for(config)) == set(runner_kinds(config)) == {"acp", "chat", "command"}
