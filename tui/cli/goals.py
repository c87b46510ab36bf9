"""`opsroom goal list`, `goal show` and `goal outputs`."""

import argparse
from typing import Any

from core.aggregate import aggregate_outputs, light_outputs
from core.blackboard.readers import Readers
from core.domain.coverage import cover
from core.domain.entities import Comment, Decision, Goal, Round, Task, Turn
from core.domain.errors import NotFound
from core.domain.goals import is_reviewed
from core.domain.states import GoalStatus, Origin, TaskStatus
from core.waiting import subtasks_status
from tui.cli import opening
from tui.cli.names import folder_of, in_list, number_of, words_of
from tui.cli.output import facts, print_json, say, table, when
from tui.cli.tasks import described_output, tasks_of
from tui.text import counted, in_words

GoalFacts = dict[str, Any]


def list_goals(arguments: argparse.Namespace) -> int:
    """List them, oldest first."""
    statuses = words_of(arguments.status, GoalStatus, "status")
    origins = words_of(arguments.origin, Origin, "origin")
    found = opening.run(_list(arguments.dir, statuses, origins))
    if arguments.json:
        print_json({"goals": found})
    else:
        rows = [[f"G{g['id']}", _state(g), g["origin"], f"{g['tasks_done']}/{g['tasks']}", g["title"]] for g in found]
        table(rows, ("id", "status", "origin", "done", "title"))
    return 0


async def _list(folder: str, statuses: list[str], origins: list[str]) -> list[GoalFacts]:
    async with opening.reading(folder_of(folder)) as board:
        of_status, first = in_list("status", statuses)
        of_origin, second = in_list("origin", origins)
        goals = await board.readers.entities(Goal, f"{of_status} AND {of_origin} ORDER BY id", **first, **second)
        counts = await subtasks_status(board.readers)
        return [
            described(goal, sum(of.values()), of.get(TaskStatus.DONE, 0))
            for goal in goals
            for of in [counts.get(goal.id, {})]
        ]


def described(goal: Goal, tasks: int, done: int) -> GoalFacts:
    """A goal as lists show it."""
    return {
        "id": goal.id, "title": goal.title, "status": str(goal.status), "origin": str(goal.origin),
        "created_by": goal.created_by, "reviewed": is_reviewed(goal),
        "exploring": goal.status == GoalStatus.DRAFT and goal.exploring, "paused": goal.paused_at is not None,
        "tasks": tasks, "tasks_done": done, "created_at": goal.created_at, "updated_at": goal.updated_at,
    }  # fmt: skip


def _state(goal: GoalFacts) -> str:
    return f"{goal['status']}, exploring" if goal["exploring"] else str(goal["status"])


def show_goal(arguments: argparse.Namespace) -> int:
    """Show one with all that hangs on it."""
    goal_id = number_of(arguments.goal, "goal")
    found = opening.run(_show(arguments.dir, goal_id))
    if arguments.json:
        print_json(found)
    else:
        _tell(found)
    return 0


async def _show(folder: str, goal_id: int) -> GoalFacts:
    async with opening.reading(folder_of(folder)) as board:
        readers = board.readers
        goals = await readers.entities(Goal, "id = :id", id=goal_id)
        if not goals:
            raise NotFound(f"There is no G{goal_id} on this board.", "List them: opsroom goal list DIR.")
        goal = goals[0]
        tasks = await readers.entities(Task, "goal_id = :goal ORDER BY id", goal=goal_id)
        done = sum(task.status == TaskStatus.DONE for task in tasks)
        decisions = await readers.entities(Decision, "goal_id = :goal ORDER BY id", goal=goal_id)
        outputs = await light_outputs(readers, goal_id)
        coverage = cover(goal, tasks, outputs, decisions)
        return {
            **described(goal, len(tasks), done),
            "description": goal.description,
            "constraints": list(goal.constraints),
            "must_haves": [
                {**must, "verify": must.get("verify", ""), "state": covered.state, "outputs": list(covered.outputs)}
                for must, covered in zip(goal.must_haves, coverage.must_haves, strict=True)
            ],
            "decisions": [
                {
                    "id": int(decision.id),
                    "text": decision.text,
                    "state": decision.state,
                    "outputs": list(decision.outputs),
                }
                for decision in coverage.decisions
            ],
            "out_of_scope": list(goal.out_of_scope),
            "content_hash": goal.content_hash,
            "reason": goal.reason,
            "discussion": await _turns(readers, goal_id),
            "rounds": await _rounds(readers, goal_id),
            "task_list": await tasks_of(readers, tasks),
            "outputs": [described_output(output) for output in outputs if output.task_id is None],
            "comments": [
                {"author": comment.author, "kind": str(comment.kind), "body": comment.body, "at": comment.created_at}
                for comment in await readers.entities(
                    Comment, "goal_id = :goal AND task_id IS NULL ORDER BY id", goal=goal_id
                )
            ],
        }


