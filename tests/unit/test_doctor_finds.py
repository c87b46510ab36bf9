"""The doctor: programs with versions, model servers, keys by name, what each agent lacks, and one real call to each."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.commands.registry import parse
from core.config import Config, PriceConfig
from core.doctor.known import fitting, known
from core.doctor.servers import find_servers
from tests import founding
from tests.acp.bare import bare
from tests.models.script import Hang, Raw, Refuse, Turn
from tests.models.server import ModelServer
from tui.cli import main, opening
from tui.cli.exits import Exit

KEY = "sk-test-of-the-doctor-0123456789"
VARIABLE = "DOCTOR_TEST_KEY"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH; no server and no key is here."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    ports(monkeypatch)
    for provider in known().providers.values():
        monkeypatch.delenv(provider.key, raising=False)
    return place


def ports(monkeypatch: pytest.MonkeyPatch, **places: int) -> None:
    monkeypatch.setattr("core.doctor.found.known", lambda: known().model_copy(update={"servers": places}))


def a_program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def checked(capsys: pytest.CaptureFixture[str], *words: str, code: int = Exit.OK) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["doctor", *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def a_company(folder: Path, prices: dict[str, PriceConfig] | None = None, **runners: dict[str, Any]) -> str:
    """A company whose agents have these runners."""

    async def make() -> None:
        await founding.a_company(folder, Config(name="Acme", mission="Help", prices=prices or {}))
        for slug, runner in runners.items():
            hire = {"slug": slug, "name": slug.title(), "role": "executor", "runner": runner}
            await opening.send(folder, parse("HireAgent", hire))

    asyncio.run(make())
    return str(folder)


def chat(server: ModelServer, **more: Any) -> dict[str, Any]:
    return {"kind": "chat", "url": f"{server.url}/v1", "model": "scripted", **more}


def test_programs_tell_their_versions_without_our_keys_and_without_ours_waiting(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("core.doctor.programs.VERSION_S", 1.0)
    a_program(programs, "claude", 'echo "2.1.0 (Claude Code)"')
    a_program(programs, "codex", 'echo "a warning"; echo "codex-cli 0.60.1 key=$OPENAI_API_KEY"')
    a_program(programs, "opencode", "echo broken >&2; exit 3")
    a_program(programs, "gemini", "sleep 7319 & sleep 7319")
    found = checked(capsys)
    assert [(each["name"], each["version"]) for each in found["programs"]] == [
        ("claude", "2.1.0"), ("codex", "0.60.1"), ("opencode", ""), ("gemini", ""),
    ]  # fmt: skip
    assert [each["problem"] for each in found["programs"]][2:] == [
        "it ended with exit code 3", "it told no version in 1 s",
    ]  # fmt: skip
    assert {"name": "OPENAI_API_KEY", "set": True} in found["keys"]
    assert {"name": "ANTHROPIC_API_KEY", "set": False} in found["keys"]
    assert KEY not in json.dumps(found)
    alive = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert not any(line and "7319" in line for line in alive), "nothing of a program is left"


def test_model_servers_are_found_by_what_they_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        ready = stack.enter_context(ModelServer(models=("qwen3", "gemma")))
        empty = stack.enter_context(ModelServer(models=()))
        others: dict[str, bytes] = {
            "loading": b'HTTP/1.1 503 X\r\nContent-Length: 38\r\n\r\n{"error": {"message": "Loading model"}}',
            "refuses": b"HTTP/1.1 401 X\r\nContent-Length: 2\r\n\r\n{}",
            "html": b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
            "garbage": b"\x00\x01\x02\r\n\r\n",
            "silent": b"",
        }

        async def find() -> dict[str, tuple[str, int]]:
            servers = {name: await asyncio.start_server(_says(data), "127.0.0.1", 0) for name, data in others.items()}
            places = {name: server.sockets[0].getsockname()[1] for name, server in servers.items()}
            places |= {"ready": _port(ready), "empty": _port(empty), "nobody": _closed_port()}
            found = await find_servers(places, 1.0)
            for server in servers.values():
                server.close()
            return {each.name: (str(each.state), len(each.models)) for each in found}

        assert asyncio.run(find()) == {
            "ready": ("ready", 2), "empty": ("ready", 0), "loading": ("loading", 0), "refuses": ("refuses", 0),
            "html": ("other", 0), "garbage": ("other", 0), "silent": ("other", 0),
        }  # fmt: skip


def _says(data: bytes) -> Any:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        if not data:
            await reader.read()  # until the other side has enough of waiting
        writer.close()

    return answer


def _port(server: ModelServer) -> int:
    return int(server.url.rpartition(":")[2])


def _closed_port() -> int:
    import socket

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def test_it_says_what_each_agent_lacks(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_program(programs, "claude", "echo 1.0.0")
    a_program(programs, "codex-acp", "exit 0")
    monkeypatch.setenv(VARIABLE, KEY)
    with ModelServer() as server:
        folder = a_company(
            tmp_path / "c",
            ada=chat(server, key=f"env:{VARIABLE}"),
            ben=chat(server, key="env:DOCTOR_TEST_UNSET"),
            cid={"kind": "chat", "url": f"http://127.0.0.1:{_closed_port()}/v1", "model": "m"},
            dot={"kind": "command", "program": "claude", "env": ["DOCTOR_TEST_UNSET"]},
            eve={"kind": "command", "program": "codex"},
            fay={"kind": "command", "command": ["./agent.sh"]},
            gus={"kind": "rehearsal"},
            hal={"kind": "acp", "program": "claude"},
            ida={"kind": "acp", "program": "codex"},
        )
        found = checked(capsys, folder)
    lacks = {each["agent"]: " ".join(each["missing"]) for each in found["agents"]}
    assert lacks["ada"] == ""
    assert "DOCTOR_TEST_UNSET holds no key. Set it before Opsroom starts." in lacks["ben"]
    assert "start the model server" in lacks["cid"]
    assert "The variable DOCTOR_TEST_UNSET is not set." in lacks["dot"]
    assert "no program 'codex' on the PATH. Install it: npm install -g @openai/codex" in lacks["eve"]
    # What speaks the protocol for a program is a command of its own: that one is started.
    assert "no program 'claude-agent-acp' on the PATH. Install it: npm install -g @agentclient" in lacks["hal"]
    assert lacks["ida"] == ""
    assert "agent.sh is no program that can be run" in lacks["fay"]
    assert "which this company does not have" in lacks["gus"]
    assert found["agents"][0]["uses"] == f"scripted at {server.url.removeprefix('http://')} by env:{VARIABLE}"
    assert KEY not in json.dumps(found)
    assert found["calls"] == []
    assert server.requests == []


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The last line of what the doctor says."""
    capsys.readouterr()
    assert main(["doctor", *words]) == Exit.OK
    return capsys.readouterr().out.splitlines()[-1]


