"""Whose prompt can be looked at: who would be told what now, and the runs that were told. From memory."""

from collections.abc import Iterable, Sequence

from core.domain.entities import AgentRecord, Run, Task
from core.domain.states import AgentStatus, Role, RunKind, RunStatus, TaskStatus
from core.prompting.builder import kind_of
from tui.projection import Projection
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


def planned_id(slug: str, task: int | None) -> str:
    """The row of a prompt that is only thought of."""
    return f"now:{slug}:{task or ''}"


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
            return number in (str(run.goal_id), str(task.goal_id) if task else "")
        case _:
            return True


def _asked_for(view: Projection, row_id: str, now: int) -> Row | None:
    kind, slug, number = [*row_id.split(":"), ""][:3]
    if kind == "run":
        run = view.tables.get(Run, int(slug))
        return _run_row(view, run, now) if run else Row(row_id, ("·", f"R{slug}", "", "an older run", ""))
    agent = next((each for each in view.tables.all(AgentRecord) if each.slug == slug), None)
    task = view.tables.get(Task, int(number)) if number else None
    return _planned_row(agent, task) if agent else None


def _planned_row(agent: AgentRecord, task: Task | None) -> Row:
    kind = in_words(kind_of(agent, task))
    about = f"{task.name_tag} {kind}" if task else kind
    cells: tuple[Cell, ...] = (("◇", "info"), ("now", "info"), agent.slug, about, "")
    return Row(planned_id(agent.slug, task.id if task else None), cells)


def _run_row(view: Projection, run: Run, now: int) -> Row:
    about = f"{'T' if run.task_id else 'G'}{run.task_id or run.goal_id} " if run.task_id or run.goal_id else ""
    sign: Cell = ("●", "good") if run.prompt_hash else ("◇", "info") if is_planned(run) else ("·", "dim")
    when = ago(now, run.started_at) if run.started_at is not None else "queued"
    cells: tuple[Cell, ...] = (
        sign, run.name_tag, view.slug(run.agent_id), about + in_words(run.kind), (when, "dim"),
    )  # fmt: skip
    return Row(f"run:{run.id}", cells, muted=not run.prompt_hash and not is_planned(run))


def is_planned(run: Run) -> bool:
    """Whether it was not told anything yet."""
    return run.status in (RunStatus.QUEUED, RunStatus.STARTING) and not run.prompt_hash


def words_of(run: Run, slug: str, verb: str) -> str:
    """Whose prompt it is, in a sentence."""
    about = f" about {'T' if run.task_id else 'G'}{run.task_id or run.goal_id}" if run.task_id or run.goal_id else ""
    return f"What {run.name_tag} of {slug} {verb}{about} ({in_words(run.kind)})"
