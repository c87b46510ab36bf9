"""What goes wrong at a provider or on the way: told in the wire's own words, passed as it is, and counted."""

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from core.agents.models.endpoint import Line
from core.agents.models.keys import Secret
from core.commands.registry import parse
from core.domain.actors import System
from tests.models.script import Act, Drop, Hang, Raw, Refuse, Turn
from tests.models.server import ModelServer
from tests.server.gateway import PATHS, REAL, WIRES, Program, asked, asking

MIB = 1_048_576
CHET = 4  # the next hired


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Turn("I claim it."), key=REAL) as found:
        yield found


def words_of(wire: str, answer: httpx2.Response) -> str:
    """The words of an error, which must have the wire's own shape."""
    told = answer.json()
    error = told["error"]
    match wire:
        case "anthropic":
            assert told["type"] == "error"
            assert error["type"]
        case "gemini":
            assert error["code"] == answer.status_code
            assert error["status"]
        case _:
            assert {"message", "type", "param", "code"} == set(error)
    return str(error["message"])


async def streamed(program: Program, take: Callable[[bytes], object]) -> None:
    """A request of a program whose answer it takes in pieces."""
    body = asked("anthropic", stream=True)
    async with program.client() as client, client.stream("POST", "/v1/messages", json=body) as answer:
        async for chunk in answer.aiter_bytes():
            take(chunk)


