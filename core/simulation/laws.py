"""What holds on every board at every moment, whoever does what. Each law answers the places where it is broken."""

from collections.abc import Iterator
from typing import Any

from core.blackboard.transaction import Transaction
from core.domain.limits import DISCUSSION_TURNS, STALL_MS

LIVE = "status IN ('queued', 'starting', 'running')"
FINAL = "('done', 'failed', 'cancelled')"

# Each finds what must not be; the columns say where.
FORBIDDEN = {
    "two runs work on one task at once": (
        "SELECT task_id, count(*) AS n FROM runs WHERE kind = 'execute' AND status IN ('starting', 'running')"
        " GROUP BY task_id HAVING count(*) > 1"
    ),
    "a task is held by two live runs": (
        "SELECT tasks.id FROM tasks JOIN runs ON runs.task_id = tasks.id AND runs.kind = 'execute'"
        f" WHERE tasks.status IN ('claimed', 'working') AND runs.{LIVE} AND runs.agent_id <> tasks.assignee_id"
        " AND runs.id = tasks.current_run"
    ),
    "a current run is not a live run of its task": (
        "SELECT id, status, current_run FROM tasks WHERE current_run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs"
        f" WHERE runs.id = tasks.current_run AND runs.task_id = tasks.id AND runs.kind = 'execute' AND runs.{LIVE})"
    ),
    "a task has a current run and nobody works on it": (
        "SELECT id, status FROM tasks WHERE current_run IS NOT NULL AND status NOT IN ('claimed', 'working')"
    ),
    "a held task has no assignee": (
        "SELECT id FROM tasks WHERE status IN ('claimed', 'working') AND assignee_id IS NULL"
    ),
    "somebody judged their own work": (
        "SELECT reviews.id FROM reviews JOIN agents ON agents.slug = reviews.reviewer WHERE reviews.subject = 'task'"
        " AND (EXISTS (SELECT 1 FROM runs WHERE runs.task_id = reviews.subject_id AND runs.kind = 'execute'"
        " AND runs.agent_id = agents.id AND runs.id < reviews.run_id) OR EXISTS (SELECT 1 FROM outputs"
        " WHERE outputs.task_id = reviews.subject_id AND outputs.created_by = agents.slug))"
    ),
    "a task is done without an approval": (
        "SELECT id FROM tasks WHERE status = 'done' AND NOT EXISTS (SELECT 1 FROM reviews WHERE subject = 'task'"
        " AND subject_id = tasks.id AND verdict = 'approved')"
    ),
    "two questions of one kind wait about one thing": (
        "SELECT entity, kind FROM approvals WHERE status = 'pending' GROUP BY entity, kind HAVING count(*) > 1"
    ),
    "an approval was used without being approved": (
        "SELECT id FROM approvals WHERE status = 'consumed' AND (decided_at IS NULL OR consumed_at IS NULL)"
    ),
    "an approval was used twice": (
        "SELECT entity_id FROM events WHERE kind = 'ApprovalConsumed' GROUP BY entity_id HAVING count(*) > 1"
    ),
    "a question about what has ended still waits": (
        "SELECT approvals.id FROM approvals JOIN tasks ON approvals.entity = 'task:' || tasks.id"
        f" WHERE approvals.status = 'pending' AND tasks.status IN {FINAL}"
    ),
    "an ended goal has open tasks, rounds or runs": (
        "SELECT goals.id FROM goals WHERE status IN ('done', 'failed', 'cancelled', 'archived') AND (EXISTS (SELECT 1"
        f" FROM tasks WHERE goal_id = goals.id AND tasks.status NOT IN {FINAL}) OR EXISTS (SELECT 1 FROM rounds"
        " WHERE goal_id = goals.id AND rounds.status <> 'closed'))"
    ),
    "a round is open and all its tasks have ended": (
        "SELECT id FROM rounds WHERE status IN ('open', 'stalled') AND open_tasks = 0"
    ),
    "a round is reviewed while it has open tasks": (
        "SELECT id FROM rounds WHERE status IN ('reviewing', 'escalated', 'closed') AND open_tasks <> 0"
    ),
    "an event tells of a time before another's": (
        "SELECT a.id FROM events a JOIN events b ON b.id = a.id + 1 WHERE b.at < a.at"
    ),
    "the last word on a done task is no approval": (
        "SELECT id FROM tasks WHERE status = 'done' AND (SELECT verdict FROM reviews WHERE subject = 'task'"
        " AND subject_id = tasks.id ORDER BY id DESC LIMIT 1) <> 'approved'"
    ),
    "a task of high risk is done by the word of one reviewer": (
        "SELECT id FROM tasks WHERE status = 'done' AND risk = 'high' AND NOT EXISTS (SELECT 1 FROM reviews WHERE"
        " subject = 'task' AND subject_id = tasks.id AND stage = 'ruling' AND verdict = 'approved') AND (SELECT"
        " count(DISTINCT reviewer) FROM reviews WHERE subject = 'task' AND subject_id = tasks.id"
        " AND verdict = 'approved') < 2"
    ),
    "the second look is the first reviewer's": (
        "SELECT subject_id, attempt, reviewer FROM reviews WHERE subject = 'task' AND stage IN ('review', 'second')"
        " GROUP BY subject_id, attempt, reviewer HAVING count(*) > 1"
    ),
    "a verdict was contradicted twice": (
        "SELECT subject_id, attempt FROM reviews WHERE rebuttal_answer <> '' GROUP BY subject_id, attempt"
        " HAVING count(*) > 1"
    ),
    "three refusals and no question to the operator": (
        "SELECT id, review_attempts FROM tasks WHERE review_attempts / 3 > (SELECT count(*) FROM approvals WHERE"
        " entity = 'task:' || tasks.id AND kind = 'question' AND title LIKE '% was refused %')"
    ),
    "somebody works on a task whose plan stands open for objection": (
        "SELECT id FROM tasks WHERE plan_until IS NOT NULL AND (status <> 'working' OR EXISTS (SELECT 1 FROM runs"
        f" WHERE runs.task_id = tasks.id AND runs.kind = 'execute' AND runs.{LIVE} AND runs.id = tasks.current_run))"
    ),
    "a discussion has more turns than it may": (f"SELECT goal_id, number FROM turns WHERE number > {DISCUSSION_TURNS}"),
    "a goal has two open turns, or one after its discussion": (
        "SELECT turns.goal_id FROM turns JOIN goals ON goals.id = goal_id WHERE ended_at IS NULL"
        " GROUP BY goal_id HAVING count(*) > 1 OR max(goals.status) <> 'planning'"
    ),
    "a goal is talked over that is no draft": (
        "SELECT id, status FROM goals WHERE exploring = 1 AND status <> 'draft'"
    ),
    "work on a goal begins before its discussion is over": (
        "SELECT tasks.id FROM tasks JOIN goals ON goals.id = goal_id WHERE goals.status IN ('draft', 'planning')"
        f" AND tasks.status NOT IN ('draft', {FINAL[1:]}"
    ),
    "a round was opened above the cap that the operator did not ask for": (
        "SELECT rounds.id, number, round_cap FROM rounds JOIN goals ON goals.id = goal_id WHERE number > round_cap"
        " AND number - round_cap > (SELECT count(*) FROM approvals WHERE entity = 'goal:' || goals.id"
        " AND decided_at IS NOT NULL) + (SELECT count(*) FROM events WHERE entity = 'goals' AND entity_id = goals.id"
        " AND kind = 'GoalSentBack')"
    ),
    "a mention woke who wrote it": (
        "SELECT mentions.id FROM mentions JOIN comments ON comments.id = comment_id JOIN agents"
        " ON agents.id = mentions.agent_id WHERE comments.author = agents.slug"
    ),
    "two runs answer for one agent where it was named": (
        "SELECT agent_id, task_id, goal_id FROM runs WHERE kind = 'mention' AND status IN ('starting', 'running')"
        " GROUP BY agent_id, task_id, goal_id HAVING count(*) > 1"
    ),
    "a mention is held and nobody was asked": (
        "SELECT id FROM mentions WHERE status = 'held' AND NOT EXISTS (SELECT 1 FROM approvals WHERE kind = 'exchange'"
        " AND status = 'pending' AND entity = CASE WHEN mentions.task_id IS NULL THEN 'goal:' || mentions.goal_id"
        " ELSE 'task:' || mentions.task_id END)"
    ),
    "a run that is not at work holds money back": (
        "SELECT id, status, reserved_micros FROM runs WHERE reserved_micros > 0 AND status NOT IN"
        " ('starting', 'running')"
    ),
    "a goal was reported that lacks a must-have": (
        "SELECT goals.id, must.value ->> '$.id' AS lacks FROM goals, json_each(goals.must_haves) AS must"
        " WHERE status IN ('reporting', 'done') AND must.value ->> '$.waived_by' = '' AND NOT EXISTS (SELECT 1"
        " FROM outputs, json_each(outputs.must_haves) AS named JOIN tasks ON tasks.id = outputs.task_id"
        " WHERE outputs.goal_id = goals.id AND tasks.status = 'done' AND named.value = must.value ->> '$.id')"
    ),
    "a goal was reported though a decision is in no output": (
        "SELECT goals.id, decisions.id AS decision FROM decisions JOIN goals ON goals.id = goal_id"
        " WHERE goals.status IN ('reporting', 'done') AND decisions.waived_by = '' AND NOT EXISTS (SELECT 1"
        " FROM json_each(decisions.covered_by) AS by JOIN outputs ON outputs.id = by.value JOIN tasks"
        " ON tasks.id = outputs.task_id WHERE tasks.status = 'done')"
    ),
}
COUNTERS = "a kept counter is wrong"
FORGOTTEN = "an open task waits for nothing and nobody"
UNTOLD = "the tables are not what the events tell"
UNSEEN = "a goal or a round stands still and nobody is told"
LAWS = (*FORBIDDEN, COUNTERS, FORGOTTEN, UNSEEN, UNTOLD)


