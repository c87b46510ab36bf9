"""Stage B: a CEO's draft that is dispatched without a person, its limits, the way back, and the recall (D-01)."""

from typing import Any

from pydantic import Field

from core.blackboard.queries import LIVE_RUNS, STAGE_B_SPENT
from core.blackboard.transaction import Transaction
from core.commands.approvals import answers, ask, consume_as_system
from core.commands.company import COMPANY_ID
from core.commands.goal_progress import HAS_DRAFT, wind_down
from core.commands.goals import renew_placeholder
from core.commands.registry import Act, Answer, Command, Reason, handles, letters
from core.commands.shaping import cover_tasks
from core.domain.autonomy import Limit, limit_reached, why_held, why_limited
from core.domain.budgets import MONEY_MAX, period_start
from core.domain.entities import Approval, Company, Goal
from core.domain.errors import Conflict, Invalid
from core.domain.lifecycles import GOAL
from core.domain.limits import AUTO_IN_A_ROW
from core.domain.states import ApprovalKind, ApprovalStatus, Autonomy, BudgetPeriod, GoalStatus, Origin

_COMPANY = f"company:{COMPANY_ID}"
# The conditions of stage B once more in the statement that acts (C-10).
_SPOKEN = "SELECT 1 FROM comments WHERE comments.goal_id = goals.id AND author = 'human'"
_BUSY = f"SELECT 1 FROM runs JOIN agents ON agents.id = agent_id WHERE role = 'ceo' AND runs.{LIVE_RUNS}"
STAGE_B = (
    f"origin = 'ceo' AND auto_dispatched_at IS NULL AND paused_at IS NULL AND reviewed_by IS NULL AND exploring = 0"
    f" AND {HAS_DRAFT} AND NOT EXISTS ({_SPOKEN}) AND NOT EXISTS ({_BUSY}) AND EXISTS (SELECT 1 FROM"
    f" company WHERE autonomy = 'B' AND dispatching = 1 AND auto_in_a_row < {AUTO_IN_A_ROW})"
)


class SetAutonomy(Command):
    """Choose stage A (a CEO's draft waits for you) or B (it is dispatched without you, within limits)."""

    who = letters("H")
    stage: Autonomy
    budget_micros: int | None = Field(
        None,
        ge=0,
        le=MONEY_MAX,
        description="What stage B may spend a day, millionths of a US dollar; as it was if left out",
    )


@handles(SetAutonomy)
def set_autonomy(act: Act, command: SetAutonomy) -> Answer:
    return _set(act, command.stage, command.budget_micros)


def _set(act: Act, stage: Autonomy, budget_micros: int | None) -> Answer:
    company = act.tx.get(Company, COMPANY_ID)
    budget = company.budget_micros if budget_micros is None else budget_micros
    if stage == Autonomy.B and budget <= 0:
        raise Invalid("Stage B without a budget could start nothing.", "Say what it may spend a day, e.g. 5 USD.")
    changes: dict[str, Any] = {"autonomy": stage, "budget_micros": budget, "auto_in_a_row": 0}
    if any(getattr(company, name) != value for name, value in changes.items()):
        company = act.tx.update(company, "AutonomyChanged", **changes)
    for question in act.tx.select(Approval, "kind = :kind AND status = 'pending'", kind=ApprovalKind.AUTONOMY):
        act.tx.update(question, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note="the operator chose")
    return {"stage": str(company.autonomy), "budget_micros": company.budget_micros, "auto_in_a_row": 0}


def spent_today(tx: Transaction) -> int:
    """What goals of stage B have cost since 00:00 UTC, and what their live runs hold back; micros."""
    return int(tx.value(STAGE_B_SPENT, since=period_start(BudgetPeriod.DAY, tx.now)))


def auto_dispatch(act: Act, goal: Goal, target: GoalStatus) -> Goal:
    """Put a CEO's draft to work without a person, and count it. Raises Conflict, which names the limit."""
    tx = act.tx
    company, spent = tx.get(Company, COMPANY_ID), spent_today(tx)
    limit = limit_reached(company, spent)
    if limit is not None:
        raise Conflict(
            f"{goal.name_tag} {goal.title!r} was drafted by {goal.created_by} and no person has reviewed it; it was not"
            f" dispatched by itself: {why_limited(limit, company, spent)}.",
            "A person reviews and dispatches it.",
        )
    if not company.dispatching:
        raise Conflict(f"{goal.name_tag} was not dispatched: the company is stopped.", "Start it.")
    if goal.origin != Origin.CEO or goal.auto_dispatched_at is not None or goal.paused_at is not None:
        raise Conflict(f"{goal.name_tag} is no new draft of the CEO; it was not dispatched.", "A person decides.")
    why = why_held(goal, spoken=_holds(tx, goal, _SPOKEN), busy=_holds(tx, goal, _BUSY), has_draft=True)
    if why:
        raise Conflict(f"{goal.name_tag} was not dispatched by itself: {why}.", "A person decides.")
    goal = tx.update(
        goal, "GoalAutoDispatched", guard=STAGE_B, status=target, auto_dispatched_at=tx.now,
        told={"in_a_row": company.auto_in_a_row + 1, "spent_micros": spent, "budget_micros": company.budget_micros},
    )  # fmt: skip
    tx.update(company, "AutoDispatchCounted", touch=False, auto_in_a_row=company.auto_in_a_row + 1)
    return goal