def test_it_closes_with_what_to_do_when_agents_have_nothing_to_run_on(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(programs))
    assert told(capsys).startswith("Agents have nothing to run on here: install one of the programs above")
    lost = {"kind": "chat", "url": f"http://127.0.0.1:{_closed_port()}/v1", "model": "m"}
    nobody = a_company(tmp_path / "a", ada=lost, eve={"kind": "command", "program": "codex"})
    closing = told(capsys, nobody)
    assert closing.startswith("None of the 2 agents has what it needs to run")
    assert f"opsroom agent edit {nobody} ada --runner" in closing
    assert told(capsys, a_company(tmp_path / "b", ada=lost)).startswith("The only agent has not what it needs to run")
    a_program(programs, "codex", "echo 1.0.0")
    assert not told(capsys, nobody).startswith("None of")
    assert not told(capsys).startswith("Agents have nothing")


CLAUDE = """cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":IS_ERROR,"result":"OK then","total_cost_usd":0.0125,\
"usage":{"input_tokens":400,"output_tokens":4}}'"""


def test_a_call_tells_the_answer_what_it_cost_and_changes_no_board(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_program(programs, "claude", CLAUDE.replace("IS_ERROR", "false"))
    a_program(programs, "agent", f'read -r line; echo "I read $line$OPSROOM_URL, {VARIABLE}=${VARIABLE}"')
    monkeypatch.setenv(VARIABLE, KEY)
    price = {"scripted": PriceConfig(tokens_in=1, tokens_out=2)}
    with ModelServer(Turn("OK"), key=KEY) as server:
        folder = a_company(
            tmp_path / "c", price,
            ada=chat(server, key=f"env:{VARIABLE}"),
            bob={**chat(server, key=f"env:{VARIABLE}"), "model": "other"},
            eve={"kind": "command", "program": "claude"},
            fay={"kind": "command", "command": ["agent"], "env": [VARIABLE]},
        )  # fmt: skip
        events = opening.run(_last_event(tmp_path / "c"))
        found = checked(capsys, folder, "--call", "--yes")
        assert len(server.requests) == 2
    by_agent = {each["agent"]: each for each in found["calls"]}
    told = {name: (each["ok"], each["tokens_in"], each["cost_micros"]) for name, each in by_agent.items()}
    assert told == {
        "ada": (True, 100, 120), "bob": (True, 100, None), "eve": (True, 400, 12_500), "fay": (True, None, None)
    }  # fmt: skip
    assert by_agent["ada"]["words"] == "OK"
    assert not any(check["name"] == "runners" and check["verdict"] != "ok" for check in found["checks"])
    assert by_agent["fay"]["words"].startswith("I read This only tries the line.")
    assert "http" not in by_agent["fay"]["words"], "it is given no way to the board"
    texts = {check["text"].split()[0]: check["text"] for check in found["checks"] if check["name"] == "call"}
    assert "cost unknown" in texts["bob"]
    assert ", 0.00012 USD, " in texts["ada"]
    assert "tokens unknown" in texts["fay"]
    assert KEY not in json.dumps(found)
    assert opening.run(_last_event(tmp_path / "c")) == events
    assert not (tmp_path / "c" / "work").exists()


async def _last_event(folder: Path) -> int:
    async with opening.reading(folder) as board:
        return await board.readers.last_event()


FAULTS = {
    "a wrong key": (Refuse(401, "Incorrect API key provided."), "Incorrect API key"),
    "a quota": (Refuse(429, "You exceeded your current quota", "insufficient_quota"), "quota"),
    "an unknown model": (Refuse(404, "The model does not exist"), "does not exist"),
    "loading": (Refuse(503, "Loading model"), "the server loads its model; try again in a while"),
    "a limit": (Refuse(429, "Slow down", headers={"retry-after": "30"}), "Slow down"),
    "garbage": (Raw(b"no events at all\n\n"), "no stream of events"),
    "silence": (Hang(), "said nothing"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_call_that_fails_says_why_and_is_not_tried_again(
    tmp_path: Path, programs: Path, fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    act, words = FAULTS[fault]
    monkeypatch.setattr("core.doctor.calls.call.__kwdefaults__", {**_defaults(), "seconds": 1.0})
    with ModelServer(act) as server:
        folder = a_company(tmp_path / "c", ada=chat(server))
        found = checked(capsys, folder, "--call", "--yes", code=Exit.REFUSED)
        assert len(server.requests) == 1
    assert words in found["calls"][0]["words"]
    assert found["calls"][0]["ok"] is False


def _defaults() -> dict[str, Any]:
    from core.doctor.calls import call

    return dict(call.__kwdefaults__ or {})


PROGRAMS = {
    "fails by its own word": (CLAUDE.replace("IS_ERROR", "true"), "OK then"),
    "ends without a result": ("cat >/dev/null; exit 0", "without a result"),
    "ends with a code": ("echo 'no login' >&2; exit 7", "exit code 7: no login"),
    "never ends": ("sleep 7321 & sleep 7321", "took longer than 1 s"),
}


@pytest.mark.parametrize("how", PROGRAMS)
def test_a_program_that_does_not_answer_says_why_and_nothing_of_it_is_left(
    tmp_path: Path, programs: Path, how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, words = PROGRAMS[how]
    a_program(programs, "claude", text)
    limit = 1.0 if how == "never ends" else 30.0
    monkeypatch.setattr("core.doctor.calls.call.__kwdefaults__", {**_defaults(), "seconds": limit})
    monkeypatch.setattr("core.doctor.programs.VERSION_S", 1.0)
    folder = a_company(tmp_path / "c", eve={"kind": "command", "program": "claude", "grace_s": 0.5})
    found = checked(capsys, folder, "--call", "--yes", code=Exit.REFUSED)
    assert words in found["calls"][0]["words"]
    if how == "never ends":  # the other cases may be tried beside it
        alive = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
        assert not any(line and "7321" in line for line in alive)


ACP = {
    "answers": ('def work(prompt):\n    say("OK then")\n', True, "OK then"),
    "asks": ('def work(prompt):\n    say("answer " + ask().get("optionId", "cancelled"))\n', True, "answer no"),
    "says nothing": ("def work(prompt):\n    ask()\n", False, "it asked for a permission, which a call does not give"),
    "has no login": (
        'def answer_session_new(params):\n    raise Wrong({"code": -32000, "message": "Authentication required"})\n',
        False, "log in with the program itself",
    ),
    "never answers": ("def work(prompt):\n    time.sleep(7322)\n", False, "took longer than 3 s"),
}  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("how", ACP)
def test_a_program_of_the_protocol_is_really_asked_and_nothing_is_allowed_to_it(
    tmp_path: Path, programs: Path, how: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, ok, words = ACP[how]
    limit = 3.0 if how.startswith("never") else 60.0
    monkeypatch.setattr("core.doctor.calls.call.__kwdefaults__", {**_defaults(), "seconds": limit})
    (tmp_path / "agent.py").write_text(bare(code))
    command = [sys.executable, str(tmp_path / "agent.py")]
    runner = {"kind": "acp", "command": command, "mode": "default", "grace_s": 0.5}
    folder = a_company(tmp_path / "c", ada=runner)
    found = checked(capsys, folder, "--call", "--yes", code=Exit.OK if ok else Exit.REFUSED)
    assert (found["calls"][0]["ok"], found["calls"][0]["tried"]) == (ok, True)
    assert words in found["calls"][0]["words"]
    alive = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not any(str(tmp_path / "agent.py") in line for line in alive)


def test_an_agent_behind_a_gateway_is_told_as_not_tried_which_is_no_failure(
    tmp_path: Path, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = a_company(tmp_path / "c", ada={"kind": "command", "command": ["agent"], "gateway": "models"})
    found = checked(capsys, folder, "--call", "--yes")
    (told,) = [check for check in found["checks"] if check["name"] == "call"]
    assert (told["verdict"], "not tried" in told["text"]) == ("warn", True)
    assert found["calls"][0]["tried"] is False


def test_what_the_provider_behind_a_gateway_lacks_is_said(
    tmp_path: Path, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_program(programs, "agent", "exit 0")
    program = {"kind": "command", "command": ["agent"]}
    folder = a_company(
        tmp_path / "c", ada={**program, "gateway": "models"}, ben={**program, "gateway": "nowhere"}, cid=program
    )
    provider = ("[gateway.providers.models]", 'url = "https://127.0.0.2:1"', 'wires = ["openai"]')
    with (tmp_path / "c" / "company.toml").open("a") as file:
        file.write("\n".join(("", *provider, 'key = "env:DOCTOR_TEST_UNSET"', "")))
    lacks = {each["agent"]: " ".join(each["missing"]) for each in checked(capsys, folder)["agents"]}
    assert "The gateway models: The environment variable DOCTOR_TEST_UNSET holds no key" in lacks["ada"]
    assert lacks["ben"] == "There is no [gateway.providers.nowhere] in company.toml; it has models."
    assert lacks["cid"] == ""


def test_nobody_is_called_without_a_yes(
    tmp_path: Path, programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    with ModelServer(Turn("OK")) as server:
        folder = a_company(tmp_path / "c", ada=chat(server))
        assert main(["doctor", folder, "--call"]) == Exit.USAGE
        assert "Add --yes" in capsys.readouterr().err
        assert main(["doctor", "--call"]) == Exit.USAGE
        assert server.requests == []


def test_how_many_programs_fit_in_memory() -> None:
    assert fitting(4 * 2**30) == (10, 18)
    assert fitting(100 * 2**20) == (0, 0)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folders that versions and calls are tried in are gone afterwards."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    yield
    assert [path.name for path in scratch.iterdir() if path.name.startswith("opsroom-c")] == []