def broken_laws(tx: Transaction) -> list[tuple[str, str]]:
    """Every law that does not hold now, and where. FORGOTTEN and UNTOLD are looked at elsewhere."""
    return list(_broken(tx))


def _broken(tx: Transaction) -> Iterator[tuple[str, str]]:
    for law, query in FORBIDDEN.items():
        for row in tx.all(query):
            yield law, ", ".join(f"{name} {value}" for name, value in row.items())
    for thing, why in kept_counts(tx).items():
        yield COUNTERS, f"{thing}: {why}"


def waiting_for_nothing(tx: Transaction, known: set[str]) -> list[str]:
    """Open tasks that nothing will ever move (F16).

    `known` are the things in the inbox, and those that the next tick acts on or names with a reason, e.g. `task:3`.
    """
    lost = []
    for task in tx.all(
        f"SELECT id, status, open_deps, current_run, goal_id, round_id FROM tasks WHERE status NOT IN {FINAL}"
    ):
        if f"task:{task['id']}" not in known and not _is_moved(tx, task, known):
            lost.append(f"T{task['id']} is {task['status']}")
    return lost


def _is_moved(tx: Transaction, task: dict[str, Any], known: set[str]) -> bool:
    """Whether a run, another task, or what its goal or round waits for will move it."""
    if task["current_run"] is not None:
        return True
    if tx.value("SELECT paused_at FROM goals WHERE id = :g", g=task["goal_id"]) is not None:
        return True  # by a person, who resumes it
    if tx.value(f"SELECT 1 FROM runs WHERE {LIVE} AND task_id = :t LIMIT 1", t=task["id"]) is not None:
        return True
    cause = (
        "SELECT 1 FROM task_deps JOIN tasks ON tasks.id = depends_on"
        f" WHERE task_id = :t AND met = 0 AND tasks.status NOT IN {FINAL} LIMIT 1"
    )
    if tx.value(cause, t=task["id"]) is not None:
        return True
    if task["status"] != "draft":
        return False
    # A draft waits for its goal to be dispatched or planned, or for the round that takes it along.
    above = {f"goal:{task['goal_id']}", f"round:{task['round_id']}"}
    status = tx.value("SELECT status FROM goals WHERE id = :g", g=task["goal_id"])
    unclosed = "SELECT 1 FROM rounds WHERE goal_id = :g AND status <> 'closed'"
    called = f"SELECT 1 FROM runs WHERE goal_id = :g AND {LIVE}"
    moving = tx.value(f"{unclosed} UNION {called} LIMIT 1", g=task["goal_id"]) is not None
    return bool(above & known) or status == "draft" or moving


