"""The line in which a budget is set, on any screen: of the company, a goal or an agent."""

from typing import TYPE_CHECKING, Any

from core.domain.budgets import money, per
from core.domain.entities import Budget
from core.domain.states import BudgetPeriod, BudgetScope
from tui.staff_text import read_amount, usd
from tui.text import one_line

if TYPE_CHECKING:
    from tui.screens.leading import Host, Leading

AMOUNT = "an amount and a period: 5 day, 20 week, 60 month, 100 all; 0 takes it away"


def ask_budget(leading: "Leading", host: "Host", scope: BudgetScope, scope_id: int, whose: str) -> None:
    """Ask what it may spend a period; what is in force stands in the line already."""
    budgets = leading.view.tables.all(Budget)
    known = next((each for each in budgets if (each.scope, each.scope_id) == (scope, scope_id)), None)
    value = ""
    if known is not None and known.limit_micros:
        period = "all" if known.period == BudgetPeriod.TOTAL else str(known.period)
        value = f"{usd(known.limit_micros)} {period}"
    of: dict[str, Any] = {"scope": str(scope), **({} if scope == BudgetScope.COMPANY else {"scope_id": scope_id})}
    leading.ask(host, f"budget of {whose}, USD:", AMOUNT, lambda text: _set(leading, host, of, whose, text), value)


def _set(leading: "Leading", host: "Host", of: dict[str, Any], whose: str, text: str) -> None:
    found = read_amount(text)
    if found is None:
        host.say(f"{one_line(text)!r} is no amount; type it like 5 day or 20.50 month.", "bad")
        return
    micros, period = found[0], found[1] or BudgetPeriod.DAY
    words = f"budget of {whose}: {money(micros)} {per(period)}" if micros else f"{whose} has no budget"
    leading.send(host, words, "SetBudget", **of, limit_micros=micros, period=period)
