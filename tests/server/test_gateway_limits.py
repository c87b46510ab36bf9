"""What holds a run's requests to models before they leave: budgets, its own limits, and how many it may send."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import Approval
from core.server.callers import MODELS_AT_ONCE
from tests.models.script import Turn
from tests.models.server import ModelServer
from tests.server.gateway import COST, REAL, WIRES, Program, asking


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Turn("I claim it."), key=REAL) as found:
        yield found


def hearing(program: Program) -> list[tuple[str, str]]:
    """Why the run is to end, as its runner is told."""
    heard: list[tuple[str, str]] = []
    program.access.metered.stopping.append(lambda kind, why: heard.append((kind, why)))
    return heard


async def test_a_budget_that_is_used_up_holds_a_request_before_it_leaves_and_asks_the_operator(
    tmp_path: Path, server: ModelServer
) -> None:
    async with asking(tmp_path, server) as program:
        served, heard = program.served, hearing(program)
        limit = {"scope": "company", "limit_micros": COST + 1, "period": "total"}
        await served.do("SetBudget", **limit)
        assert (await program.ask()).status_code == 200
        assert (await program.ask()).status_code == 200, "one micro was left, and nobody knows what a request costs"
        for wire in WIRES:
            answer = await program.ask(wire)
            assert answer.status_code == 402
            assert "budget of the company" in answer.text
            assert "the operator can allow more" in answer.text
        assert len(server.requests) == 2
        assert [kind for kind, _ in heard] == ["budget"]
        questions = await served.company.board.readers.entities(Approval, "kind = 'budget'")
        assert [each.status for each in questions] == ["pending"]
        assert [line["status"] for line in await program.lines()] == [200, 200, 402, 402, 402, 402]


async def test_what_the_run_itself_holds_back_is_there_for_it(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program:
        run = await program.run()
        # As much as the run has held back since it began: the whole budget, and it has used nothing of it.
        await program.served.do("SetBudget", scope="agent", slug="ada", limit_micros=max(run.reserved_micros, COST))
        assert (await program.ask()).status_code == 200


@pytest.mark.parametrize("scope", ["agent", "goal"])
async def test_budgets_of_the_agent_and_of_the_goal_hold_too(tmp_path: Path, server: ModelServer, scope: str) -> None:
    async with asking(tmp_path, server, about={"goal_id": 1}) as program:
        about: dict[str, Any] = {"slug": "ada"} if scope == "agent" else {"scope_id": 1}
        await program.served.do("SetBudget", scope=scope, limit_micros=COST, **about)
        assert (await program.ask()).status_code == 200
        answer = await program.ask()
        assert (answer.status_code, "budget of" in answer.text) == (402, True)


async def test_lists_of_models_are_free_also_when_the_budget_is_used_up(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        await program.served.do("SetBudget", scope="company", limit_micros=COST)
        await program.ask()
        assert (await client.get("/v1/models")).status_code == 200


@pytest.mark.parametrize(("runner", "more", "kind", "words"), [
    ({}, {"requests_per_run": 1}, "requests", "it sent 1 requests"),
    ({"tokens": 110}, {}, "tokens", "it used 110 tokens; 110 are its limit"),
    ({"cost_micros": COST}, {}, "cost", "it cost $0.0020; $0.0020 is its limit"),
    ({"cost_micros": 10**9}, {"priced": False}, "cost", "what a request cost is unknown"),
])  # fmt: skip
async def test_a_limit_of_the_run_ends_it(
    tmp_path: Path, server: ModelServer, runner: dict[str, Any], more: dict[str, Any], kind: str, words: str
) -> None:
    async with asking(tmp_path, server, runner=runner, **more) as program:
        heard = hearing(program)
        assert (await program.ask()).status_code == 200
        answer = await program.ask()
        assert answer.status_code == 402
        assert words in answer.json()["error"]["message"]
        assert heard[0][0] == kind
        assert len(server.requests) == 1


async def test_requests_to_models_have_a_count_and_a_rate_of_their_own(tmp_path: Path, server: ModelServer) -> None:
    async with asking(tmp_path, server) as program, program.client() as client:
        answers = [await client.get("/v1/models") for _ in range(MODELS_AT_ONCE + 30)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert refused[0].headers["retry-after"] == "1"
        assert "requests a second" in refused[0].json()["error"]["message"]
        async with program.served.client(program.access.token) as board:
            assert (await board.get("/api")).status_code == 200, "the board is still open to it"
