"""Whose prompt can be looked at: who would be told what now, and the runs that were told. From memory."""

from collections.abc import Iterable, Sequence

from core.domain.entities import AgentRecord, Goal, Run, Task
from core.domain.states import AgentStatus, Role, RunKind, TaskStatus
from core.prompting.builder import kind_of
from tui.projection import Projection
from tui.prompt_text import is_planned
from tui.text import ago, in_words
from tui.widgets.rows import Cell, Column, Row

TOLD = (
    Column("", width=1),
    Column("run", width=5),
    Column("who", width=12),
    Column("about", min_width=10),
    Column("when", width=5, align="right", drop_below=36),
)
PLANNED_MAX = 50
_HELD = frozenset({TaskStatus.CLAIMED, TaskStatus.WORKING})


def planned(view: Projection, ref: str) -> Sequence[tuple[AgentRecord, Task | None]]:
    """Who would be told something now: about the selected task, the selected agent, or everybody at what they do."""
    staff = [agent for agent in view.tables.all(AgentRecord) if agent.status != AgentStatus.TERMINATED]
    thing = view.find(ref)
    if isinstance(thing, Task):
        return [(agent, thing) for agent in _called_for(thing, staff)][:PLANNED_MAX]
    if isinstance(thing, AgentRecord):
        staff = [thing]
    held = {task.assignee_id: task for task in view.held_tasks()}
    return [(agent, held.get(agent.id)) for agent in staff][:PLANNED_MAX]


def _called_for(task: Task, staff: Iterable[AgentRecord]) -> list[AgentRecord]:
    """Those whose turn it is; when it is nobody's, who leads."""
    if task.status in _HELD:
        return [agent for agent in staff if agent.id == task.assignee_id]
    fitting = [agent for agent in staff if kind_of(agent, task) != RunKind.MENTION]
    able = [agent for agent in fitting if set(task.capabilities) <= set(agent.capabilities)]
    return able or fitting or [agent for agent in staff if agent.role in (Role.COORDINATOR, Role.CEO)]


def planned_id(slug: str, task: int | None, kind: RunKind | None = None) -> str:
    """The row of a prompt that is only thought of; without a kind it is as the task is."""
    return f"now:{slug}:{task or ''}" + (f":{kind}" if kind else "")


def planned_parts(row_id: str) -> tuple[str, int | None, RunKind | None]:
    """The agent, the task and the kind that such a row asks for."""
    slug, task, kind = [*row_id.split(":"), "", ""][1:4]
    return slug, int(task) if task else None, RunKind(kind) if kind else None


def told_rows(view: Projection, ref: str, more: Iterable[str], now: int) -> list[Row]:
    """What would be told now stands first, then the runs, newest first. `more` are rows that were asked for."""
    rows = {}
    for row_id in more:
        if row := _asked_for(view, row_id, now):
            rows[row_id] = row
    for agent, task in planned(view, ref):
        row = _planned_row(agent, task)
        rows.setdefault(row.id, row)
    for run in sorted(view.tables.all(Run), key=lambda each: -each.id):
        if _is_about(view, run, ref):
            rows.setdefault(f"run:{run.id}", _run_row(view, run, now))
    return list(rows.values())


def _is_about(view: Projection, run: Run, ref: str) -> bool:
    kind, _, number = ref.partition(":")
    match kind:
        case "task":
            return str(run.task_id) == number
        case "agent":
            return str(run.agent_id) == number
        case "goal":
            task = view.tables.get(Task, run.task_id)
            is_of_it = number in (str(run.goal_id), str(task.goal_id) if task else "")
            return is_of_it or _proposed(view, run, view.find(ref))
        case _:
            return True


def _proposed(view: Projection, run: Run, goal: object) -> bool:
    """Whether the goal came from this run: a proposal knows no goal before it has made one."""
    if run.kind != RunKind.PROPOSE or not isinstance(goal, Goal) or view.slug(run.agent_id) != goal.created_by:
        return False
    began, ended = run.started_at, run.ended_at
    return began is not None and began <= goal.created_at and (ended is None or goal.created_at <= ended)


def _asked_for(view: Projection, row_id: str, now: int) -> Row | None:
    if row_id.startswith("run:"):
        number = int(row_id.partition(":")[2])
        run = view.tables.get(Run, number)
        return _run_row(view, run, now) if run else Row(row_id, ("·", f"R{number}", "", "an older run", ""))
    slug, task_id, kind = planned_parts(row_id)
    agent = next((each for each in view.tables.all(AgentRecord) if each.slug == slug), None)
    task = view.tables.get(Task, task_id) if task_id else None
    return _planned_row(agent, task, kind) if agent else None


def _planned_row(agent: AgentRecord, task: Task | None, kind: RunKind | None = None) -> Row:
    words = in_words(kind or kind_of(agent, task))
    about = f"{task.name_tag} {words}" if task else words
    cells: tuple[Cell, ...] = (("◇", "info"), ("now", "info"), agent.slug, about, "")
    return Row(planned_id(agent.slug, task.id if task else None, kind), cells)


def in_time(row_ids: Iterable[str], view: Projection) -> list[str]:
    """Rows by what was told first; what would be told now, also by a run that has not begun, is last."""

    def moment(row_id: str) -> tuple[bool, int]:
        if not row_id.startswith("run:"):
            return True, 0
        number = int(row_id.partition(":")[2])
        run = view.tables.get(Run, number)
        return run is not None and is_planned(run), number

    return sorted(row_ids, key=moment)


def _run_row(view: Projection, run: Run, now: int) -> Row:
    about = f"{'T' if run.task_id else 'G'}{run.task_id or run.goal_id} " if run.task_id or run.goal_id else ""
    sign: Cell = ("●", "good") if run.prompt_hash else ("◇", "info") if is_planned(run) else ("·", "dim")
    when = ago(now, run.started_at) if run.started_at is not None else "queued"
    cells: tuple[Cell, ...] = (
        sign, run.name_tag, view.slug(run.agent_id), about + in_words(run.kind), (when, "dim"),
    )  # fmt: skip
    return Row(f"run:{run.id}", cells, muted=not run.prompt_hash and not is_planned(run))
