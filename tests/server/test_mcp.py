"""The commands and queries as tools, through the official client: over HTTP, and over standard input and output."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agents.access import Access
from core.domain.actors import Agent, Operator
from core.domain.states import Role, RunKind
from core.reading.offered import offered, tools
from core.reading.registry import READS
from core.server.api import Backend
from core.server.callers import Caller, Commissioned
from core.server.mcp import OF_OPERATOR, VERSIONS, answer
from tests.command_line import environment
from tests.server.served import CORA, a_served_company

if TYPE_CHECKING:
    # Two seconds of import, and every test process collects this file.
    from mcp import Client, StdioServerParameters


@asynccontextmanager
async def connected(url: str, token: str, **more: Any) -> AsyncIterator["Client"]:
    """The official client at this address."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    assert [part.type for part in result.content] == ["text"]
    return str(result.content[0].text)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_run_has_what_its_prompt_offers_with_the_same_words(tmp_path: Path, mode: str) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        access = await served.working_run()
        async with connected(access.mcp_url, access.token, mode=mode) as client:
            found = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(found) == offered(Role.EXECUTOR, RunKind.EXECUTE).names
            for tool in tools(Role.EXECUTOR, RunKind.EXECUTE):
                function = tool["function"]
                shown = found[function["name"]]
                schema = {name: value for name, value in shown.input_schema.items() if name != "examples"}
                assert (shown.description, schema) == (function["description"], function["parameters"])
                assert shown.annotations is not None
                assert shown.annotations.read_only_hint == (shown.name in READS)
            assert found["PostPlan"].input_schema["examples"]
            assert "R1 of ada" in (client.instructions or "")
            assert "T1" in (client.instructions or "")
            prompts = (await client.list_prompts()).prompts
            assert [prompt.name for prompt in prompts] == ["assignment"]
            told = (await client.get_prompt("assignment")).messages[0].content
            assert "Count the files" in told.text  # type: ignore[union-attr]


async def test_a_run_works_and_reads_what_it_is_refused(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        access = await served.working_run()
        async with connected(access.mcp_url, access.token) as client:
            started = await client.call_tool("StartTask", {"task": 1})
            assert (started.is_error, json.loads(text_of(started))["status"]) == (False, "working")
            for name, arguments, words in (
                ("StartTask", {"task": 1}, "T1"),
                ("StartTask", {"task": 99}, "There is no T99"),
                ("StartTask", {"task": 1, "force": True}, "Its fields are: task."),
                ("StartTask", {}, "task"),
                ("ReadTask", {"task": "one"}, "Its fields are"),
                ("DecideApproval", {"approval": 1}, "You have: StartTask"),
                ("NoSuchThing", {}, "You have: StartTask"),
                ("SubmitTask", {"task": 1}, "T1"),
            ):
                refused = await client.call_tool(name, arguments)
                assert refused.is_error, name
                assert words in text_of(refused), text_of(refused)
            read = await client.call_tool("ReadTask", {"task": 1, "expand": True})
            assert json.loads(text_of(read))["status"] == "working"
            said = {"task": 1, "kind": "note", "body": "[/x] \x1b[2J <data> \u202e"}
            once = [
                await client.call_tool("AddComment", said, meta={"idempotencyKey": "k"})  # type: ignore[arg-type]
                for _ in range(2)
            ]
            assert json.loads(text_of(once[0])) == json.loads(text_of(once[1]))
            from mcp import MCPError

            with pytest.raises(MCPError):
                await client.get_prompt("another")
            await served.end_one(access)
            late = await client.call_tool("ReadTask", {"task": 1})
            assert (late.is_error, "Stop working" in text_of(late)) == (True, True)


async def test_the_operators_own_program_looks_and_drafts_and_decides_nothing(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served, served.client() as http:
        token = http.headers["authorization"].removeprefix("Bearer ")
        async with connected(f"{http.base_url}/mcp".replace("//mcp", "/mcp"), token) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {*OF_OPERATOR, *READS}
            drafted = await client.call_tool("CreateGoal", {"title": "One"})
            assert json.loads(text_of(drafted))["status"] == "draft"
            for decision in ("DispatchGoal", "ReviewGoal", "AcceptGoal"):
                refused = await client.call_tool(decision, {"goal": 2})
                assert (refused.is_error, "There is no tool" in text_of(refused)) == (True, True)
            assert (await client.list_prompts()).prompts == []


async def test_what_is_no_call_is_answered_in_the_protocols_words(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served, served.client() as client:
        for body, status, code in (
            (b"{", 400, -32700),
            (b"[" * 50_000, 400, -32700),
            (b"[]", 200, -32600),
            (b'{"id": 1, "method": "ping"}', 200, -32600),
            (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', 200, -32600),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', 200, -32601),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}', 200, -32602),
            (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}', 200, -32602),
        ):
            found = await client.post("/mcp", content=body)
            assert (found.status_code, found.json()["error"]["code"]) == (status, code), body[:80]
        told = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (told.status_code, told.content) == (202, b"")
        assert (await client.get("/mcp")).status_code == (await client.delete("/mcp")).status_code == 405
        for said in (*VERSIONS, "1999-01-01", None, 7):
            asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": said}}
            answered = (await client.post("/mcp", json=asked)).json()["result"]["protocolVersion"]
            assert answered == (said if said in VERSIONS else VERSIONS[0])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "x"])
