"""Agents that are programs ask models through the gateway: real processes, with nothing but the token of their run."""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.agents.access import Access
from core.agents.models.providers import GatewayConfig
from core.agents.programs.catalogue import program_of
from core.agents.programs.settings import settings_of
from core.domain.entities import AgentRecord
from core.domain.errors import Invalid
from tests.models.script import Refuse, Turn
from tests.models.server import ModelServer
from tests.programs.company import CLAIM, DELIVER, an_office
from tests.server.gateway import COST, PRICE, REAL, provider_of
from tests.stepped import Stepped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

ASK = """
import urllib.error, urllib.request

def ask(model="scripted"):
    headers = {"x-api-key": os.environ["OPSROOM_TOKEN"], "Content-Type": "application/json"}
    body = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "Hello."}]}
    request = urllib.request.Request(os.environ["OPSROOM_GATEWAY"] + "/v1/messages", json.dumps(body).encode(), headers)
    try:
        return json.load(urllib.request.urlopen(request))
    except urllib.error.HTTPError as error:
        print("refused", error.code, json.load(error)["error"]["message"], flush=True)
        return None
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TEST_KEY", REAL)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Turn("Hello."), key=REAL) as found:
        yield found


@asynccontextmanager
async def an_asking_office(
    folder: Path, server: ModelServer, code: str, *, priced: bool = True, **runner: Any
) -> AsyncIterator[Stepped]:
    """Ada is a program of this text that may ask the scripted server."""
    ours = {"GATEWAY_TEST_KEY": os.environ["GATEWAY_TEST_KEY"]}
    settings = {"gateway": "models", "output": "json", **runner}
    async with an_office(folder, CLAIM + ASK + code, ours, **settings) as office:
        office.company.config.gateway = GatewayConfig(providers={"models": provider_of(server)})
        office.company.config.prices = {"scripted": PRICE} if priced else {}
        yield office


async def test_a_script_asks_with_its_token_alone_and_the_gateways_count_is_the_runs(
    tmp_path: Path, server: ModelServer
) -> None:
    told = 'print(json.dumps({"type": "usage", "tokens_in": 9000, "tokens_out": 900, "cost_micros": 99}), flush=True)\n'
    seen = 'open("seen.json", "w").write(json.dumps(dict(os.environ)))\n'
    async with an_asking_office(
        tmp_path, server, seen + "ask()\nask()\n" + told + DELIVER, cost_micros=10**6
    ) as office:
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == ("succeeded", "done")
        assert (run.tokens_in, run.tokens_out, run.cost_micros) == (200, 20, 2 * COST)
        transcript = await office.transcript(run)
        assert transcript.count('"kind": "model"') == 2
        assert '"tokens_in": 9000' in transcript, "what the program told is kept, and not counted"
        environment = json.loads((tmp_path / "work" / "ada" / "seen.json").read_text())
        assert environment["OPSROOM_GATEWAY"].endswith("/gateway/models")
        assert REAL not in str(environment) + transcript
        assert {each.key for each in server.requests} == {REAL}


@pytest.mark.parametrize(("runner", "words"), [
    ({"gateway": "elsewhere"}, "no such provider. Known in [gateway.providers]: models."),
    ({"env": ["GATEWAY_TEST_KEY"]}, "it would be given away"),
])  # fmt: skip
async def test_a_gateway_that_cannot_be_given_fails_the_run_with_the_reason(
    tmp_path: Path, server: ModelServer, runner: dict[str, Any], words: str
) -> None:
    async with an_asking_office(tmp_path, server, DELIVER, **runner) as office:
        run = await office.ended("broadcast")
        assert (run.status, run.exit_kind) == ("failed", "invalid")
        assert words.replace(".", "").lower() in run.detail.replace(".", "").lower()


async def test_a_key_that_is_not_there_fails_the_run_with_its_variables_name(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_asking_office(tmp_path, server, DELIVER) as office:
        monkeypatch.delenv("GATEWAY_TEST_KEY")
        run = await office.ended("broadcast")
        assert "GATEWAY_TEST_KEY holds no key" in run.detail


async def test_a_program_whose_budget_is_used_up_ends_as_budget(tmp_path: Path, server: ModelServer) -> None:
    code = "while True:\n    ask()\n"
    async with an_asking_office(tmp_path, server, code) as office:
        await office.ended("broadcast")
        await office.do("SetBudget", scope="company", limit_micros=COST, period="total")
        run = await office.ended("execute")
        assert (run.status, run.exit_kind, run.cost_micros) == ("failed", "budget", COST)
        assert "budget of the company" in run.detail
        assert len(server.requests) == 1


async def test_a_program_that_gives_up_while_its_provider_rests_is_rate_limited(
    tmp_path: Path, server: ModelServer
) -> None:
    server.replies(Refuse(429, "Slow down.", headers={"retry-after": "40"}))
    async with an_asking_office(tmp_path, server, "ask()\nsys.exit(3)\n", output="text") as office:
        now = office.clock()
        run = await office.ended("execute")
        assert (run.status, run.exit_kind) == ("rate_limited", "rate_limited")
        ada = (await office.all(AgentRecord, "slug = 'ada'"))[0]
        assert (ada.cooldown_until or 0) >= now + 40_000


async def test_a_cost_that_is_unknown_is_said_at_the_end(tmp_path: Path, server: ModelServer) -> None:
    async with an_asking_office(tmp_path, server, "ask()\n" + DELIVER, priced=False) as office:
        run = await office.ended("execute")
        assert (run.status, run.tokens_in, run.cost_micros) == ("succeeded", 100, 0)
        assert run.detail == "the cost of 1 of its 1 model requests is unknown"


def access(*wires: str) -> Access:
    here = "http://127.0.0.1:9"
    return Access(here, "run-7-secret", 7, models={"models": f"{here}/gateway/models"}, wires={"models": wires})


@pytest.mark.parametrize(("program", "wire"), [
    ("claude", "anthropic"), ("codex", "responses"), ("opencode", "openai"), ("opencode", "anthropic"),
    ("gemini", "gemini"),
])  # fmt: skip
def test_each_preset_is_told_of_the_gateway_and_its_token_stands_in_no_argument(program: str, wire: str) -> None:
    settings = settings_of({"kind": "command", "program": program, "model": "m-1", "gateway": "models"})
    start = program_of(settings).start(settings, access(wire), "")
    told = [*start.argv, *(value for name, value in start.environment.items() if name != "OPSROOM_GATEWAY")]
    assert any("http://127.0.0.1:9/gateway/models" in each for each in told)
    assert not any("run-7-secret" in each or "@" + "GATEWAY@" in each for each in start.argv)
    assert start.environment["OPSROOM_TOKEN"] == "run-7-secret"


def test_a_preset_refuses_a_gateway_that_speaks_none_of_its_formats() -> None:
    settings = settings_of({"kind": "command", "program": "claude", "gateway": "models"})
    with pytest.raises(Invalid, match="cannot use the gateway models: that speaks gemini"):
        program_of(settings).start(settings, access("gemini"), "")
