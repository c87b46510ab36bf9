"""The staff in rows and in words: who does what, what it costs, who reports to whom. From memory; spending is given."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.budgets import per, this, with_unknown
from core.domain.entities import AgentRecord, Goal, Run, Task
from core.domain.health import STATES, Condition, Health
from core.domain.organisation import chart_of, drawn
from core.domain.runner_uses import runner_line
from core.domain.states import AgentStatus, BudgetPeriod, Role, RunStatus
from core.spending import BudgetFacts, Spending, Spent
from tui.explaining import why_left
from tui.filter_words import Keys, Values
from tui.panes.ceo import ceo_lines
from tui.panes.staff_health import Conditions, grouped, look_of, states_in
from tui.panes.words import exact, money, tokens
from tui.projection import Projection
from tui.sparkline import sparkline
from tui.text import ago, capital, counted, in_words, one_line
from tui.widgets.prose import Block
from tui.widgets.rows import Cell, Column, Row

ROSTER = (
    Column("agent", tree=True, width=15),
    Column("state", width=11),
    Column("what it does or waits for", min_width=6),
    Column("role", width=11, drop_below=96),
    Column("today", width=7, align="right", drop_below=52),
    Column("14 days", width=14, drop_below=100),
    Column("budget", width=7, align="right", drop_below=70),
)
FILTER_KEYS: Keys = {
    "status": (*Health, *STATES), "role": tuple(Role), "agent": (), "can": (), "to": (),
}  # fmt: skip
"""What the roster can be filtered by: `to` is who it reports to."""
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


@dataclass(frozen=True, slots=True)
class Roster:
    """The rows of the roster, who is in which group as far as the filter lets through, and how many there are."""

    rows: tuple[Row, ...]
    groups: Mapping[Health, Sequence[AgentRecord]]
    total: int

    @property
    def shown(self) -> int:
        """How many fit the filter, folded groups included."""
        return sum(map(len, self.groups.values()))

    @property
    def first_agent(self) -> str:
        """The id of the first row that is no group's; empty without one."""
        return next((row.id for row in self.rows if row.depth), "")


def roster(
    view: Projection, staff: Conditions, spent: Money, now: int, folded: Collection[str] = (),
    fits: Callable[[str, Values], bool] = lambda _text, _values: True,
) -> Roster:  # fmt: skip
    """The groups, each with its agents below it unless it is `folded`; a group without any is left out."""
    rows: list[Row] = []
    groups: dict[Health, Sequence[AgentRecord]] = {}
    for health, everybody in grouped(view, staff):
        agents = [each for each in everybody if fits(*_filtered_by(view, each, staff[each.id], now))]
        if not agents:
            continue
        groups[health] = agents
        is_open = health not in folded
        rows.append(_group(health, agents, staff, is_open))
        rows += [_row(view, each, staff[each.id], spent, now) for each in agents if is_open]
    return Roster(tuple(rows), groups, len(staff))


def _filtered_by(view: Projection, agent: AgentRecord, is_so: Condition, now: int) -> tuple[str, Values]:
    parts = (agent.slug, agent.name, agent.name_tag, agent.role, *agent.capabilities, agent.duties, is_so.state)
    values = {
        "status": (str(is_so.health), is_so.state), "role": (str(agent.role),), "agent": (agent.slug,),
        "can": agent.capabilities, "to": (view.slug(agent.manager_id),),
    }  # fmt: skip
    return " ".join((*parts, is_so.why or does(view, agent, now))), values


def group_id(health: Health) -> str:
    """The id of a group's row."""
    return f"group:{health}"


def _group(health: Health, agents: Sequence[AgentRecord], staff: Conditions, is_open: bool) -> Row:
    sign, word, tone = look_of(health)
    cells: tuple[Cell, ...] = (
        (f"{sign} {capital(word)}", tone), (str(len(agents)), tone), (states_in(agents, staff), "dim"), "", "", "", "",
    )  # fmt: skip
    return Row(group_id(health), cells, expandable=True, expanded=is_open)


