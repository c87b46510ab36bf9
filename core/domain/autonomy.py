"""The limits of stage B (D-01). Pure."""

from collections.abc import Iterable
from enum import StrEnum

from core.domain.budgets import money
from core.domain.entities import Company, Goal
from core.domain.limits import AUTO_IN_A_ROW
from core.domain.states import Autonomy, GoalStatus


class Limit(StrEnum):
    """What keeps the system from dispatching a draft by itself."""

    STAGE_A = "stage_a"
    IN_A_ROW = "in_a_row"
    BUDGET = "budget"


def is_idle(company: Company, goals: Iterable[Goal]) -> bool:
    """Whether none of these living goals keeps the company busy (S1-01).

    At stage B a report that only waits to be accepted does not: the next goal begins, and is counted (D-01).
    """
    unattended = company.autonomy == Autonomy.B
    return all(
        unattended and goal.status == GoalStatus.REPORTING and goal.auto_dispatched_at is not None for goal in goals
    )


def limit_reached(company: Company, spent: int) -> Limit | None:
    """The limit that stage B is at, if any; `spent` is what its goals cost today, micros."""
    if company.autonomy != Autonomy.B:
        return Limit.STAGE_A
    if company.auto_in_a_row >= AUTO_IN_A_ROW:
        return Limit.IN_A_ROW
    return Limit.BUDGET if spent >= company.budget_micros else None


def why_held(goal: Goal, *, spoken: bool, busy: bool, has_draft: bool) -> str:
    """Why a CEO's draft is not stage B's to dispatch, in words; empty if it is (D-01).

    `spoken`: a person said something about it; `busy`: the CEO has a run; `has_draft`: there is a task to begin with.
    """
    if goal.auto_dispatched_at is not None:
        return "it was recalled: only you dispatch it"
    if goal.reviewed_by is not None:
        return "you reviewed it: only you dispatch it"
    if goal.exploring:
        return "it is still talked over: only you dispatch it"
    if spoken:
        return "you spoke about it: only you dispatch it"
    if busy:
        return "its author is still at it"
    return "" if has_draft else "it has no draft task to begin with"


def why_limited(limit: Limit, company: Company, spent: int) -> str:
    """The limit for people."""
    match limit:
        case Limit.STAGE_A:
            return "the company is at stage A, where a person dispatches"
        case Limit.IN_A_ROW:
            return f"{company.auto_in_a_row} goals in a row were dispatched and no person looked at one"
        case Limit.BUDGET:
            return f"{money(spent)} of {money(company.budget_micros)} a day are spent"
