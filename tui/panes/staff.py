"""The staff in rows and in words: who does what, what it costs, who reports to whom. From memory; spending is given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.budgets import per, this, with_unknown
from core.domain.entities import AgentRecord, Goal, Run, Task
from core.domain.organisation import chart_of, drawn
from core.domain.runner_uses import runner_line
from core.domain.states import AgentStatus, BudgetPeriod, Role, RunStatus
from core.spending import BudgetFacts, Spending, Spent
from tui import signs
from tui.explaining import why_left
from tui.panes.ceo import ceo_lines
from tui.panes.words import exact, money, tokens
from tui.projection import Projection
from tui.sparkline import sparkline
from tui.text import ago, counted, in_words
from tui.widgets.prose import Block
from tui.widgets.rows import Cell, Column, Row

ROSTER = (
    Column("state", width=9),
    Column("agent", width=13),
    Column("role", width=11, drop_below=60),
    Column("does", min_width=10),
    Column("can", min_width=10, drop_below=104),
    Column("today", width=7, align="right", drop_below=52),
    Column("14 days", width=14, drop_below=100),
    Column("budget", width=7, align="right", drop_below=70),
)
CHART = (Column("", width=1), Column("who reports to whom", tree=True, min_width=12), Column("role", width=11))


@dataclass(frozen=True, slots=True)
class Money:
    """What was read about spending; empty until it is."""

    agents: Mapping[int, Spent] = field(default_factory=dict)
    budgets: Mapping[int, BudgetFacts] = field(default_factory=dict)
    days: int = 14
    today: int = 0
    total: int = 0
    unknown: int = 0
    unknown_today: int = 0
    known: bool = False

    @property
    def words(self) -> str:
        """'today $0.10 · 14 days $2.00 + unknown'."""
        today = with_unknown(money(self.today), self.unknown_today)
        return f"today {today} · {self.days} days {with_unknown(money(self.total), self.unknown)}"

    @classmethod
    def of(cls, spent: Spending) -> "Money":
        """The part of it that is about agents."""
        return cls(
            {each.id: each for each in spent.agents if each.id is not None},
            {each.scope_id: each for each in spent.budgets if each.scope == "agent"},
            len(spent.days), spent.by_day[-1] if spent.by_day else 0, sum(spent.by_day),
            spent.without_cost, spent.without_cost_today, True,
        )  # fmt: skip


def ordered(view: Projection) -> list[AgentRecord]:
    """Everybody, oldest first; who has retired stands at the end."""
    return sorted(view.tables.all(AgentRecord), key=lambda each: (each.status == AgentStatus.TERMINATED, each.id))


def roster(view: Projection, spent: Money, now: int) -> list[Row]:
    """A row an agent."""
    return [_row(view, agent, spent, now) for agent in ordered(view)]


def _row(view: Projection, agent: AgentRecord, spent: Money, now: int) -> Row:
    sign, word, tone = signs.AGENT[view.agent_state(agent, now)]
    cost, budget = spent.agents.get(agent.id), spent.budgets.get(agent.id)
    used: Cell = ""
    if budget is not None:
        used = (f"{budget.percent} %", "bad" if budget.is_used_up else "warn" if budget.percent >= 80 else "dim")
    today: Cell = ("–" if spent.known else "…", "dim")
    if cost is not None:
        today = with_unknown(_short(cost.by_day[-1]), cost.without_cost_today, short=True)
    cells: tuple[Cell, ...] = (
        (f"{sign} {word}", tone), agent.slug, (str(agent.role), "dim"), does(view, agent, now),
        (", ".join(agent.capabilities), "dim"), today,
        (sparkline(cost.by_day) if cost else "", "info"), used,
    )  # fmt: skip
    return Row(f"agent:{agent.id}", cells, muted=agent.status == AgentStatus.TERMINATED)


def _short(micros: int) -> str:
    return "<$0.01" if 0 < micros < 5_000 else money(micros)


def does(view: Projection, agent: AgentRecord, now: int) -> str:
    """The run or the task that it is at now."""
    runs = [run for run in view.live_runs if run.agent_id == agent.id]
    runs.sort(key=lambda run: run.status == RunStatus.QUEUED)
    if runs:
        return _run(view, runs[0], now) + (f" (+{len(runs) - 1})" if len(runs) > 1 else "")
    held = next((task for task in view.held_tasks() if task.assignee_id == agent.id), None)
    return f"{held.name_tag} {held.title}" if held is not None else ""


def _run(view: Projection, run: Run, now: int) -> str:
    task, goal = view.tables.get(Task, run.task_id), view.tables.get(Goal, run.goal_id)
    about = f"{task.name_tag} {task.title}" if task else f"{goal.name_tag} {goal.title}" if goal else ""
    since = ago(now, run.started_at) if run.started_at is not None else "queued"
    if run.paused_at is not None:
        since = f"{run.name_tag} paused {ago(now, run.paused_at)}"
    kind = in_words(run.kind)
    return f"{about} ({kind}, {since})" if about else f"{kind}, {since}"


def chart(view: Projection, now: int) -> list[Row]:
    """The organisation, each below its manager."""
    agents = {agent.slug: agent for agent in view.tables.all(AgentRecord)}
    rows = []
    for depth, line in drawn(chart_of(agents.values())):
        agent = agents[line["agent"]]
        sign, _, tone = signs.AGENT[view.agent_state(agent, now)]
        cells: tuple[Cell, ...] = ((sign, tone), f"{agent.slug}  {agent.name}", (str(agent.role), "dim"))
        rows.append(Row(f"agent:{agent.id}", cells, depth=depth))
    return rows


def facts(view: Projection, agent: AgentRecord, spent: Money, now: int) -> list[Block]:
    """All about one agent."""
    sign, word, tone = signs.AGENT[view.agent_state(agent, now)]
    heading: tuple[Cell, ...] = ((f"{agent.name_tag} {agent.name}", "strong"), agent.slug, (f"{sign} {word}", tone))
    blocks = [Block(heading, "\n".join(_of_agent(view, agent, now)))]
    if agent.role == Role.CEO and agent.status != AgentStatus.TERMINATED:
        blocks.append(Block((("The CEO now", "strong"),), "\n".join(ceo_lines(view, now)), "info"))
    if spent.known:
        blocks.append(Block((("Money", "strong"),), "\n".join(_of_money(agent, spent)), "info"))
    return blocks


def _of_agent(view: Projection, agent: AgentRecord, now: int) -> Sequence[str]:
    below = [each.slug for each in view.tables.all(AgentRecord) if each.manager_id == agent.id and _is_there(each)]
    why = why_left(view, agent)
    lines = [
        f"{agent.role}; reports to {view.slug(agent.manager_id) or 'nobody'}",
        *([f"{'paused' if agent.status == AgentStatus.PAUSED else 'retired'} because: {why}"] if why else []),
        f"does: {does(view, agent, now) or 'nothing now'}",
        f"can: {', '.join(agent.capabilities) or 'anything'}",
    ]
    if agent.duties:
        lines.append(f"answers for: {agent.duties}")
    if below:
        lines.append(f"to it report: {', '.join(below)}")
    lines.append(f"runs at once: {agent.max_runs} · runner: {runner_line(agent.runner)}")
    return lines


def _is_there(agent: AgentRecord) -> bool:
    return agent.status != AgentStatus.TERMINATED


def _of_money(agent: AgentRecord, spent: Money) -> Sequence[str]:
    cost, budget = spent.agents.get(agent.id), spent.budgets.get(agent.id)
    lines = ["nothing spent yet"]
    if cost is not None:
        used = tokens(cost.tokens_in + cost.tokens_out)
        lines = [
            f"today {with_unknown(exact(cost.by_day[-1]), cost.without_cost_today)}",
            f"{spent.days} days {sparkline(cost.by_day)} {with_unknown(exact(sum(cost.by_day)), cost.without_cost)}",
        ]
        if cost.runs:
            hired = with_unknown(exact(cost.cost_micros), cost.without_cost)
            lines.append(f"since it was hired {hired} in {counted(cost.runs, 'run')}, {used}")
        if cost.without_cost:
            lines.append(f"{counted(cost.without_cost, 'run')} of these days at no known cost")
        if cost.held_back_micros:
            lines.append(f"held back for its live runs: {exact(cost.held_back_micros)}")
    if budget is None:
        return [*lines, "no budget of its own"]
    period = BudgetPeriod(budget.period)
    lines.append(f"budget: {exact(budget.limit_micros)} {per(period)}")
    lines.append(f"  {exact(budget.spent_micros)} of {exact(budget.allowed_micros)} {this(period)}, {budget.percent} %")
    if budget.waits is not None:
        lines.append(f"  it holds runs back: Q{budget.waits} waits in the inbox")
    return lines
