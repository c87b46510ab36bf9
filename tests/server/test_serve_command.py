"""`opsroom serve` and `opsroom mcp` as processes: who owns the board, how they end, what they print."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from core.server.doors import bound
from tests.command_line import ARGV, environment, opsroom, started
from tests.server.test_socket_room import owner_pid, wait_until
from tui.cli import main

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


@pytest.fixture
def company(tmp_path: Path) -> Path:
    folder = tmp_path / "acme"
    assert main(["init", str(folder)]) == 0
    return folder


@contextmanager
def serving(home: Path, *words: object) -> Iterator[tuple["subprocess.Popen[str]", dict[str, Any]]]:
    """A process that serves, and what it printed about it."""
    process = started(home, "serve", *words, "--json")
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def client(told: dict[str, Any]) -> httpx2.Client:
    token = Path(told["token_file"]).read_text().strip()
    return httpx2.Client(
        base_url=told["url"], headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=60
    )


def test_the_first_owns_the_board_the_second_sends_there_and_takes_over(company: Path, tmp_path: Path) -> None:
    with serving(tmp_path, company) as (first, told), serving(tmp_path, company) as (second, also_told):
        assert (told["owner"], also_told["owner"]) == (True, False)
        with client(told) as one, client(also_told) as other:
            assert one.post("/api/goals", json={"title": "One"}).status_code == 200
            assert other.post("/api/goals", json={"title": "Two"}).status_code == 200
            for here in (one, other):
                goals = here.get("/api/goals").json()["answer"]["goals"]
                assert [goal["title"] for goal in goals] == ["Two", "One"]
            added = opsroom(tmp_path, "goal", "add", company, "Three", "--json")
            assert added.returncode == 0, added.stderr
            first.send_signal(signal.SIGTERM)
            assert first.wait(30) == 143
            wait_until(lambda: owner_pid(company) == second.pid and (company / "board.sock").exists())
            assert other.post("/api/goals", json={"title": "Four"}).status_code == 200
            with other.stream("GET", "/api/events?after=0") as events:
                assert events.status_code == 200
                second.send_signal(signal.SIGINT)
                assert second.wait(30) == 130
    assert not (company / "board.sock").exists()
    assert owner_pid(company) is None
    token = Path(told["token_file"]).read_text().strip()
    written = [path for path in company.rglob("*") if path.is_file() and token.encode() in path.read_bytes()]
    assert written == [Path(told["token_file"])]


def test_the_token_is_never_printed(company: Path, tmp_path: Path) -> None:
    process = started(tmp_path, "serve", company)
    assert process.stdout is not None
    out = "".join(process.stdout.readline() for _ in range(3))
    process.send_signal(signal.SIGTERM)
    _rest, err = process.communicate(timeout=60)
    token = (company / "operator.token").read_text().strip()
    assert "operator.token" in out
    assert token not in out + err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--host", "0.0.0.0"], 2, "this machine alone"),
        (["--host", "example.org"], 2, "this machine alone"),
        (["--port", "70000"], 2, "no port"),
    ],
)
def test_what_cannot_be_served_is_told(
    company: Path, words: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(company), *words]) == code
    assert told in capsys.readouterr().err
    assert main(["goal", "add", str(company), "One"]) == 0  # nobody owns it


def test_a_port_that_is_taken_and_a_token_that_others_can_read_are_told(
    company: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with bound("127.0.0.1", 0) as taken:
        assert main(["serve", str(company), "--port", str(taken.getsockname()[1])]) == 1
    assert "cannot be had" in capsys.readouterr().err
    (company / "operator.token").chmod(0o644)
    assert main(["serve", str(company)]) == 2
    assert "Delete" in capsys.readouterr().err


class TestMcpOverStandardInput:
    def ask(self, home: Path, sent: bytes, *words: object, **more: str) -> tuple[int, list[Any], str]:
        done = subprocess.run(
            [*ARGV, "mcp", *map(str, words)], env=environment(home, **more), cwd=home, input=sent,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()

    def test_without_a_server_the_program_is_told_in_the_protocols_words(self, company: Path, tmp_path: Path) -> None:
        code, told, err = self.ask(tmp_path, b"not json\n\n" + PING + b'{"jsonrpc": "2.0", "method": "x"}\n', company)
        assert (code, err) == (0, "")
        assert [(one["id"], one["error"]["code"]) for one in told] == [(None, -32700), (1, -32000)]
        assert "opsroom serve" in told[1]["error"]["message"]

    @pytest.mark.soak
    def test_a_last_line_without_an_end_and_one_that_is_too_long_are_answered(
        self, company: Path, tmp_path: Path
    ) -> None:
        with serving(tmp_path, company):
            long = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"a": "b" * 1_100_000}}).encode()
            code, told, _err = self.ask(tmp_path, long + b"\n" + PING.strip(), company)
        assert (code, [one["id"] for one in told]) == (0, [7, 1])
        assert (told[0]["error"]["code"], told[1]["result"]) == (-32600, {})

    @pytest.mark.parametrize(
        ("url", "token", "words"),
        [
            ("http://example.org:80", "x", "this machine"),
            ("https://127.0.0.1:1", "x", "this machine"),
            ("http://127.0.0.1:x", "x", "this machine"),
            ("http://127.0.0.1:1", "", "token"),
            ("http://127.0.0.1:1", "a\nb", "token"),
        ],
    )
    def test_no_token_leaves_this_machine(
        self, url: str, token: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("OPSROOM_URL", url)
        monkeypatch.setenv("OPSROOM_TOKEN", token)
        assert main(["mcp"]) == 2
        assert words in capsys.readouterr().err

    @pytest.mark.soak
    def test_a_wrong_token_is_told(self, company: Path, tmp_path: Path) -> None:
        with serving(tmp_path, company) as (_process, told):
            code, answered, _err = self.ask(tmp_path, PING, OPSROOM_URL=told["url"], OPSROOM_TOKEN="wrong")
        assert code == 0
        assert "not known here" in answered[0]["error"]["message"]