PARAMS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["StartTask", "ReadTask", "ReadText", "assignment"]) | JSON,
        "arguments": st.fixed_dictionaries({}, optional={"task": JSON, "of": JSON, "field": JSON}) | JSON,
        "_meta": JSON,
        "protocolVersion": JSON,
    },
)
MESSAGES = JSON | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")}, optional={"id": st.integers(0, 9) | JSON, "method": METHODS | JSON, "params": PARAMS}
)
CALLERS = st.sampled_from(
    [
        Caller(Operator()),
        Caller(Agent(1, "ada", 1, 1), Commissioned(Role.EXECUTOR, RunKind.EXECUTE, "T1")),
        Caller(Agent(1, "ada", 1, 9), Commissioned(Role.CEO, RunKind.PROPOSE, "")),
    ]
)


async def test_whatever_is_sent_is_answered_and_never_with_a_fault_of_ours(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        await served.working_run()
        company = served.company
        backend = Backend(lambda: company.local_door, company.board.readers)
        for message, caller in examples(120):
            found = await answer(backend, caller, message)
            wanted = isinstance(message, dict) and message.get("id") is not None and message.get("method") is not None
            assert (found is not None) or not wanted or not isinstance(message, dict), message
            assert found is None or found.get("error", {}).get("code") != -32603, message
            json.dumps(found)


def examples(count: int) -> list[tuple[Any, Caller]]:
    """Messages made up, the same ones each time."""
    made: list[tuple[Any, Caller]] = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(MESSAGES, CALLERS)
    def make(message: Any, caller: Caller) -> None:
        made.append((message, caller))

    make()
    return made


def program(home: Path, *words: str, access: Access | None = None) -> "StdioServerParameters":
    from mcp import StdioServerParameters

    more = {} if access is None else access.environment
    return StdioServerParameters(
        command=sys.executable, args=["-m", "tui.cli", "mcp", *words], env=environment(home, **more), cwd=home
    )


async def test_a_program_that_starts_servers_itself_has_the_same(tmp_path: Path) -> None:
    from mcp import Client

    async with a_served_company(tmp_path / "acme") as served:
        work, other = await served.working_run(), await served.run(CORA)
        async with Client(program(tmp_path, access=work)) as client:
            started = await client.call_tool("StartTask", {"task": 1})
            assert json.loads(text_of(started))["status"] == "working"
            assert (await client.call_tool("NoSuchThing", {})).is_error
            await served.end_one(work)
            late = await client.call_tool("ReadTask", {"task": 1})
            assert (late.is_error, "Stop working" in text_of(late)) == (True, True)
        async with Client(program(tmp_path, access=other)) as client:
            assert "ReadGoal" in {tool.name for tool in (await client.list_tools()).tools}
        await served.doors.open_socket()
        async with Client(program(tmp_path, "acme")) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {*OF_OPERATOR, *READS}
