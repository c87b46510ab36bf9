"""`opsroom task list` and `opsroom task show`, and how tasks and outputs look in JSON."""

import argparse
from collections.abc import Iterable
from typing import Any

from core.blackboard.readers import Readers
from core.domain.entities import AgentRecord, Comment, Goal, Output, Review, Run, Task, TaskDep
from core.domain.errors import Invalid, NotFound
from core.domain.states import TaskStatus
from tui.cli import opening
from tui.cli.names import folder_of, in_list, number_of, words_of
from tui.cli.output import facts, print_json, say, table, when

TaskFacts = dict[str, Any]


def list_tasks(arguments: argparse.Namespace) -> int:
    """List them, oldest first."""
    statuses = words_of(arguments.status, TaskStatus, "status")
    goal = None if arguments.goal is None else number_of(arguments.goal, "goal")
    found = opening.run(_list(arguments.dir, statuses, goal, arguments.assignee, arguments.round))
    if arguments.json:
        print_json({"tasks": found})
    else:
        rows = [
            [f"T{t['id']}", f"G{t['goal']}", str(t["round"] or ""), t["status"], t["assignee"] or "", t["title"]]
            for t in found
        ]
        table(rows, ("id", "goal", "round", "status", "assignee", "title"))
    return 0


async def _list(
    folder: str, statuses: list[str], goal: int | None, assignees: str | None, number: int | None
) -> list[TaskFacts]:
    async with opening.reading(folder_of(folder)) as board:
        readers = board.readers
        slugs = {agent.slug: agent.id for agent in await readers.entities(AgentRecord, "true")}
        conditions, values = in_list("status", statuses)
        parameters: dict[str, Any] = dict(values)
        if assignees is not None:
            wanted = [slugs[slug] for slug in words_of(assignees, slugs, "assignee")]
            conditions += f" AND assignee_id IN ({', '.join(map(str, wanted))})"
        if goal is not None:
            if not await readers.entities(Goal, "id = :id", id=goal):
                raise NotFound(f"There is no G{goal} on this board.", "List them: opsroom goal list DIR.")
            conditions += " AND goal_id = :goal"
            parameters["goal"] = goal
        if number is not None:
            if number < 1:
                raise Invalid(f"There is no round {number}.", "Rounds are counted from 1.")
            conditions += " AND round_id IN (SELECT id FROM rounds WHERE number = :number)"
            parameters["number"] = number
        return await tasks_of(readers, await readers.entities(Task, f"{conditions} ORDER BY id", **parameters))


async def tasks_of(readers: Readers, tasks: Iterable[Task]) -> list[TaskFacts]:
    """Tasks as lists show them: {id, title, status, assignee, round, …}."""
    names = {agent.id: agent.slug for agent in await readers.entities(AgentRecord, "true")}
    rows = await readers.all("SELECT id, number FROM rounds")
    numbers = {row["id"]: row["number"] for row in rows}
    return [
        {
            "id": task.id, "title": task.title, "status": str(task.status),
            "assignee": names.get(task.assignee_id or 0), "round": numbers.get(task.round_id or 0),
            "goal": task.goal_id, "priority": task.priority, "open_deps": task.open_deps, "attempts": task.attempts,
            "review_attempts": task.review_attempts, "reason": task.reason,
            "created_at": task.created_at, "updated_at": task.updated_at,
        }
        for task in tasks
    ]  # fmt: skip


def show_task(arguments: argparse.Namespace) -> int:
    """Show one with all that hangs on it."""
    found = opening.run(_show(arguments.dir, number_of(arguments.task, "task")))
    if arguments.json:
        print_json(found)
    else:
        _tell(found)
    return 0


