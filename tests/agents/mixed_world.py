"""A company of four kinds of agents over one folder: rehearsal, chat, a headless program, and one that asks (ACP).

What the last three are told to do is scripted; what they deliver is computed from the folder, because the rehearsal
reviewer computes it again.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from core.agents.acp.runner import AcpRunner
from core.agents.chat.runner import ChatRunner
from core.agents.models.prices import Price
from core.agents.programs.runner import CommandRunner
from core.agents.rehearsal.audit.marks import marks
from core.agents.rehearsal.executor import without_lines
from core.agents.rehearsal.runner import RehearsalRunner
from core.agents.rehearsal.staff import Member, hire_staff
from core.company import OpenCompany, create_company
from core.domain.states import Role
from core.rehearsal import rehearsal_config
from core.server.doors import Doors
from tests.acp.bare import bare
from tests.agents.rehearsal_support import Clock, Play
from tests.command_line import ROOT
from tests.models.script import Act, Asked, Call, Turn
from tests.models.server import ModelServer
from tests.programs.company import BEGIN
from tests.programs.processes import MARK

VARIABLES = {"chat": "MIXED_CHAT_KEY", "command": "MIXED_COMMAND_KEY", "acp": "MIXED_ACP_KEY"}
KEYS = {kind: f"sk-of-the-{kind}-agent-0123456789" for kind in VARIABLES}
HANDOFF = "Decisions: {0} as asked, no lines quoted. Problems: none seen. Advice: compute them again after each change."
QUESTION = "@bob you look for copies, I for marks: do you give whole paths, so that I can tell twins apart?"
ANSWER = "Whole paths from the root of the folder, always."

# What both programs do with their work; `answer` is how each reads its prompt's kind of run.
DUTIES = """
import re
sys.path.insert(0, {root!r})
FOLDER, KIND, MUST, HANDOFF = {folder!r}, {kind!r}, {must!r}, {handoff!r}

def mine(prompt):
    numbers = sorted(set(map(int, re.findall(r"\\bT(\\d+)\\b", prompt))))
    tasks = [post("/api/queries/ReadTask", task=number) for number in numbers]
    return [task["id"] for task in tasks if task.get("arguments", {{}}).get("audit") == KIND]

def figures():
    from core.agents.rehearsal.audit import {kind} as work
    from core.agents.rehearsal.executor import without_lines
    return json.dumps({{"kind": KIND, "result": without_lines(KIND, getattr(work, KIND)(FOLDER))}})

def duty(prompt, may):
    if "SubmitTask" in prompt:
        task = mine(prompt)[0]
        call("StartTask", task=task)
        if may():
            call("AddOutput", task=task, type="data", title=KIND, content=figures(), must_haves=[MUST])
            call("AddComment", task=task, kind="handoff", body=HANDOFF)
            call("SubmitTask", task=task)
    elif "ClaimTask" in prompt:
        claimed = [call("ClaimTask", task=task) for task in mine(prompt)[:1]]
        return "claimed" if claimed else "NO_REPLY"
    elif "CreateTask" in prompt:
        made = call("CreateTask", goal=1, title="Look for " + KIND, end_state="One JSON output.", must_haves=[MUST],
                    capabilities=[KIND], arguments={{"audit": KIND, "version": 1}}, idempotency_key="mixed:" + KIND)
        return "made" if "id" in made else "NO_REPLY"
    else:
        return answer(prompt)
    return "done"
"""
COMMAND = """
def answer(prompt):
    asked = [one for one in read("ListComments", goal=1)["comments"] if one["kind"] == "question"]
    for one in asked:
        call("AddComment", goal=1, reply_to=one["id"], body={answer!r})
    return "answered" if asked else "NO_REPLY"

print(duty(PROMPT, lambda: True))
"""
ACP = """
def answer(prompt):
    return "NO_REPLY"

def allowed():
    return ask(rawInput={"command": "count the links"}).get("optionId") == "once"

def work(prompt):
    say(duty(prompt, allowed))
"""


def duties(folder: Path, kind: str, must: str) -> str:
    """The text of both programs' work."""
    return DUTIES.format(root=str(ROOT), folder=str(folder), kind=kind, must=must, handoff=HANDOFF.format(kind))


