"""How a program outside this process reaches the board as its run: an address and a token that ends with the run."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.agents.runner import Assignment
    from core.domain.actors import Agent


@dataclass(frozen=True, slots=True)
class Access:
    """The company's server on loopback (`url`, e.g. `http://127.0.0.1:4711`), and the token of one run (C-19).

    Whoever has the token acts as the run: it goes into the program's environment or settings, never into a log.
    """

    url: str
    token: str = field(repr=False)
    run_id: int

    @property
    def mcp_url(self) -> str:
        """Where the same commands and queries are tools, by MCP over stateless streamable HTTP."""
        return f"{self.url}/mcp"

    @property
    def environment(self) -> dict[str, str]:
        """What a program is given: `opsroom mcp` reads the first two."""
        return {"OPSROOM_URL": self.url, "OPSROOM_TOKEN": self.token, "OPSROOM_RUN": str(self.run_id)}


GiveAccess = Callable[["Assignment", "Agent"], AbstractAsyncContextManager[Access]]
"""Gives a run its access for as long as the context lasts. Raises BoardError when no server can be started."""
