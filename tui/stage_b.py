"""What stage B will do and may cost, in the words that the room and the command line ask with (D-01)."""

from collections.abc import Iterable

from core.domain.entities import Company, Goal
from core.domain.goals import is_reviewed
from core.domain.limits import AUTO_IN_A_ROW
from core.domain.states import GoalStatus, Origin


def may_begin(goals: Iterable[Goal]) -> list[Goal]:
    """The drafts of the CEO that stage B may dispatch at once."""
    return [
        goal for goal in goals
        if goal.status == GoalStatus.DRAFT and goal.origin == Origin.CEO and goal.auto_dispatched_at is None
        and not (goal.exploring or is_reviewed(goal))
    ]  # fmt: skip


def stage_b_lines(company: Company, amount: str, goals: Iterable[Goal], ways_back: str) -> list[str]:
    """What the operator reads before it is switched on, for so much a day; `ways_back` says how it is undone here."""
    lines = [
        "What the CEO drafts is put to work without you reading it.",
        f"It may cost {amount} a day (UTC). Runs that are at work end whole.",
        "",
        f"It goes back to stage A when that is spent, or after {AUTO_IN_A_ROW} goals in a row that you did not open.",
        f"{ways_back} Red lines, budgets and hires wait for you as before.",
    ]
    drafts = [goal.name_tag for goal in may_begin(goals)]
    if drafts:
        waits = "which waits, begins" if len(drafts) == 1 else "which wait, begin"
        lines += ["", f"{', '.join(drafts)}, {waits} {'now' if company.dispatching else 'when it is started'}."]
    if not company.dispatching:
        lines += ["", "The company is stopped: nothing begins before you start it."]
    return lines
