"""codex in its sandbox commits in its work tree, and reaches neither hooks nor settings of the repository (C-06)."""

from pathlib import Path

import pytest

from core.domain.entities import WorkTree
from tests.binaries.test_gateway import open_gateway
from tests.binaries.worker import Worker
from tests.binaries.world import a_world, program
from tests.programs.test_work_trees import on
from tests.repositories import a_repository, git

pytestmark = pytest.mark.agents
WHO = "-c user.name=Ada -c user.email=ada@example.org"
COMMIT = f"echo Mondays > hours.txt; git add hours.txt && git {WHO} commit -qm Hours"


# The folder for temporary files is open to its sandbox otherwise, and may hold the repository of a test.
CLOSED = [
    "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true",
]  # fmt: skip


@pytest.mark.parametrize("name", [program("codex")])
async def test_it_commits_in_its_tree_and_nowhere_else(tmp_path: Path, name: str) -> None:
    site = a_repository(tmp_path / "site")
    before = git(site, "rev-parse", "HEAD")
    kept = [site / ".git" / "config", site / ".git" / "HEAD", site / "README.md"]
    held = [each.read_text() for each in kept]
    hook = site / ".git" / "hooks" / "pre-commit"
    tries = "".join(f"; echo x >> {place}" for place in (*kept, hook))
    settings = {"gateway": "models", "allow": "commands", "args": CLOSED}
    async with a_world(tmp_path, name, Worker(COMMIT + tries), own=False, **settings) as world:
        open_gateway(world, "responses", tmp_path)
        await on(world.office, "../site")
        await world.office.ended("broadcast")
        run = await world.office.ended("execute")
        assert run.exit_kind == "done", run.detail
        (tree,) = await world.office.all(WorkTree)
        assert git(site, "log", "--format=%s", "-1", tree.branch) == "Hours", await world.office.transcript(run)
    assert git(site, "rev-parse", "HEAD") == before
    assert [each.read_text() for each in kept] == held
    assert not hook.exists()
