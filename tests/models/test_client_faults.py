"""What can go wrong between us and a model server, each as a server on loopback really does it, in both formats."""

import asyncio
import logging
import socket
from dataclasses import replace
from typing import Any

import pytest

from core.agents.models.conversation import ModelRequest, Text, ToolCall, User
from core.agents.models.endpoint import Limits
from core.agents.models.errors import Failure, RateLimited
from core.agents.models.waiting import Retrying
from tests.models.script import Act, Call, Drop, Hang, Raw, Refuse, Tokens, Turn
from tests.models.server import ModelServer
from tests.models.world import ASK, KEY, START, Wire, asking

ONCE = Retrying(tries=0)
SOON = Limits(first_s=0.6, silence_s=0.6)


@pytest.mark.parametrize(("refuse", "kind"), [
    (Refuse(401, "Incorrect API key provided"), Failure.KEY),
    (Refuse(403, "not for your region"), Failure.KEY),
    (Refuse(404, "The model `x` does not exist", "model_not_found"), Failure.MODEL),
    (Refuse(404, body=b"404 page not found"), Failure.MODEL),
    (Refuse(400, "invalid model ID"), Failure.MODEL),
    (Refuse(429, "You exceeded your current quota", "insufficient_quota"), Failure.QUOTA),
    (Refuse(400, "Your credit balance is too low to access the API"), Failure.QUOTA),
    (Refuse(402, "Insufficient Balance"), Failure.QUOTA),
    (Refuse(400, "too long", "context_length_exceeded"), Failure.CONTEXT),
    (Refuse(400, "prompt is too long: 208310 tokens > 200000 maximum"), Failure.CONTEXT),
    (Refuse(400, "input length and `max_tokens` exceed context limit: 1 + 2 > 2"), Failure.CONTEXT),
    (Refuse(400, "the request exceeds the available context size", "exceed_context_size_error"), Failure.CONTEXT),
    (Refuse(400, "This model's maximum context length is 4096 tokens"), Failure.CONTEXT),
    (Refuse(413, "Request exceeds the maximum size", "request_too_large"), Failure.CONTEXT),
    (Refuse(429, "Request too large for gpt on tokens per min (TPM)", "rate_limit_exceeded"), Failure.CONTEXT),
    (Refuse(400, "The response was filtered", "content_filter"), Failure.FILTER),
    (Refuse(400, "temperature must be below 2"), Failure.REQUEST),
    (Refuse(307, "", headers={"location": "http://127.0.0.1:9/"}), Failure.REQUEST),
])  # fmt: skip
async def test_refusals_that_no_other_try_would_change(wire: Wire, refuse: Refuse, kind: Failure) -> None:
    with ModelServer(refuse) as server:
        async with asking(server, wire) as world:
            error = await world.failed()
        # A 400 that names no field may be about one: that is tried once, at no wait.
        assert len(server.requests) == (
            2 if kind is Failure.REQUEST and wire == "openai" and refuse.status == 400 else 1
        )
    assert (error.kind, error.status) == (kind, refuse.status)
    assert error.hint
    assert not world.clock.slept


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_what_passes_is_tried_again_with_growing_waits(wire: Wire, status: int) -> None:
    with ModelServer(Refuse(status), Refuse(status), Turn("ok")) as server:
        async with asking(server, wire) as world:
            answer = await world.client.complete(ASK)
    assert answer.text == "ok"
    first, second = world.clock.slept
    assert second > first > 0
    assert [notice.error.status or status for notice in world.notices] == [status, status]


async def test_waits_differ_by_chance() -> None:
    waits = []
    for chance in (0.0, 1.0):
        with ModelServer(Refuse(500), Turn("ok")) as server:
            async with asking(server, chance=lambda chance=chance: chance) as world:  # type: ignore[misc]
                await world.client.complete(ASK)
        waits.append(world.clock.slept[0])
    assert waits[0] < waits[1]


@pytest.mark.parametrize(("act", "kind"), [
    (Refuse(500), Failure.SERVER),
    (Refuse(529), Failure.OVERLOADED),
    (Refuse(502, body=b"<html>Bad Gateway</html>"), Failure.SERVER),
    (Turn("half a sentence", frames=0), Failure.EMPTY),
    (Raw(b""), Failure.EMPTY),
    (Raw(b"\x00\xff\x13garbage" * 50), Failure.GARBLED),
    (Raw(b"data: {nonsense\n\n"), Failure.GARBLED),
    (Raw(b"data: [1]\n\n"), Failure.GARBLED),
    (Raw(b"<html>Log in</html>", "text/html"), Failure.GARBLED),
    (Raw(b"{not json", "application/json"), Failure.GARBLED),
    (Raw(b"[" * 200_000, "application/json"), Failure.GARBLED),
    (Drop(), Failure.UNREACHABLE),
])  # fmt: skip
async def test_tries_end(wire: Wire, act: Act, kind: Failure) -> None:
    if isinstance(act, Turn):
        act = Turn(act.text, frames=0, ends=True)
    with ModelServer(act) as server:
        async with asking(server, wire, retrying=Retrying(tries=2)) as world:
            error = await world.failed()
        assert len(server.requests) == 3
    assert error.kind is kind
    assert len(world.clock.slept) == 2


