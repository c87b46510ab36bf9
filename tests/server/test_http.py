"""The addresses: the same commands and queries as inside, with their refusals, for who has a token (S2-40, S4-12)."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import httpx2
import pytest

from core.commands.registry import REGISTRY
from core.domain.states import Role, RunKind
from core.reading.offered import COMMANDS, offered
from core.reading.registry import READS
from core.server.openapi import document
from core.server.table import ROWS
from core.simulation.agents import HANDOFF
from tests.server.served import ADA, a_served_company, error_of


class TestTheTable:
    def test_whatever_a_person_or_an_agent_may_send_has_an_address(self) -> None:
        sent = {name for name, one in REGISTRY.items() if set(one.model.who) - {"S"}}
        named = {row.name for row in ROWS}
        assert sent | set(READS) <= named, sorted((sent | set(READS)) - named)
        assert not [name for name in named - set(READS) if set(REGISTRY[name].model.who) == {"S"}]

    def test_every_address_is_one_thing_and_names_fields_that_there_are(self) -> None:
        assert len({(row.method, row.path) for row in ROWS}) == len(ROWS)
        assert [row for row in ROWS if not set(row.in_path) <= set(row.of.model.model_fields)] == []

    def test_the_document_holds_every_address_once_and_every_reference_leads_somewhere(self) -> None:
        found = document()
        told = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
        assert told == {(row.method, row.path) for row in ROWS} | {("GET", "/api/events")}
        ids = [one["operationId"] for methods in found["paths"].values() for one in methods.values()]
        assert len(set(ids)) == len(ids)
        for reference in references(found):
            place: Any = found
            for part in reference.removeprefix("#/").split("/"):
                place = place[part]


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [one for part in value.values() for one in references(part)]
    return [one for part in value for one in references(part)] if isinstance(value, list) else []


async def test_a_run_does_its_work_over_http(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        told = await served.run(ADA, "broadcast", offers=[1])
        async with served.client(told.token) as client:
            assert (await client.post("/api/tasks/1/claim")).status_code == 200
        await served.end(told)
        work = await served.run(ADA, "execute", task_id=1)
        async with served.client(work.token) as client:
            assert (await client.post("/api/tasks/1/start")).json()["answer"]["status"] == "working"
            output = {"type": "document", "title": "Count", "summary": "7 files", "content": "7"}
            made = await client.post("/api/tasks/1/outputs", json=output)
            assert made.status_code == 200, made.text
            said = {"kind": "handoff", "body": HANDOFF}
            assert (await client.post("/api/tasks/1/comments", json=said)).status_code == 200
            assert (await client.post("/api/tasks/1/submit", json={})).status_code == 200
            whole = (await client.get("/api/tasks/1?expand=all")).json()["answer"]
        assert (whole["status"], [one["title"] for one in whole["outputs"]["outputs"]]) == ("review", ["Count"])
        events = await served.company.board.readers.all(
            "SELECT DISTINCT actor, run_id FROM events WHERE kind = 'TaskSubmitted'"
        )
        assert events == [{"actor": "ada", "run_id": work.run_id}]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
@pytest.mark.parametrize("locale", ["en", "zh"])
async def test_the_line_that_a_program_is_told_works_as_it_stands(tmp_path: Path, locale: str) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        access = await served.working_run()
        told = access.told(locale)
        assert access.token not in told
        line = next(line for line in told.splitlines() if line.startswith("curl")).replace('"task": 12', '"task": 1')
        shell = await asyncio.create_subprocess_shell(
            line, stdout=asyncio.subprocess.PIPE, env={**access.environment, "PATH": os.environ["PATH"]}
        )
        out, _ = await shell.communicate()
        assert json.loads(out)["answer"]["tag"] == "T1"


async def test_what_a_caller_is_told_that_it_has_is_what_it_is_offered(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        access = await served.working_run()
        async with served.client(access.token) as client:
            told = (await client.get("/api")).json()["answer"]
        assert {call["name"] for call in told["calls"]} == offered(Role.EXECUTOR, RunKind.EXECUTE).names
        async with served.client() as client:
            all_of_it = (await client.get("/api")).json()["answer"]["calls"]
        assert {(call["method"], call["path"]) for call in all_of_it} == {(row.method, row.path) for row in ROWS}


async def test_a_run_is_refused_what_its_prompt_does_not_offer(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        access = await served.working_run()
        names = offered(Role.EXECUTOR, RunKind.EXECUTE).names
        refused = [row for row in ROWS if row.name not in names]
        assert {"ClaimTask", "DecideApproval", "CreateTask"} <= {row.name for row in refused}
        async with served.client(access.token) as client:
            before = await served.company.board.readers.last_event()
            for row in refused:
                path = row.path.replace("{agent}", "ada").replace("{must_have}", "M1")
                path = "/".join("1" if part.startswith("{") else part for part in path.split("/"))
                found = await client.request(row.method, path)
                assert error_of(found) == (403, "forbidden"), row
                await asyncio.sleep(0.06)  # no faster than a token may
            by_name = await client.post("/api/commands/CreateGoal", json={"title": "Mine"})
            assert error_of(by_name) == (403, "forbidden")
            assert "StartTask" in by_name.json()["error"]["hint"]
            assert await served.company.board.readers.last_event() == before


async def test_pages_follow_each_other_and_filters_are_real(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        for number in range(5):
            await served.do("CreateGoal", title=f"Goal {number}")
        async with served.client() as client:
            seen, cursor = [], ""
            while True:
                page = (await client.get(f"/api/goals?limit=2{cursor}")).json()["answer"]
                seen += [goal["id"] for goal in page["goals"]]
                if page["next"] is None:
                    break
                cursor = f"&before={page['next']}"
            assert seen == [6, 5, 4, 3, 2, 1]
            active = (await client.get("/api/goals?status=active")).json()["answer"]["goals"]
            assert [goal["id"] for goal in active] == [1]
            mine = (await client.get("/api/goals/1/tasks?status=pending")).json()["answer"]
            assert [task["title"] for task in mine["tasks"]] == ["Count the files", "Count the lines"]


REFUSED: tuple[tuple[str, str, bytes | None, tuple[int, str], str], ...] = (
    ("GET", "/api/tasks?state=open", None, (422, "invalid"), "status"),
    ("GET", "/api/tasks?status=open", None, (422, "invalid"), "status"),
    ("GET", "/api/tasks?limit=0", None, (422, "invalid"), "limit"),
    ("GET", "/api/tasks?limit=5&limit=6", None, (422, "invalid"), "once"),
    ("GET", "/api/tasks/99", None, (404, "not_found"), "T99"),
    ("GET", f"/api/tasks/{10**30}", None, (422, "invalid"), "task"),
    ("GET", "/api/tasks/T1", None, (422, "invalid"), "task"),
    ("GET", "/api/tasks/1?expand=some", None, (422, "invalid"), "expand"),
    ("GET", "/api/tasks/1/", None, (404, "not_here"), "GET /api"),
    ("GET", "/api/nothing", None, (404, "not_here"), "GET /api"),
    ("DELETE", "/api/tasks", None, (405, "not_here"), "GET, HEAD, POST"),
    ("POST", f"/api/goals/{2**63}/pause", b"", (422, "invalid"), "64 bits"),
    ("POST", "/api/goals/1/comments", b'{"body": "x", "reply_to": "9223372036854775808"}', (422, "invalid"), "64 bits"),
    ("POST", "/api/goals?title=x", b"{}", (422, "invalid"), "body"),
    ("POST", "/api/goals", b"{not json", (422, "invalid"), "JSON"),
    ("POST", "/api/goals", b"[1]", (422, "invalid"), "object"),
    ("POST", "/api/goals", b"[" * 100_000, (422, "invalid"), "JSON"),
    ("POST", "/api/goals", b'{"title": ' + b"[" * 200 + b"]" * 200 + b"}", (422, "invalid"), "deep"),
    ("POST", "/api/goals", b'{"title": "\\ud800"}', (422, "invalid"), "surrogate"),
    ("POST", "/api/goals", b'{"title": NaN}', (422, "invalid"), "finite"),
    ("POST", "/api/goals", b'{"titel": "x"}', (422, "invalid"), "titel"),
    ("POST", "/api/goals", b"", (422, "invalid"), "title"),
    ("POST", "/api/goals/1/cancel", b'{"goal": 2, "reason": "x"}', (422, "invalid"), "once"),
    ("POST", "/api/goals/1/accept", b"{}", (409, "conflict"), "G1"),
    ("POST", "/api/commands/Nothing", b"{}", (422, "invalid"), "CreateGoal"),
    ("POST", "/api/commands/ReadGoal", b'{"goal": 1}', (422, "invalid"), "CreateGoal"),
    ("POST", "/api/commands/QueueRun", b"{}", (422, "invalid"), "kind"),
    ("POST", "/api/commands/ClosePlan", b'{"task": 1}', (403, "forbidden"), "system"),
    ("POST", "/api/queries/Nothing", b"{}", (422, "invalid"), "ReadGoal"),
    ("GET", "/api/events?since=3", None, (422, "invalid"), "after"),
    ("GET", "/api/events?after=-1", None, (422, "invalid"), "number"),
)


async def test_every_refusal_says_what_to_do(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served, served.client() as client:
        before = await served.company.board.readers.last_event()
        for method, path, body, expected, words in REFUSED:
            found = await client.request(method, path, content=body)
            assert error_of(found) == expected, (path, found.text)
            assert found.json()["error"]["hint"], (path, found.text)
            assert words in found.text, (path, found.text)
        assert await served.company.board.readers.last_event() == before


async def test_a_key_makes_a_command_happen_once_and_is_the_runs_own(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        access = await served.working_run()
        key, said = {"Idempotency-Key": "k"}, {"body": "seven", "kind": "note"}
        async with served.client(access.token) as client, served.client() as operator:
            first = await client.post("/api/tasks/1/comments", json=said, headers=key)
            again = await client.post("/api/tasks/1/comments", json=said, headers=key)
            other = await client.post("/api/tasks/1/comments", json={**said, "body": "eight"}, headers=key)
            theirs = await operator.post("/api/tasks/1/comments", json=said, headers=key)
            long = await client.post("/api/tasks/1/comments", json=said, headers={"Idempotency-Key": "k" * 201})
        assert (first.status_code, first.json()) == (200, again.json())
        assert error_of(other) == (409, "conflict")
        assert theirs.json()["answer"]["id"] != first.json()["answer"]["id"]
        assert error_of(long) == (422, "invalid")


class TestTheGuard:
    async def test_who_is_meant_and_who_asks(self, tmp_path: Path) -> None:
        cases = (
            ({"Host": "127.0.0.1:1"}, 200),
            ({"Host": "LOCALHOST"}, 200),
            ({"Host": "[::1]:80"}, 200),
            ({"Host": "rebound.example"}, 421),
            ({"Host": "127.0.0.1.example"}, 421),
            ({"Host": "127.0.0.1:x"}, 421),
            ({"Host": "user@127.0.0.1"}, 421),
            ({"Host": ""}, 421),
            ({"Host": "localhost:4711", "Origin": "http://localhost:4711"}, 200),
            ({"Origin": "http://localhost:3000"}, 403),
            ({"Origin": "https://page.example"}, 403),
            ({"Origin": "null"}, 403),
        )
        async with a_served_company(tmp_path / "acme") as served, served.client() as client:
            for headers, status in cases:
                found = await client.get("/api/about", headers=headers)
                assert found.status_code == status, headers
                assert [name for name in found.headers if name.startswith("access-control")] == []
            assert (await client.options("/api/goals", headers={"Origin": "null"})).status_code == 403

    async def test_what_is_too_large_is_refused_whether_it_says_so_or_not(self, tmp_path: Path) -> None:
        async def in_pieces() -> Any:
            for _ in range(40):
                yield b" " * 65_536

        async with a_served_company(tmp_path / "acme") as served, served.client() as client:
            said = await client.post("/api/goals", content=b" " * (1_048_576 + 1))
            assert error_of(said) == (413, "too_large")
            try:
                unsaid = await client.post("/api/goals", content=in_pieces())
                assert error_of(unsaid) == (413, "too_large")
            except httpx2.HTTPError:
                pass  # the connection may be closed before all of it was sent
            long = await client.get("/api/goals", headers={"X": "y" * 200_000})
            assert error_of(long) == (431, "head_too_large")
            assert (await client.get("/api/goals")).status_code == 200


def test_the_kinds_of_runs_that_are_served_are_all_that_there_are() -> None:
    assert set(COMMANDS) | {RunKind.MENTION} == set(RunKind)