async def _show(folder: str, task_id: int) -> TaskFacts:
    async with opening.reading(folder_of(folder)) as board:
        readers = board.readers
        tasks = await readers.entities(Task, "id = :id", id=task_id)
        if not tasks:
            raise NotFound(f"There is no T{task_id} on this board.", "List them: opsroom task list DIR.")
        task = tasks[0]
        edges = await readers.entities(TaskDep, "task_id = :id ORDER BY id", id=task_id)
        outputs = await readers.entities(Output, "task_id = :id ORDER BY id", id=task_id)
        return {
            **(await tasks_of(readers, tasks))[0],
            "intent": task.intent, "end_state": task.end_state, "constraints": list(task.constraints),
            "must_haves": list(task.must_haves), "capabilities": list(task.capabilities), "risk": str(task.risk),
            "block_kind": str(task.block_kind or ""),
            "depends_on": [
                {"task": edge.depends_on, "met": edge.met, "on_fail": str(edge.on_fail)} for edge in edges
            ],
            "outputs": [described_output(output) for output in outputs],
            "reviews": await _reviews(readers, task_id),
            "comments": await _comments(readers, task_id),
            "runs": await _runs(readers, task_id),
        }  # fmt: skip


def described_output(output: Output) -> TaskFacts:
    """An output without its content."""
    return {
        "id": output.id, "type": str(output.type), "title": output.title, "summary": output.summary,
        "path": output.path, "sha256": output.sha256, "size": output.size, "created_by": output.created_by,
        "verified_at": output.verified_at,
    }  # fmt: skip


async def _reviews(readers: Readers, task_id: int) -> list[TaskFacts]:
    found = await readers.entities(Review, "subject = 'task' AND subject_id = :id ORDER BY id", id=task_id)
    return [
        {"reviewer": review.reviewer, "attempt": review.attempt, "verdict": str(review.verdict),
         "findings": list(review.findings), "opened_outputs": list(review.opened_outputs), "at": review.created_at}
        for review in found
    ]  # fmt: skip


async def _comments(readers: Readers, task_id: int) -> list[TaskFacts]:
    found = await readers.entities(Comment, "task_id = :id ORDER BY id", id=task_id)
    return [
        {"author": comment.author, "kind": str(comment.kind), "body": comment.body, "at": comment.created_at}
        for comment in found
    ]


async def _runs(readers: Readers, task_id: int) -> list[TaskFacts]:
    names = {agent.id: agent.slug for agent in await readers.entities(AgentRecord, "true")}
    found = await readers.entities(Run, "task_id = :id ORDER BY id", id=task_id)
    return [
        {"id": run.id, "agent": names.get(run.agent_id), "kind": str(run.kind), "status": str(run.status),
         "exit_kind": run.exit_kind, "detail": run.detail, "started_at": run.started_at, "ended_at": run.ended_at}
        for run in found
    ]  # fmt: skip


def _tell(task: TaskFacts) -> None:
    waits = ", ".join(f"T{edge['task']}" for edge in task["depends_on"] if not edge["met"])
    facts(
        [
            (f"T{task['id']}", task["title"]),
            ("status", f"{task['status']} {task['reason']}".strip()),
            ("goal", f"G{task['goal']}, round {task['round'] or '-'}, covers {', '.join(task['must_haves']) or '-'}"),
            ("assignee", task["assignee"] or "nobody"),
            ("waits for", waits),
            ("intent", task["intent"]),
            ("end state", task["end_state"]),
        ]
    )
    for output in task["outputs"]:
        say(
            f"\nO{output['id']} {output['title']} ({output['size']} bytes, {output['created_by']})\n{output['summary']}"
        )
    for review in task["reviews"]:
        say(f"\n{when(review['at'])} review {review['attempt']} by {review['reviewer']}: {review['verdict']}")
        for finding in review["findings"]:
            say("  " + ", ".join(f"{name}: {value}" for name, value in finding.items()))
    for comment in task["comments"]:
        say(f"\n{when(comment['at'])} {comment['author']} ({comment['kind']}):\n{comment['body']}")
    for run in task["runs"]:
        say(f"\nR{run['id']} {run['kind']} by {run['agent']}: {run['status']} {run['detail']}".rstrip())
