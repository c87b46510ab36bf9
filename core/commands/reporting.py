"""The end of a goal's work: the program composes the report from the board, and hands it to the operator (S2-14)."""

import hashlib
import json

from pydantic import Field

from core.blackboard.rows import maker
from core.blackboard.transaction import Transaction
from core.commands.challenges import require_unchallenged
from core.commands.goal_changes import require_unchanging
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.commands.telling import say
from core.domain.actors import HUMAN
from core.domain.coverage import Coverage, cover
from core.domain.entities import Comment, Decision, Goal, Output, Round, Task
from core.domain.errors import Conflict
from core.domain.lifecycles import GOAL
from core.domain.limits import INLINE_OUTPUT_MAX
from core.domain.records import fields_of
from core.domain.reporting import ReportFacts, Spent, compose, report_title
from core.domain.states import TASK_FINAL, CommentKind, GoalStatus, OutputType

_EXCERPT = 600


class ReportGoal(Command):
    """Hand the report to the operator: every must-have and decision is covered, or waived by a person (F10, S2-24)."""

    who = letters("C")
    example = {
        "goal": 3,
        "summary": "All is counted.",
        "findings": ("There are 43 files.",),
        "not_done": ("Archives.",),
    }
    goal: int
    summary: Text = Field(min_length=1, description="What the operator should know first")
    findings: tuple[Text, ...] = Field((), max_length=100, description="Key findings, a line each")
    not_done: tuple[Text, ...] = Field((), max_length=100, description="What was left out, and why")


@handles(ReportGoal)
def report_goal(act: Act, command: ReportGoal) -> Answer:
    tx = act.tx
    goal = tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.REPORTING, "ReportGoal", act.capacities)
    act.require_own_goal(goal.id)
    require_unchanging(act, goal)
    require_unchallenged(act, goal)
    tasks = tx.select(Task, "goal_id = :goal ORDER BY id", goal=goal.id)
    outputs = light_outputs(tx, goal.id)
    coverage = cover(goal, tasks, outputs, tx.select(Decision, "goal_id = :goal ORDER BY id", goal=goal.id))
    _require_covered(goal, coverage)
    if any(task.status not in TASK_FINAL for task in tasks):
        raise Conflict(f"{goal.name_tag} has tasks that are not finished.", "Finish or cancel them first.")
    _require_reviewed_rounds(act, goal)
    version = _version(tx, goal)
    facts = ReportFacts(
        goal=goal, version=version, now=tx.now, summary=command.summary, findings=command.findings,
        not_done=command.not_done, coverage=coverage, tasks=tuple(tasks), outputs=tuple(outputs),
        excerpts=_excerpts(tx, coverage), rounds=tuple(tx.select(Round, "goal_id = :g ORDER BY number", g=goal.id)),
        notes=_notes(tx, goal), spent=_spent(tx, goal), red_lines=_red_lines(tx, goal),
    )  # fmt: skip
    output = _insert(act, goal, version, compose(facts, INLINE_OUTPUT_MAX), command.summary)
    say(act, "GoalReportPosted", CommentKind.REPORT, command.summary, goal=goal.id)
    goal = tx.update(goal, "GoalReported", status=GoalStatus.REPORTING)
    return {"id": goal.id, "status": str(goal.status), "output": output.id, "version": version}


def _require_reviewed_rounds(act: Act, goal: Goal) -> None:
    """Raises Conflict while a round is not closed: its review, or the operator, decides that the goal is reported."""
    unclosed = act.tx.select(Round, "goal_id = :goal AND status <> 'closed'", goal=goal.id)
    if unclosed:
        raise Conflict(
            f"{goal.name_tag}: round {unclosed[0].number} is {unclosed[0].status}.", "Its review decides what follows."
        )


def _require_covered(goal: Goal, coverage: Coverage) -> None:
    if coverage.open_must_haves:
        names = "; ".join(f"{must.id} {must.text[:80]}" for must in coverage.open_must_haves[:20])
        raise Conflict(
            f"{goal.name_tag} is not covered: no output of a done task names {names}.",
            "Open another round, or ask for a waiver.",
        )
    if coverage.open_decisions:
        names = "; ".join(f"{decision.id} {decision.text[:80]!r}" for decision in coverage.open_decisions[:20])
        raise Conflict(
            f"{goal.name_tag} has decisions that land in no output of a done task: {names}.",
            "Open another round whose outputs name them (decisions), or ask for a waiver.",
        )