def standing_still(tx: Transaction, known: set[str]) -> list[str]:
    """Goals and rounds that do not go on, without anybody who could see it (C-05).

    `known` are the things in the inbox, and those that the next tick acts on or names with a reason, e.g. `round:3`.
    """
    lost = []
    for round_ in tx.all("SELECT id, goal_id, number, status, progress_at FROM rounds WHERE status <> 'closed'"):
        called = f"SELECT 1 FROM runs WHERE {LIVE} AND round_id = :r AND kind IN ('round_review', 'stall') LIMIT 1"
        seen = f"round:{round_['id']}" in known or tx.value(called, r=round_["id"]) is not None
        if round_["status"] == "open":
            moving = (
                "SELECT 1 FROM tasks WHERE round_id = :r AND (status IN ('claimed', 'working', 'review')"
                " OR status = 'pending' AND open_deps = 0) LIMIT 1"
            )
            seen = tx.now - round_["progress_at"] < STALL_MS or tx.value(moving, r=round_["id"]) is not None
        if not seen:
            lost.append(f"round {round_['number']} of G{round_['goal_id']} is {round_['status']}")
    for goal in tx.all(
        "SELECT id, status FROM goals WHERE status IN ('planning', 'active', 'reporting') AND NOT EXISTS"
        " (SELECT 1 FROM rounds WHERE goal_id = goals.id AND rounds.status <> 'closed')"
    ):
        called = f"SELECT 1 FROM runs WHERE {LIVE} AND goal_id = :g LIMIT 1"
        if f"goal:{goal['id']}" not in known and tx.value(called, g=goal["id"]) is None:
            lost.append(f"G{goal['id']} is {goal['status']}")
    return lost


