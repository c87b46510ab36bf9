"""When the periods of a budget begin and end, and what is left of it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.budgets import MONEY_MAX, NEVER, Standing, money, period_end, period_start, standing_of
from core.domain.entities import Budget
from core.domain.states import BudgetPeriod, BudgetScope

DAY, WEEK, MONTH, TOTAL = BudgetPeriod.DAY, BudgetPeriod.WEEK, BudgetPeriod.MONTH, BudgetPeriod.TOTAL


def at(text: str) -> int:
    """Milliseconds of a time in UTC."""
    since = datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("period", "now", "start", "end"),
    [
        (DAY, "2026-11-30T00:00:00", "2026-11-30", "2026-12-01"),
        (DAY, "2026-11-30T23:59:59.999", "2026-11-30", "2026-12-01"),
        (DAY, "2026-12-31T12:00:00", "2026-12-31", "2027-01-01"),
        (DAY, "2028-02-29T08:00:00", "2028-02-29", "2028-03-01"),
        (WEEK, "2026-11-30T00:00:00", "2026-11-30", "2026-12-07"),  # a Monday
        (WEEK, "2026-11-29T23:59:59.999", "2026-11-23", "2026-11-30"),  # a Sunday
        (WEEK, "2026-12-31T12:00:00", "2026-12-28", "2027-01-04"),
        (WEEK, "1970-01-02T00:00:00", "1969-12-29", "1970-01-05"),
        (MONTH, "2026-11-30T23:59:59.999", "2026-11-01", "2026-12-01"),
        (MONTH, "2026-12-01T00:00:00", "2026-12-01", "2027-01-01"),
        (MONTH, "2026-01-31T12:00:00", "2026-01-01", "2026-02-01"),
        (MONTH, "2027-02-28T23:59:59.999", "2027-02-01", "2027-03-01"),
        (MONTH, "2028-02-29T12:00:00", "2028-02-01", "2028-03-01"),
        (MONTH, "2100-02-28T23:59:59.999", "2100-02-01", "2100-03-01"),  # no leap year
        (MONTH, "2000-02-29T00:00:00", "2000-02-01", "2000-03-01"),
    ],
)
def test_when_a_period_begins_and_ends(period: BudgetPeriod, now: str, start: str, end: str) -> None:
    assert (period_start(period, at(now)), period_end(period, at(now))) == (at(start), at(end))


@given(st.integers(0, 4_000_000_000_000))
def test_the_total_never_begins_anew(now: int) -> None:
    assert (period_start(TOTAL, now), period_end(TOTAL, now)) == (0, None)


@given(st.sampled_from([DAY, WEEK, MONTH]), st.integers(0, 4_000_000_000_000))
def test_every_moment_is_in_exactly_one_period_and_the_next_follows(period: BudgetPeriod, now: int) -> None:
    start, end = period_start(period, now), period_end(period, now)
    assert end is not None
    assert start <= now < end
    assert period_start(period, start) == start == period_start(period, end - 1)
    assert period_start(period, end) == end
    first = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=start)
    assert (first.hour, first.minute, first.second, first.microsecond) == (0, 0, 0, 0)
    assert period != WEEK or first.weekday() == 0
    assert period != MONTH or first.day == 1


def a_budget(limit: int = 100, *, extra: int = 0, extra_period: int = NEVER, warned: int = NEVER) -> Budget:
    return Budget(
        id=1, scope=BudgetScope.COMPANY, scope_id=1, limit_micros=limit, period=DAY, extra_micros=extra,
        extra_period=extra_period, warned_period=warned, created_at=0, updated_at=0, version=1,
    )  # fmt: skip


NOW = at("2026-11-30T10:00:00")
TODAY = at("2026-11-30")


def stands(spent: int, budget: Budget | None = None) -> Standing:
    return standing_of(budget or a_budget(), spent, NOW)


@pytest.mark.parametrize(
    ("spent", "reserve", "holds"),
    [(0, 100, False), (0, 101, True), (75, 25, False), (75, 26, True), (99, 0, False), (100, 0, True), (125, 0, True)],
)
def test_a_run_is_held_when_the_budget_is_used_up_or_it_would_overdraw_it(
    spent: int, reserve: int, holds: bool
) -> None:
    assert stands(spent).holds(reserve) is holds


def test_what_was_granted_once_counts_in_its_period_only() -> None:
    assert stands(0, a_budget(extra=50, extra_period=TODAY)).allowed == 150
    assert stands(0, a_budget(extra=50, extra_period=TODAY - 86_400_000)).allowed == 100


@pytest.mark.parametrize(("spent", "warned", "warns"), [
    (79, NEVER, False), (80, NEVER, True), (200, NEVER, True), (99, TODAY, False), (99, TODAY - 86_400_000, True),
])  # fmt: skip
def test_four_fifths_are_told_once_a_period(spent: int, warned: int, warns: bool) -> None:
    assert stands(spent, a_budget(warned=warned)).warns is warns


@given(st.integers(1, 10**9), st.integers(0, 10**12), st.integers(0, 10**12))
def test_what_a_yes_grants_is_enough_for_the_run_and_no_more_than_it_takes(
    limit: int, spent: int, reserve: int
) -> None:
    standing = stands(spent, a_budget(limit))
    granted = standing.grant_for(reserve)
    after = stands(spent, a_budget(limit, extra=granted, extra_period=TODAY))
    assert granted % limit == 0
    assert not after.holds(reserve)
    if standing.holds(reserve) and granted > limit:
        assert stands(spent, a_budget(limit, extra=granted - limit, extra_period=TODAY)).holds(reserve)


@pytest.mark.parametrize(
    ("micros", "words"),
    [(0, "0.00 USD"), (25, "0.000025 USD"), (100_000, "0.10 USD"), (5_000_000, "5.00 USD"), (-1_500_000, "-1.50 USD"),
     (123_450, "0.12345 USD"), (MONEY_MAX, "1000000000.00 USD")],
)  # fmt: skip
def test_money_for_people(micros: int, words: str) -> None:
    assert money(micros) == words
