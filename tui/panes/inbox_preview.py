"""What would follow from the answers to what waits, as a block of its thread: read when somebody looks."""

from core.company import OpenCompany
from core.domain.budgets import FREE_RUNNERS, this
from core.domain.entities import AgentRecord, Approval, Goal, Round, Run, Task
from core.domain.inbox import InboxItem
from core.domain.inbox_preview import Ahead, preview
from core.domain.metering import is_unmetered
from core.domain.states import TASK_FINAL, AgentStatus, Autonomy, BudgetPeriod, BudgetScope, RunStatus
from core.spending import BudgetFacts, budgets
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.text import wrap
from tui.widgets.prose import Block
from tui.widgets.row import Tone

_LABEL = 10  # cells of the word before a line


async def read_previews(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    """A block for each item about a thing: since when it waits, and what its answers set in motion."""
    items = view.items_of(ref)
    if not items:
        return []
    limits = await budgets(company.board.readers, company.clock())
    return [block for item in items if (block := _block(company, view, item, limits)) is not None]


def _block(company: OpenCompany, view: Projection, item: InboxItem, limits: list[BudgetFacts]) -> Block | None:
    lines = preview(item, _ahead(company, view, item, limits))
    if not lines:
        return None
    since = (f"waits since {clock_time(item.since)}", "dim")
    return Block((("What follows", "strong"), since), "", "info", _Labelled(tuple(lines)))  # type: ignore[arg-type]


class _Labelled:
    """Words behind their labels, each hanging below itself."""

    def __init__(self, lines: tuple[tuple[str, str], ...]) -> None:
        self._lines = lines

    def lines(self, width: int) -> list[tuple[tuple[str, Tone | None], ...]]:
        """Draw them in so many cells."""
        drawn: list[tuple[tuple[str, Tone | None], ...]] = []
        for label, words in self._lines:
            for place, row in enumerate(wrap(words, max(8, width - _LABEL))):
                drawn.append((((label if not place else "").ljust(_LABEL), "dim"), (row, None)))
        return drawn


def _ahead(company: OpenCompany, view: Projection, item: InboxItem, limits: list[BudgetFacts]) -> Ahead:
    thing = view.find(item.entity)
    goal_id = thing.id if isinstance(thing, Goal) else thing.goal_id if isinstance(thing, (Round, Task)) else None
    kind, _, number = item.id.partition(":")
    asked = view.tables.get(Approval, int(number)) if kind == "approval" and number.isdecimal() else None
    tasks = [task for task in view.tasks(goal_id or 0) if task.status not in TASK_FINAL]
    if isinstance(thing, Round):
        tasks = [task for task in tasks if task.round_id == thing.id]
    active = [agent for agent in view.tables.all(AgentRecord) if agent.status == AgentStatus.ACTIVE]
    return Ahead(
        goal=view.tables.get(Goal, goal_id),
        task=thing if isinstance(thing, Task) else None,
        tasks=tasks,
        queued=_queued(view, item, goal_id),
        approval=asked,
        bounds=[bound for each in limits if (bound := _bound(each, goal_id, item.entity)) is not None],
        is_free=bool(active) and all(agent.runner.get("kind") in FREE_RUNNERS for agent in active),
        unmetered=any(is_unmetered(agent.runner) for agent in active),
        at_b=view.company is not None and view.company.autonomy == Autonomy.B,
        at_once=company.config.caps.runs_at_once,
    )


def _queued(view: Projection, item: InboxItem, goal_id: int | None) -> list[Run]:
    """The runs that wait to start and that the item is about."""
    queued = [run for run in view.live_runs if run.status == RunStatus.QUEUED]
    if item.entity.startswith("agent:"):
        return [run for run in queued if item.entity == f"agent:{run.agent_id}"]
    return [run for run in queued if run.goal_id == goal_id] if goal_id is not None else queued


def _bound(limit: BudgetFacts, goal_id: int | None, entity: str) -> tuple[int, str] | None:
    """What is left of a budget that counts for it, and its words."""
    period = this(BudgetPeriod(limit.period))
    match BudgetScope(limit.scope):
        case BudgetScope.COMPANY:
            return limit.left_micros, f"the company's budget {period}"
        case BudgetScope.GOAL if limit.scope_id == goal_id:
            return limit.left_micros, f"G{goal_id}'s budget {period}"
        case BudgetScope.AGENT if entity == f"agent:{limit.scope_id}":
            return limit.left_micros, f"the budget of {limit.name} {period}"
        case _:
            return None
