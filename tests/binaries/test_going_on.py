"""The operator goes on with the session of an ended run of a real program: in a new run, or in its own terminal."""

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.agents.programs.interactive import Terminal, terminal_of
from core.domain.entities import AgentRecord, Run
from core.domain.states import RunStatus
from tests.binaries.programs import PACKAGES
from tests.binaries.test_work import require_handed_in
from tests.binaries.worker import Worker
from tests.binaries.world import KEY, World, a_world, needs, program
from tests.models.script import Asked, Turn
from tests.programs.processes import MARK, marked

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
PONDERS = "I ponder the hours of the sign."
REMARK = "The hours are settled, so hand it in."
_ESCAPES = re.compile(rb"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][0-9A-B]|[=>78MH])")
# What programs ask of a terminal before they draw, with its answer: where the cursor is, its kind, its two colours.
_ASKED = {
    b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c", b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}  # fmt: skip


@dataclass
class Ponders(Worker):
    """Says nothing but words to its task, until its conversation holds the remark."""

    def _deliver(self, asked: Asked) -> Turn:
        return super()._deliver(asked) if REMARK in json.dumps(asked.body) else Turn(PONDERS)


async def pondered(world: World) -> Run:
    """A run of its task that ended in words, with its session."""
    await world.office.ended("broadcast")
    run = await world.office.ended("execute")
    assert run.status == RunStatus.PROTOCOL_VIOLATION, run.detail
    assert run.session
    return run


@pytest.mark.parametrize("name", [program(name) for name in ("claude", "codex", "opencode", "gemini")])
async def test_a_new_run_has_its_conversation_and_the_remark(tmp_path: Path, name: str) -> None:
    async with a_world(tmp_path, name, Ponders(), allow="commands") as world:
        before = await pondered(world)
        await world.office.do("ResumeSession", run=before.id, remark=REMARK)
        await world.office.ended("execute")
        after = await require_handed_in(world)
        assert after.id != before.id
        first = next(json.dumps(asked.body) for asked in world.server.requests if REMARK in json.dumps(asked.body))
        assert PONDERS in first
        assert f"goes on with the session {before.session}" in await world.office.transcript(after)


def settled_in(world: World, folder: Path) -> None:
    """As if a person had answered what claude and codex ask once: the theme, the key, whether the folder is trusted.

    codex finds the provider of the session in its settings: the arguments of the agent are those of its runs alone.
    """
    asked_once = {
        "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [KEY[-20:]]},
        "projects": {str(folder): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }  # fmt: skip
    file = world.home / ".claude.json"
    file.write_text(json.dumps({**(json.loads(file.read_text()) if file.exists() else {}), **asked_once}))
    codex = world.home / ".codex"
    codex.mkdir(exist_ok=True)
    (codex / "auth.json").write_text(json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": KEY}))
    (codex / "config.toml").write_text(
        f'[projects."{folder}"]\ntrust_level = "trusted"\n[model_providers.own]\nname = "own"\n'
        f'base_url = "{world.server.url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
    )


@contextlib.contextmanager
def on_a_terminal(start: Terminal, mark: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """The program on a terminal of its own, and the other end of it."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    shown = subprocess.Popen(
        start.argv, cwd=start.cwd, env={**start.environment, MARK: mark}, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        yield shown, master
    finally:
        for pid in marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        shown.wait()
        os.close(master)


def seen(shown: "subprocess.Popen[bytes]", master: int, words: str, seconds: float = 60) -> str:
    """What the program has drawn, without its signs of control, until these words are in it or it ends."""
    told, deadline = b"", time.monotonic() + seconds
    while (text := _ESCAPES.sub(b" ", told).decode(errors="replace")) is not None and time.monotonic() < deadline:
        if words in " ".join(text.split()) or shown.poll() is not None:
            break
        if select.select([master], [], [], 0.2)[0]:
            with contextlib.suppress(OSError):
                more = os.read(master, 65536)
                told += more
                os.write(master, b"".join(answer for asked, answer in _ASKED.items() if asked in more))
    return " ".join(text.split())


async def shows_its_conversation(world: World, folder: Path) -> None:
    """The terminal to the program of ada's last run, where it draws what was said in that run."""
    run = await pondered(world)
    (agent,) = await world.office.all(AgentRecord, "slug = 'ada'")
    start = await terminal_of(folder / "company", agent, run, None, world.ours)
    assert start.cwd == folder / "company" / "work" / "ada"
    settled_in(world, start.cwd)
    with on_a_terminal(start, str(folder / "terminal")) as (shown, master):
        text = await asyncio.to_thread(seen, shown, master, PONDERS)
        assert PONDERS in text, (shown.poll(), text)
        where = await asyncio.to_thread(os.readlink, f"/proc/{shown.pid}/cwd")
        assert where == str(start.cwd)


@pytest.mark.parametrize("name", [program(name) for name in ("claude", "codex")])
async def test_its_own_terminal_shows_the_conversation_of_the_run(tmp_path: Path, name: str) -> None:
    async with a_world(tmp_path, name, Ponders(), allow="commands") as world:
        await shows_its_conversation(world, tmp_path)


@needs("claude")
@needs("claude-acp")
async def test_the_terminal_of_claude_goes_on_with_a_session_over_the_protocol(tmp_path: Path) -> None:
    command = [str(PACKAGES["claude-acp"].path)]
    async with a_world(tmp_path, "claude", Ponders(), kind="acp", command=command) as world:
        world.ours["PATH"] = f"{PACKAGES['claude'].path.parent}:{world.ours['PATH']}"
        await shows_its_conversation(world, tmp_path)
