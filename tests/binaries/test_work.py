"""Each real program claims a task, works, hands off and submits (S4-19): real company, board, server and runner."""

from pathlib import Path

import pytest

from core.domain.entities import Comment, Output, Run
from core.domain.states import RunStatus, TaskStatus
from tests.binaries.worker import SIGN, Worker
from tests.binaries.world import KEY, World, a_world, program
from tests.programs.company import HANDOFF
from tests.programs.processes import marked

pytestmark = pytest.mark.agents
ALL = [program(name) for name in ("claude", "codex", "opencode", "gemini")]


async def worked(world: World) -> None:
    """The task is claimed and handed in, as the board and the folder show."""
    claimed = await world.office.ended("broadcast")
    assert (claimed.status, claimed.exit_kind) == (RunStatus.SUCCEEDED, "done"), claimed.detail
    await world.office.ended("execute")
    world.runs = [claimed, await require_handed_in(world)]


async def require_handed_in(world: World) -> Run:
    """The task lies with its reviewer, as its newest run left it; that run."""
    done = (await world.office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]
    assert (done.status, done.exit_kind) == (RunStatus.SUCCEEDED, "done"), done.detail
    assert "then" not in done.detail
    assert done.session
    assert (await world.office.task()).status == TaskStatus.REVIEW
    assert [output.content for output in await world.office.all(Output)] == [SIGN]
    assert HANDOFF in [comment.body for comment in await world.office.all(Comment)]
    return done


@pytest.mark.parametrize("name", ALL)
async def test_it_claims_works_hands_off_and_submits(tmp_path: Path, name: str) -> None:
    async with a_world(tmp_path, name, Worker(), allow="commands") as world:
        await worked(world)
        folder = tmp_path / "company" / "work" / "ada"
        assert (folder / "sign.txt").read_text() == SIGN
        told = await world.office.transcript(world.runs[1])
        assert all(text in told for text in ("It is handed in.", "sign.txt", '"kind": "usage"'))
        assert KEY not in told
        assert {asked.key for asked in world.server.requests} == {KEY}
        # Six answers of a hundred tokens in and ten out, whatever else it asked.
        assert (world.runs[1].tokens_in, world.runs[1].tokens_out) == (600, 60)
    assert marked(str(tmp_path / "company")) == []


@pytest.mark.parametrize("name", ALL)
async def test_the_board_can_be_used_by_curl_in_its_shell(tmp_path: Path, name: str) -> None:
    async with a_world(tmp_path, name, Worker(by_curl=True), allow="commands") as world:
        await worked(world)
