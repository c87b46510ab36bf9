"""What an agent runs on is checked before it is sent, and holds no key, wherever one may be put."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.kinds import check_runner
from core.config import Config
from core.domain.errors import Invalid
from core.domain.runner_secrets import secret_in
from tests import founding
from tui.cli import main
from tui.cli.exits import Exit

KEY = "sk-test-not-a-key-0123456789"
CHAT = {"kind": "chat", "url": "http://127.0.0.1:8080/v1", "model": "qwen3"}
KINDS = frozenset({"chat", "command"})


@pytest.fixture
def folder(tmp_path: Path) -> str:
    asyncio.run(founding.a_company(tmp_path / "c", Config(name="Acme")))
    return str(tmp_path / "c")


HOLDS: dict[str, dict[str, Any]] = {
    "a key of another name": {**CHAT, "api_key": "abcdefgh"},
    "a nested header": {**CHAT, "headers": {"Authorization": "Bearer abc"}},
    "a deep list": {**CHAT, "extra": [{"more": {"x-api-key": "abcdefgh"}}]},
    "an argument": {"kind": "command", "command": ["agent"], "args": ["--api-key", "abcdefgh"]},
    "an argument with =": {"kind": "command", "command": ["agent", "--token=abcdefgh"]},
    "a variable in the command": {"kind": "command", "command": ["env", "PROVIDER_KEY=abcdefgh", "agent"]},
    "a header of curl": {"kind": "command", "command": ["curl", "-H", "x-api-key: abcdefgh1234"]},
    "a value in env": {"kind": "command", "command": ["agent"], "env": ["PROVIDER=abcdefgh"]},
    "a table of env": {"kind": "command", "command": ["agent"], "env": {"PROVIDER": "abcdefgh"}},
    "a password in an address": {**CHAT, "url": "http://me:abcdefgh@127.0.0.1/v1"},
    "a name in an address": {**CHAT, "url": "https://abcdefgh@127.0.0.1/v1"},
    "a key in an address": {**CHAT, "url": "https://127.0.0.1/v1?key=abcdefgh"},
    "a key in an address of an argument": {"kind": "command", "command": ["agent", "--url=http://x/?api_key=abcdefgh"]},
    "the shape of a key, anywhere": {**CHAT, "provider": KEY},
    "the shape of a key as a name": {**CHAT, "extra": {KEY: 1}},
}


@pytest.mark.parametrize("how", HOLDS)
def test_a_key_is_refused_wherever_it_stands_and_is_not_repeated(
    folder: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hired = main(["agent", "hire", folder, "ada", "--role", "executor", "--runner", json.dumps(HOLDS[how])])
    told = capsys.readouterr()
    assert hired == Exit.USAGE
    assert "A key stands in no setting" in told.err
    assert "abcdefgh" not in told.err
    assert KEY not in told.err
    assert not any(b"abcdefgh" in path.read_bytes() or KEY.encode() in path.read_bytes()
                   for path in Path(folder).rglob("*") if path.is_file())  # fmt: skip


def test_where_a_key_comes_from_and_what_only_looks_like_one_may_stand() -> None:
    for fine in (
        {**CHAT, "key": "env:PROVIDER_KEY", "answer_tokens": 100, "tokens": 5, "prompt_tokens": 4000},
        {**CHAT, "key": "file:~/.keys/provider", "headers": {"x-api-key": "env:OTHER"}},
        {**CHAT, "url": "https://openrouter.example/api/v1", "model": "vendor/task-key-model:free"},
        {"kind": "command", "command": ["agent", "--token-file", "there", "--api-key", "$PROVIDER_KEY"]},
        {"kind": "command", "program": "claude", "env": ["ANTHROPIC_API_KEY"], "args": ["--model", "opus"]},
        {"kind": "command", "command": ["agent", "MODE=fast", "http://127.0.0.1:1/?page=2"]},
    ):
        assert secret_in(fine) == "", fine


WRONG = {
    '{"kind": "chta"}': "is of the kind 'chta', which this company does not have",
    '{"url": "x"}': "The runner has no kind",
    '{"kind": "rehearsal"}': "It has: ",
    '{"kind": "chat", "url": "http://127.0.0.1:1/v1"}': "model: it is needed",
    '{"kind": "chat", "url": "nowhere", "model": "m"}': "The address of a model server",
    '{"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": "m", "colour": 1}': "colour",
    '{"kind": "command"}': "names no command",
    '{"kind": "command", "program": "clod"}': "no program 'clod' in the catalogue",
    '{"kind": "command", "command": ["a"], "turns": "many"}': "turns",
}


@pytest.mark.parametrize("runner", WRONG)
def test_settings_that_no_run_could_use_are_refused_with_the_reason(
    folder: str, runner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hired = main(["agent", "hire", folder, "ada", "--role", "executor", "--runner", json.dumps(CHAT)])
    assert hired == Exit.OK
    capsys.readouterr()
    assert main(["agent", "edit", folder, "ada", "--runner", runner]) == Exit.USAGE
    assert WRONG[runner] in capsys.readouterr().err
    assert main(["agent", "list", folder, "--json"]) == Exit.OK
    assert json.loads(capsys.readouterr().out)["agents"][0]["runner"] == "chat"


def test_what_can_be_used_passes() -> None:
    check_runner(CHAT, KINDS)
    check_runner({"kind": "command", "program": "claude", "model": "sonnet"}, KINDS)
    check_runner({"kind": "rehearsal"}, KINDS | {"rehearsal"})
    with pytest.raises(Invalid):
        check_runner({"kind": 3}, KINDS)
