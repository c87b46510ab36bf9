"""What each goal and each model has cost, in rows. From what was read of the spending."""

from collections.abc import Sequence

from core.domain.budgets import with_unknown
from core.spending import Spending, Spent
from tui.panes.words import money
from tui.sparkline import sparkline
from tui.widgets.rows import Cell, Column, Row

SPENT = (
    Column("spent on", tree=True, min_width=10),
    Column("runs", width=5, align="right", drop_below=60),
    Column("today", width=8, align="right"),
    Column("in all", width=8, align="right"),
    Column("14 days", width=14),
)


def spent_rows(spent: Spending | None) -> list[Row]:
    """The goals, then the models, the dearest first; none before it was read or while nothing cost anything."""
    if spent is None:
        return []
    return [
        *_group("Goals", "goal", spent.goals), *_group("Models", "model", spent.models), *_unknown(spent.without_cost),
    ]  # fmt: skip


def _unknown(runs: int) -> list[Row]:
    """What no sum holds: runs of the last 14 days that used tokens whose price is not known."""
    cells: tuple[Cell, ...] = (("+ unknown", "warn"), (str(runs), "dim"), "", ("unknown", "warn"), "")
    return [Row("head:unknown", cells)] if runs else []


def _group(heading: str, kind: str, found: Sequence[Spent]) -> list[Row]:
    if not found:
        return []
    rows = [Row(f"head:{kind}", ((heading, "strong"),))]
    return rows + [Row(f"{kind}:{each.id or each.name}", _cells(kind, each), depth=1) for each in found]


def _cells(kind: str, spent: Spent) -> tuple[Cell, ...]:
    name = f"G{spent.id} {spent.name}" if kind == "goal" else spent.name or "(not named)"
    today = with_unknown(money(spent.by_day[-1]), spent.without_cost_today, short=True)
    in_all = with_unknown(money(spent.cost_micros), spent.without_cost, short=True)
    return (
        name, (str(spent.runs), "dim"), (today, "dim"), in_all, (sparkline(spent.by_day), "info"),
    )  # fmt: skip
