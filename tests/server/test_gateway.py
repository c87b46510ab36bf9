"""The model gateway: each wire format passed through with the real key, and metered on the way."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.models.script import Tokens, Turn
from tests.models.server import ModelServer
from tests.server.gateway import COST, PATHS, REAL, STREAMED, WIRES, asked, asking


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Turn("I claim it."), key=REAL) as found:
        yield found


def text_of(wire: str, answer: Any) -> str:
    """The words of an answer that was not streamed."""
    match wire:
        case "openai":
            return str(answer["choices"][0]["message"]["content"])
        case "responses":
            return str(answer["output"][0]["content"][0]["text"])
        case "anthropic":
            return str(answer["content"][0]["text"])
    return str(answer["candidates"][0]["content"]["parts"][0]["text"])


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_passes_with_the_real_key_and_is_metered(
    tmp_path: Path, server: ModelServer, wire: str
) -> None:
    async with asking(tmp_path, server) as program:
        answer = await program.ask(wire)
        assert (answer.status_code, text_of(wire, answer.json())) == (200, "I claim it.")
        assert server.requests[0].key == REAL
        assert program.access.token not in str(server.requests[0].headers)
        run = await program.run()
        assert (run.tokens_in, run.tokens_out, run.cost_micros) == (100, 10, COST), "known while it is at work"
        line = (await program.lines())[0]
        assert (line["wire"], line["model"], line["status"], line["cost"]) == (wire, "scripted", 200, COST)
        assert (line["tokens_in"], line["cache_read"], line["tokens_out"]) == (100, 20, 10)
        assert "claim" not in json.dumps(line).lower()
        await program.served.end(program.access)
        ended = await program.run()
        assert (ended.status, ended.tokens_in, ended.cost_micros) == ("succeeded", 100, COST)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_stream_passes_byte_for_byte_and_is_metered(tmp_path: Path, server: ModelServer, wire: str) -> None:
    options = {"stream_options": {"include_usage": True}} if wire == "openai" else {}
    async with asking(tmp_path, server) as program:
        answer = await program.ask(wire, stream=True, **options)
        assert answer.headers["content-type"].startswith("text/event-stream")
        frames = b"".join(server.answer(server.requests[0])[1])
        assert len(answer.content) == len(frames), "the ids alone are others"
        run = await program.run()
        assert (run.tokens_in, run.tokens_out, run.cost_micros) == (100, 10, COST)


@pytest.mark.parametrize("told", [{}, {"stream_options": {"include_usage": False}}])
async def test_usage_that_only_the_gateway_asked_for_is_not_shown(
    tmp_path: Path, server: ModelServer, told: dict[str, Any]
) -> None:
    async with asking(tmp_path, server) as program:
        answer = await program.ask(stream=True, **told)
        assert server.requests[0].body["stream_options"]["include_usage"] is True
        events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
        assert events[-1] == "[DONE]"
        assert all(json.loads(event)["choices"] for event in events[:-1])
        assert "".join(json.loads(e)["choices"][0]["delta"].get("content") or "" for e in events[:-1]) == "I claim it."
        assert (await program.run()).cost_micros == COST


async def test_a_server_that_does_not_know_stream_options_is_asked_without(tmp_path: Path, server: ModelServer) -> None:
    from tests.models.script import Refuse

    server.script = lambda asked: (
        Refuse(400, "Unknown parameter: 'stream_options'.") if "stream_options" in asked.body else Turn("Yes.")
    )
    async with asking(tmp_path, server) as program:
        for _ in range(2):
            assert "[DONE]" in (await program.ask(stream=True)).text
        assert len(server.requests) == 3, "learned once"
        assert [line["estimated"] for line in await program.lines()] == [True, True]
        assert (await program.run()).cost_micros > 0
        await program.served.end(program.access)
        assert "what 2 of its 2 model requests used is estimated" in (await program.run()).detail


async def test_the_token_stands_wherever_a_program_puts_its_key(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program:
        token = program.access.token
        ways = [
            ({"x-api-key": token}, "anthropic", ""), ({"x-goog-api-key": token}, "gemini", ""),
            ({}, "gemini", f"?key={token}"), ({"authorization": f"bearer {token}"}, "responses", ""),
            ({"authorization": f"Bearer {token}", "x-api-key": "sk-left-over"}, "anthropic", "?beta=true"),
        ]  # fmt: skip
        for headers, wire, query in ways:
            async with program.client(headers) as client:
                answer = await client.post(PATHS[wire] + query, json=asked(wire))
                assert answer.status_code == 200, answer.text
        seen = str([(each.headers, each.path, each.body) for each in server.requests])
        assert token not in seen
        assert "left-over" not in seen
        assert server.requests[-1].path.endswith("?beta=true")


async def test_lists_of_models_and_counts_of_tokens_pass_and_cost_nothing(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == "scripted"
        assert (await client.get("/v1beta/models")).status_code == 200
        assert (await client.post("/v1/messages/count_tokens", json=asked("anthropic"))).json() == {"input_tokens": 100}
        told = await client.post("/v1beta/models/scripted:countTokens", json=asked("gemini"))
        assert told.json() == {"totalTokens": 100}
        lines = await program.lines()
        assert len(lines) == 4
        assert not any("cost" in line or "tokens_in" in line for line in lines)
        assert (await program.run()).tokens_in == 0


async def test_a_model_is_renamed_and_one_that_is_not_allowed_is_refused(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server, models=("scr*",), rename={"small-*": "scripted"}) as program:
        assert (await program.ask(model="small-1")).status_code == 200
        async with program.client() as client:
            renamed = STREAMED["gemini"].replace("scripted", "small-2")
            assert (await client.post(renamed, json=asked("gemini"))).status_code == 200
        assert {each.model for each in server.requests} == {"scripted"}
        assert (await program.run()).cost_micros == 2 * COST
        refused = await program.ask("anthropic", model="dear")
        assert refused.status_code == 400
        assert "'dear' is not allowed here. Ask one of: scr*, small-*." in refused.json()["error"]["message"]
        assert len(server.requests) == 2
        assert (await program.lines())[-1]["status"] == 400
        async with program.client() as client:
            told = json.dumps(asked("anthropic"))
            for twice in (told[:-1] + ', "Model": "dear"}', told[:-1] + ', "model": "dear"}'):
                assert (await client.post("/v1/messages", content=twice)).status_code == 400


async def test_without_a_price_the_cost_is_unknown_and_the_tokens_are_known(tmp_path: Path) -> None:
    with ModelServer(Turn("Yes.", usage=Tokens(fresh=7, cache_read=0, cache_write=3, out=2)), key=REAL) as server:
        async with asking(tmp_path, server, priced=False) as program:
            await program.ask("anthropic", stream=True)
            run = await program.run()
            assert (run.tokens_in, run.tokens_out, run.cost_micros) == (10, 2, 0)
            line = (await program.lines())[0]
            assert (line["cost"], line["cache_write"]) == ("unknown", 3)
