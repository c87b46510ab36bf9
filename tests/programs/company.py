"""A served company whose executor is a program: real board, server and processes, stepped by hand."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from core.agents.programs.runner import CommandRunner
from core.agents.runner import Assignment, Desk, Outcome
from core.commands.registry import Answer, parse
from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.entities import Entity, Run, Task
from core.domain.states import RunKind
from core.server.doors import Doors
from core.simulation.clock import Clock
from tests.programs.processes import MARK

E = TypeVar("E", bound=Entity)
PATIENCE_S = 100.0

# What every scripted program begins with: its prompt, and calls on the board with its run's token alone.
BEGIN = """
import json, os, sys, time, urllib.error, urllib.request

PROMPT = sys.stdin.read()

def post(path, **fields):
    headers = {"Authorization": "Bearer " + os.environ["OPSROOM_TOKEN"], "Content-Type": "application/json"}
    body = json.dumps(fields).encode()
    request = urllib.request.Request(os.environ["OPSROOM_URL"] + path, body, headers)
    try:
        return json.load(urllib.request.urlopen(request))["answer"]
    except urllib.error.HTTPError as error:
        return json.load(error)

def call(name, **fields):
    return post("/api/commands/" + name, **fields)

def read(name, **fields):
    return post("/api/queries/" + name, **fields)

CLAIMS = "ClaimTask" in PROMPT and "SubmitTask" not in PROMPT
"""
CLAIM = (
    BEGIN
    + """
if CLAIMS:
    call("ClaimTask", task=1)
    sys.exit()
"""
)
HANDOFF = "Decisions: hours first. Problems: none. Advice: hang it at eye level."
DELIVER = f"""
call("StartTask", task=1)
call("AddOutput", task=1, type="document", title="The sign", content="Mondays, 9 to 16.", must_haves=["M1"])
call("AddComment", task=1, kind="handoff", body={HANDOFF!r})
call("SubmitTask", task=1)
"""


class Silent:
    """Colleagues without a program: they say nothing."""

    async def run(self, assignment: Assignment, desk: Desk) -> Outcome:
        return Outcome(exit_kind="no_reply")


class Office:
    """The open company of a test."""

    def __init__(self, company: OpenCompany, clock: Clock) -> None:
        self.company = company
        self.clock = clock

    async def do(self, command: str, **arguments: Any) -> Answer:
        """A command of the operator."""
        return await self.company.execute(parse(command, arguments))

    async def all(self, cls: type[E], where: str = "true ORDER BY id", **parameters: Any) -> list[E]:
        """Rows as they are now."""
        return await self.company.board.readers.entities(cls, where, **parameters)

    async def task(self) -> Task:
        """The one task."""
        return (await self.all(Task))[0]

    async def begin(self) -> None:
        """Half a minute passes; what is due begins."""
        self.clock.advance(30_000)
        assert self.company.ticker is not None
        assert self.company.dispatcher is not None
        await self.company.ticker.tick()
        await self.company.dispatcher.start_queued()

    async def idle(self) -> None:
        """What has begun ends."""
        assert self.company.dispatcher is not None
        async with asyncio.timeout(PATIENCE_S):
            await self.company.dispatcher.idle()

    async def ended(self, kind: RunKind | str, steps: int = 6) -> Run:
        """Step until a run of this kind has ended; that run."""
        for _ in range(steps):
            await self.begin()
            await self.idle()
            if found := await self.all(Run, "kind = :kind ORDER BY id DESC", kind=str(kind)):
                return found[0]
        raise AssertionError(f"no {kind} run began: {[(r.kind, r.status, r.detail) for r in await self.all(Run)]}")

    async def transcript(self, run: Run) -> str:
        """All that a run told."""
        transcripts = self.company._transcripts
        assert transcripts is not None
        await asyncio.to_thread(transcripts.flush)
        return await asyncio.to_thread(self.company.transcript(run.id).read_text)


@asynccontextmanager
async def an_office(
    folder: Path, code: str, ours: Mapping[str, str] | None = None, *, served: bool = True, **runner: Any
) -> AsyncIterator[Office]:
    """A started company with one task on offer; ada is a program of this text, the others say nothing."""
    clock = Clock()
    await create_company(folder, Config(name="Archive", mission="Be visited"), clock=clock)
    (folder / "agent.py").write_text(code)
    environment = {"PATH": "/usr/bin:/bin", MARK: str(folder), **(ours or {})}
    runners = {"command": CommandRunner(environment), "silent": Silent()}
    company = await OpenCompany.open(folder, runners, role="owner", clock=clock)
    office = Office(company, clock)
    assert company.dispatcher is not None
    company.board.follow(company.dispatcher.hear)
    command = [sys.executable, str(folder / "agent.py")]
    settings = {"kind": "command", "command": command, "env": [MARK], "grace_s": 0.2, **runner}
    try:
        async with Doors(company) as doors:
            if not served:
                company.give_access = None
            staff = (("vera", "ceo"), ("cora", "coordinator"), ("ada", "executor"), ("rita", "reviewer"))
            for slug, role in staff:
                await office.do(
                    "HireAgent", slug=slug, name=slug.title(), role=role, manager=None if role == "ceo" else "vera",
                    capabilities=["writing"] if role == "executor" else [],
                    runner=settings if slug == "ada" else {"kind": "silent"},
                )  # fmt: skip
            await office.do("StartCompany")
            task = {"title": "Write the sign", "end_state": "A text with the hours.", "must_haves": ["M1"],
                    "capabilities": ["writing"]}  # fmt: skip
            goal = await office.do("CreateGoal", title="Greet the visitors", must_haves=["a sign"], tasks=[task])
            await office.do("DispatchGoal", goal=goal["id"], discussion=False)
            try:
                yield office
            finally:
                assert doors is not None
                await company.dispatcher._end_all()
    finally:
        await company.close()
