"""Each real program through the model gateway: it has the token of its run alone, the provider gets the key."""

from pathlib import Path

import pytest

from core.agents.models.providers import GatewayWire, ProviderConfig
from core.config import GatewayConfig
from tests.binaries.test_work import worked
from tests.binaries.worker import SIGN, Worker
from tests.binaries.world import KEY, World, a_world, needs

pytestmark = pytest.mark.agents
SPEAKS: tuple[tuple[str, GatewayWire], ...] = (
    ("claude", "anthropic"), ("codex", "responses"), ("opencode", "openai"), ("gemini", "gemini"),
)  # fmt: skip
# It looks for a package at its start, and cannot be told not to.
CALLS_HOME = {"opencode"}


def open_gateway(world: World, wire: GatewayWire, folder: Path) -> None:
    """The company has one provider, whose key lies in a file of the operator's."""
    file = folder / "provider.key"
    file.write_text(KEY)
    file.chmod(0o600)
    provider = ProviderConfig(url=world.server.url, wires=(wire,), key=f"file:{file}")
    world.office.company.config.gateway = GatewayConfig(providers={"models": provider})


@pytest.mark.parametrize(("name", "wire"), [pytest.param(*each, marks=needs(each[0])) for each in SPEAKS])
async def test_the_provider_gets_the_key_and_the_program_never_has_it(
    tmp_path: Path, name: str, wire: GatewayWire
) -> None:
    worker = Worker(f"printf '{SIGN}' > sign.txt; cat sign.txt; env > environment.txt")
    async with a_world(tmp_path, name, worker, own=False, gateway="models", allow="commands") as world:
        open_gateway(world, wire, tmp_path)
        await worked(world)
        assert {asked.key for asked in world.server.requests} == {KEY}
        environment = (tmp_path / "company" / "work" / "ada" / "environment.txt").read_text()
        assert "OPSROOM_TOKEN=run-" in environment
        used = (world.runs[1].tokens_in, world.runs[1].tokens_out)
        assert used == (600, 60), await world.office.transcript(world.runs[1])
        assert (tmp_path / "company" / "homes" / "ada").is_dir()
        if name not in CALLS_HOME:
            assert world.net.asked == []
        # Of its settings and sessions nothing lies in the operator's home.
        assert {each.name for each in world.home.iterdir()} <= {".cache"}
    for file in (tmp_path / "company").rglob("*"):
        if file.is_file() and not file.is_symlink():
            assert KEY.encode() not in file.read_bytes(), file
