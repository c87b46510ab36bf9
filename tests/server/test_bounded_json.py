"""JSON that would hold the room while it is parsed is refused before it is, by its count of values and of escapes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.server import bounded_json, mcp
from core.server.bounded_json import ESCAPES_MAX, TooManyParts, loads
from tests.models.script import Turn
from tests.models.server import ModelServer
from tests.server.gateway import PATHS, REAL, WIRES, asked, asking
from tests.server.served import ADA, a_served_company

LISTS = b"[" + b"[]," * 300_000 + b"[]]"
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text('a"\\,[{é', max_size=8)
VALUES = st.recursive(
    LEAVES,
    lambda some: st.lists(some, max_size=4) | st.dictionaries(st.text('a"\\,[{', max_size=4), some, max_size=4),
    max_leaves=20,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)
    with ModelServer(Turn("Yes."), key=REAL) as found:
        yield found


@given(VALUES, st.booleans())
def test_a_json_reads_as_ever_and_its_values_are_counted_outside_its_texts(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    signs = parts(value)
    assert loads(text, signs) == value
    if signs:
        with pytest.raises(TooManyParts):
            loads(text, signs - 1)


def parts(value: Any) -> int:
    """Its lists, objects and commas."""
    if not isinstance(value, (list, dict)):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(len(inner) - 1, 0) + sum(map(parts, inner))


SLOW = {
    "lists": LISTS, "objects": b"{" + b",".join(b'"%d":{}' % each for each in range(200_000)) + b"}",
    "texts": b"[" + b'"a",' * 300_000 + b"1]", "escapes": b'"' + b"\\n" * (ESCAPES_MAX + 1) + b'"',
    "UTF-16": LISTS.decode().encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW)
def test_what_would_take_long_is_refused_at_once(text: bytes) -> None:
    with pytest.raises((TooManyParts, ValueError)):
        loads(text, 100_000)


@pytest.mark.parametrize(
    "said", [',[{"\\' * 300_000, "x" * 1_048_575 + "\\" * 5 + '"' + "[" * 200_000], ids=["signs", "torn"]
)
def test_a_long_text_is_one_value_whatever_stands_in_it(said: str) -> None:
    assert loads(json.dumps([said]).encode(), 1) == [said]


async def test_a_body_of_too_many_values_is_refused_before_it_is_parsed(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(tmp_path, server) as program:
        parsed = counted_parses(monkeypatch)
        async with program.client() as client:
            for wire in WIRES:
                body = json.dumps(asked(wire, x="@")).encode().replace(b'"@"', LISTS)
                answer = await client.post(PATHS[wire], content=body)
                assert answer.status_code == 400
                assert "more than 100,000 values" in answer.json()["error"]["message"]
        async with program.served.client(program.access.token) as board:
            for path in ("/mcp", "/api/queries/ReadTask", "/api/commands/AddComment"):
                answer = await board.post(path, content=LISTS)
                assert answer.status_code in (400, 422)
                assert "more than 20,000 values" in answer.text
        assert max(parsed, default=0) < 100_000
    assert server.requests == []


async def test_without_a_token_a_message_of_mcp_is_not_even_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_served_company(tmp_path) as served:
        access = await served.run(ADA)
        url = (await served.doors.listen()).url
        parsed = counted_parses(monkeypatch)
        async with httpx2.AsyncClient(base_url=url, trust_env=False, timeout=60) as nobody:
            for body in (LISTS, b"{}", b"{"):
                assert (await nobody.post("/mcp", content=body)).status_code == 401
        assert parsed == []
        ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
        await served.end(access)
        async with served.client(access.token) as ended:
            told = (await ended.post("/mcp", json=ping)).json()
            assert (told["id"], "has ended" in told["error"]["message"]) == (7, True)
            long = await ended.post("/mcp", json={**ping, "x": "y" * mcp._REFUSED_MAX})
            assert (long.status_code, long.json()["error"]["code"]) == (403, "fenced")


def counted_parses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what is parsed from now on."""
    sizes: list[int] = []

    class Counting:
        @staticmethod
        def loads(text: str) -> Any:
            sizes.append(len(text))
            return json.loads(text)

    monkeypatch.setattr(bounded_json, "json", Counting)
    return sizes