def _row(view: Projection, agent: AgentRecord, is_so: Condition, spent: Money, now: int) -> Row:
    sign, word, tone = look_of(is_so.health, is_so.state)
    cost, budget = spent.agents.get(agent.id), spent.budgets.get(agent.id)
    used: Cell = ""
    if budget is not None:
        used = (f"{budget.percent} %", "bad" if budget.is_used_up else "warn" if budget.percent >= 80 else "dim")
    today: Cell = ("–" if spent.known else "…", "dim")
    if cost is not None:
        today = with_unknown(_short(cost.by_day[-1]), cost.without_cost_today, short=True)
    is_quiet = is_so.health in (Health.IDLE, Health.RETIRED)
    why = is_so.why or does(view, agent, now)
    cells: tuple[Cell, ...] = (
        agent.slug, (f"{sign} {word}", tone), (why, "dim") if is_quiet else why, (str(agent.role), "dim"), today,
        (sparkline(cost.by_day) if cost else "", "info"), used,
    )  # fmt: skip
    return Row(f"agent:{agent.id}", cells, depth=1, muted=is_so.health == Health.RETIRED)


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


def chart(view: Projection, staff: Conditions) -> list[Row]:
    """The organisation, each below its manager."""
    agents = {agent.slug: agent for agent in view.tables.all(AgentRecord)}
    rows = []
    for depth, line in drawn(chart_of(agents.values())):
        agent = agents[line["agent"]]
        sign, _, tone = look_of(staff[agent.id].health, staff[agent.id].state)
        cells: tuple[Cell, ...] = ((sign, tone), f"{agent.slug}  {agent.name}", (str(agent.role), "dim"))
        rows.append(Row(f"agent:{agent.id}", cells, depth=depth))
    return rows


def group_facts(view: Projection, agents: Iterable[AgentRecord], staff: Conditions, now: int) -> list[Block]:
    """Who is in a group, and why each of them."""
    blocks = []
    for agent in agents:
        is_so = staff[agent.id]
        sign, word, tone = look_of(is_so.health, is_so.state)
        heading: tuple[Cell, ...] = ((f"{agent.name_tag} {agent.name}", "strong"), agent.slug, (f"{sign} {word}", tone))
        blocks.append(Block(heading, one_line(is_so.why or does(view, agent, now))))
    return blocks


def facts(view: Projection, agent: AgentRecord, is_so: Condition, spent: Money, now: int) -> list[Block]:
    """All about one agent."""
    sign, word, tone = look_of(is_so.health, is_so.state)
    heading: tuple[Cell, ...] = ((f"{agent.name_tag} {agent.name}", "strong"), agent.slug, (f"{sign} {word}", tone))
    blocks = [Block(heading, "\n".join(_of_agent(view, agent, is_so, now)))]
    if agent.role == Role.CEO and agent.status != AgentStatus.TERMINATED:
        blocks.append(Block((("The CEO now", "strong"),), "\n".join(ceo_lines(view, now)), "info"))
    if spent.known:
        blocks.append(Block((("Money", "strong"),), "\n".join(_of_money(agent, spent)), "info"))
    return blocks


def _of_agent(view: Projection, agent: AgentRecord, is_so: Condition, now: int) -> Sequence[str]:
    below = [each.slug for each in view.tables.all(AgentRecord) if each.manager_id == agent.id and _is_there(each)]
    why = why_left(view, agent)
    lines = [
        f"{agent.role}; reports to {view.slug(agent.manager_id) or 'nobody'}",
        *([f"{'paused' if agent.status == AgentStatus.PAUSED else 'retired'} because: {why}"] if why else []),
        *([f"{is_so.health} because: {one_line(is_so.why)}"] if is_so.health in _TELLS_WHY else []),
        *(["  a goes to it in the inbox"] if is_so.item else []),
        f"does: {does(view, agent, now) or 'nothing now'}",
        *([f"last: {one_line(is_so.why)}"] if is_so.health == Health.IDLE else []),
        f"can: {', '.join(agent.capabilities) or 'anything'}",
    ]
    if agent.duties:
        lines.append(f"answers for: {agent.duties}")
    if below:
        lines.append(f"to it report: {', '.join(below)}")
    lines.append(f"runs at once: {agent.max_runs} · runner: {runner_line(agent.runner)}")
    return lines


_TELLS_WHY = frozenset({Health.STUCK, Health.WAITING})


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
