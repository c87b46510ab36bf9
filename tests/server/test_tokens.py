"""Whose token opens what: unknown ones, those of runs that ended or were killed, other runs', and the operator's."""

import logging
import stat
from pathlib import Path

import httpx2
import pytest

from core.agents.access import Access
from core.agents.models.keys import REMOVED
from core.domain.actors import Agent
from core.domain.errors import Fenced, Forbidden, Invalid, OpsroomError
from core.domain.states import Role, RunKind
from core.server.answers import TooMany, Unauthorized
from core.server.callers import AT_ONCE, ENDED_KEPT, PER_SECOND, REQUESTS_PER_RUN, Commissioned, Tokens, operator_token
from tests.server.served import ADA, CORA, a_served_company, error_of

RUN = Commissioned(Role.EXECUTOR, RunKind.MENTION, "")


def actor(run_id: int = 7) -> Agent:
    return Agent(1, "ada", run_id, 1)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class TestTheTokens:
    def test_one_opens_what_it_was_given_for_until_its_run_ends(self) -> None:
        tokens = Tokens()
        one, other = tokens.give(actor(7), RUN), tokens.give(actor(8), RUN)
        assert (tokens.caller(one).actor, tokens.caller(other).actor) == (actor(7), actor(8))
        tokens.end(one)
        with pytest.raises(Fenced, match=r"R7 has ended.*Stop working"):
            tokens.caller(one)
        assert tokens.caller(other).actor == actor(8)

    def test_an_unknown_one_and_one_that_ended_long_ago_open_nothing(self) -> None:
        tokens = Tokens()
        first = tokens.give(actor(1), RUN)
        tokens.end(first)
        for number in range(ENDED_KEPT):
            tokens.end(tokens.give(actor(number + 2), RUN))
        for token in ("", "run-7-", "\udcff", first, first[:-1]):
            with pytest.raises(Unauthorized):
                tokens.caller(token)

    def test_a_request_that_names_another_run_is_refused(self) -> None:
        tokens = Tokens()
        token = tokens.give(actor(7), RUN)
        assert tokens.caller(token, "7") == tokens.caller(token, "R7") == tokens.caller(token)
        for said in ("8", "", "07", "seven"):
            with pytest.raises(Forbidden, match="own run"):
                tokens.caller(token, said)

    def test_a_request_that_names_a_run_is_none_of_the_operators(self) -> None:
        tokens = Tokens()
        tokens.admit_operator("operator-token")
        for said in ("7", "R7", ""):
            with pytest.raises(Forbidden, match="own run"):
                tokens.caller("operator-token", said)

    def test_one_token_may_not_ask_faster_than_it_may_and_not_for_ever(self) -> None:
        clock = Clock()
        tokens = Tokens(clock)
        token, other = tokens.give(actor(7), RUN), tokens.give(actor(8), RUN)
        for _ in range(AT_ONCE):
            tokens.caller(token)
        with pytest.raises(TooMany, match="Wait"):
            tokens.caller(token)
        tokens.caller(other)
        for _ in range((REQUESTS_PER_RUN - AT_ONCE) // PER_SECOND):
            clock.now += 1
            for _ in range(PER_SECOND):
                tokens.caller(token)
        clock.now += 1_000
        with pytest.raises(TooMany, match="End your work"):
            tokens.caller(token)

    def test_none_is_kept_or_shown(self) -> None:
        tokens = Tokens()
        token = tokens.give(actor(7), RUN)
        held = repr([getattr(tokens, name) for name in Tokens.__slots__])
        assert token not in held
        assert token not in repr(Access("http://127.0.0.1:1", token, 7))


class TestTheOperatorsToken:
    def test_it_is_made_once_and_for_its_owner_alone(self, tmp_path: Path) -> None:
        token = operator_token(tmp_path)
        assert stat.S_IMODE((tmp_path / "operator.token").stat().st_mode) == 0o600
        assert operator_token(tmp_path) == token
        (tmp_path / "operator.token").unlink()
        assert operator_token(tmp_path) != token

    @pytest.mark.parametrize("fault", ["readable", "empty", "words", "a link", "a folder"])
    def test_a_file_that_is_none_is_refused_and_left(self, tmp_path: Path, fault: str) -> None:
        path = tmp_path / "operator.token"
        if fault == "a folder":
            path.mkdir()
        elif fault == "a link":
            (tmp_path / "other").write_text("x" * 50)
            path.symlink_to(tmp_path / "other")
        else:
            path.write_text({"empty": "", "words": "a secret of some length, with spaces"}.get(fault, "x" * 50))
            path.chmod(0o644 if fault == "readable" else 0o600)
        with pytest.raises(Invalid, match="Delete"):
            operator_token(tmp_path)
        assert path.exists()


async def test_over_http_each_wrong_token_is_told_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with a_served_company(tmp_path / "acme") as served:
        work = await served.working_run()
        other = await served.run(CORA)
        async with served.client("nobody-gave-this") as client:
            found = await client.get("/api/goals")
            assert (error_of(found), found.headers["www-authenticate"]) == ((401, "unauthorized"), "Bearer")
            for header in ("Basic abc", "Bearer", work.token):
                assert error_of(await client.get("/api/goals", headers={"Authorization": header}))[0] == 401
            assert (await client.get("/api/about")).status_code == 200
        async with served.client() as client:  # the operator's
            assert (await client.get("/api/goals/1")).status_code == 200
            assert error_of(await client.get("/api/goals/1", headers={"Opsroom-Run": "1"})) == (403, "forbidden")
        async with served.client(other.token) as client:
            named = await client.post("/api/commands/StartTask", json={"task": 1}, headers={"Opsroom-Run": "1"})
            assert error_of(named) == (403, "forbidden")
            assert error_of(await client.post("/api/tasks/1/start")) == (403, "forbidden")
        async with served.client(work.token) as client:
            assert (await client.get("/api/goals/1")).status_code == 200
            await served.end_one(work)
            late = await client.post("/api/tasks/1/start")
            assert error_of(late) == (403, "fenced")
            assert "Stop working" in late.text
        async with served.client(other.token) as client:
            assert (await client.get("/api/goals/1")).status_code == 200
        tokens = [work.token, other.token, (tmp_path / "acme" / "operator.token").read_text().strip()]
    written = caplog.text + "".join(
        path.read_bytes().decode(errors="replace")
        for path in (tmp_path / "acme").rglob("*")
        if path.is_file() and path.name != "operator.token"
    )
    assert [token for token in tokens if token in written] == []


async def test_no_token_that_was_given_out_gets_onto_the_board_by_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    async with a_served_company(folder) as served:
        work, other = await served.working_run(), await served.run(CORA)
        await served.doors.admit_operator()
        tokens = [work.token, other.token, (folder / "operator.token").read_text().strip()]
        strange = f"run-1-{'x' * 43}"
        body = f"I found {', '.join([*tokens, strange])}x"
        async with served.client(work.token) as client:
            said = await client.post("/api/commands/AddComment", json={"task": 1, "body": body})
            assert said.status_code == 200
            told = (await client.get("/api/tasks/1/comments")).text
        rows = await served.company.board.readers.all("SELECT * FROM events")
    assert f"I found {', '.join([REMOVED] * 3)}, {strange}x" in told
    assert [token for token in tokens if token in f"{rows!r}"] == []


async def test_a_run_without_a_token_comes_in_nowhere_on_loopback(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        url = (await served.doors.listen()).url
        async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
            for path in ("/api", "/api/openapi.json", "/api/goals", "/api/events", "/api/mentions/agents"):
                assert error_of(await client.get(path)) == (401, "unauthorized")
            assert error_of(await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}))[0] == 401
            assert error_of(await client.post("/api/commands/StopCompany", json={})) == (401, "unauthorized")


