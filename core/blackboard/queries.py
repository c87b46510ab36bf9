"""The hot conditions, each served by a partial index: their cost does not grow with what is finished.

They stand after WHERE: `tx.select(Task, READY_TASKS, limit=50)`. A test reads their query plans.
"""

READY_TASKS = "status = 'pending' AND open_deps = 0 ORDER BY priority, id LIMIT :limit"
BUSY_TASKS = "status IN ('claimed', 'working', 'review', 'blocked', 'waiting_human')"
LIVE_RUNS = "status IN ('queued', 'starting', 'running')"
PENDING_APPROVALS = "status = 'pending'"
OPEN_ROUNDS = "status <> 'closed'"
# What stage B's goals cost since `since`, and what their live runs hold back (D-01). Of a goal that was recalled and
# that a person dispatched then, what it had cost before stays stage B's.
STAGE_B_SPENT = (
    "SELECT coalesce(sum(spent), 0) FROM (SELECT cost_micros AS spent, goal_id, queued_at FROM runs WHERE ended_at >="
    f" :since AND cost_micros > 0 UNION ALL SELECT reserved_micros, goal_id, queued_at FROM runs WHERE {LIVE_RUNS})"
    " AS run JOIN goals ON goals.id = run.goal_id WHERE auto_dispatched_at IS NOT NULL OR EXISTS (SELECT 1 FROM events"
    " WHERE entity = 'goals' AND entity_id = goals.id AND kind = 'GoalRecalled' AND at >= run.queued_at)"
)
# Ended goals, newest first, with whether they were ever dispatched and accepted.
ENDED_GOALS = (
    "SELECT id, title, description, status, origin, reason, EXISTS (SELECT 1 FROM events WHERE entity = 'goals'"
    " AND entity_id = goals.id AND kind IN ('GoalDispatched', 'GoalAutoDispatched')) AS dispatched,"
    " EXISTS (SELECT 1 FROM events WHERE entity = 'goals' AND entity_id = goals.id AND kind = 'GoalAccepted')"
    " AS accepted FROM goals WHERE status IN ('done', 'failed', 'cancelled', 'archived') ORDER BY id DESC LIMIT :limit"
)
# A run that used tokens, and told no cost: no sum of money holds it.
WITHOUT_COST = "cost_micros = 0 AND tokens_in + tokens_out > 0"
ALIVE_GOALS = "status NOT IN ('done', 'failed', 'cancelled', 'archived')"
SCOPED = {"company": "", "agent": " AND agent_id = :id", "goal": " AND goal_id = :id"}
# Of a budget: what ended since its period began, and what is held back now; {} is what `SCOPED` says.
BUDGET_ENDED = "SELECT coalesce(sum(cost_micros), 0) FROM runs WHERE cost_micros > 0 AND ended_at >= :since{}"
BUDGET_HELD_BACK = f"SELECT coalesce(sum(reserved_micros), 0) FROM runs WHERE {LIVE_RUNS}{{}}"
# What runs like this one cost its agent, the newest first; and whether the agent ever cost anything.
LAST_COSTS = (
    "SELECT cost_micros FROM runs WHERE agent_id = :agent AND kind = :kind AND cost_micros > 0 AND ended_at > 0"
    " ORDER BY ended_at DESC, id DESC LIMIT 20"
)
# The dearest of the latest runs of a kind by agents on the same runner and model, and how many of them succeeded.
DEAREST = (
    "SELECT max(cost_micros) AS micros, sum(run.status = 'succeeded') AS succeeded FROM (SELECT agent_id, kind, status,"
    " cost_micros FROM runs WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT 500) AS run JOIN agents ON agents.id ="
    " agent_id WHERE kind = :kind AND runner ->> '$.kind' IS :runner AND runner ->> '$.model' IS :model"
)
COSTED = "SELECT 1 FROM runs WHERE agent_id = :agent AND cost_micros > 0 LIMIT 1"
# An agent's runner settings as JSON, as they were when a run of it began: each change of them is an event.
RUNNER_THEN = (
    "SELECT json_extract(changed, '$.runner') FROM events WHERE entity = 'agents' AND entity_id = :agent"
    " AND json_type(changed, '$.runner') IS NOT NULL"
    " AND id < (SELECT max(id) FROM events WHERE entity = 'runs' AND entity_id = :run AND kind = 'RunStarted')"
    " ORDER BY id DESC LIMIT 1"
)
