"""How a real program ends when its provider refuses: a limit costs no attempt, a wrong key fails with its reason."""

from pathlib import Path

import pytest

from core.domain.states import RunStatus
from tests.binaries.world import a_world, program
from tests.models.script import Refuse

pytestmark = pytest.mark.agents
LIMIT = Refuse(429, "You are too fast.", "", {"retry-after": "1"})
# A few more tries of its own, and then it is over: not the ten of claude, nor the hundreds of others.
REQUESTS_MAX = 12


@pytest.mark.parametrize("name", [program(name) for name in ("claude", "codex", "opencode", "gemini")])
async def test_a_limit_of_its_provider_is_told_as_one(tmp_path: Path, name: str) -> None:
    async with a_world(tmp_path, name, LIMIT) as world:
        run = await world.office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.RATE_LIMITED, "rate_limited"), run.detail
        assert len(world.server.requests) <= REQUESTS_MAX


@pytest.mark.parametrize("name", [program(name) for name in ("claude", "codex", "opencode", "gemini")])
async def test_a_wrong_key_fails_with_the_providers_words(tmp_path: Path, name: str) -> None:
    async with a_world(tmp_path, name, Refuse(401, "Incorrect API key provided.")) as world:
        run = await world.office.ended("broadcast")
        assert (run.status, run.exit_kind) == (RunStatus.FAILED, "failed"), run.detail
        assert "Incorrect API key" in run.detail
