"""What waits for a person, read from the board: the same inbox as the room's, for whoever keeps no board in memory."""

from collections.abc import Collection

from core.blackboard.queries import ALIVE_GOALS, PENDING_APPROVALS
from core.blackboard.readers import Readers
from core.domain.actors import HUMAN
from core.domain.budget_items import held_after_no
from core.domain.company_items import notices
from core.domain.entities import AgentRecord, Approval, Budget, Company, Goal, Round, Run, Task, TaskDep
from core.domain.inbox import InboxItem, inbox

_SENT_BACK = "status = 'draft' AND round_id IN (SELECT id FROM rounds WHERE status <> 'closed')"
_BUDGET_QUESTIONS = (
    "kind = 'budget' AND id IN (SELECT (SELECT max(id) FROM approvals WHERE entity = budgets.scope || ':' || scope_id"
    " AND kind = 'budget') FROM budgets WHERE limit_micros > 0)"
)
_HELD = "SELECT {} FROM task_deps WHERE met = 0 AND on_fail = 'hold'"


async def owed(readers: Readers, kinds: Collection[str] | None = None) -> list[InboxItem]:
    """The inbox, read with few indexed queries: what is finished costs nothing. `kinds` as in `notices`."""
    companies = await readers.entities(Company, "true")
    company = companies[0] if companies else None
    alive = await readers.entities(Goal, ALIVE_GOALS)
    agents = await readers.entities(AgentRecord, "true ORDER BY id")
    held_runs = held_after_no(
        await readers.entities(Budget, "limit_micros > 0"),
        await readers.entities(Approval, _BUDGET_QUESTIONS),
        await readers.entities(Run, "status = 'queued' ORDER BY id"),
    )
    waiting = await readers.entities(
        Task, "status IN ('blocked', 'waiting_human', 'review') OR (status = 'working' AND plan_until IS NOT NULL)"
    )
    waiting += await readers.entities(Task, f"{_SENT_BACK} AND created_by = :human", human=HUMAN)
    edges = await readers.entities(TaskDep, "met = 0 AND on_fail = 'hold'")
    ends = f"id IN ({_HELD.format('task_id')} UNION {_HELD.format('depends_on')})"
    held = await readers.entities(Task, ends) if edges else []
    return inbox(
        company,
        alive,
        await readers.entities(Round, "status IN ('escalated', 'stalled')"),
        {task.id: task for task in [*waiting, *held]}.values(),
        edges,
        await readers.entities(Approval, PENDING_APPROVALS),
        agents,
        [*held_runs, *notices(company, alive, agents, kinds)],
    )


async def subtasks_status(readers: Readers) -> dict[int, dict[str, int]]:
    """How many tasks of each goal are in each status, in one query (S2-35): {goal id: {status: count}}."""
    found: dict[int, dict[str, int]] = {}
    for row in await readers.all("SELECT goal_id, status, count(*) AS n FROM tasks GROUP BY goal_id, status"):
        found.setdefault(row["goal_id"], {})[row["status"]] = row["n"]
    return found


async def mentioned_agents(readers: Readers) -> list[str]:
    """The agents that were mentioned and not woken yet (S2-35), by name, each once."""
    rows = await readers.all(
        "SELECT DISTINCT slug FROM mentions JOIN agents ON agents.id = agent_id WHERE mentions.status = 'pending'"
        " ORDER BY slug"
    )
    return [row["slug"] for row in rows]
