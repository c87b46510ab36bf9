"""How a program outside this process reaches the board as its run: an address and a token that ends with the run."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.agents.metered import Metered
from core.agents.models.keys import Secret
from core.domain.errors import Invalid

if TYPE_CHECKING:
    from core.agents.runner import Assignment
    from core.domain.actors import Agent


@dataclass(frozen=True, slots=True)
class Heard:
    """A call that came in by an access: the board's `answer`, or None and the `error` by which it was refused."""

    name: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any] | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """The company's server on loopback (`url`, e.g. `http://127.0.0.1:4711`), and the token of one run (C-19).

    Whoever has the token acts as the run: it goes into the program's environment or settings, never into a log.
    The `listeners` hear of each call, on the loop, before its answer is sent.
    `models` are the addresses of model providers behind the gateway by name, each ending before `/v1` or `/v1beta`; the
    token of the run is their key. `wires` says what each speaks, `metered` what the run has used there. What is among
    the `secrets` reaches the board by no call of the run.
    """

    url: str
    token: str = field(repr=False)
    run_id: int
    listeners: list[Callable[[Heard], None]] = field(default_factory=list, repr=False, compare=False)
    models: Mapping[str, str] = field(default_factory=dict)
    wires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    secrets: list[Secret] = field(default_factory=list, repr=False, compare=False)
    metered: Metered = field(default_factory=Metered, repr=False, compare=False)

    @property
    def mcp_url(self) -> str:
        """Where the same commands and queries are tools, by MCP over stateless streamable HTTP."""
        return f"{self.url}/mcp"

    @property
    def environment(self) -> dict[str, str]:
        """What a program is given: `opsroom mcp` reads the first two."""
        return {"OPSROOM_URL": self.url, "OPSROOM_TOKEN": self.token, "OPSROOM_RUN": str(self.run_id)}

    def gateway(self, name: str) -> str:
        """The address of a provider behind the gateway. Raises Invalid when this company has none of the name."""
        if name not in self.models:
            raise Invalid(
                f"There is no gateway to {name[:80]!r} here.", "Name one of [gateway.providers] in company.toml."
            )
        return self.models[name]

    def told(self, locale: str = "en") -> str:
        """How a program sends its calls, for its prompt (S4-12, S4-18); names the token's variable, never the token."""
        return _TOLD["zh" if locale == "zh" else "en"].format(url=self.url, mcp=self.mcp_url)


_CURL = """curl -s -H "Authorization: Bearer $OPSROOM_TOKEN" -d '{{"task": 12}}' {url}/api/queries/ReadTask"""
_TOLD = {
    "en": (
        "Your calls reach the board as MCP tools ({mcp}), or over HTTP: POST {url}/api/commands/NAME to change, POST"
        " {url}/api/queries/NAME to look up, the fields as a JSON object, e.g.\n"
        f"{_CURL}\n"
        "An error says what to do next. GET {url}/api lists what you can call."
    ),
    "zh": (
        "你的调用通过 MCP 工具（{mcp}）到达黑板，或者通过 HTTP：修改用 POST {url}/api/commands/NAME，查询用 POST"
        " {url}/api/queries/NAME，字段写成一个 JSON 对象，例如：\n"
        f"{_CURL}\n"
        "出错时，回答会说明下一步做什么。GET {url}/api 列出你可以调用的一切。"
    ),
}

GiveAccess = Callable[["Assignment", "Agent"], AbstractAsyncContextManager[Access]]
"""Gives a run its access for as long as the context lasts. Raises BoardError when no server can be started."""
