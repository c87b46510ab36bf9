"""`opsroom init`: a company from a template, on what is found here, whole or not at all; no key is written."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.kinds import check_runner
from core.agents.models.conversation import Usage
from core.agents.models.prices import cost_micros
from core.config import Config, read_config, runner_kinds
from core.doctor.known import known
from core.founding.template import templates
from core.guardrails import read_guardrails, shipped
from tests.models.server import ModelServer
from tui.cli import main
from tui.cli.exits import Exit

KEY = "sk-test-of-founding-0123456789"
CHAT = {"kind": "chat", "url": "http://127.0.0.1:9/v1", "model": "qwen3"}


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without programs, servers and keys; the folder that its PATH is."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr("core.doctor.found.known", lambda: known().model_copy(update={"servers": {}}))
    for provider in known().providers.values():
        monkeypatch.delenv(provider.key, raising=False)
    return programs


def a_program(folder: Path, name: str, text: str = 'echo "1.2.3 (Agent)"') -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = Exit.OK) -> str:
    capsys.readouterr()
    assert main(list(words)) == code
    said = capsys.readouterr()
    return said.out + said.err


def staff(capsys: pytest.CaptureFixture[str], folder: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(told(capsys, "agent", "list", str(folder), "--json"))["agents"]
    return listed


@pytest.mark.parametrize("name", templates())
def test_each_template_makes_a_company_that_is_whole(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    template, folder = templates()[name], tmp_path / "c"
    on = ("--runner", json.dumps(CHAT)) if template.agents else ()
    made = json.loads(told(capsys, "init", str(folder), "--template", name, *on, "--mission", "Help", "--json"))
    assert made["agents"] == [agent.slug for agent in template.agents]
    found = staff(capsys, folder)
    assert [(each["agent"], each["role"], each["manager"]) for each in found] == [
        (agent.slug, agent.role, agent.manager) for agent in template.agents
    ]
    rails = read_guardrails(folder)
    assert rails.problem == ""
    assert [line.name for line in rails.lines] == [
        *(line.name for line in shipped().lines), *(line.name for line in template.red_lines),
    ]  # fmt: skip
    assert read_config(folder).caps.runs_at_once == template.runs_at_once
    for agent in template.agents:
        soul = folder / "agents" / agent.slug / "SOUL.md"
        assert agent.soul["en"] in soul.read_text(encoding="utf-8")
        assert set(agent.soul) == {"en", "zh"}
        assert soul.stat().st_mode & 0o077 == 0
    assert json.loads(told(capsys, "status", str(folder), "--json"))["company"]["dispatching"] is False
    budgets = json.loads(told(capsys, "budget", str(folder), "--json"))["budgets"]
    assert [each["limit_micros"] for each in budgets] == (
        [int(template.usd_a_day * 1_000_000)] if template.agents else []
    )


def test_the_templates_roles_are_a_company_that_can_work() -> None:
    for template in templates().values():
        roles = [str(agent.role) for agent in template.agents]
        if roles:
            assert roles.count("ceo") == roles.count("coordinator") == 1
            assert {"executor", "reviewer"} <= set(roles)
            assert template.agents[0].manager is None
    assert list(templates())[-1] == "empty"


def test_agents_run_on_the_program_that_is_found_with_its_keys_by_name(
    tmp_path: Path, nothing_here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_program(nothing_here, "claude")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    said = told(capsys, "init", str(tmp_path / "c"), "--template", "research-desk", "--locale", "zh")
    assert "They run on Claude Code 1.2.3" in said
    assert "also found: anthropic" in said
    assert KEY not in said
    assert {each["runner"] for each in staff(capsys, tmp_path / "c")} == {"command"}
    assert "不多" not in (tmp_path / "c/agents/mira/SOUL.md").read_text(encoding="utf-8")
    assert "先问" in (tmp_path / "c/agents/mira/SOUL.md").read_text(encoding="utf-8")
    written = [path.read_bytes() for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert any(b"ANTHROPIC_API_KEY" in data for data in written)
    assert not any(KEY.encode() in data for data in written)


def test_agents_run_on_a_model_server_that_answers_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(models=("nomic-embed-text", "qwen3:8b")) as server:
        places = {"Ollama": int(server.url.rpartition(":")[2])}
        monkeypatch.setattr("core.doctor.found.known", lambda: known().model_copy(update={"servers": places}))
        folder = tmp_path / "c"
        said = told(capsys, "init", str(folder), "--template", "content-team", "--runner", "ollama", "--budget", "0")
        assert f'"url": "{server.url}/v1", "model": "qwen3:8b"' in said
        assert "may spend" not in said
        assert {each["runner"] for each in staff(capsys, folder)} == {"chat"}


REFUSED = {
    ("--template", "circus"): "There are: software-team (Software team)",
    ("--template", "software-team"): "Nothing was found here that agents could run on",
    ("--template", "software-team", "--runner", "claude"): "Found: nothing.",
    ("--template", "software-team", "--runner", "{"): "are no JSON",
    ("--template", "software-team", "--runner", '{"kind": "chat"}'): "model: it is needed",
    ("--template", "software-team", "--runner", json.dumps({**CHAT, "key": KEY})): "A key stands in no setting",
    ("--template", "software-team", "--runner", json.dumps({**CHAT, "provider": KEY})): "A key stands in no setting",
    ("--runner", "claude"): "the empty one has none",
    ("--runs-at-once", "0"): "0 runs at once",
    ("--budget", "much"): "no amount of US dollars",
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_cannot_be_is_refused_and_nothing_is_made(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(capsys, "init", str(tmp_path / "c"), *words, code=Exit.USAGE)
    assert REFUSED[words] in said
    assert KEY not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]


def test_a_company_that_is_there_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "c"
    told(capsys, "init", str(folder), "--name", "First")
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()}
    said = told(capsys, "init", str(folder), "--template", "software-team", "--runner", json.dumps(CHAT), code=2)
    assert "holds a company already; it was left as it is" in said
    assert before == {
        path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()
    }


def test_what_the_table_of_providers_says_can_run_and_has_a_known_price() -> None:
    kinds = runner_kinds(Config())
    for provider in known().providers.values():
        runner = {"kind": "chat", "url": provider.url, "model": provider.model, "wire": provider.wire}
        check_runner({**runner, "key": f"env:{provider.key}"}, kinds)
        assert cost_micros(Usage(1000, 100), provider.model, provider.url, 1_796_000_000_000), provider.model
