"""A served company whose executor is a program: real board, server and processes, stepped by hand."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.agents.programs.runner import CommandRunner
from core.agents.runner import Runner
from core.company import OpenCompany
from core.config import Config
from core.server.doors import Doors
from core.simulation.clock import Clock
from tests import founding
from tests.programs.processes import MARK
from tests.stepped import Silent, Stepped

# What every scripted program begins with: its prompt, and calls on the board with its run's token alone.
BEGIN = """
import json, os, sys, time

PROMPT = sys.stdin.read()

def post(path, **fields):
    headers = {"Authorization": "Bearer " + os.environ["OPSROOM_TOKEN"], "Content-Type": "application/json"}
    body = json.dumps(fields).encode()
    import urllib.error, urllib.request  # half of what a start takes, and many never call
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


@asynccontextmanager
async def an_office(
    folder: Path, code: str, ours: Mapping[str, str] | None = None, *, served: bool = True, **runner: Any
) -> AsyncIterator[Stepped]:
    """A started company with one task on offer; ada is a program of this text, the others say nothing."""
    clock = Clock()
    await founding.a_company(folder, Config(name="Archive", mission="Be visited"), clock=clock)
    (folder / "agent.py").write_text(code)
    environment = {"PATH": "/usr/bin:/bin", MARK: str(folder), **(ours or {})}
    runners: dict[str, Runner] = {"command": CommandRunner(environment), "silent": Silent()}
    if runner.get("kind") == "acp":
        # Its package takes a while to import: only for tests that need it.
        from core.agents.acp.runner import AcpRunner

        runners["acp"] = AcpRunner(environment)
    company = await OpenCompany.open(folder, runners, role="owner", clock=clock)
    office = Stepped(company, clock)
    command = [sys.executable, str(folder / "agent.py")]
    settings = {"kind": "command", "command": command, "env": [MARK], "grace_s": 0.2, **runner}
    try:
        async with Doors(company):
            if not served:
                company.give_access = None
            await office.found({"ada": settings})
            try:
                yield office
            finally:
                assert company.dispatcher is not None
                await company.dispatcher._end_all()
    finally:
        await company.close()
