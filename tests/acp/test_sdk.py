"""A program made with the protocol's own package, whose agent's side is not ours."""

import sys
from pathlib import Path

import pytest

from core.domain.states import RunStatus, TaskStatus
from tests.acp.test_asking import answered, pending
from tests.programs.company import DELIVER, an_office
from tests.programs.processes import marked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

AGENT = """
import asyncio, json, os, sys, urllib.request
import acp
from acp import schema

def call(name, **fields):
    headers = {"Authorization": "Bearer " + os.environ["OPSROOM_TOKEN"], "Content-Type": "application/json"}
    path = os.environ["OPSROOM_URL"] + "/api/commands/" + name
    return json.load(urllib.request.urlopen(urllib.request.Request(path, json.dumps(fields).encode(), headers)))

def deliver():
    DELIVER

class Scripted(acp.Agent):
    def on_connect(self, connection):
        self.connection, self.mode = connection, "auto"

    def state(self):
        known = [schema.SessionMode(id=each, name=each) for each in ("ask", "auto")]
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=known)

    async def initialize(self, protocol_version, **rest):
        can = schema.AgentCapabilities(load_session=True, mcp_capabilities=schema.McpCapabilities(http=True))
        us = schema.Implementation(name="scripted", version="1")
        return schema.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION, agent_capabilities=can, agent_info=us)

    async def new_session(self, cwd, mcp_servers=None, **rest):
        return schema.NewSessionResponse(session_id="made-by-the-sdk", modes=self.state())

    async def load_session(self, cwd, session_id, mcp_servers=None, **rest):
        return schema.LoadSessionResponse(modes=self.state())

    async def set_session_mode(self, session_id, mode_id, **rest):
        self.mode = mode_id
        update = schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode_id)
        await self.connection.session_update(session_id, update)
        return schema.SetSessionModeResponse()

    async def cancel(self, session_id, **rest):
        pass

    async def prompt(self, session_id, prompt, **rest):
        if "SubmitTask" not in prompt[0].text:
            await asyncio.to_thread(call, "ClaimTask", task=1)
            return schema.PromptResponse(stop_reason="end_turn")
        await self.connection.session_update(session_id, acp.update_agent_message_text("I work in " + self.mode))
        start = acp.start_tool_call("t", "write the sign", kind="edit", status="pending")
        await self.connection.session_update(session_id, start)
        change = acp.tool_diff_content("sign.txt", "9 to 16", "")
        kinds = ("allow_once", "reject_once")
        options = [schema.PermissionOption(option_id=kind, name=kind, kind=kind) for kind in kinds]
        tool = schema.ToolCallUpdate(tool_call_id="t", title="write the sign", kind="edit", content=[change])
        said = await self.connection.request_permission(session_id=session_id, tool_call=tool, options=options)
        if getattr(said.outcome, "option_id", "") != "allow_once":
            return schema.PromptResponse(stop_reason="refusal")
        await self.connection.session_update(session_id, acp.update_tool_call("t", status="completed"))
        await asyncio.to_thread(deliver)
        return schema.PromptResponse(stop_reason="end_turn")

asyncio.run(acp.run_agent(Scripted()))
""".replace("    DELIVER", "\n".join(f"    {line}" for line in DELIVER.strip().splitlines()))


async def test_it_is_asked_allowed_and_done(tmp_path: Path) -> None:
    async with an_office(tmp_path, AGENT, kind="acp", mode="ask") as office:
        assert (await office.ended("broadcast")).exit_kind == "done"
        await office.begin()
        question = await pending(office)
        assert question.payload["files"][0]["path"] == "sign.txt"
        await answered(office, question, "once")
        await office.idle()
        run = await office.ended("execute")
        assert (run.status, run.exit_kind, run.session) == (RunStatus.SUCCEEDED, "done", "made-by-the-sdk")
        told = await office.transcript(run)
        assert "I work in ask" in told
        assert "its change: sign.txt" in told
        assert (await office.task()).status == TaskStatus.REVIEW
    assert marked(str(tmp_path)) == []
