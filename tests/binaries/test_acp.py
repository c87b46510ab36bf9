"""Real programs over the Agent Client Protocol: what they want to do is asked, and done only after a yes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.agents.models.providers import GatewayWire
from core.domain.entities import Approval, Run
from core.domain.states import ApprovalStatus, RunStatus
from tests.acp.test_asking import answered
from tests.binaries.programs import PACKAGES
from tests.binaries.test_gateway import open_gateway
from tests.binaries.test_work import require_handed_in
from tests.binaries.worker import SIGN, Worker
from tests.binaries.world import World, a_world, needs
from tests.models.script import Asked, Call
from tests.programs.processes import marked
from tests.stepped import Stepped

# opencode takes more than a minute to begin where it has no net.
pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Speaker:
    """A program of the catalogue, the package that speaks for it, the wire to its model, and what is told of asking."""

    name: str
    package: str
    wire: GatewayWire
    supervised: str


SPEAKERS = (
    Speaker("claude", "claude-acp", "anthropic", "in its session mode 'default' the operator is asked"),
    Speaker("codex", "codex-acp", "responses", "in its session mode 'read-only' the operator is asked"),
    Speaker("gemini", "gemini", "gemini", "in its session mode 'default' the operator is asked"),
    Speaker("opencode", "opencode", "openai", "the operator is asked"),
)


def speaking(*names: str) -> pytest.MarkDecorator:
    """The test with each of these programs; unless named, with all."""
    chosen = [each for each in SPEAKERS if each.name in (names or each.name)]
    return pytest.mark.parametrize(
        "who", [pytest.param(each, marks=needs(each.package), id=each.name) for each in chosen]
    )


@asynccontextmanager
async def at_work(folder: Path, who: Speaker, worker: Worker) -> AsyncIterator[World]:
    """ada is this program, and has claimed her task without a question; she works at it now."""
    settings: dict[str, Any] = {"kind": "acp", "gateway": "models", "command": [str(PACKAGES[who.package].path)]}
    async with a_world(folder, who.name, worker, own=False, **settings) as world:
        open_gateway(world, who.wire, folder)
        claimed = await world.office.ended("broadcast")
        assert (claimed.status, claimed.exit_kind) == (RunStatus.SUCCEEDED, "done"), claimed.detail
        assert await world.office.all(Approval) == [], "calls of the board's own tools are not asked"
        await world.office.begin()
        yield world


async def pending(office: Stepped) -> Approval:
    """The question that waits, once there is one: some programs take a minute to begin."""
    async with asyncio.timeout(240):
        while not (found := await office.all(Approval, "status = 'pending'")):  # noqa: ASYNC110 - another process asks
            await asyncio.sleep(0.1)
    return found[0]


async def allow(office: Stepped) -> None:
    """Whatever is asked, until this is cancelled."""
    while True:
        await answered(office, await pending(office), "once")


async def newest(world: World) -> Run:
    return (await world.office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]


def sign(folder: Path) -> Path:
    return folder / "company" / "work" / "ada" / "sign.txt"


@speaking()
async def test_a_whole_task_with_a_command_that_the_operator_allows(tmp_path: Path, who: Speaker) -> None:
    worker = Worker(leaves=True)
    async with at_work(tmp_path, who, worker) as world:
        question = await pending(world.office)
        assert (question.payload["kind"], question.payload["command"]) == ("command", worker.command)
        assert not sign(tmp_path).exists(), "it waits for the answer"
        await answered(world.office, question, "once")
        await world.office.idle()
        run = await require_handed_in(world)
        assert sign(tmp_path).read_text() == SIGN
        told = await world.office.transcript(run)
        assert who.supervised in told
        assert "allowed once by the operator" in told
    assert marked(str(tmp_path / "company")) == []


@speaking()
async def test_what_the_operator_refuses_is_not_done_and_the_program_goes_on(tmp_path: Path, who: Speaker) -> None:
    async with at_work(tmp_path, who, Worker(leaves=True)) as world:
        await answered(world.office, await pending(world.office), "refused", "not today")
        await world.office.idle()
        run = await newest(world)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done"), run.detail
        assert not sign(tmp_path).exists()
        assert len(await world.office.all(Approval)) == 1


@speaking()
async def test_killed_while_it_waits_it_does_nothing_and_leaves_nothing(tmp_path: Path, who: Speaker) -> None:
    mark = str(tmp_path / "company")
    async with at_work(tmp_path, who, Worker(leaves=True)) as world:
        await pending(world.office)
        assert await asyncio.to_thread(marked, mark)
        await world.office.do("KillRun", run=(await newest(world)).id, reason="enough")
        await world.office.idle()
        assert await asyncio.to_thread(marked, mark) == []
        assert (await newest(world)).status == RunStatus.KILLED
        assert [each.status for each in await world.office.all(Approval)] == [ApprovalStatus.CANCELLED]
        assert not sign(tmp_path).exists()


@dataclass
class Writer(Worker):
    """Writes the sign with the program's own tool for files."""

    def work(self, asked: Asked) -> Call | None:
        for name, path in (("Write", "file_path"), ("write_file", "file_path"), ("write", "filePath")):
            if name in asked.tools:
                return Call(name, {path: self.command, "content": SIGN})
        return None


@speaking("claude", "gemini")
async def test_a_change_of_a_file_is_shown_as_its_difference_and_allowed(tmp_path: Path, who: Speaker) -> None:
    async with at_work(tmp_path, who, Writer(str(sign(tmp_path)))) as world:
        question = await pending(world.office)
        assert question.payload["kind"] == "edit"
        assert SIGN in str(question.payload["files"])
        assert not sign(tmp_path).exists()
        await answered(world.office, question, "once")
        await world.office.idle()
        await newest(world)
        assert sign(tmp_path).read_text() == SIGN


@speaking("claude", "codex", "gemini")
async def test_the_next_run_goes_on_with_the_session_of_one_that_was_killed(tmp_path: Path, who: Speaker) -> None:
    async with at_work(tmp_path, who, Worker(leaves=True)) as world:
        await pending(world.office)
        killed = await newest(world)
        await world.office.do("KillRun", run=killed.id, reason="enough")
        await world.office.idle()
        while (run := await newest(world)).id == killed.id:
            await world.office.begin()
            if (await newest(world)).id == killed.id:
                await world.office.idle()
        # What was broken off stands in some programs' sessions as done; others ask again.
        allowing = asyncio.create_task(allow(world.office))
        await world.office.idle()
        allowing.cancel()
        run = await newest(world)
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done"), run.detail
        assert killed.session
        told = await world.office.transcript(run)
        # gemini does not always find a session that was broken off: then a new one is begun, and that is said.
        lost = "its former session could not be gone on with, a new one was begun: session/load" in told
        assert f"it goes on with its session {killed.session}" in told or (who.name == "gemini" and lost)