def kept_counts(tx: Transaction) -> dict[str, str]:
    """Where a kept counter differs from what it counts; empty when all agree."""
    wrong = {}
    for row in tx.all(
        "SELECT id, open_tasks, total_tasks, (SELECT count(*) FROM tasks WHERE round_id = rounds.id) AS total,"
        " (SELECT count(*) FROM tasks WHERE round_id = rounds.id AND status NOT IN ('done', 'failed', 'cancelled'))"
        " AS open FROM rounds"
    ):
        if (row["open_tasks"], row["total_tasks"]) != (row["open"], row["total"]):
            wrong[f"round {row['id']}"] = str(row)
    for row in tx.all(
        "SELECT id, open_deps, (SELECT count(*) FROM task_deps WHERE task_id = tasks.id AND met = 0) AS unmet"
        " FROM tasks"
    ):
        if row["open_deps"] != row["unmet"]:
            wrong[f"task {row['id']}"] = str(row)
    for table in ("goals", "tasks", "runs", "approvals", "rounds", "agents"):
        real = {row["status"]: row["n"] for row in tx.all(f"SELECT status, count(*) AS n FROM {table} GROUP BY status")}
        rows = tx.all("SELECT status, n FROM counts WHERE entity = :table AND n <> 0", table=table)
        kept = {row["status"]: row["n"] for row in rows}
        if kept != real:
            wrong[table] = f"kept {kept}, real {real}"
    return wrong