def goal_outputs(arguments: argparse.Namespace) -> int:
    """List what the tasks of a goal delivered."""
    goal_id = number_of(arguments.goal, "goal")
    found = opening.run(_outputs(arguments.dir, goal_id))
    if arguments.json:
        print_json(found)
        return 0
    rows = [
        [f"O{o['id']}", f"T{o['task']}" if o["task"] else f"G{goal_id}", _standing(o), str(o["size"]),
         " ".join(o["must_haves"]), f"outputs/{o['path']}" if o["path"] else "on the board", o["title"]]
        for o in found["outputs"]
    ]  # fmt: skip
    table(rows, ("id", "of", "status", "bytes", "covers", "where", "title"))
    if found["left_out"]:
        say(f"… and {found['left_out']} more; `opsroom task show` has those of one task")
    return 0


def _standing(output: GoalFacts) -> str:
    return "superseded" if output["superseded"] else output["task_status"] or ""


async def _outputs(folder: str, goal_id: int) -> GoalFacts:
    async with opening.reading(folder_of(folder)) as board:
        return await aggregate_outputs(board.readers, goal=goal_id)


async def _turns(readers: Readers, goal_id: int) -> list[GoalFacts]:
    return [
        {"turn": turn.number, "outcome": str(turn.outcome), "agents": len(turn.agents), "new_tasks": turn.new_tasks,
         "questions": turn.questions, "objections": turn.objections}
        for turn in await readers.entities(Turn, "goal_id = :goal ORDER BY number", goal=goal_id)
    ]  # fmt: skip


async def _rounds(readers: Readers, goal_id: int) -> list[GoalFacts]:
    return [
        {"id": round_.id, "number": round_.number, "status": str(round_.status), "tasks": round_.total_tasks,
         "open_tasks": round_.open_tasks, "decision": str(round_.decision or ""), "answers": round_.answers}
        for round_ in await readers.entities(Round, "goal_id = :goal ORDER BY number", goal=goal_id)
    ]  # fmt: skip


def _tell(goal: GoalFacts) -> None:
    reviewed = "reviewed by you" if goal["reviewed"] else "not reviewed"
    if goal["exploring"]:
        reviewed = "still talked over with the coordinator"
    facts(
        [
            (f"G{goal['id']}", goal["title"]),
            ("status", f"{_state(goal)}{', paused' if goal['paused'] else ''} ({reviewed})"),
            ("origin", f"{goal['origin']}, by {goal['created_by']} at {when(goal['created_at'])} UTC"),
            ("hash", goal["content_hash"][:16] if goal["status"] == GoalStatus.DRAFT else ""),
            ("reason", goal["reason"]),
        ]
    )
    if goal["description"]:
        say(f"\n{goal['description']}")
    for must in goal["must_haves"]:
        say(f"  {must['id']} [{must['state']}] {must['text']}{_by(must['outputs'])}")
        if must["verify"]:
            say(f"      how to verify: {must['verify']}")
    for constraint in goal["constraints"]:
        say(f"  limit: {constraint}")
    for text in goal["out_of_scope"]:
        say(f"  not asked for: {text}")
    for decision in goal["decisions"]:
        say(f"  decision {decision['id']} [{decision['state']}] {decision['text']}{_by(decision['outputs'])}")
    for turn in goal["discussion"]:
        names = (("new_tasks", "task"), ("questions", "question"), ("objections", "objection"))
        brought = ", ".join(counted(turn[name], word) for name, word in names)
        say(f"  turn {turn['turn']}: {in_words(turn['outcome'])}, {brought}")
    for round_ in goal["rounds"]:
        ended = round_["tasks"] - round_["open_tasks"]
        decision = f", {round_['decision']}" if round_["decision"] else ""
        of_all = f"{ended} of {counted(round_['tasks'], 'task')} ended"
        say(f"  round {round_['number']}: {round_['status']}, {of_all}{decision}")
    if goal["task_list"]:
        say()
        rows = [[f"T{t['id']}", t["status"], t["assignee"] or "", t["title"]] for t in goal["task_list"]]
        table(rows, ("id", "status", "assignee", "title"))
    for output in goal["outputs"]:
        say(f"\nO{output['id']} {output['title']} ({output['size']} bytes)\n{output['summary']}")
    for comment in goal["comments"]:
        say(f"\n{when(comment['at'])} {comment['author']} ({comment['kind']}):\n{comment['body']}")


def _by(outputs: list[int]) -> str:
    return f" (by {', '.join(f'O{number}' for number in outputs)})" if outputs else ""
