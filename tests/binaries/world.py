"""A company whose executor is one of the real programs, with a scripted model server behind it, and no other net."""

import json
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.domain.entities import Run
from tests.binaries.programs import PACKAGES, ROOT, node_folder, path_told
from tests.models.script import Act, Script
from tests.models.server import ModelServer
from tests.programs.company import an_office
from tests.programs.processes import MARK
from tests.stepped import Stepped

KEY = "sk-the-real-key-0123456789abcdef"
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")


def needs(name: str) -> pytest.MarkDecorator:
    """Skips a test, with the reason, where the program is not installed."""
    package = PACKAGES[name]
    reason = f"{name} {package.version} is not installed; `make agents` does that"
    if package.is_there and package.needs_node and node_folder() is None:
        return pytest.mark.skip(reason=f"{name} needs a newer node; `make agents` installs one")
    if name == "gemini" and (open_to_others := _writable_by_others()):
        # It believes no settings there, and so has neither its key nor the board's tools.
        return pytest.mark.skip(reason=f"gemini takes no settings from below {open_to_others}: others may write there")
    return pytest.mark.skipif(not package.is_there, reason=reason)


def _writable_by_others() -> Path | None:
    """The first folder above the presets in which others than its owner may write, e.g. /tmp."""
    return next((folder for folder in ROOT.parents if folder.stat().st_mode & 0o022), None)


def program(name: str) -> Any:
    """A parameter that is skipped where the program is not installed."""
    return pytest.param(name, marks=needs(name))


class NoNet:
    """A proxy that refuses everybody; `asked` are those whom somebody wanted to reach."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client:
                client.settimeout(5)
                try:
                    self.asked.append(client.recv(4096).split(b"\r\n")[0].decode(errors="replace"))
                    client.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                except OSError:
                    continue

    def close(self) -> None:
        self._socket.close()


@dataclass
class World:
    """One program at work. `home` is its home, `ours` the environment of whoever opened the company."""

    office: Stepped
    server: ModelServer
    net: NoNet
    home: Path
    ours: dict[str, str]
    runs: list[Run] = field(default_factory=list)


def settings_of(name: str, server: ModelServer, home: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The runner's settings, and our own environment, with which a program asks this server by its own key."""
    runner: dict[str, Any] = {"env": [], "model": "scripted"}
    ours: dict[str, str] = {}
    if name == "claude":
        runner["env"] = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]
        ours = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY}
    elif name == "codex":
        provider = f'{{name="own",base_url="{server.url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}'
        runner |= {
            "env": ["OPENAI_API_KEY"],
            "args": ["-c", 'model_provider="own"', "-c", f"model_providers.own={provider}"],
        }
        ours = {"OPENAI_API_KEY": KEY}
    elif name == "opencode":
        own = {"baseURL": f"{server.url}/v1", "apiKey": "{env:OWN_KEY}"}
        provider_of = {"npm": "@ai-sdk/openai-compatible", "options": own, "models": {"scripted": {}}}
        _written(home / ".config" / "opencode" / "opencode.json", {"provider": {"own": provider_of}})
        runner |= {"env": ["OWN_KEY"], "model": "own/scripted"}
        ours = {"OWN_KEY": KEY}
    else:
        _written(home / ".gemini" / "settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
        runner["env"] = ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]
        ours = {"GOOGLE_GEMINI_BASE_URL": server.url, "GEMINI_API_KEY": KEY}
    return runner, ours


def _written(path: Path, facts: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(facts))


@asynccontextmanager
async def a_world(
    folder: Path, name: str, script: Script | Act, *, config: str = "", own: bool = True, **settings: Any
) -> AsyncIterator[World]:
    """The program as ada, executor; `own` gives it the server's address and the real key. `script` is its model."""
    net, home = NoNet(), folder / "home"
    home.mkdir()
    try:
        with ModelServer(key=KEY) as server:
            server.script = script if callable(script) else lambda asked: script
            runner, ours = settings_of(name, server, home) if own else ({"model": "scripted", "env": []}, {})
            ours = {**ours, "PATH": path_told(), "HOME": str(home), **dict.fromkeys(_PROXIES, net.url)}
            runner = {
                **runner, "program": name, "command": [str(PACKAGES[name].path)], "grace_s": 1, **settings,
                "env": [*runner["env"], *_PROXIES, MARK],
            }  # fmt: skip
            company = folder / "company"
            async with an_office(company, "", ours, **runner) as office:
                yield World(office, server, net, home, ours)
    finally:
        net.close()
