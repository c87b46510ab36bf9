"""Budgets: when their periods begin, what is left of them, and what that means. Pure; micros of a US dollar, ms UTC."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from core.domain.entities import Budget
from core.domain.limits import BUDGET_WARN_PERCENT, FIRST_RUN_MICROS
from core.domain.states import BudgetPeriod, BudgetScope

DAY_MS = 86_400_000
MONEY_MAX = 10**15  # a thousand million dollars: sums of many stay below 64 bits
FREE_RUNNERS = frozenset({"rehearsal"})  # they call no model
RUN_COST = "run_cost_micros"  # in an agent's runner settings
NEVER = -1  # a period that no budget is ever in
_WEEK_MS = 7 * DAY_MS
_A_MONDAY = 4 * DAY_MS  # 1970-01-05
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def period_start(period: BudgetPeriod, now: int) -> int:
    """When the period that `now` is in began: 00:00 UTC of its first day; 0 for `total`, which never begins anew."""
    match period:
        case BudgetPeriod.DAY:
            return now - now % DAY_MS
        case BudgetPeriod.WEEK:
            return now - (now - _A_MONDAY) % _WEEK_MS
        case BudgetPeriod.MONTH:
            return _first_of_month(now, 0)
        case BudgetPeriod.TOTAL:
            return 0


def period_end(period: BudgetPeriod, now: int) -> int | None:
    """When the next period begins; None for `total`."""
    match period:
        case BudgetPeriod.DAY:
            return period_start(period, now) + DAY_MS
        case BudgetPeriod.WEEK:
            return period_start(period, now) + _WEEK_MS
        case BudgetPeriod.MONTH:
            return _first_of_month(now, 1)
        case BudgetPeriod.TOTAL:
            return None


def _first_of_month(now: int, later: int) -> int:
    day = _EPOCH + timedelta(milliseconds=now)
    years, month = divmod(day.month - 1 + later, 12)
    first = datetime(day.year + years, month + 1, 1, tzinfo=UTC)
    return (first - _EPOCH) // _MILLISECOND


@dataclass(frozen=True, slots=True)
class Standing:
    """How a budget stands in its present period. `spent` holds what ended runs cost and what live ones hold back."""

    budget: Budget
    start: int
    end: int | None
    spent: int

    @property
    def allowed(self) -> int:
        """The limit, with what was granted once for this period."""
        return allowed_in(self.budget, self.start)

    @property
    def left(self) -> int:
        """What may still be spent; negative when it is overdrawn."""
        return self.allowed - self.spent

    @property
    def is_used_up(self) -> bool:
        return self.left <= 0

    def holds(self, reserve: int) -> bool:
        """Whether a run that needs so much must not start: nothing is left, or not enough."""
        return self.is_used_up or reserve > self.left

    @property
    def percent(self) -> int:
        """How much of it is spent; whole percent, rounded down."""
        return self.spent * 100 // self.allowed if self.allowed > 0 else 100

    @property
    def warns(self) -> bool:
        """Whether so much is spent that a person is told, once a period."""
        return self.percent >= BUDGET_WARN_PERCENT and self.budget.warned_period != self.start

    def grant_for(self, reserve: int) -> int:
        """The limit once more, as often as it takes for a run that needs so much to start."""
        lacks = self.spent + max(reserve, 1) - self.allowed
        return self.budget.limit_micros * max(1, -(-lacks // self.budget.limit_micros))


def standing_of(budget: Budget, spent: int, now: int) -> Standing:
    """The standing of a budget, from what was spent since its period began."""
    return Standing(budget, period_start(budget.period, now), period_end(budget.period, now), spent)


def allowed_in(budget: Budget, start: int) -> int:
    """What a budget allows in the period that began at `start`."""
    return budget.limit_micros + (budget.extra_micros if budget.extra_period == start else 0)


def first_run_cost(runner: Mapping[str, Any]) -> int:
    """What a run on this runner is taken to cost before one of its kind has ended: its settings say it, or the limits.

    Micros; 0 for what calls no model.
    """
    said = runner.get(RUN_COST)
    if isinstance(said, int) and not isinstance(said, bool):
        return min(max(said, 0), MONEY_MAX)
    return 0 if runner.get("kind") in FREE_RUNNERS else FIRST_RUN_MICROS


def entity_of(scope: BudgetScope, scope_id: int) -> str:
    """What a budget is about, e.g. `agent:7`."""
    return f"{scope}:{scope_id}"


def money(micros: int) -> str:
    """'5.00 USD'; what is no whole cent is told to the micro: '0.000025 USD'."""
    whole, rest = divmod(abs(micros), 1_000_000)
    digits = f"{rest:06d}"
    cents = digits.rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}{whole}.{cents} USD"


def with_unknown(shown: str, runs: int, *, short: bool = False) -> str:
    """A sum of money beside runs that used tokens at no known cost: '$0.10 + unknown', short '$0.10+?'."""
    return shown if not runs else f"{shown}+?" if short else f"{shown} + unknown"


_PER = {
    BudgetPeriod.DAY: "a day",
    BudgetPeriod.WEEK: "a week",
    BudgetPeriod.MONTH: "a month",
    BudgetPeriod.TOTAL: "in all",
}
_THIS = {
    BudgetPeriod.DAY: "today",
    BudgetPeriod.WEEK: "this week",
    BudgetPeriod.MONTH: "this month",
    BudgetPeriod.TOTAL: "in all",
}


def per(period: BudgetPeriod) -> str:
    """'a day'."""
    return _PER[period]


def this(period: BudgetPeriod) -> str:
    """'today'."""
    return _THIS[period]


def standing_words(standing: Standing) -> str:
    """'4.90 USD of 5.00 USD are spent or held back today'."""
    spent, allowed = money(standing.spent), money(standing.allowed)
    return f"{spent} of {allowed} are spent or held back {this(standing.budget.period)}"