@dataclass
class ChatScript:
    """The chat agent's model: takes M2, asks bob, claims its own task, and delivers the marks of the folder."""

    folder: Path
    task: int = 0
    seen: list[str] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Act:
        for result in asked.results:
            told = json.loads(result) if result.startswith("{") else {}
            if self.task == 0 and told.get("goal") == 1 and "id" in told and told.get("status") == "draft":
                self.task = int(told["id"])
        kind = next((name for name in ("SubmitTask", "ClaimTask", "CreateTask") if name in asked.tools), "other")
        self.seen.append(kind)
        return getattr(self, f"_{kind.lower()}")(asked)  # type: ignore[no-any-return]

    def _createtask(self, asked: Asked) -> Turn:
        if self.task:
            return Turn("NO_REPLY")
        made = {
            "goal": 1, "title": "Look for marks", "end_state": "One JSON output.", "must_haves": ["M2"],
            "capabilities": ["marks"], "arguments": {"audit": "marks", "version": 1},
        }  # fmt: skip
        return Turn(calls=(Call("CreateTask", made),
                           Call("AddComment", {"goal": 1, "kind": "question", "body": QUESTION})))  # fmt: skip

    def _claimtask(self, asked: Asked) -> Turn:
        if "ClaimTask" in asked.called or f"T{self.task}" not in json.dumps(asked.body):
            return Turn("NO_REPLY")
        return Turn(calls=(Call("ClaimTask", {"task": self.task}),))

    def _submittask(self, asked: Asked) -> Turn:
        content = json.dumps({"kind": "marks", "result": without_lines("marks", dict(marks(os.fspath(self.folder))))})
        output = {"task": self.task, "type": "data", "title": "marks", "content": content,
                  "must_haves": ["M2"]}  # fmt: skip
        handoff = {"task": self.task, "kind": "handoff", "body": HANDOFF.format("marks")}
        steps = (("StartTask", {"task": self.task}), ("AddOutput", output), ("AddComment", handoff),
                 ("SubmitTask", {"task": self.task}))  # fmt: skip
        for name, arguments in steps:
            if name not in asked.called:
                return Turn(calls=(Call(name, arguments),))
        return Turn("It is handed in.")

    def _other(self, asked: Asked) -> Turn:
        return Turn("NO_REPLY")


def staff_of(folder: Path, audited: Path, server: ModelServer) -> tuple[Member, ...]:
    """Who is hired: the lead and the review rehearse; each executor is of another kind."""
    programs = {
        "command": BEGIN + duties(audited, "duplicates", "M4") + COMMAND.format(answer=ANSWER),
        "acp": bare(duties(audited, "documentation", "M3") + ACP),
    }
    settings: dict[str, dict[str, Any]] = {
        "chat": {"url": f"{server.url}/v1", "model": "scripted", "wire": "openai", "key": f"env:{VARIABLES['chat']}"},
        "command": {}, "acp": {"mode": "default"},
    }  # fmt: skip
    for kind, text in programs.items():
        (folder / f"{kind}.py").write_text(text)
        settings[kind] |= {"command": [sys.executable, str(folder / f"{kind}.py")], "env": [VARIABLES[kind], MARK],
                           "grace_s": 0.2}  # fmt: skip
    return (
        Member("carla", "Carla", Role.CEO),
        Member("orlo", "Orlo", Role.COORDINATOR, "carla"),
        Member("vera", "Vera", Role.REVIEWER, "carla", max_runs=2),
        Member("sanna", "Sanna", Role.EXECUTOR, "orlo", ("inventory",)),
        Member("ada", "Ada", Role.EXECUTOR, "orlo", ("marks",), runner={"kind": "chat", **settings["chat"]}),
        Member("bob", "Bob", Role.EXECUTOR, "orlo", ("duplicates",), runner={"kind": "command", **settings["command"]}),
        Member("cyd", "Cyd", Role.EXECUTOR, "orlo", ("documentation",), runner={"kind": "acp", **settings["acp"]}),
    )


@asynccontextmanager
async def a_mixed_company(folder: Path, audited: Path, server: ModelServer) -> AsyncIterator[Play]:
    """Open, served, at work by its own ticker; nobody has started it yet. The chat key is in our environment."""
    clock = Clock()
    await create_company(folder, rehearsal_config(audited, 0), clock=clock)
    ours = {"PATH": "/usr/bin:/bin", MARK: str(folder), **{VARIABLES[kind]: KEYS[kind] for kind in ("command", "acp")}}
    prices = {"scripted": Price(Decimal(1), Decimal(1))}
    runners = {
        "rehearsal": RehearsalRunner(audited), "chat": ChatRunner(prices=prices), "command": CommandRunner(ours),
        "acp": AcpRunner(ours),
    }  # fmt: skip
    company = await OpenCompany.open(folder, runners, role="owner", clock=clock)
    play = Play(company, clock)
    company.board.follow(play.hear, after=0)
    try:
        async with Doors(company):
            await company.start()
            await hire_staff(company, staff_of(folder, audited, server))
            yield play
    finally:
        await company.close()