def _holds(tx: Transaction, goal: Goal, condition: str) -> bool:
    """Whether a condition on a row of goals holds, as the statement that acts asks it."""
    return bool(tx.value(f"SELECT EXISTS ({condition}) FROM goals WHERE id = :goal", goal=goal.id))


class ReturnAutonomy(Command):
    """A limit of stage B is reached: the company is at stage A again, and the operator is told which limit."""

    who = letters("S")


@handles(ReturnAutonomy)
def return_autonomy(act: Act, command: ReturnAutonomy) -> Answer:
    company, spent = act.tx.get(Company, COMPANY_ID), spent_today(act.tx)
    limit = limit_reached(company, spent)
    if company.autonomy != Autonomy.B or limit is None:
        raise Conflict(
            f"The company is at stage {company.autonomy}, and no limit is reached.",
            "Set the stage with SetAutonomy instead.",
        )
    why = why_limited(limit, company, spent)
    company = act.tx.update(
        company, "AutonomyReturned", autonomy=Autonomy.A, told={"limit": str(limit), "why": why}
    )  # fmt: skip
    # What goes on at the same pace would be back at the limit at once: a yes to the budget is one for twice as much.
    budget = min(MONEY_MAX, company.budget_micros * 2) if limit == Limit.BUDGET else company.budget_micros
    payload = {"limit": str(limit), "why": why, "stage": str(Autonomy.B), "budget_micros": budget}
    approval = ask(act, ApprovalKind.AUTONOMY, _COMPANY, "Stage B is over for now", payload)
    return {"stage": "A", "limit": str(limit), "why": why, "approval": approval.id}


@answers(ApprovalKind.AUTONOMY)
def _answer(act: Act, approval: Approval) -> str:
    if approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
        _set(act, Autonomy.B, int(approval.payload["budget_micros"]))
        return "stage B goes on"
    _count_from_nothing(act, None)
    return "it stays at stage A"


class LookedAt(Command):
    """A person has looked at a goal that stage B dispatched: it counts its goals in a row from nothing again."""

    who = letters("H")
    goal: int


@handles(LookedAt)
def looked_at(act: Act, command: LookedAt) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    return {"id": goal.id, "counted_anew": note_look(act, goal.id)}


def note_look(act: Act, goal_id: int) -> bool:
    """A person looked at a goal or decided about it; True if that began the count of stage B anew."""
    goal = act.tx.find(Goal, goal_id)
    if goal is None or goal.auto_dispatched_at is None:
        return False
    return _count_from_nothing(act, goal)


def note_decision(act: Act, command: Command) -> None:
    """Whatever the operator does about a goal that stage B dispatched counts as a look at it (D-01)."""
    company = act.tx.find(Company, COMPANY_ID)
    if company is None or company.auto_in_a_row == 0:
        return
    goal_id = _goal_of(act.tx, command)
    if goal_id is not None:
        note_look(act, goal_id)


def _goal_of(tx: Transaction, command: Command) -> int | None:
    """The goal that a command is about, by its fields."""
    subjects = [(name, getattr(command, name, None)) for name in ("goal", "task", "round", "approval")]
    name, number = next(((name, value) for name, value in subjects if isinstance(value, int)), ("", 0))
    if name == "approval":
        asked = tx.find(Approval, number)
        name, _, text = asked.entity.partition(":") if asked is not None else ("", "", "")
        number = int(text) if text.isdigit() else 0
    if name == "goal":
        return number
    if name in ("task", "round"):
        found: int | None = tx.value(f"SELECT goal_id FROM {name}s WHERE id = :id", id=number)
        return found
    return None


def _count_from_nothing(act: Act, goal: Goal | None) -> bool:
    company = act.tx.find(Company, COMPANY_ID)
    if company is None or company.auto_in_a_row == 0:
        return False
    told = {"goal": goal.id} if goal is not None else {}
    act.tx.update(company, "HumanLooked", touch=False, auto_in_a_row=0, told=told)
    return True


class RecallGoal(Command):
    """Take back what stage B put to work: it is a draft again, and only a person can dispatch it."""

    who = letters("H")
    goal: int
    reason: Reason = "recalled by the operator"


@handles(RecallGoal)
def recall_goal(act: Act, command: RecallGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.DRAFT, "RecallGoal", act.capacities)
    if goal.auto_dispatched_at is None:
        raise Conflict(f"{goal.name_tag} was dispatched by you, not by stage B.", "Pause it, or cancel it.")
    note_look(act, goal.id)
    goal = act.tx.update(
        goal, "GoalRecalled", status=GoalStatus.DRAFT, reason=command.reason, paused_at=None,
        reviewed_by=None, reviewed_at=None, reviewed_hash=None,
    )  # fmt: skip
    wind_down(act, goal, f"{goal.name_tag} was recalled")
    task = renew_placeholder(act, goal)
    cover_tasks(act, goal.id)
    return {"id": goal.id, "status": "draft", "task": task.id}
