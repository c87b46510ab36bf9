"""A company whose agents are on a scripted model server, stepped by hand: real board, ticker, dispatcher and HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.agents.chat.runner import ChatRunner
from core.agents.models.prices import Price
from core.agents.models.waiting import Retrying
from core.company import OpenCompany
from core.config import Config
from core.domain.entities import AgentRecord, Run
from core.domain.states import RunKind
from core.simulation.clock import Clock
from tests import founding
from tests.models.script import Act, Asked, Call, Turn
from tests.models.server import ModelServer
from tests.models.world import Wire
from tests.stepped import Silent, Stepped

KEY = "sk-test-of-the-chat-0123456789"
VARIABLE = "OPSROOM_TEST_CHAT_KEY"
HANDOFF = "Decisions: hours first, as most who stand there want them. Problems: none. Advice: hang it at eye level."
# By what is on offer a script knows in which run it speaks.
MARKS = {"ClaimTask": "broadcast", "SubmitTask": "execute", "ReviewTask": "review"}


def call(name: str, **arguments: Any) -> Turn:
    """A turn with one call."""
    return Turn(calls=(Call(name, arguments),))


STARTED = call("StartTask", task=1)
OUTPUT = {"task": 1, "type": "document", "title": "The sign", "content": "Mondays, 9 to 16.", "must_haves": ["M1"]}
WORK = (
    STARTED,
    Turn(calls=(Call("AddOutput", OUTPUT), Call("AddComment", {"task": 1, "kind": "handoff", "body": HANDOFF}))),
    call("SubmitTask", task=1),
    Turn("It is handed in."),
)
CLAIM = (call("ClaimTask", task=1), Turn("T1 is mine."))
VERDICT = {
    "task": 1, "verdict": "approved", "summary": "The sign is there. I did not see the door.", "opened_outputs": [1],
    "dimensions": {
        "requirement_coverage": "M1 is there", "design_consistency": "a text", "code_quality": "no code",
        "direction": "right", "artefact_authenticity": "it is the text itself",
    },
}  # fmt: skip


class Scripts:
    """What the model does, by kind of run: one act after the other, the last one for ever."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.left: dict[str, list[Act]] = {}
        self.hear: Callable[[str, Asked], None] = lambda kind, asked: None
        server.script = self._act

    def set(self, **acts: tuple[Act, ...]) -> None:
        """Name the acts of some kinds of runs."""
        self.left.update({kind: list(acts) for kind, acts in acts.items()})

    def _act(self, asked: Asked) -> Act:
        kind = next((kind for mark, kind in MARKS.items() if mark in asked.tools), "other")
        self.hear(kind, asked)
        left = self.left.get(kind) or [Turn("NO_REPLY")]
        return left.pop(0) if len(left) > 1 else left[0]

    def asked(self, mark: str) -> list[Asked]:
        """The requests of runs that are offered this."""
        return [asked for asked in self.server.requests if mark in asked.tools]


class Office(Stepped):
    """The open company of a test. `slept` are the waits of the model client, in seconds; nobody really waits."""

    def __init__(self, company: OpenCompany, clock: Clock, script: Scripts, runner: ChatRunner) -> None:
        super().__init__(company, clock)
        self.script = script
        self.runner = runner
        self.slept: list[float] = []

    async def run(self, kind: RunKind | str) -> Run:
        """The newest run of a kind."""
        return (await self.all(Run, "kind = :kind ORDER BY id DESC", kind=str(kind)))[0]

    async def agent(self, slug: str) -> AgentRecord:
        """Who is called so."""
        return (await self.all(AgentRecord, "slug = :slug", slug=slug))[0]


@asynccontextmanager
async def an_office(
    folder: Path, server: ModelServer, wire: Wire = "openai", *, retrying: Retrying | None = None,
    prices: dict[str, Price] | None = None, locale: Any = "en", **runner: Any,
) -> AsyncIterator[Office]:  # fmt: skip
    """A started company with one task on offer; ada and rita are on the model, the others say nothing."""
    clock = Clock()
    await founding.a_company(folder, Config(name="Archive", mission="Be visited", locale=locale), clock=clock)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(int(seconds * 1000) + 1)
        await asyncio.sleep(0)

    chat = ChatRunner(
        prices=prices, retrying=retrying, now=clock, sleep=sleep, chance=lambda: 0.5,
    )  # fmt: skip
    company = await OpenCompany.open(folder, {"chat": chat, "silent": Silent()}, role="owner", clock=clock)
    office = Office(company, clock, Scripts(server), chat)
    office.slept = slept
    url = server.url + ("/v1" if wire == "openai" else "")
    settings = {"kind": "chat", "url": url, "model": "scripted", "key": f"env:{VARIABLE}", "wire": wire, **runner}
    try:
        await office.found({"ada": settings, "rita": settings})
        yield office
    finally:
        await company.close()
