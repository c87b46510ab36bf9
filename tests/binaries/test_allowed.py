"""What a real program may do unasked, by the setting `allow`: what it may not do leaves nothing behind."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from core.domain.entities import Run
from core.domain.states import RunStatus
from tests.binaries.test_commits import CLOSED
from tests.binaries.test_gateway import open_gateway
from tests.binaries.worker import SIGN, Worker
from tests.binaries.world import a_world, program
from tests.models.script import Asked, Call, Turn

pytestmark = pytest.mark.agents
# By program: its shell with the name of what it runs, and its tool for files with those of the path and the text.
_TOOLS = {
    "claude": (("Bash", "command"), ("Write", "file_path", "content")),
    "gemini": (("run_shell_command", "command"), ("write_file", "file_path", "content")),
    "opencode": (("bash", "command"), ("write", "filePath", "content")),
}


@dataclass
class Tries(Worker):
    """Calls its shell, whether it is offered or not, then writes the sign by its tool for files, then hands in."""

    program: str = ""
    folder: Path = Path()
    tried: set[str] = field(default_factory=set)

    def _deliver(self, asked: Asked) -> Turn:
        (runs, command), (writes, path, text) = _TOOLS[self.program]
        for name, arguments in (
            (runs, {command: "echo x > by-shell.txt", "description": "Tries it."}),
            (writes, {path: str(self.folder / "sign.txt"), text: SIGN}),
        ):
            if name not in self.tried:
                self.tried.add(name)
                return Turn(f"Now {name}.", (Call(name, arguments),))
        return super()._deliver(asked)

    def work(self, asked: Asked) -> Call | None:
        """What it did already."""
        return None


@pytest.mark.parametrize(("allow", "edits"), [("edits", True), ("board", False)])
@pytest.mark.parametrize("name", [program(name) for name in _TOOLS])
async def test_a_shell_that_it_may_not_use_does_nothing_and_an_edit_does_where_it_may(
    tmp_path: Path, name: str, allow: str, edits: bool
) -> None:
    folder = tmp_path / "company" / "work" / "ada"
    async with a_world(tmp_path, name, Tries(program=name, folder=folder), allow=allow) as world:
        await world.office.ended("broadcast")
        await world.office.ended("execute")
        run = (await world.office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done"), run.detail
        assert not (folder / "by-shell.txt").exists()
        assert (folder / "sign.txt").exists() == edits
        if edits:
            assert (folder / "sign.txt").read_text() == SIGN


@pytest.mark.parametrize(("allow", "within"), [("edits", True), ("board", False)])
@pytest.mark.parametrize("name", [program("codex")])
async def test_a_shell_in_its_sandbox_writes_in_its_folder_alone_and_only_where_it_may(
    tmp_path: Path, name: str, allow: str, within: bool
) -> None:
    worker = Worker(f"echo x > ../../outside.txt; printf '{SIGN}' > sign.txt; echo '{SIGN}'")
    folder = tmp_path / "company" / "work" / "ada"
    async with a_world(tmp_path, name, worker, own=False, gateway="models", allow=allow, args=CLOSED) as world:
        open_gateway(world, "responses", tmp_path)
        await world.office.ended("broadcast")
        await world.office.ended("execute")
        run = (await world.office.all(Run, "kind = 'execute' ORDER BY id DESC"))[0]
        assert (run.status, run.exit_kind) == (RunStatus.SUCCEEDED, "done"), run.detail
        assert not (tmp_path / "company" / "outside.txt").exists()
        assert (folder / "sign.txt").exists() == within
