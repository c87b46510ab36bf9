"""The health of the staff from the room's memory: each agent's condition, its look, and the roster's groups."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice

from core.domain.company_items import runner_missing
from core.domain.entities import AgentRecord, Run, Task
from core.domain.health import AgentFacts, Condition, Health, condition
from core.domain.limits import RUN_ATTEMPTS
from core.domain.states import RUN_LIVE, ApprovalKind, RunStatus
from tui.explaining import why_left
from tui.projection import Projection
from tui.signs import Look
from tui.widgets.row import Tone

Conditions = Mapping[int, Condition]
"""How each agent is, by its id."""

_LOOKS: dict[Health, tuple[str, Tone]] = {
    Health.STUCK: ("■", "bad"),
    Health.WAITING: ("?", "warn"),
    Health.WORKING: ("●", "good"),
    Health.PAUSED: ("‖", "warn"),
    Health.IDLE: ("·", "dim"),
    Health.RETIRED: ("–", "dim"),
}
_BY_ITSELF: tuple[str, Tone] = ("○", "info")  # it waits for nobody who reads this
_ON_YOU = frozenset({"asks", "needs you", "budget", "stopped", "plan"})
_RUNS_LOOKED_AT = 500


def look_of(health: Health, state: str = "") -> Look:
    """Sign, word and tone; without a state those of the whole group."""
    is_quiet = health == Health.WAITING and bool(state) and state not in _ON_YOU
    sign, tone = _BY_ITSELF if is_quiet else _LOOKS[health]
    return sign, state or str(health), tone


def conditions(view: Projection, now: int) -> dict[int, Condition]:
    """How everybody is, by the same facts that the inbox and the tick go by."""
    items, budgets = _in_the_inbox(view)
    live, ended, tasks = _runs(view), _ended(view), _tasks(view)
    company = view.company
    stopped = company.stop_reason or "nothing is dispatched" if company is not None and not company.dispatching else ""
    found = {}
    for agent in view.tables.all(AgentRecord):
        kinds = view.runner_kinds
        facts = AgentFacts(
            agent=agent, live=live[agent.id], ended=ended[agent.id], tasks=tasks[agent.id], items=items,
            budgets=budgets, held=view.held_runs, lacks="" if kinds is None else runner_missing(agent.runner, kinds),
            left=why_left(view, agent), stopped=stopped,
        )  # fmt: skip
        found[agent.id] = condition(facts, now)
    return found


def grouped(view: Projection, staff: Conditions) -> list[tuple[Health, list[AgentRecord]]]:
    """The groups that have somebody, what needs a person first; in each the oldest first."""
    groups: dict[Health, list[AgentRecord]] = {each: [] for each in Health}
    for agent in sorted(view.tables.all(AgentRecord), key=lambda each: each.id):
        if agent.id in staff:
            groups[staff[agent.id].health].append(agent)
    return [(health, agents) for health, agents in groups.items() if agents]


def states_in(agents: Sequence[AgentRecord], staff: Conditions) -> str:
    """What a group is made of, e.g. '2 asks · 1 queued'; empty where its name says all."""
    counts: dict[str, int] = {}
    for agent in agents:
        state = staff[agent.id].state
        counts[state] = counts.get(state, 0) + 1
    if set(counts) == {str(staff[agents[0].id].health)}:
        return ""
    return " · ".join(f"{number} {state}" for state, number in counts.items())


def _in_the_inbox(view: Projection) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """What waits, by its subject: all of it, and the budgets that are used up."""
    items: dict[str, tuple[str, str]] = {}
    budgets: dict[str, tuple[str, str]] = {}
    for item in view.inbox():
        kind, _, number = item.id.partition(":")
        tag = f"Q{number}" if kind == "approval" else ""
        if item.kind == ApprovalKind.BUDGET:
            budgets.setdefault(item.entity, (item.id, tag or item.title))
        else:
            items.setdefault(item.entity, (item.id, tag))
    return items, budgets


def _runs(view: Projection) -> dict[int, list[Run]]:
    """The live ones; what is at work stands before what is queued."""
    found: dict[int, list[Run]] = defaultdict(list)
    for run in sorted(view.live_runs, key=lambda run: (run.status == RunStatus.QUEUED, run.id)):
        found[run.agent_id].append(run)
    return found


def _ended(view: Projection) -> dict[int, list[Run]]:
    """The last few of each, newest first, as far as the room remembers."""
    found: dict[int, list[Run]] = defaultdict(list)
    for run in islice(reversed(view.tables[Run].values()), _RUNS_LOOKED_AT):
        if run.status not in RUN_LIVE and len(found[run.agent_id]) < RUN_ATTEMPTS:
            found[run.agent_id].append(run)
    return found


def _tasks(view: Projection) -> dict[int, list[Task]]:
    found: dict[int, dict[int, Task]] = defaultdict(dict)
    for task in (*view.held_tasks(), *view.attention_tasks()):
        if task.assignee_id is not None:
            found[task.assignee_id][task.id] = task
    return defaultdict(list, {agent: list(tasks.values()) for agent, tasks in found.items()})
