"""Outputs of the rehearsal agents: JSON `{"kind", "result"}` (or `{"kind": "quote", …}`), written and read back."""

import asyncio
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.works import ALL_WORKS
from core.blackboard.readers import Readers
from core.domain.entities import Goal, Output, Task
from core.domain.limits import INLINE_OUTPUT_MAX
from core.domain.reporting import report_file
from core.domain.states import OutputType, TaskStatus

QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Delivery:
    """An output that was opened: for which kind of work its task asks, and whether its bytes are those delivered."""

    output: Output
    asked: str
    content: dict[str, Any]
    whole: bool

    @property
    def kind(self) -> str:
        """A kind of work, or `quote`; empty when it cannot be read."""
        return str(self.content.get("kind", ""))

    @property
    def result(self) -> dict[str, Any]:
        """The figures."""
        result = self.content.get("result")
        return result if isinstance(result, dict) else {}


def written(content: dict[str, Any]) -> bytes:
    """The bytes of a JSON output."""
    return json.dumps(content, ensure_ascii=False, indent=1).encode()


async def deliver(shift: Shift, task: Task, title: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Put a JSON output on the board, or in a file of the company's folder when it is long. The command's answer."""
    data = written(content)
    arguments: dict[str, Any] = {"task": task.id, "type": OutputType.DATA, "title": title, **more}
    if len(data) <= INLINE_OUTPUT_MAX:
        arguments["content"] = data.decode()
    else:
        # What was approved is known again by its path too, so a quote's file has the name of its bytes.
        mark = hashlib.sha256(data).hexdigest()[:12] if more.get("publish") else f"R{shift.assignment.run.id}"
        path = f"{task.name_tag}-{content['kind']}-{mark}.json"
        await asyncio.to_thread((shift.assignment.folder / "outputs" / path).write_bytes, data)
        arguments["path"] = path
    return await shift.act("AddOutput", **arguments)


async def opened(output: Output, task: Task, folder: Path) -> Delivery:
    """An output of a task, read back; its content is empty when it is missing or no JSON object."""
    data = output.content.encode() if output.content is not None else await _read(folder, output.path or "")
    whole = hashlib.sha256(data).hexdigest() == output.sha256
    try:
        content = json.loads(data)
    except ValueError:
        content = None
    asked = str(task.arguments.get("audit", ""))
    return Delivery(output, asked, content if isinstance(content, dict) else {}, whole)


async def _read(folder: Path, path: str) -> bytes:
    try:
        return await asyncio.to_thread((folder / "outputs" / path).read_bytes)
    except OSError:
        return b""


async def deliveries_of(readers: Readers, folder: Path, tasks: Iterable[Task]) -> list[Delivery]:
    """All outputs of these tasks, oldest first."""
    found = [
        await opened(output, task, folder)
        for task in tasks
        for output in await readers.entities(Output, "task_id = :task ORDER BY id", task=task.id)
    ]
    return sorted(found, key=lambda delivery: delivery.output.id)


def latest(deliveries: Iterable[Delivery]) -> dict[str, Delivery]:
    """The newest delivery of each kind of work; what a task got by mistake about another kind is none."""
    found = (delivery for delivery in deliveries if delivery.whole and delivery.kind in ALL_WORKS)
    return {delivery.kind: delivery for delivery in found if delivery.kind == delivery.asked}


async def figures_of(readers: Readers, folder: Path, goal_id: int) -> dict[str, dict[str, Any]]:
    """The approved figures of a goal by kind of work: what the report and the command line tell."""
    done = await readers.entities(
        Task, "goal_id = :goal AND status = :done ORDER BY id", goal=goal_id, done=str(TaskStatus.DONE)
    )
    found = latest(await deliveries_of(readers, folder, done))
    return {kind: delivery.result for kind, delivery in found.items()}


async def report_path(readers: Readers, folder: Path, goal_id: int) -> Path | None:
    """Where the newest report of a goal lies, as the program composed it."""
    ours = "SELECT count(*) FROM outputs WHERE goal_id = :goal AND task_id IS NULL AND path IS NULL"
    version = await readers.value(ours, goal=goal_id)
    return folder / "reports" / report_file(goal_id, version) if version else None


async def audit_path(readers: Readers, folder: Path, goal_id: int) -> Path | None:
    """Where the newest audit of a goal lies, with all its figures."""
    ours = "goal_id = :goal AND task_id IS NULL AND path IS NOT NULL ORDER BY id DESC LIMIT 1"
    found = await readers.entities(Output, ours, goal=goal_id)
    return folder / "outputs" / str(found[0].path) if found else None


async def approved_figures(shift: Shift, goal: Goal) -> dict[str, dict[str, Any]]:
    """`figures_of` for a run."""
    return await figures_of(shift.desk.readers, shift.assignment.folder, goal.id)
