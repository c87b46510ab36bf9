"""A real program that is killed in the middle of a command of its shell leaves nothing behind (F17)."""

import asyncio
from pathlib import Path

import pytest

from core.domain.entities import Run
from core.domain.states import RunStatus
from tests.binaries.worker import Worker
from tests.binaries.world import a_world, program
from tests.programs.processes import marked

pytestmark = pytest.mark.agents


# Not `sleep`: some programs refuse it.
WAITS = "mkfifo pipe; cat pipe & cat pipe"


def waiting(mark: str) -> list[int]:
    """Living processes of this mark that wait at the pipe."""
    return [pid for pid in marked(mark) if Path(f"/proc/{pid}/comm").read_text().strip() == "cat"]


@pytest.mark.parametrize("name", [program(name) for name in ("claude", "codex", "opencode", "gemini")])
async def test_nothing_is_left_of_it(tmp_path: Path, name: str) -> None:
    mark = str(tmp_path / "company")
    async with a_world(tmp_path, name, Worker(WAITS), allow="commands") as world:
        await world.office.ended("broadcast")
        await world.office.begin()
        async with asyncio.timeout(120):
            while not await asyncio.to_thread(waiting, mark):  # noqa: ASYNC110 - another process, no event of ours
                await asyncio.sleep(0.1)
        run = (await world.office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]
        await world.office.do("KillRun", run=run.id)
        await world.office.idle()
        assert await asyncio.to_thread(marked, mark) == []
        run = (await world.office.all(Run, f"id = {run.id}"))[0]
        assert run.status == RunStatus.KILLED
