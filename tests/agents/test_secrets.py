"""Keys and tokens reach no file: not by a prompt, not by the environment, and by nothing that an agent tells (F17)."""

import asyncio
import base64
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.agents.models.keys import REMOVED
from tests.acp.bare import bare
from tests.agents.chat_support import KEY as CHAT_KEY
from tests.agents.chat_support import an_office as a_chat_office
from tests.agents.chat_support import call
from tests.models.script import Act, Call, Refuse, Turn
from tests.models.server import ModelServer
from tests.programs.company import BEGIN, HANDOFF
from tests.programs.company import an_office as a_program_office
from tests.stepped import Stepped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="programs run under a reaper")
KEY = 'sk-of/the "program"-0123456789'
TOKEN = re.compile(rb"run-\d+-[A-Za-z0-9_-]{30,}")
# Whatever a program may do with what it knows: by HTTP, by MCP, in names, in fields, and in what it says.
LEAKS = """
import base64, urllib.error, urllib.request
KEY, TOKEN = os.environ["ITS_KEY"], os.environ["OPSROOM_TOKEN"]
BOTH = KEY + " and " + TOKEN

def posted(path, data, **more):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", **more}
    request = urllib.request.Request(os.environ["OPSROOM_URL"] + path, data, headers)
    try:
        return urllib.request.urlopen(request).read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()

def leak():
    said = [
        call("AddComment", task=1, body="@vera use " + BOTH),
        call("AddComment", task=1, body="by base64: " + base64.b64encode(KEY.encode()).decode()),
        call("No-" + TOKEN, **{KEY: BOTH}),
        call("AddComment", task=1, **{KEY: BOTH}),
        post("/api/queries/SearchBoard", text=BOTH),
        posted("/api/commands/AddComment", json.dumps({"task": 1, "body": "once"}).encode(),
               **{"Idempotency-Key": base64.b64encode(KEY.encode()).decode() + TOKEN}),
        posted("/api/commands/" + TOKEN + "?a=" + TOKEN, b"not json " + BOTH.encode()),
    ]
    for name, arguments in (("AddComment", {"task": 1, "body": "by MCP: " + BOTH}), ("x" + TOKEN, {KEY: TOKEN})):
        message = {"jsonrpc": "2.0", "id": BOTH, "method": "tools/call"}
        asked = {**message, "params": {"name": name, "arguments": arguments, "_meta": {"idempotencyKey": TOKEN}}}
        said.append(posted("/mcp", json.dumps(asked).encode(), Accept="application/json, text/event-stream"))
    return said

def deliver():
    call("StartTask", task=1)
    said = {"title": "The sign, " + TOKEN, "content": "9 to 16. " + BOTH}
    call("AddOutput", task=1, type="document", must_haves=["M1"], **said)
    call("AddComment", task=1, kind="handoff", body=HANDOFF + " " + BOTH)
    call("SubmitTask", task=1)
"""
COMMAND = """
def tell(**line):
    print(json.dumps(line), flush=True)

print("plain words: " + BOTH, flush=True)
print(BOTH, file=sys.stderr)
tell(type="text", text=BOTH)
tell(type="tool_call", id=BOTH, name="run " + TOKEN, arguments={KEY: BOTH})
tell(type="tool_result", id=BOTH, text=BOTH, failed=True)
tell(type="permission", wants=BOTH)
tell(type="session", id=TOKEN)
tell(type=TOKEN, text=BOTH)
leak()
if "SubmitTask" not in PROMPT:
    call("ClaimTask", task=1)
elif not os.path.exists("failed"):
    open("failed", "w").close()
    tell(type="result", status="failed", reason="the reason is " + BOTH)
    sys.exit(3)
else:
    deliver()
"""
ACP = """
def work(prompt):
    say("words: " + BOTH + chr(10))
    say(BOTH, "agent_thought_chunk")
    print(BOTH, file=sys.stderr, flush=True)
    write(BOTH)
    update("plan", entries=[{"content": BOTH, "status": "pending"}])
    update("tool_call", toolCallId=BOTH, title=BOTH, kind="execute", status="completed", rawInput={KEY: TOKEN})
    leak()
    if "SubmitTask" not in prompt:
        call("ClaimTask", task=1)
    elif not os.path.exists("failed"):
        open("failed", "w").close()
        raise Wrong({"code": -32603, "message": "the reason is " + BOTH, "data": {"details": BOTH}})
    else:
        deliver()
"""


