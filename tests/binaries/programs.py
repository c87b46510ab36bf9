"""The agent programs that `make agents` installs in `.agents`, each in a folder of its own, and where they are."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / ".agents"
NODE_MIN = 22


@dataclass(frozen=True)
class Package:
    """What npm calls it, the name of its program, and whether it runs on node."""

    name: str
    npm: str
    program: str
    needs_node: bool

    @property
    def version(self) -> str:
        """The one that the tests were written with (package.json)."""
        versions: dict[str, str] = json.loads((Path(__file__).parent / "package.json").read_text())["dependencies"]
        return versions[self.npm]

    @property
    def folder(self) -> Path:
        return INSTALLED / self.name

    @property
    def path(self) -> Path:
        """The program; there only if it is installed."""
        return self.folder / "node_modules" / ".bin" / self.program

    @property
    def stamp(self) -> Path:
        """Holds the version once it is installed and has answered."""
        return self.folder / "installed"

    @property
    def is_there(self) -> bool:
        return self.path.exists() and self.stamp.is_file() and self.stamp.read_text() == self.version


# The smallest first: a machine with little time or room stops early.
PACKAGES = {
    one.name: one
    for one in (
        Package("gemini", "@google/gemini-cli", "gemini", needs_node=True),
        Package("codex", "@openai/codex", "codex", needs_node=True),
        Package("claude", "@anthropic-ai/claude-code", "claude", needs_node=False),
        Package("opencode", "opencode-ai", "opencode", needs_node=False),
        Package("claude-acp", "@agentclientprotocol/claude-agent-acp", "claude-agent-acp", needs_node=True),
        Package("codex-acp", "@agentclientprotocol/codex-acp", "codex-acp", needs_node=True),
    )
}
NODE = Package("node", "node", "node", needs_node=False)


@cache
def node_folder() -> Path | None:
    """Where a node that is new enough for all of them lies: the one that was installed, or the machine's own."""
    if NODE.is_there:
        return NODE.folder / "node_modules" / "node" / "bin"
    found = shutil.which("node")
    if found is None:
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    major = told.strip().removeprefix("v").partition(".")[0]
    return Path(found).parent if major.isdigit() and int(major) >= NODE_MIN else None


def path_told() -> str:
    """PATH for the programs: node, and what their shells need."""
    folder = node_folder()
    return ":".join([*([str(folder)] if folder else []), "/usr/local/bin", "/usr/bin", "/bin"])
