"""What the company spends: by agent, goal and model, a day, and how its budgets stand. Micros of a US dollar."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.blackboard.queries import BUDGET_ENDED, BUDGET_HELD_BACK, LIVE_RUNS, SCOPED, WITHOUT_COST
from core.blackboard.readers import Readers
from core.domain.budgets import DAY_MS, Standing, entity_of, period_start, standing_of
from core.domain.entities import AgentRecord, Budget
from core.domain.states import BudgetPeriod, BudgetScope

DAYS = 14
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spent:
    """What one agent, goal or model cost since the board began, in how many runs that cost something.

    `without_cost` counts runs of the last 14 days that used tokens at no known cost, `without_cost_today` of today.

    `name` is the agent's short name, the goal's title, or the model as its runner names it ("" if it does not).
    `by_day` has one figure a day, the oldest first, in step with `Spending.days`.
    """

    id: int | None
    name: str
    cost_micros: int
    held_back_micros: int
    runs: int
    tokens_in: int
    tokens_out: int
    by_day: tuple[int, ...]
    without_cost: int = 0
    without_cost_today: int = 0


@dataclass(frozen=True, slots=True)
class BudgetFacts:
    """How a budget stands now. `waits` is the number of the question that the operator has not answered, if any."""

    id: int
    scope: str
    scope_id: int
    name: str
    limit_micros: int
    period: str
    period_start: int
    period_end: int | None
    allowed_micros: int
    spent_micros: int
    left_micros: int
    percent: int
    is_used_up: bool
    warned: bool
    waits: int | None


@dataclass(frozen=True, slots=True)
class Spending:
    """All of it. `days` are the starts of the last 14 days (ms UTC), today last; `by_day` is what ended runs cost.

    `without_cost` counts the runs of these days that used tokens at no known cost: no sum holds them.
    """

    days: tuple[int, ...]
    by_day: tuple[int, ...]
    cost_micros: int
    held_back_micros: int
    budgets: tuple[BudgetFacts, ...]
    agents: tuple[Spent, ...]
    goals: tuple[Spent, ...]
    models: tuple[Spent, ...]
    without_cost: int = 0
    without_cost_today: int = 0

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


_TOTALS = (
    "SELECT agent_id, goal_id, model, sum(cost_micros) AS cost, count(*) AS runs, sum(tokens_in) AS tokens_in,"
    " sum(tokens_out) AS tokens_out FROM runs WHERE cost_micros > 0 AND ended_at > 0 GROUP BY agent_id, goal_id, model"
)
_WITHOUT_COST = (
    "SELECT agent_id, goal_id, model, count(*) AS runs, sum(started_at >= :today) AS today FROM runs"
    f" WHERE started_at >= :since AND {WITHOUT_COST} GROUP BY agent_id, goal_id, model"
)
_BY_DAY = (
    f"SELECT agent_id, goal_id, model, ended_at / {DAY_MS} AS day, sum(cost_micros) AS cost FROM runs"
    " WHERE cost_micros > 0 AND ended_at >= :since GROUP BY agent_id, goal_id, model, day"
)
_HELD_BACK = (
    f"SELECT agent_id, goal_id, model, sum(reserved_micros) AS held FROM runs WHERE {LIVE_RUNS}"
    " AND reserved_micros > 0 GROUP BY agent_id, goal_id, model"
)


async def spending(readers: Readers, now: int, days: int = DAYS) -> Spending:
    """What was spent up to `now` (ms UTC); the dearest first. A few queries over what cost something."""
    today = period_start(BudgetPeriod.DAY, now)
    starts = tuple(today - DAY_MS * back for back in range(days - 1, -1, -1))
    totals = await readers.all(_TOTALS)
    daily = [row for row in await readers.all(_BY_DAY, since=starts[0]) if row["day"] * DAY_MS <= today]
    held = await readers.all(_HELD_BACK)
    unknown = await readers.all(_WITHOUT_COST, since=starts[0], today=today)
    slugs = {agent.id: agent.slug for agent in await readers.entities(AgentRecord, "true ORDER BY id")}
    titles = {
        row["id"]: row["title"]
        for row in await readers.all(
            "SELECT id, title FROM goals WHERE id IN (SELECT goal_id FROM runs WHERE cost_micros > 0 OR"
            f" ({LIVE_RUNS} AND reserved_micros > 0)"
            " OR (started_at >= :since AND tokens_in + tokens_out > 0))",
            since=starts[0],
        )
    }

    def grouped(column: str, name: Callable[[Any], str], numbered: bool = True) -> tuple[Spent, ...]:
        return _grouped((totals, daily, held, unknown), starts, column, name, numbered)

    return Spending(
        days=starts,
        by_day=_series(daily, starts),
        cost_micros=sum(row["cost"] for row in totals),
        held_back_micros=sum(row["held"] for row in held),
        budgets=tuple(await budgets(readers, now)),
        agents=grouped("agent_id", lambda key: slugs.get(key, "")),
        goals=grouped("goal_id", lambda key: titles.get(key, "")),
        models=grouped("model", str, numbered=False),
        without_cost=sum(row["runs"] for row in unknown),
        without_cost_today=sum(row["today"] for row in unknown),
    )


def _grouped(
    read: tuple[Iterable[Row], ...], starts: tuple[int, ...], column: str, name: Callable[[Any], str], numbered: bool,
) -> tuple[Spent, ...]:  # fmt: skip
    by_total, by_day, by_held, by_unknown = (_by(rows, column) for rows in read)
    found = [
        Spent(
            key if numbered else None, name(key),
            sum(row["cost"] for row in by_total.get(key, ())), sum(row["held"] for row in by_held.get(key, ())),
            sum(row["runs"] for row in by_total.get(key, ())), sum(row["tokens_in"] for row in by_total.get(key, ())),
            sum(row["tokens_out"] for row in by_total.get(key, ())), _series(by_day.get(key, ()), starts),
            sum(row["runs"] for row in by_unknown.get(key, ())), sum(row["today"] for row in by_unknown.get(key, ())),
        )
        for key in dict.fromkeys((*by_total, *by_held, *by_unknown)) if key is not None
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda each: (-each.cost_micros, each.name, each.id or 0)))


def _by(rows: Iterable[Row], column: str) -> Mapping[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def _series(rows: Iterable[Row], starts: tuple[int, ...]) -> tuple[int, ...]:
    days = dict.fromkeys(starts, 0)
    for row in rows:
        days[row["day"] * DAY_MS] += row["cost"]
    return tuple(days.values())


async def standing(readers: Readers, budget: Budget, now: int) -> Standing:
    """How a budget stands at `now`."""
    parameters: Row = {} if budget.scope == BudgetScope.COMPANY else {"id": budget.scope_id}
    start = period_start(budget.period, now)
    ended = await readers.value(BUDGET_ENDED.format(SCOPED[budget.scope]), since=start, **parameters)
    held = await readers.value(BUDGET_HELD_BACK.format(SCOPED[budget.scope]), **parameters)
    return standing_of(budget, ended + held, now)


async def budgets(readers: Readers, now: int) -> list[BudgetFacts]:
    """The budgets that limit something: the company's first, then the agents', then the goals'."""
    asked = {
        row["entity"]: row["id"]
        for row in await readers.all("SELECT id, entity FROM approvals WHERE kind = 'budget' AND status = 'pending'")
    }
    order = list(BudgetScope)
    rows = await readers.entities(Budget, "limit_micros > 0 ORDER BY scope_id")
    found = []
    for budget in sorted(rows, key=lambda each: order.index(each.scope)):
        now_stands = await standing(readers, budget, now)
        found.append(
            BudgetFacts(
                id=budget.id, scope=str(budget.scope), scope_id=budget.scope_id, name=await _name(readers, budget),
                limit_micros=budget.limit_micros, period=str(budget.period), period_start=now_stands.start,
                period_end=now_stands.end, allowed_micros=now_stands.allowed, spent_micros=now_stands.spent,
                left_micros=now_stands.left, percent=now_stands.percent, is_used_up=now_stands.is_used_up,
                warned=budget.warned_period == now_stands.start,
                waits=asked.get(entity_of(budget.scope, budget.scope_id)),
            )
        )  # fmt: skip
    return found


async def _name(readers: Readers, budget: Budget) -> str:
    match budget.scope:
        case BudgetScope.COMPANY:
            query = "SELECT name FROM company WHERE id = :id"
        case BudgetScope.AGENT:
            query = "SELECT slug FROM agents WHERE id = :id"
        case BudgetScope.GOAL:
            query = "SELECT title FROM goals WHERE id = :id"
    return str(await readers.value(query, id=budget.scope_id))
