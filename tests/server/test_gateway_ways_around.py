"""What a program could send or leave unread to get around its allowed models, its token's secrecy, or the bounds."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from pydantic import ValidationError

from core.agents.models.keys import key_from
from core.agents.models.providers import GatewayConfig, ProviderConfig
from core.config import read_config
from core.domain.errors import Invalid
from core.server.gateway import upstream
from tests.models.script import Raw, Turn
from tests.models.server import ModelServer
from tests.server.gateway import PATHS, REAL, asked, asking, provider_of


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Turn("Yes."), key=REAL) as found:
        yield found


async def test_the_token_reaches_the_provider_by_no_name(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        token = program.access.token
        for refused in (
            await client.post(f"/v1beta/models/{token}:generateContent", json=asked("gemini")),
            await client.get(f"/v1/models/{token}"), await program.ask(model=f"x{token}"),
        ):  # fmt: skip
            assert refused.status_code == 400
        body = json.dumps(asked("openai", user="@")).replace("@", token.replace("run-", "\\u0072un-", 1))
        more = {f"x-stainless-{token}": "1", "content-type": "application/json"}
        answer = await client.post(f"{PATHS['openai']}?{token}=1", content=body, headers=more)
        assert answer.status_code == 200
        seen = str([(each.path, each.headers, each.body) for each in server.requests])
        assert token.lower() not in seen.lower()
        assert token not in await program.transcript()


@pytest.mark.parametrize(("wire", "more"), [
    ("openai", {"models": ["dear"], "route": "fallback"}), ("openai", {"fallbacks": ["dear"]}),
    ("responses", {"prompt": {"id": "pmpt_1"}}), ("responses", {"previous_response_id": "resp_1"}),
    ("responses", {"service_tier": "priority"}), ("gemini", {"serviceTier": "priority"}),
])  # fmt: skip
async def test_where_models_are_named_no_field_leads_around_them(
    tmp_path: Path, server: ModelServer, wire: str, more: dict[str, Any]
) -> None:
    async with asking(tmp_path, server, models=("scripted",)) as program:
        answer = await program.ask(wire, **more)
        assert (answer.status_code, "Leave it out." in answer.text) == (400, True)
        assert server.requests == []
        assert (await program.ask("gemini", model="models/dear")).status_code == 200
        assert "model" not in server.requests[0].body


async def test_only_headers_and_parameters_that_apis_need_are_passed(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        others = {"X-HTTP-Method-Override": "DELETE", "OpenAI-Organization": "o", "X-Goog-User-Project": "p"}
        kept = {"anthropic-beta": "b", "x-stainless-lang": "python"}
        path = f"{PATHS['openai']}?beta=true&userProject=p"
        assert (await client.post(path, json=asked("openai"), headers=others | kept)).status_code == 200
        seen = server.requests[0]
        assert not {name.lower() for name in others} & set(seen.headers)
        assert kept.items() <= seen.headers.items()
        assert seen.path.endswith("?beta=true")


async def test_a_program_that_does_not_read_is_cut_and_counted(tmp_path: Path, server: ModelServer) -> None:
    server.replies(Raw(b"data: " + b"x" * 65_536 + b"\n\n", times=800))
    async with asking(tmp_path, server, silence_s=2) as program:
        address, body = urlsplit(program.base), json.dumps(asked("openai", stream=True)).encode()
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"POST {address.path}/v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
        head += f"Authorization: Bearer {program.access.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        assert (await program.ended_lines())[0]["note"] == "not read by its program"
        writer.close()


@asynccontextmanager
async def encoding(name: str, body: bytes) -> AsyncIterator[str]:
    """A provider that answers in an encoding that nobody asked for."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: {name}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_an_answer_that_unpacks_beyond_the_bound_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "UNPACKED_MAX", 1_000_000)
    async with encoding("gzip", gzip.compress(b"\0" * 4_000_000)) as url, asking(tmp_path, url) as program:
        with pytest.raises(httpx2.RemoteProtocolError):
            await program.ask()
        assert (await program.ended_lines())[0]["note"] == "too large"


@pytest.mark.parametrize("name", ["br", "zstd", "gzip, br"])
async def test_an_encoding_that_is_not_unpacked_is_not_passed(tmp_path: Path, name: str) -> None:
    async with encoding(name, REAL.encode()) as url, asking(tmp_path, url) as program:
        answer = await program.ask()
        assert (answer.status_code, REAL in answer.text) == (502, False)
        assert "an encoding that was not asked for" in answer.json()["error"]["message"]


@pytest.mark.parametrize("source", [
    "env:sk-live-0123456789abcdef", "env:AIzaSyA0123456789abcdefghij", "file:sk-live-0123456789abcdef",
    "keyring:sk-live-0123456789abcdef", "env:",
])  # fmt: skip
def test_a_key_in_the_place_of_its_source_is_refused_and_not_repeated(source: str) -> None:
    with pytest.raises(Invalid) as refused:
        key_from(source, {})
    with pytest.raises(ValidationError) as wrong:
        ProviderConfig(url="http://127.0.0.1:1", wires=("openai",), key=source)
    name = source.partition(":")[2]
    assert not name or name not in f"{refused.value} {wrong.value}"
    assert key_from("env:PROVIDER_KEY_2_OF_PRODUCTION", {"PROVIDER_KEY_2_OF_PRODUCTION": REAL}).reveal() == REAL


def test_a_key_in_the_place_of_a_providers_name_is_refused_and_not_repeated(tmp_path: Path) -> None:
    name = "sk-live-0123456789abcdef"
    (tmp_path / "company.toml").write_text(
        f'[gateway.providers.{name}]\nurl = "http://127.0.0.1:1"\nwires = ["openai"]\n'
    )
    with pytest.raises(Invalid, match="looks like a key") as wrong:
        read_config(tmp_path)
    assert name not in str(wrong.value)
    assert GatewayConfig(providers={"claude-2025": provider_of("http://127.0.0.1:1")}).providers