async def test_a_killed_runs_writes_are_fenced_while_its_program_still_lives(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        work = await served.working_run()
        async with served.client(work.token) as client:
            assert served.company.dispatcher is not None
            served.company.dispatcher.hear = lambda _events: None  # type: ignore[method-assign]
            await served.do("KillRun", run=work.run_id, reason="enough")
            for request in (client.post("/api/tasks/1/start"), client.get("/api/tasks/1")):
                assert error_of(await request) == (403, "fenced")


async def test_nothing_listens_before_a_runner_wants_access(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served:
        served.outside.wants_access = False
        with pytest.raises(AssertionError):
            await served.run(ADA)
        assert served.doors.listening is None
        served.outside.wants_access = True
        access = await served.run(CORA)
        assert served.doors.listening is not None
        assert (access.mcp_url, access.environment["OPSROOM_URL"]) == (f"{access.url}/mcp", served.doors.listening.url)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.0.2.1", "127.0.0.2", "opsroom.example", "", "127.0.0.1.example"]
)
async def test_only_this_machine_can_be_listened_to(tmp_path: Path, host: str) -> None:
    from core.server.doors import bound

    with pytest.raises(Invalid, match="127"):
        bound(host, 0)


async def test_a_port_that_is_taken_or_none_is_told(tmp_path: Path) -> None:
    from core.server.doors import bound

    with bound("127.0.0.1", 0) as first:
        for port in (first.getsockname()[1], 65_536, -1):
            with pytest.raises(OpsroomError, match=r"--port 0|free one"):
                bound("127.0.0.1", port)
