"""What holds on every board at every moment, whoever does what. Each law answers the places where it is broken."""

from collections.abc import Iterator

from core.blackboard.transaction import Transaction

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
}


def broken_laws(tx: Transaction) -> list[str]:
    """Every law that does not hold now, and where."""
    return list(_broken(tx))


def _broken(tx: Transaction) -> Iterator[str]:
    for law, query in FORBIDDEN.items():
        for row in tx.all(query):
            yield f"{law}: {row}"
    for thing, why in kept_counts(tx).items():
        yield f"a kept counter is wrong: {thing}: {why}"


def waiting_for_nothing(tx: Transaction, named: set[str], reached: set[str]) -> list[str]:
    """Open tasks that nothing will ever move (F16).

    `named` are the things in the inbox, `reached` those that the next tick acts on or names with a reason.
    """
    lost = []
    for task in tx.all(
        f"SELECT id, status, open_deps, current_run, goal_id, round_id FROM tasks WHERE status NOT IN {FINAL}"
    ):
        known = named | reached
        goal = tx.one("SELECT status FROM goals WHERE id = :id", id=task["goal_id"])
        assert goal is not None
        causes = tx.all(
            "SELECT tasks.id, tasks.status FROM task_deps JOIN tasks ON tasks.id = depends_on"
            f" WHERE task_id = :t AND met = 0 AND tasks.status NOT IN {FINAL}",
            t=task["id"],
        )
        moves = (
            f"task:{task['id']}" in known
            or task["current_run"] is not None
            or bool(causes)
            or (
                task["status"] == "draft"
                and (goal["status"] in ("draft", "planning") or f"goal:{task['goal_id']}" in known)
            )
            or (task["status"] == "draft" and f"round:{task['round_id']}" in known)
            or tx.value(f"SELECT 1 FROM runs WHERE {LIVE} AND task_id = :t", t=task["id"]) is not None
            or (
                task["status"] == "draft"
                and tx.value("SELECT 1 FROM rounds WHERE goal_id = :g AND status <> 'closed'", g=task["goal_id"])
                is not None
            )
        )
        if not moves:
            lost.append(f"T{task['id']} is {task['status']} and waits for nothing")
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