def light_outputs(tx: Transaction, goal_id: int) -> list[Output]:
    """The outputs of a goal without their content (empty where there is one): a goal may have many large ones."""
    light = "CASE WHEN content IS NOT NULL THEN '' END"
    columns = ", ".join(light if name == "content" else name for name in fields_of(Output))
    rows = tx.connection.execute(f"SELECT {columns} FROM outputs WHERE goal_id = ? ORDER BY id", (goal_id,))
    return [maker(Output)(row) for row in rows]


def _version(tx: Transaction, goal: Goal) -> int:
    said = "SELECT count(*) FROM events WHERE entity = 'goals' AND entity_id = :goal AND kind = 'GoalReported'"
    return int(tx.value(said, goal=goal.id)) + 1


def _excerpts(tx: Transaction, coverage: Coverage) -> dict[int, str]:
    wanted = sorted({output for must in coverage.must_haves for output in must.outputs})
    rows = tx.all(
        "SELECT id, substr(content, 1, :most) AS text FROM outputs WHERE content IS NOT NULL"
        " AND id IN (SELECT value FROM json_each(:ids))",
        most=_EXCERPT + 1, ids=json.dumps(wanted),
    )  # fmt: skip
    return {row["id"]: row["text"] for row in rows}


def _notes(tx: Transaction, goal: Goal) -> tuple[str, ...]:
    """What the operator said when earlier versions came back."""
    rows = tx.select(
        Comment,
        "goal_id = :goal AND task_id IS NULL AND author = :human AND EXISTS (SELECT 1 FROM events WHERE"
        " entity = 'comments' AND entity_id = comments.id AND kind = 'GoalNoteWritten') ORDER BY id",
        goal=goal.id, human=HUMAN,
    )  # fmt: skip
    return tuple(row.body for row in rows)


def _red_lines(tx: Transaction, goal: Goal) -> tuple[str, ...]:
    """What the operator did not allow, also not later, and what was blocked; never the blocked act itself."""
    refused = tx.all(
        "SELECT approvals.id, approvals.title, approvals.status, approvals.note FROM approvals"
        " JOIN tasks ON approvals.entity = 'task:' || tasks.id"
        " WHERE goal_id = :goal AND approvals.kind = 'red_line' AND approvals.status IN"
        " ('rejected', 'revision_requested') AND NOT EXISTS (SELECT 1 FROM approvals AS newer"
        " WHERE newer.entity = approvals.entity AND newer.kind = 'red_line' AND newer.id > approvals.id"
        " AND newer.payload_hash = approvals.payload_hash AND newer.status IN ('approved', 'consumed'))"
        " ORDER BY approvals.id",
        goal=goal.id,
    )
    blocked = tx.all(
        "SELECT tasks.id, tasks.title, json_extract(events.changed, '$.line') AS line, count(*) AS times FROM events"
        " JOIN tasks ON tasks.id = entity_id WHERE entity = 'redline' AND kind = 'RedLineBlocked' AND goal_id = :goal"
        " GROUP BY tasks.id, line ORDER BY min(events.id)",
        goal=goal.id,
    )
    said = [
        f"Q{row['id']} {row['title']}: {'not allowed' if row['status'] == 'rejected' else 'sent back'}"
        + (f", {row['note']}" if row["note"].strip() else "")
        for row in refused
    ]
    said += [
        f"T{row['id']} {row['title']}: blocked at the red line {row['line']}"
        + (f", {row['times']} times" if row["times"] > 1 else "")
        for row in blocked
    ]
    return tuple(said)


def _spent(tx: Transaction, goal: Goal) -> Spent:
    row = tx.one(
        "SELECT count(*) AS runs, coalesce(sum(tokens_in), 0) AS tokens_in, coalesce(sum(tokens_out), 0) AS tokens_out,"
        " coalesce(sum(cost_micros), 0) AS cost_micros, coalesce(sum(max(coalesce(ended_at, :now) - started_at, 0)), 0)"
        " AS worked_ms FROM runs WHERE goal_id = :goal AND started_at IS NOT NULL",
        goal=goal.id, now=tx.now,
    )  # fmt: skip
    return Spent(**(row or {}))


def _insert(act: Act, goal: Goal, version: int, text: str, summary: str) -> Output:
    data = text.encode()
    return act.tx.insert(
        Output, "ReportComposed",
        goal_id=goal.id, task_id=None, run_id=act.own_run().id, type=OutputType.DOCUMENT,
        title=report_title(goal.id, version), summary=summary, content=text, path=None,
        sha256=hashlib.sha256(data).hexdigest(), size=len(data), created_by=act.label,
    )  # fmt: skip
