"""The owner's socket: the same commands, answers and errors as at the door itself, for this user only."""

import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from core.commands.company import EditCompany
from core.commands.goals import CreateGoal
from core.commands.registry import Answer, Command
from core.commands.remote_door import ERRORS, RemoteDoor
from core.company import OpenCompany, socket_path
from core.config import Config
from core.domain.actors import Actor, Operator, System
from core.domain.errors import BoardError, BoardOwned, Forbidden, OpsroomError
from core.server.socket import bind
from tests import founding
from tests.server.served import serving


@asynccontextmanager
async def a_served_company(folder: Path) -> AsyncIterator[tuple[OpenCompany, Path]]:
    await founding.a_company(folder, Config(name="Acme"))
    company = await OpenCompany.open(folder, role="owner")
    path = socket_path(folder)
    try:
        async with serving(lambda: company.local_door, path):
            yield company, path
    finally:
        await company.close()


async def post(path: Path, command: str, body: Any, **headers: str) -> httpx2.Response:
    transport = httpx2.AsyncHTTPTransport(uds=str(path))
    async with httpx2.AsyncClient(transport=transport, base_url="http://opsroom") as client:
        content = body if isinstance(body, bytes) else None
        return await client.post(
            f"/api/commands/{command}", json=None if content else body, content=content, headers=headers
        )


class TestTheSocket:
    async def test_only_this_user_can_reach_it_and_it_goes_with_its_owner(self, tmp_path: Path) -> None:
        async with a_served_company(tmp_path / "acme") as (_company, path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_ISSOCK(path.stat().st_mode)
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert not path.exists()

    async def test_what_a_dead_owner_left_is_replaced(self, tmp_path: Path) -> None:
        folder = tmp_path / "acme"
        folder.mkdir()
        left = bind(socket_path(folder))
        left.close()
        async with a_served_company(folder) as (_company, path):
            assert (await post(path, "StartCompany", {})).status_code == 200

    async def test_a_folder_with_a_very_long_path_has_one_too(self, tmp_path: Path) -> None:
        folder = tmp_path / ("deep" * 20) / ("deeper" * 10)
        async with a_served_company(folder):
            door = RemoteDoor(socket_path(folder))
            assert await door.execute(Operator(), EditCompany(mission="Look")) == {"changed": ["mission"]}
            await door.close()


class TestHttp:
    async def test_a_key_makes_a_command_happen_once(self, tmp_path: Path) -> None:
        async with a_served_company(tmp_path / "acme") as (company, path):
            answers = [
                (await post(path, "CreateGoal", {"title": "One"}, **{"Idempotency-Key": "k1"})).json() for _ in range(3)
            ]
            other = await post(path, "CreateGoal", {"title": "Two"}, **{"Idempotency-Key": "k1"})
            assert await company.board.readers.value("SELECT count(*) FROM goals") == 1
        assert answers[0] == answers[1] == answers[2]
        assert (other.status_code, other.json()["error"]["code"]) == (409, "conflict")

    async def test_an_unknown_field_is_refused_with_the_known_ones(self, tmp_path: Path) -> None:
        async with a_served_company(tmp_path / "acme") as (_company, path):
            answer = await post(path, "CreateGoal", {"title": "One", "titel": "Two"})
        assert answer.status_code == 422
        assert "titel: there is no such field" in answer.json()["error"]["message"]
        assert "title" in answer.json()["error"]["hint"]

    async def test_a_request_that_names_a_run_is_not_the_operators(self, tmp_path: Path) -> None:
        async with a_served_company(tmp_path / "acme") as (company, path):
            answer = await post(path, "CreateGoal", {"title": "One"}, **{"Opsroom-Run": "1"})
            assert await company.board.readers.value("SELECT count(*) FROM goals") == 0
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")

    @pytest.mark.parametrize(
        ("command", "body", "status"),
        [
            ("NoSuchThing", {}, 422),
            ("CreateGoal", b"{not json", 422),
            ("CreateGoal", [1], 422),
            ("AcceptGoal", {"goal": 99}, 404),
            ("ClaimTask", {"task": 1}, 403),
            ("CreateCompany", {"name": "Second"}, 409),
        ],
    )
    async def test_every_refusal_has_its_status_and_words(
        self, tmp_path: Path, command: str, body: Any, status: int
    ) -> None:
        async with a_served_company(tmp_path / "acme") as (_company, path):
            answer = await post(path, command, body)
        assert answer.status_code == status
        assert answer.json()["error"]["message"]

    async def test_nothing_else_is_served(self, tmp_path: Path) -> None:
        async with a_served_company(tmp_path / "acme") as (_company, path):
            transport = httpx2.AsyncHTTPTransport(uds=str(path))
            async with httpx2.AsyncClient(transport=transport, base_url="http://opsroom") as client:
                assert (await client.get("/api/commands/StartCompany")).status_code == 405
                assert (await client.get("/")).status_code == 404
                assert (await client.get("/api/about")).json()["opsroom"] is True


class TestTheRemoteDoor:
    @pytest.mark.parametrize("kind", sorted(ERRORS.values(), key=lambda kind: kind.code), ids=lambda kind: kind.code)
    async def test_an_error_comes_back_as_what_it_was(self, tmp_path: Path, kind: type[OpsroomError]) -> None:
        class Refusing:
            async def execute(self, actor: Actor, command: Command, *, key: str | None = None) -> Answer:
                raise kind("What happened.", "What to do.")

        path = tmp_path / "s"
        async with serving(lambda: Refusing(), path):
            door = RemoteDoor(path)
            with pytest.raises(OpsroomError) as caught:
                await door.execute(Operator(), CreateGoal(title="One"))
            await door.close()
        assert type(caught.value) is kind
        assert (caught.value.message, caught.value.hint) == ("What happened.", "What to do.")

    async def test_a_room_that_lost_the_board_says_so(self, tmp_path: Path) -> None:
        async with serving(lambda: None, tmp_path / "s"):
            door = RemoteDoor(tmp_path / "s")
            with pytest.raises(BoardError, match="no longer owns"):
                await door.execute(Operator(), CreateGoal(title="One"))
            await door.close()

    async def test_nobody_at_the_other_end_is_told_as_such(self, tmp_path: Path) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "s"))
        listener.close()
        door = RemoteDoor(tmp_path / "s")
        with pytest.raises(BoardOwned, match="does not answer"):
            await door.execute(Operator(), CreateGoal(title="One"))
        await door.close()

    async def test_only_the_operator_comes_in(self, tmp_path: Path) -> None:
        with pytest.raises(Forbidden):
            await RemoteDoor(tmp_path / "s").execute(System(), CreateGoal(title="One"))