@asynccontextmanager
async def of_chat(folder: Path) -> AsyncIterator[Stepped]:
    """ada's model says its key in all that it says and calls, and its server in its errors."""
    output = {"task": 1, "type": "document", "title": f"{CHAT_KEY}", "content": CHAT_KEY, "must_haves": ["M1"]}
    handoff = {"task": 1, "kind": "handoff", "body": f"{HANDOFF} {CHAT_KEY}"}
    leaks: tuple[Act, ...] = (
        Turn(f"It is {CHAT_KEY}", (Call("AddComment", {"task": 1, "body": f"@vera use {CHAT_KEY}"}),), CHAT_KEY),
        call(f"No-{CHAT_KEY}", **{CHAT_KEY: CHAT_KEY}), Turn(calls=(Call("AddComment", f"{{{CHAT_KEY}"),)),
        call("SearchBoard", text=CHAT_KEY),
    )  # fmt: skip
    with ModelServer() as server:
        async with a_chat_office(folder, server) as office:
            office.script.set(
                broadcast=(*leaks, call("ClaimTask", task=1), Turn("Mine.")),
                execute=(Refuse(401, f"the reason is {CHAT_KEY}", CHAT_KEY), call("StartTask", task=1), *leaks,
                         call("AddOutput", **output), call("AddComment", **handoff), call("SubmitTask", task=1)),
            )  # fmt: skip
            yield office


@asynccontextmanager
async def of_program(folder: Path, kind: str) -> AsyncIterator[Stepped]:
    """ada is a program that tells its key and its token wherever it can."""
    leaks = f"HANDOFF = {HANDOFF!r}\n" + LEAKS
    text = bare(leaks + ACP) if kind == "acp" else BEGIN + leaks + COMMAND
    more = {"env": ["ITS_KEY"], **({"mode": "default"} if kind == "acp" else {"output": "json"})}
    async with a_program_office(folder, text, {"ITS_KEY": KEY}, kind=kind, grace_s=1, **more) as office:
        yield office


@pytest.mark.parametrize("kind", ["chat", "command", "acp"])
async def test_what_an_agent_knows_and_tells_reaches_no_file_no_event_and_no_log(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    folder = tmp_path / "company"
    caplog.set_level("INFO")
    async with of_chat(folder) if kind == "chat" else of_program(folder, kind) as office:
        await office.ended("broadcast")
        failed = await office.ended("execute")
        assert REMOVED in failed.detail
        while (await office.task()).status != "review":
            await office.step()
        # What it wrote to a colleague stands in that one's prompt, without the secret.
        told = [path for path in (folder / "runs").glob("*.prompt.json") if f"use {REMOVED}" in path.read_text()]
        assert told
        rows = await office.company.board.readers.all("SELECT * FROM events")
        events = json.dumps(rows, default=str)
        assert f"9 to 16. {REMOVED}" in events or kind == "chat"
        secrets = forms(CHAT_KEY if kind == "chat" else KEY)
        assert [each for each in secrets if each in events or each in caplog.text] == []
        assert TOKEN.search((events + caplog.text).encode()) is None
    assert await asyncio.to_thread(held, folder, secrets) == []


def forms(secret: str) -> list[str]:
    """How it may be written: as it is, in JSON, in base64."""
    return [
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(json.dumps(secret))[3:-3],
        base64.b64encode(secret.encode()).decode(),
    ]


def held(folder: Path, secrets: list[str]) -> list[str]:
    """The files with a secret or the token of a run; those that make the programs leak name none."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"board.db", "1.jsonl"} <= {path.name for path in files}
    return [path.name for path in files if is_in(path.read_bytes(), secrets)]


def is_in(data: bytes, secrets: list[str]) -> bool:
    return TOKEN.search(data) is not None or any(secret.encode() in data for secret in secrets)
