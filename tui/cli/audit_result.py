"""The result of a demo as one JSON object. Every figure is read from the board's approved, verified outputs."""

from pathlib import Path
from typing import Any

from core.agents.rehearsal.deliveries import audit_path, figures_of, report_path
from core.blackboard.readers import Readers
from core.domain.entities import Comment, Goal, Task
from tui.cli import opening
from tui.cli.tasks import tasks_of

_MODEL_CALLS = "SELECT count(*) FROM runs WHERE model <> '' OR tokens_in > 0 OR tokens_out > 0 OR cost_micros > 0"


async def audit_of(folder: Path, seconds: float) -> dict[str, Any]:
    """All of it; a figure that is not approved yet is null."""
    async with opening.reading(folder) as board:
        readers = board.readers
        goal = await _goal(readers)
        figures = await figures_of(readers, folder, goal.id) if goal else {}
        tasks = await readers.entities(Task, "goal_id = :goal ORDER BY id", goal=goal.id if goal else 0)
        report = await report_path(readers, folder, goal.id) if goal else None
        audit = await audit_path(readers, folder, goal.id) if goal else None
        rounds = await readers.value("SELECT count(*) FROM rounds WHERE goal_id = :goal", goal=goal.id if goal else 0)
        return {
            "company": str(folder),
            "goal": {"id": goal.id, "title": goal.title, "status": str(goal.status)} if goal else None,
            "rounds": rounds,
            "tasks": [
                {name: task[name] for name in ("id", "title", "status", "assignee", "round")}
                for task in await tasks_of(readers, tasks)
            ],
            "languages": _figure(figures, "inventory", "languages"),
            "todos": _figure(figures, "marks", "lines"),
            "duplicates": _figure(figures, "duplicates", "groups"),
            "dead_links": _figure(figures, "documentation", "dead_links"),
            "report": str(report) if report else None,
            "audit": str(audit) if audit else None,
            "model_calls": await readers.value(_MODEL_CALLS),
            "seconds": round(seconds, 3),
        }


def _figure(figures: dict[str, dict[str, Any]], kind: str, name: str) -> Any:
    return figures.get(kind, {}).get(name)


async def _goal(readers: Readers) -> Goal | None:
    goals = await readers.entities(Goal, "true ORDER BY id DESC LIMIT 1")
    return goals[0] if goals else None


async def report_summary(folder: Path) -> str:
    """What the coordinator said when it handed the report over, and where that lies; empty without one."""
    async with opening.reading(folder) as board:
        readers = board.readers
        goal = await _goal(readers)
        path = await report_path(readers, folder, goal.id) if goal else None
        if goal is None or path is None:
            return ""
        said = await readers.entities(
            Comment, "goal_id = :goal AND kind = 'report' ORDER BY id DESC LIMIT 1", goal=goal.id
        )
        return f"{said[0].body}\n\nReport: {path}" if said else f"Report: {path}"
