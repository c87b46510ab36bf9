"""The hot conditions, each served by a partial index: their cost does not grow with what is finished.

They stand after WHERE: `tx.select(Task, READY_TASKS, limit=50)`. A test reads their query plans.
"""

READY_TASKS = "status = 'pending' AND open_deps = 0 ORDER BY priority, id LIMIT :limit"
BUSY_TASKS = "status IN ('claimed', 'working', 'review', 'blocked', 'waiting_human')"
LIVE_RUNS = "status IN ('queued', 'starting', 'running')"
PENDING_APPROVALS = "status = 'pending'"
OPEN_ROUNDS = "status <> 'closed'"
ALIVE_GOALS = "status NOT IN ('done', 'failed', 'cancelled', 'archived')"