@pytest.mark.parametrize("body", [
    b'data: {"choices": []}\n\ndata: [DONE]\n\n',
    b'data: {"choices": null}\n\ndata: [DONE]\n\n',
    b'{"choices": []}',
    b"{}",
])  # fmt: skip
async def test_empty_choices(body: bytes) -> None:
    kind = "text/event-stream" if body.startswith(b"data") else "application/json"
    with ModelServer(Raw(body, kind)) as server:
        async with asking(server, retrying=ONCE) as world:
            assert (await world.failed()).kind is Failure.EMPTY


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("frames", [6, -4])
async def test_a_stream_cut_in_a_tool_call_hands_on_no_call_and_is_tried_again(
    wire: Wire, ends: bool, frames: int
) -> None:
    call = Call("claim", {"task": 7, "why": "x" * 200})
    cut = Turn("", (call,), frames=frames, ends=ends)
    with ModelServer(cut, cut, Turn("", (call,))) as server:
        async with asking(server, wire) as world:
            pieces, error = await world.streamed()
        assert len(server.requests) == 3
    assert error is None
    assert [piece.arguments for piece in pieces if isinstance(piece, ToolCall)] == [call.arguments]
    assert [notice.kind for notice in world.notices] == [Failure.TRUNCATED] * 2


@pytest.mark.parametrize("ends", [True, False])
async def test_nothing_is_tried_again_once_text_was_handed_on(wire: Wire, ends: bool) -> None:
    with ModelServer(Turn("a sentence that is cut", size=2, frames=8, ends=ends), Turn("another")) as server:
        async with asking(server, wire) as world:
            pieces, error = await world.streamed()
        assert len(server.requests) == 1
    assert error is not None
    assert error.kind is Failure.TRUNCATED
    assert error.partial == "".join(piece.text for piece in pieces if isinstance(piece, Text))
    assert error.partial
    if wire == "anthropic":
        assert error.usage is not None
        assert error.usage.tokens_in == 100


@pytest.mark.parametrize(("wire", "frames"), [("openai", -1), ("openai", -2), ("anthropic", -1)])
async def test_a_line_that_breaks_after_the_finish_takes_nothing_from_the_answer(wire: Wire, frames: int) -> None:
    with ModelServer(Turn("whole", frames=frames)) as server:
        async with asking(server, wire) as world:
            assert (await world.client.complete(ASK)).text == "whole"


async def test_a_server_that_stops_without_done_but_with_a_finish_is_complete() -> None:
    with ModelServer(Turn("whole", frames=-1, ends=True)) as server:
        async with asking(server) as world:
            assert (await world.client.complete(ASK)).text == "whole"


@pytest.mark.parametrize(("told", "kind"), [
    (b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n',
     Failure.OVERLOADED),
    (b'event: error\ndata: {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}\n\n',
     Failure.RATE_LIMITED),
    (b'event: error\ndata: {"type": "error", "error": {"type": "invalid_request_error", "message":'
     b' "prompt is too long: 9 tokens > 8 maximum"}}\n\n', Failure.CONTEXT),
    (b'data: {"type": "error", "error": {"message": "Provider returned error", "code": 502}}\n\n', Failure.SERVER),
])  # fmt: skip
async def test_an_error_in_the_middle_of_a_stream(wire: Wire, told: bytes, kind: Failure) -> None:
    with ModelServer(Raw(told)) as server:
        async with asking(server, wire, retrying=ONCE) as world:
            assert (await world.failed()).kind is kind


async def test_a_hung_server_is_left_after_one_more_try(wire: Wire) -> None:
    with ModelServer(Hang()) as server:
        async with asking(server, wire, limits=SOON) as world:
            error = await world.failed()
        assert len(server.requests) == 2
    assert error.kind is Failure.SILENT
    assert "0.6 s" in error.message


async def test_silence_in_the_middle_of_an_answer(wire: Wire) -> None:
    with ModelServer(Turn("some words", frames=6, hangs=True, size=2)) as server:
        async with asking(server, wire, limits=replace(SOON, first_s=60)) as world:
            pieces, error = await world.streamed()
    assert pieces
    assert error is not None
    assert error.kind is Failure.SILENT