async def test_who_may_not_is_told_in_the_words_of_the_wire(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program:
        for wire, (headers, words) in product(WIRES, (({}, "no token"), ({"x-api-key": "sk-mine"}, "not known here"))):
            async with program.client(headers) as client:
                answer = await client.post(PATHS[wire], json=asked(wire))
                assert answer.status_code == 401
                assert words in words_of(wire, answer)
        await program.served.end(program.access)
        for wire in WIRES:
            answer = await program.ask(wire)
            assert answer.status_code == 401
            assert f"R{program.access.run_id} has ended" in words_of(wire, answer)
    assert server.requests == []


async def test_nothing_but_what_is_known_is_passed(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        for method, path in (
            ("POST", "/v1/files"), ("GET", "/v1/responses/resp_1"), ("GET", "/v1/models/../files"),
            ("POST", "/v1/models"), ("DELETE", "/v1/models/x"), ("GET", "/v1/chat/completions"),
            ("POST", "/v1beta/models/a/b:generateContent"),
            ("POST", "/v1beta/models/scripted:embedContent"), ("POST", "/v1/models/..%2f..%2fv1%2ffiles"), ("GET", "/"),
        ):  # fmt: skip
            answer = await client.request(method, path, json=asked("openai") if method == "POST" else None)
            assert answer.status_code == 404, path
            assert "Passed are: POST /v1/chat/completions" in answer.json()["error"]["message"]
        assert server.connections == 0
        other = f"{program.base.removesuffix('models')}other/v1/messages"
        answer = await client.post(other, json=asked("anthropic"))
        assert (answer.status_code, "It has: models." in words_of("anthropic", answer)) == (404, True)


async def test_a_wire_that_the_provider_does_not_speak_is_refused_with_those_that_it_does(
    tmp_path: Path, server: ModelServer
) -> None:
    async with asking(tmp_path, server, wires=("anthropic",)) as program:
        answer = await program.ask("gemini")
        assert (answer.status_code, "It speaks: anthropic." in words_of("gemini", answer)) == (404, True)


async def test_an_agent_without_a_gateway_and_the_operator_have_none(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program:
        other = await program.served.run(2)
        assert other.models == {}
        for token, words in ((other.token, "its agent's runner names none"), ("", "for the programs of runs")):
            async with program.served.client(token or None) as client:
                answer = await client.post("/gateway/models/v1/messages", json=asked("anthropic"))
                assert answer.status_code == 403
                assert words in words_of("anthropic", answer)


async def test_a_body_that_is_none_is_refused(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        for body in (b"", b"[]", b"{", b'"x"', b"[" * 100_000, b'{"messages": []}', b'{"model": 7}'):
            answer = await client.post("/v1/messages", content=body)
            assert answer.status_code == 400, body[:20]
            assert words_of("anthropic", answer)
    assert server.requests == []


async def test_a_request_in_the_background_is_refused_and_a_long_one_passes(
    tmp_path: Path, server: ModelServer
) -> None:
    async with asking(tmp_path, server) as program:
        assert "background" in words_of("responses", await program.ask("responses", background=True))
        long = [{"role": "user", "content": "x" * 5 * MIB}]
        assert (await program.ask(messages=long)).status_code == 200
        address = urlsplit(program.base)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = (
            f"POST {address.path}/v1/messages HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {33 * MIB}\r\n\r\n"
        )
        writer.write(head.encode())
        assert b" 413 " in await reader.readline()
        writer.close()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_rate_limit_rests_the_provider_for_everybody(
    tmp_path: Path, server: ModelServer, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies(
        Refuse(429, "Slow down.", "rate_limit", {"retry-after": "40", "x-ratelimit-left": "0"}), Turn("Yes.")
    )
    async with asking(tmp_path, server) as program:
        company = program.served.company
        first = await program.ask(wire)
        assert (first.status_code, first.headers["retry-after"]) == (429, "40")
        assert first.headers["x-ratelimit-left"] == "0"
        assert "Slow down." in words_of(wire, first)
        # The chat runner has the same book: it would wait as well.
        line = Line(server.url.removeprefix("http://"), Secret(REAL).fingerprint)
        assert company.cooldowns.until(line) is not None
        second = await program.ask(wire)
        assert second.status_code == 429
        assert 30 <= int(second.headers["retry-after"]) <= 40
        assert "takes no requests for now" in words_of(wire, second)
        assert len(server.requests) == 1
        monkeypatch.setattr(company.cooldowns, "_now", lambda: company.clock() + 60_000)
        assert (await program.ask(wire)).status_code == 200
        assert [each["status"] for each in await program.lines()] == [429, 429, 200]


async def test_a_chat_agents_cool_down_holds_the_gateway_too(tmp_path: Path, server: ModelServer) -> None:
    """F14: with the runners that every company has, one 429 is told once to a provider, whoever asked."""
    server.replies(Refuse(429, "Slow down.", "rate_limit", {"retry-after": "3600"}), Turn("Yes."))
    async with asking(tmp_path, server) as program:
        served = program.served
        chat = {"kind": "chat", "url": f"{server.url}/v1", "model": "scripted", "key": "env:GATEWAY_TEST_KEY"}
        await served.do("HireAgent", slug="chet", name="Chet", role="executor", runner=chat)
        command = parse("QueueRun", {"kind": "mention", "agent_id": CHET, "key": "test:chet"})
        await served.company.execute(command, actor=System())
        limited = "SELECT count(*) FROM runs WHERE agent_id = :agent AND status = 'rate_limited'"
        async with asyncio.timeout(60):
            while not await served.company.board.readers.value(limited, agent=CHET):  # noqa: ASYNC110 - a state
                await asyncio.sleep(0.01)
        assert len(server.requests) == 1
        answer = await program.ask()
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 3000
        assert len(server.requests) == 1


async def test_overloaded_rests_it_shortly_and_says_how_long(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Refuse(529, "Overloaded", "overloaded_error"))
    async with asking(tmp_path, server) as program:
        answer = await program.ask("anthropic")
        assert (answer.status_code, answer.headers["retry-after"]) == (529, "5")
        assert (await program.ask("anthropic")).status_code == 429


@pytest.mark.parametrize("refuse", [
    Refuse(401, f"Incorrect API key provided: {REAL}."), Refuse(429, "You exceeded it.", "insufficient_quota"),
])  # fmt: skip
async def test_what_no_program_can_mend_ends_the_run_without_the_key_in_its_words(
    tmp_path: Path, server: ModelServer, refuse: Refuse
) -> None:
    server.replies(refuse)
    async with asking(tmp_path, server) as program:
        ended: list[tuple[str, str]] = []
        program.access.metered.stopping.append(lambda kind, why: ended.append((kind, why)))
        answer = await program.ask()
        assert answer.status_code == refuse.status
        assert REAL not in answer.text + str(answer.headers) + str(ended) + await program.transcript()
        assert ended[0][0] == ("key" if refuse.status == 401 else "quota")
        assert (await program.ask()).status_code == 402
        assert len(server.requests) == 1


async def test_other_refusals_pass_as_they_are(tmp_path: Path, server: ModelServer) -> None:
    broke = Refuse(500, "It broke.", headers={"request-id": "r-1", "set-cookie": "a=b"})
    moved = Refuse(302, "", headers={"location": "https://elsewhere.example/"})
    async with asking(tmp_path, server) as program:
        for wire in WIRES:
            server.replies(broke, moved)
            answer = await program.ask(wire)
            assert (answer.status_code, answer.headers["request-id"]) == (500, "r-1")
            assert "set-cookie" not in answer.headers
            assert "It broke." in words_of(wire, answer)
            answer = await program.ask(wire)
            assert (answer.status_code, "location" in answer.headers) == (502, False)
            assert "sends elsewhere" in words_of(wire, answer)


async def test_a_provider_that_is_not_there_or_says_nothing(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Drop(), Hang())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    async with asking(tmp_path / "1", nowhere) as program:
        answer = await program.ask("anthropic")
        assert (answer.status_code, "cannot be reached" in words_of("anthropic", answer)) == (502, True)
    async with asking(tmp_path / "2", server, first_s=0.3) as program:
        assert (await program.ask("gemini")).status_code == 502
        answer = await program.ask("gemini")
        assert (answer.status_code, "said nothing" in words_of("gemini", answer)) == (504, True)
        assert [line["status"] for line in await program.lines()] == [502, 504]


@pytest.mark.parametrize("turn", [Turn("A long answer.", frames=-2), Turn("A long answer.", frames=-2, hangs=True)])
async def test_an_answer_that_breaks_off_is_passed_as_cut_and_counted(
    tmp_path: Path, server: ModelServer, turn: Turn, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies(turn)
    caplog.set_level(logging.WARNING)
    async with asking(tmp_path, server, silence_s=0.5) as program:
        got = bytearray()
        with pytest.raises(httpx2.RemoteProtocolError):
            await streamed(program, got.extend)
        assert b"content_block_delta" in got
        assert b"message_stop" not in got
        line = (await program.lines())[0]
        assert line["note"] == ("silent" if turn.hangs else "cut")
        assert (await program.run()).tokens_in == 100, "what was told before the cut was spent"
    assert caplog.text == "", "it is no fault of ours"


async def test_an_answer_of_50_mb_goes_by_in_pieces(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Raw(b"x" * 65_536, "application/json", times=800))
    async with asking(tmp_path, server) as program, program.client() as client:
        size = 0
        async with client.stream("POST", "/v1/messages", json=asked("anthropic")) as answer:
            async for chunk in answer.aiter_bytes():
                size += len(chunk)
        assert size == 800 * 65_536
        line = (await program.lines())[0]
        assert (line["estimated"], line["tokens_out"]) == (True, 200 * 65_536), "four bytes a token"


async def test_an_answer_is_not_waited_for_whole(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Turn("A long answer.", frames=4, hangs=True))
    async with asking(tmp_path, server) as program, program.client() as client:
        async with client.stream("POST", "/v1/messages", json=asked("anthropic", stream=True)) as answer:
            async with asyncio.timeout(60):
                assert b"message_start" in await anext(answer.aiter_bytes())
        # The program goes away in the middle: the provider's answer is ended, and what it told is kept.
        assert "gone" in (await program.ended_lines())[0]["note"]
        assert program.access.metered.tokens_in == 100


async def test_a_program_that_goes_away_before_the_answer_ends_the_request(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Hang())
    async with asking(tmp_path, server) as program:
        asking_it = asyncio.create_task(program.ask())
        async with asyncio.timeout(60):
            while not server.requests:  # noqa: ASYNC110 - a state of another thread
                await asyncio.sleep(0.01)
        asking_it.cancel()
        await asyncio.gather(asking_it, return_exceptions=True)
        assert "gone" in (await program.ended_lines())[0]["note"]


async def test_the_end_of_a_run_cuts_what_is_on_its_way_and_counts_it(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Turn("A long answer.", frames=4, hangs=True))
    async with asking(tmp_path, server) as program:
        ends = program.served.outside.ends[program.access.run_id]
        with pytest.raises(httpx2.RemoteProtocolError):
            await streamed(program, lambda _: ends.set())
        await program.served.end(program.access)
        run = await program.run()
        assert (run.status, run.tokens_in) == ("succeeded", 100)


GARBAGE: list[Any] = [
    "x", None, [], 7, {"input_tokens": "many", "output_tokens": -5}, {"input_tokens": 2**70, "output_tokens": True},
    {"input_tokens": {"a": 1}}, {}, {"input_tokens": 10**9, "output_tokens": 10**9},
]  # fmt: skip


async def test_a_usage_that_is_garbage_is_no_count_and_the_bytes_are_counted(
    tmp_path: Path, server: ModelServer
) -> None:
    async with asking(tmp_path, server) as program:
        for usage in GARBAGE:
            whole = json.dumps({"type": "message", "content": [], "usage": usage}).encode()
            event = json.dumps({"type": "message_start", "message": {"usage": usage}}).encode()
            server.replies(Raw(whole, "application/json"), Raw(b"data: " + event + b"\n\n"))
            for stream in (False, True):
                assert (await program.ask("anthropic", stream=stream)).status_code == 200
        server.replies(Raw(b'data: {"usage"\n\n\xff\xfe'))
        assert (await program.ask("anthropic", stream=True)).status_code == 200
        assert {line["estimated"] for line in await program.lines()} == {True}
        assert {line["tokens_in"] < 50 and line.get("tokens_out", 0) < 50 for line in await program.lines()} == {True}


async def test_an_answer_that_holds_the_key_reaches_the_program_without_it(tmp_path: Path, server: ModelServer) -> None:
    torn: list[Act] = [Raw(f"data: {REAL}\n\n".encode(), times=3), Refuse(500, REAL, headers={"x-key": REAL})]
    server.replies(*torn)
    async with asking(tmp_path, server) as program:
        answers = [await program.ask("anthropic", stream=True) for _ in torn]
        assert answers[0].text == "data: [secret removed]\n\n" * 3
        assert REAL not in answers[1].text + str(answers[1].headers)


async def test_the_token_in_a_conversation_does_not_reach_the_provider(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program:
        said = [{"role": "user", "content": f"OPSROOM_TOKEN={program.access.token}"}]
        await program.ask(messages=said, user=program.access.token)
        seen = server.requests[0]
        assert program.access.token not in str((seen.headers, seen.path, seen.body))
        assert seen.body["messages"][0]["content"] == "OPSROOM_TOKEN=[secret removed]"


async def test_the_key_stands_in_no_file_of_the_company(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Turn("I claim it."), Refuse(401, f"Wrong key {REAL}"), Turn("Yes."))
    async with asking(tmp_path, server) as program:
        assert REAL not in repr(program.access) + str(program.access.environment)
        answers = [await program.ask("openai"), await program.ask("anthropic"), await program.ask("gemini")]
        assert REAL not in "".join(answer.text + str(answer.headers) for answer in answers)
        await program.served.end(program.access)
        await program.transcript()
    held = files_of(tmp_path)
    assert any(path.suffix == ".jsonl" for path in held)
    assert [path for path, data in held.items() if REAL.encode() in data] == []


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
