"""`opsroom budget show | set | raise`: what the company spends, and the limits on it."""

import argparse
from typing import Any

from core.commands.budgets import RaiseBudget, SetBudget
from core.commands.registry import build
from core.domain.budgets import money, per, this, with_unknown
from core.domain.errors import Invalid
from core.domain.states import BudgetPeriod
from core.spending import BudgetFacts, Spending, Spent, spending
from tui.cli import opening
from tui.cli.agents import micros_of
from tui.cli.names import folder_of, number_of
from tui.cli.output import facts, print_json, say, table, when
from tui.sparkline import sparkline


def show(arguments: argparse.Namespace) -> int:
    """Show it."""
    found = opening.run(_read(arguments.dir))
    if arguments.json:
        print_json(found.as_json())
    else:
        _tell(found)
    return 0


async def _read(folder: str) -> Spending:
    async with opening.reading(folder_of(folder)) as board:
        # The board's time never runs backwards, the wall's may.
        last = await board.readers.value("SELECT at FROM events ORDER BY id DESC LIMIT 1")
        return await spending(board.readers, max(opening.now_ms(), last or 0))


def _tell(found: Spending) -> None:
    days = with_unknown(money(sum(found.by_day)), found.without_cost)
    today = with_unknown(money(found.by_day[-1]), found.without_cost_today)
    facts([
        ("spent", with_unknown(money(found.cost_micros), found.without_cost)),
        ("at work", f"{money(found.held_back_micros)} held back" if found.held_back_micros else ""),
        ("14 days", f"{sparkline(found.by_day)}  {days}; today {today}"),
        ("and more", f"{_runs(found.without_cost)} of these days at no known cost" if found.without_cost else ""),
    ])  # fmt: skip
    if not found.budgets:
        say("No budget is set.")
    for budget in found.budgets:
        say(_budget_line(budget))
    for heading, rows in (("agent", found.agents), ("goal", found.goals), ("model", found.models)):
        if rows:
            say()
            table([_row(each, heading) for each in rows], ("spent", "runs", "14 days", heading))


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def _budget_line(budget: BudgetFacts) -> str:
    period = BudgetPeriod(budget.period)
    whose = {"company": "the company", "agent": budget.name}.get(budget.scope, f"G{budget.scope_id} {budget.name}")
    extra = budget.allowed_micros - budget.limit_micros
    parts = [
        f"{money(budget.spent_micros)} of {money(budget.allowed_micros)} {this(period)} ({budget.percent} %)",
        f"limit {money(budget.limit_micros)} {per(period)}" + (f", {money(extra)} more once" if extra else ""),
        f"until {when(budget.period_end)} UTC" if budget.period_end is not None else "",
        "used up: nothing more starts" if budget.is_used_up else "",
        f"Q{budget.waits} waits for you" if budget.waits is not None else "",
    ]
    return f"budget of {whose}: {'; '.join(part for part in parts if part)}"


def _row(spent: Spent, heading: str) -> list[str]:
    name = spent.name or "(not named)"
    return [
        with_unknown(money(spent.cost_micros), spent.without_cost), str(spent.runs), sparkline(spent.by_day),
        f"G{spent.id} {name}" if heading == "goal" else name,
    ]  # fmt: skip


def set_limit(arguments: argparse.Namespace) -> int:
    """Set or take away a limit."""
    limit = micros_of(arguments.usd)
    command = build(SetBudget, **_scope(arguments.scope), limit_micros=limit, period=arguments.period)
    answer = opening.run(opening.send(folder_of(arguments.dir), command))
    words = f"{money(limit)} {per(BudgetPeriod(arguments.period))}" if limit else "no limit"
    return _done(arguments, "SetBudget", answer, f"{arguments.scope}: {words}.")


def raise_limit(arguments: argparse.Namespace) -> int:
    """Allow more."""
    command = build(RaiseBudget, **_scope(arguments.scope), micros=micros_of(arguments.usd), once=arguments.once)
    answer = opening.run(opening.send(folder_of(arguments.dir), command))
    words = f"{money(answer['allowed_micros'])} now, {money(answer['limit_micros'])} from the next period on"
    return _done(arguments, "RaiseBudget", answer, f"{arguments.scope}: {words}.")


def _done(arguments: argparse.Namespace, command: str, answer: dict[str, Any], words: str) -> int:
    if arguments.json:
        print_json({"command": command, "answer": answer})
    else:
        say(words)
    return 0


def _scope(text: str) -> dict[str, Any]:
    """What a budget is about as it is typed: company, an agent's short name, or G1. Raises Invalid."""
    if text == "company":
        return {"scope": "company"}
    if text[:1] == "G" and text[1:].isdecimal():
        return {"scope": "goal", "scope_id": number_of(text, "goal")}
    if text[:1] == "A" and text[1:].isdecimal():
        return {"scope": "agent", "scope_id": int(text[1:])}
    if not text:
        raise Invalid("Whose budget?", "Name the company, an agent's short name, or a goal, e.g. G1.")
    return {"scope": "agent", "slug": text}