async def test_an_answer_that_drips_ends_at_the_whole_time(wire: Wire) -> None:
    with ModelServer(Turn("drop " * 400, size=1, pause_s=0.02)) as server:
        async with asking(server, wire, limits=Limits(whole_s=1.5)) as world:
            pieces, error = await world.streamed()
        assert len(server.requests) == 1
    assert 0 < len(pieces) < 400
    assert error is not None
    assert error.kind is Failure.TOO_LONG


@pytest.mark.parametrize(("line", "kind"), [
    (b'data: {"type": "ping"}\n\n', "text/event-stream"),
    (b"no line ever ends ", "text/event-stream"),
    (b'{"a": [' + b" " * 1000, "application/json"),
], ids=["events", "one line", "one body"])  # fmt: skip
async def test_a_huge_answer_is_read_no_further_than_the_bound(wire: Wire, line: bytes, kind: str) -> None:
    """50 MB are sent; the server finds the line closed long before their end."""
    block = line * (100_000 // len(line))
    with ModelServer(Raw(block, kind, times=500)) as server:
        async with asking(server, wire, limits=Limits(answer_bytes=1_000_000)) as world:
            error = await world.failed()
        assert len(server.requests) == 1
    assert error.kind is Failure.TOO_LARGE
    assert "1,000,000" in error.message


async def test_a_huge_refusal_is_read_no_further_than_its_bound(wire: Wire) -> None:
    with ModelServer(Refuse(400, body=b"x" * 20_000_000)) as server:
        async with asking(server, wire, retrying=ONCE) as world:
            error = await world.failed()
    assert error.kind is Failure.REQUEST
    assert len(error.message) < 500


async def test_one_event_over_its_bound(wire: Wire) -> None:
    with ModelServer(Raw(b"data: " + b"x" * 1_000_000 + b"\n", times=9)) as server:
        async with asking(server, wire) as world:
            assert (await world.failed()).kind is Failure.TOO_LARGE


async def test_nobody_listens(wire: Wire) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with asking(f"http://127.0.0.1:{taken.getsockname()[1]}", wire, retrying=Retrying(tries=2)) as world:
            error = await world.failed()
    assert error.kind is Failure.UNREACHABLE
    assert len(world.clock.slept) == 2


async def test_what_is_meant_for_this_machine_goes_through_no_proxy(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(Turn("direct")) as server, ModelServer(Turn("through the proxy")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        async with asking(server, wire) as world:
            assert (await world.client.complete(ASK)).text == "direct"


async def test_a_redirect_takes_the_key_nowhere(wire: Wire) -> None:
    with ModelServer(Turn("stolen")) as elsewhere:
        with ModelServer(Refuse(307, headers={"location": f"{elsewhere.url}/v1/messages"})) as server:
            async with asking(server, wire) as world:
                assert (await world.failed()).status == 307
        assert not elsewhere.requests


async def test_a_connection_that_went_stale_is_tried_once_at_once(wire: Wire) -> None:
    with ModelServer(Turn("first"), Drop(), Turn("second")) as server:
        async with asking(server, wire, retrying=ONCE) as world:
            await world.client.complete(ASK)
            assert (await world.client.complete(ASK)).text == "second"
        assert [asked.connection for asked in server.requests] == [1, 1, 2]
    assert not world.clock.slept


async def test_a_second_stale_connection_counts_as_a_try(wire: Wire) -> None:
    with ModelServer(Turn("word " * 9, pause_s=0.02)) as server:
        async with asking(server, wire, retrying=ONCE) as world:
            await asyncio.gather(world.client.complete(ASK), world.client.complete(ASK))
            server.replies(Drop())
            assert (await world.failed()).kind is Failure.UNREACHABLE
        assert sorted(asked.connection for asked in server.requests) == [1, 1, 2, 2]


async def test_a_new_connection_that_breaks_is_not_called_stale(wire: Wire) -> None:
    with ModelServer(Drop()) as server:
        async with asking(server, wire, retrying=ONCE) as world:
            assert (await world.failed()).kind is Failure.UNREACHABLE
        assert len(server.requests) == 1


async def test_a_server_that_loads_its_model_is_waited_for_and_told_as_loading(wire: Wire) -> None:
    loading = Refuse(503, body=b'{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}')
    retrying = Retrying(tries=1, loading_every_s=2, loading_s=20)
    with ModelServer(*[loading] * 8, Turn("ok")) as server:
        async with asking(server, wire, retrying=retrying) as world:
            assert (await world.client.complete(ASK)).text == "ok"
    assert [notice.kind for notice in world.notices] == [Failure.LOADING] * 8
    with ModelServer(loading) as server:
        async with asking(server, wire, retrying=retrying) as world:
            assert (await world.failed()).kind is Failure.LOADING
        assert len(server.requests) == 11


@pytest.mark.parametrize(("headers", "least_s"), [
    ({"retry-after": "7"}, 7.0),
    ({"retry-after-ms": "1500", "retry-after": "60"}, 1.5),
    ({"retry-after": "Tue, 14 Nov 2023 22:13:29 GMT"}, 9.0),
    ({"x-ratelimit-reset-requests": "6s", "x-ratelimit-reset-tokens": "1m0s", "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-remaining-tokens": "9"}, 6.0),
    ({"anthropic-ratelimit-tokens-reset": "2023-11-14T22:13:25Z", "anthropic-ratelimit-tokens-remaining": "0"}, 5.0),
])  # fmt: skip
async def test_the_provider_says_when(wire: Wire, headers: dict[str, str], least_s: float) -> None:
    with ModelServer(Refuse(429, headers=headers), Turn("ok")) as server:
        async with asking(server, wire) as world:
            assert (await world.client.complete(ASK)).text == "ok"
    assert least_s <= sum(world.clock.slept) <= least_s * 1.2 + 0.1


async def test_a_limit_beyond_our_patience_is_told_with_its_end(wire: Wire) -> None:
    with ModelServer(Refuse(429, headers={"retry-after": "3600"})) as server:
        async with asking(server, wire, chance=lambda: 0.0) as world:
            error = await world.failed()
            assert isinstance(error, RateLimited)
            assert error.until == START + 3_600_000
            again = await world.failed()
        assert len(server.requests) == 1, "a provider that cools down is not asked"
    assert isinstance(again, RateLimited)
    assert again.until == error.until
    assert not world.clock.slept


async def test_a_limit_without_an_end_is_bounded_too(wire: Wire) -> None:
    with ModelServer(Refuse(429)) as server:
        async with asking(server, wire, retrying=Retrying(tries=3)) as world:
            error = await world.failed()
        assert len(server.requests) == 4
    assert isinstance(error, RateLimited)
    assert error.until > world.clock.now


async def test_a_cooldown_holds_for_every_agent_with_that_key(wire: Wire) -> None:
    """F14: one 429 is told once to a provider, not once an agent."""
    with ModelServer(Refuse(429, headers={"retry-after": "600"})) as server:
        async with asking(server, wire) as first:
            await first.failed()
            async with asking(server, wire, clock=first.clock, cooldowns=first.cooldowns) as second:
                assert isinstance(await second.failed(), RateLimited)
        assert len(server.requests) == 1
        assert first.cooldowns.until(first.endpoint.line) is not None
        server.replies(Turn("ok"))
        async with asking(server, wire, clock=first.clock, cooldowns=first.cooldowns, key=None) as other:
            assert (await other.client.complete(ASK)).text == "ok"


async def test_a_cancelled_request_leaves_the_client_usable(wire: Wire) -> None:
    with ModelServer(Turn("word " * 50, pause_s=0.05, size=5), Turn("ok")) as server:
        async with asking(server, wire) as world:
            begun = asyncio.Event()

            async def read() -> None:
                async for _ in world.client.stream(ASK):
                    begun.set()

            reading = asyncio.create_task(read())
            await begun.wait()
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            assert (await world.client.complete(ASK)).text == "ok"


async def test_many_requests_at_once_each_get_their_own_answer(wire: Wire) -> None:
    def script(asked: Any) -> Turn:
        return Turn(f"answer to {asked.said}", usage=Tokens(out=1), size=3)

    with ModelServer() as server:
        server.script = script
        async with asking(server, wire) as world:
            asked = [world.client.complete(ModelRequest((User(f"question {n}"),))) for n in range(20)]
            answers = await asyncio.gather(*asked)
    assert [answer.text for answer in answers] == [f"answer to question {n}" for n in range(20)]


async def test_no_error_and_no_log_line_tells_the_key(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"Incorrect API key provided: {KEY.reveal()}. {'x' * 340} {KEY.reveal()} {'y' * 3580} {KEY.reveal()}"
    with ModelServer(Refuse(401, said), Raw(f"data: {said}\n\n".encode()), Raw(said.encode(), "text/plain")) as server:
        async with asking(server, wire, retrying=ONCE) as world:
            errors = [await world.failed() for _ in range(3)]
            shown = repr(world.client.__dict__) + repr(world.endpoint)
    told = " ".join(str(error) + repr(error) + repr(error.args) for error in errors)
    assert "[secret removed]" in told
    assert KEY.reveal()[:12] not in told + caplog.text + shown
