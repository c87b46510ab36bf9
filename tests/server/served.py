"""A company that is served: a real owner, its server on loopback, and runs whose programs are the tests."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from core.agents.access import Access
from core.agents.runner import Assignment, Desk, Outcome
from core.blackboard.readers import Readers
from core.commands.door import Door
from core.commands.registry import Answer, parse
from core.company import OpenCompany
from core.config import Config
from core.domain.actors import System
from core.runners import runners_for
from core.server.api import Backend
from core.server.callers import Tokens
from core.server.doors import Doors
from core.server.socket import SOCKET_BODY_MAX, socket_serving
from tests import founding


@dataclass
class Outside:
    """A runner whose program is the test: it begins, and ends when it is let go."""

    wants_access: bool = True
    begun: "asyncio.Queue[Assignment]" = field(default_factory=asyncio.Queue)
    ends: dict[int, asyncio.Event] = field(default_factory=dict)

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        self.ends[assignment.run.id] = asyncio.Event()
        self.begun.put_nowait(assignment)
        await self.ends[assignment.run.id].wait()
        return Outcome()


@dataclass
class Served:
    """The company, its doors, and short ways to act."""

    company: OpenCompany
    doors: Doors
    outside: Outside

    async def do(self, command: str, /, **arguments: Any) -> Answer:
        """Send a command as the operator, in the owner's process."""
        return await self.company.execute(parse(command, arguments))

    async def run(self, agent: int, kind: str = "mention", **about: Any) -> Access:
        """A run of this agent (by number), begun by the dispatcher; what its program was given."""
        command = parse("QueueRun", {"kind": kind, "agent_id": agent, "key": f"test:{kind}:{agent}:{about}", **about})
        await self.company.execute(command, actor=System())
        async with asyncio.timeout(60):
            assignment = await self.outside.begun.get()
        assert assignment.access is not None
        return assignment.access

    async def working_run(self) -> Access:
        """A run of ada's that carries T1 out."""
        await self.do("AssignTask", task=1, agent="ada")
        return await self.run(ADA, "execute", task_id=1)

    async def end_one(self, access: Access) -> None:
        """Let this run come to its end, while others go on."""
        self.outside.ends[access.run_id].set()
        ended = "SELECT ended_at FROM runs WHERE id = :id"
        async with asyncio.timeout(60):
            while await self.company.board.readers.value(ended, id=access.run_id) is None:  # noqa: ASYNC110 - a state
                await asyncio.sleep(0.01)

    async def end(self, access: Access) -> None:
        """Let the run come to its end."""
        self.outside.ends[access.run_id].set()
        assert self.company.dispatcher is not None
        async with asyncio.timeout(60):
            await self.company.dispatcher.idle()

    @asynccontextmanager
    async def client(self, token: str | None = None) -> AsyncIterator[httpx2.AsyncClient]:
        """An HTTP client with this token, or the operator's."""
        await self.doors.admit_operator()
        own = (self.company.folder / "operator.token").read_text().strip()
        url = (await self.doors.listen()).url
        headers = {"Authorization": f"Bearer {token or own}"}
        async with httpx2.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
            yield client


ADA, CORA, REX = 1, 2, 3  # an executor, a coordinator, a reviewer


@asynccontextmanager
async def a_served_company(folder: Path, tokens: Tokens | None = None) -> AsyncIterator[Served]:
    """An active goal G1 whose tasks T1 and T2 nobody has claimed, and three agents whose programs the tests are."""
    config = Config(name="Acme")
    await founding.a_company(folder, config)
    outside = Outside()
    company = await OpenCompany.open(folder, {**runners_for(config), "outside": outside}, role="owner")
    try:
        async with Doors(company, tokens) as doors:
            served = Served(company, doors, outside)
            await served.do("StartCompany")
            for slug, role in (("ada", "executor"), ("cora", "coordinator"), ("rex", "reviewer")):
                await served.do("HireAgent", slug=slug, name=slug.title(), role=role, runner={"kind": "outside"})
            tasks = ({"title": "Count the files"}, {"title": "Count the lines"})
            await served.do("CreateGoal", title="Audit the folder", must_haves=("a count",), tasks=tasks)
            await served.do("DispatchGoal", goal=1, discussion=False)
            assert company.dispatcher is not None
            # The dispatcher alone: without a ticker, runs are those that a test asks for.
            heard = company.board.follow(company.dispatcher.hear)
            working = asyncio.create_task(company.dispatcher.run())
            try:
                yield served
            finally:
                heard()
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
    finally:
        await company.close()


@asynccontextmanager
async def serving(door: Callable[[], Door | None], path: Path, readers: Readers | None = None) -> AsyncIterator[None]:
    """Serve a door alone on a unix socket for as long as the context lasts; with `readers`, also queries."""
    async with socket_serving(Backend(door, readers, trusted=True, body_max=SOCKET_BODY_MAX), path):
        yield


def error_of(response: httpx2.Response) -> tuple[int, str]:
    """The status and code of a refusal, which must say what happened and be no fault of ours."""
    error = response.json()["error"]
    assert error["message"], response.text
    assert response.status_code < 500, response.text
    assert json.loads(response.content) == response.json()
    return response.status_code, error["code"]
