"""One run of a rehearsal agent at work: its assignment, its desk, its pace, and the audit's child process."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from core.agents.process import Child
from core.agents.rehearsal.audit.survey import shown
from core.agents.runner import Assignment, Desk, Outcome
from core.domain.entities import Comment, Entity, Goal, Output, Task
from core.domain.errors import Conflict
from core.domain.states import CommentKind, RunStatus

E = TypeVar("E", bound=Entity)
ARGUMENT_MAX = 100_000  # bytes of one argument; the system's own limit is 128 KiB
# The child's modules are found from here, never in the working folder: that may be the audited one.
PACKAGES = Path(__file__).resolve().parents[3]


class AuditFailed(Exception):
    """The audit said why it has no result; the message is for people."""


Audit = Callable[["Shift", str, dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Shift:
    """What every act of a rehearsal agent needs. All reading of the board goes through `find`."""

    assignment: Assignment
    desk: Desk
    audited: Path
    pace_ms: int
    compute: Audit

    @property
    def folder_name(self) -> str:
        """The audited folder as text."""
        return shown(os.fsencode(self.audited))

    @property
    def slug(self) -> str:
        """Who works."""
        return self.assignment.agent.slug

    async def breath(self) -> None:
        """The pause between two acts, so that a person can watch."""
        if self.pace_ms:
            await asyncio.sleep(self.pace_ms / 1000)

    async def act(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Take a breath, then send a command."""
        await self.breath()
        return await self.desk.call(command, **arguments)

    async def audit(self, kind: str, /, **further: Any) -> dict[str, Any]:
        """The real work, in a child process. Raises AuditFailed."""
        return await self.compute(self, kind, further)

    async def say_once(self, goal: Goal, kind: CommentKind, body: str) -> bool:
        """A comment on a goal, unless this agent has said exactly this of it; whether it was said now."""
        known = "goal_id = :goal AND author = :slug AND kind = :kind AND body = :body LIMIT 1"
        body = body.strip()
        if await self.find(Comment, known, goal=goal.id, slug=self.slug, kind=str(kind), body=body):
            return False
        await self.act("AddComment", goal=goal.id, kind=kind, body=body)
        return True

    async def find(self, cls: type[E], where: str, **parameters: Any) -> list[E]:
        """Entities of the board."""
        return await self.desk.readers.entities(cls, where, **parameters)

    async def task(self) -> Task:
        """The task of this run, as it is now."""
        return (await self.find(Task, "id = :id", id=self.assignment.run.task_id))[0]

    async def goal(self) -> Goal:
        """The goal of this run, as it is now. Raises Conflict when the run is about none."""
        goals = await self.find(Goal, "id = :id", id=self.assignment.run.goal_id)
        if not goals:
            raise Conflict(f"R{self.assignment.run.id} is about no goal.", "Name the goal.")
        return goals[0]

    async def tasks_of(self, goal: Goal) -> list[Task]:
        """All tasks of a goal, oldest first."""
        return await self.find(Task, "goal_id = :goal ORDER BY id", goal=goal.id)

    async def reports_of(self, goal: Goal) -> list[Output]:
        """The versions of a goal's audit, oldest first; what the program composes lies in no file of ours."""
        ours = "goal_id = :goal AND task_id IS NULL AND path IS NOT NULL ORDER BY id"
        return await self.find(Output, ours, goal=goal.id)

    async def folder_is_gone(self) -> bool:
        """Whether the audited folder is not there any more."""
        return not await asyncio.to_thread(os.path.isdir, self.audited)


async def compute(shift: Shift, kind: str, further: dict[str, Any]) -> dict[str, Any]:
    """Run one audit as a child process whose progress goes to the transcript. Raises AuditFailed."""
    text = json.dumps(further)
    long = shift.assignment.folder / "runs" / f"{shift.assignment.run.id}.arguments.json"
    try:
        if len(text) > ARGUMENT_MAX:
            await asyncio.to_thread(long.write_text, text, encoding="ascii")
            text = f"@{long}"
        return await _told_by_child(shift, kind, text)
    finally:
        long.unlink(missing_ok=True)


async def _told_by_child(shift: Shift, kind: str, arguments: str) -> dict[str, Any]:
    module = "core.agents.rehearsal.audit"
    argv = (sys.executable, "-m", module, kind, os.fspath(shift.audited), "--json-arguments", arguments)
    child = await shift.desk.start(*argv, cwd=PACKAGES)
    told: dict[str, Any] = {}
    try:
        async for line in child.lines():
            told = json.loads(line)
            if "progress" in told:
                shift.desk.say(progress_line(told["progress"]))
        await child.wait()
    except ValueError:
        raise AuditFailed(f"The {kind} audit said something that is no JSON.") from None
    finally:
        await ended(child)
    if "error" in told:
        raise AuditFailed(str(told["error"]))
    if not isinstance(told.get("result"), dict):
        raise AuditFailed(f"The {kind} audit ended without a result. {child.stderr[-300:]}".strip())
    result: dict[str, Any] = told["result"]
    return result


async def ended(child: Child) -> None:
    """The end of a child, whole, also when this run is cancelled a second time meanwhile."""
    await asyncio.shield(asyncio.ensure_future(child.end()))


def progress_line(progress: dict[str, Any]) -> str:
    """'counting files: 120 of 400'."""
    of_all = f" of {progress['total']}" if progress.get("total") is not None else ""
    return f"{progress.get('what', 'at work')}: {progress.get('done', 0)}{of_all}"


def no_reply(why: str = "") -> Outcome:
    """Nothing to do is a success too."""
    return Outcome(RunStatus.SUCCEEDED, "no_reply", why)
