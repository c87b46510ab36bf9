"""Budgets: limits on money that hold before a run starts, not after it was paid for (F24)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from core.blackboard.queries import BUDGET_ENDED, BUDGET_HELD_BACK, COSTED, DEAREST, LAST_COSTS, SCOPED
from core.blackboard.transaction import Transaction
from core.commands.approvals import answers, ask, consume_as_system
from core.commands.company import COMPANY_ID, agent_by_slug
from core.commands.moves import SYSTEM_CAPACITY
from core.commands.registry import Act, Answer, Command, Slug, handles, letters
from core.domain.budgets import (
    MONEY_MAX,
    NEVER,
    Standing,
    allowed_in,
    entity_of,
    first_run_cost,
    money,
    per,
    period_start,
    standing_of,
    standing_words,
    this,
)
from core.domain.entities import AgentRecord, Approval, Budget, Goal, Run
from core.domain.errors import Conflict, Invalid
from core.domain.lifecycles import APPROVAL
from core.domain.states import (
    GOAL_FINAL,
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    BudgetPeriod,
    BudgetScope,
    GoalStatus,
    RunStatus,
)

_SAID_NO = (ApprovalStatus.REJECTED, ApprovalStatus.REVISION_REQUESTED)
AT_WORK = (RunStatus.STARTING, RunStatus.RUNNING)
_CUT_OFF = (RunStatus.KILLED, RunStatus.LOST, RunStatus.TIMED_OUT)


class _OfBudget(Command):
    """Which budget: the company's, an agent's (by number or short name) or a goal's."""

    scope: BudgetScope
    scope_id: int | None = Field(None, description="The agent's or the goal's number; nothing for the company")
    slug: Slug | None = Field(None, description="The agent's short name instead of its number")


class SetBudget(_OfBudget):
    """Limit what the company, an agent or a goal may spend a period; 0 takes the limit away."""

    who = letters("H")
    limit_micros: int = Field(ge=0, le=MONEY_MAX, description="Millionths of a US dollar a period; 0 = no limit")
    period: BudgetPeriod = Field(BudgetPeriod.DAY, description="day, week, month (UTC) or total")


@handles(SetBudget)
def set_budget(act: Act, command: SetBudget) -> Answer:
    scope_id = _subject(act, command)
    known = _find(act.tx, command.scope, scope_id)
    if known is None and command.limit_micros == 0:
        return {"id": None, "limit_micros": 0, "changed": False}
    if known is None:
        budget = make_budget(act, command.scope, scope_id, command.limit_micros, command.period)
    elif (known.limit_micros, known.period) == (command.limit_micros, command.period):
        return {"id": known.id, "limit_micros": known.limit_micros, "changed": False}
    else:
        budget = act.tx.update(
            known, "BudgetSet", limit_micros=command.limit_micros, period=command.period,
            extra_micros=0, extra_period=NEVER, warned_period=NEVER,
        )  # fmt: skip
    withdraw_question(act, command.scope, scope_id, "the budget was set anew")
    return {"id": budget.id, "limit_micros": budget.limit_micros, "changed": True}


def make_budget(act: Act, scope: BudgetScope, scope_id: int, limit_micros: int, period: BudgetPeriod) -> Budget:
    """A new row; there is one a scope."""
    return act.tx.insert(
        Budget, "BudgetSet", scope=scope, scope_id=scope_id, limit_micros=limit_micros, period=period,
        extra_micros=0, extra_period=NEVER, warned_period=NEVER,
    )  # fmt: skip


class RaiseBudget(_OfBudget):
    """Allow more: once, for the present period only, or for good."""

    who = letters("H")
    micros: int = Field(ge=1, le=MONEY_MAX, description="Millionths of a US dollar more")
    once: bool = Field(False, description="Only in the period that it is now")


@handles(RaiseBudget)
def raise_budget(act: Act, command: RaiseBudget) -> Answer:
    scope_id = _subject(act, command)
    budget = _find(act.tx, command.scope, scope_id)
    if budget is None or budget.limit_micros == 0:
        raise Conflict(
            f"There is no budget of {_whose(act.tx, command.scope, scope_id)}.", "There is nothing to raise: set one."
        )
    if command.once:
        budget = _raise_once(act, budget, command.micros)
    else:
        limit = _bounded(budget.limit_micros + command.micros)
        budget = act.tx.update(budget, "BudgetRaised", limit_micros=limit, told={"by_micros": command.micros})
    withdraw_question(act, command.scope, scope_id, "the budget was raised")
    allowed = allowed_in(budget, period_start(budget.period, act.tx.now))
    return {"id": budget.id, "limit_micros": budget.limit_micros, "allowed_micros": allowed}


def _raise_once(act: Act, budget: Budget, micros: int) -> Budget:
    start = period_start(budget.period, act.tx.now)
    extra = _bounded(allowed_in(budget, start) - budget.limit_micros + micros)
    return act.tx.update(
        budget, "BudgetRaised", extra_micros=extra, extra_period=start, told={"by_micros": micros, "once": True}
    )


def _bounded(micros: int) -> int:
    if micros > MONEY_MAX:
        raise Invalid(f"{money(micros)} is more than a budget can hold.", f"At most {money(MONEY_MAX)}.")
    return micros


def _subject(act: Act, command: _OfBudget) -> int:
    """The number of what the budget is about. Raises Invalid, NotFound, or Conflict when it has ended."""
    if command.slug is not None and (command.scope != BudgetScope.AGENT or command.scope_id is not None):
        raise Invalid("A short name stands for an agent's number.", "Use it with scope agent and without scope_id.")
    match command.scope:
        case BudgetScope.COMPANY:
            return COMPANY_ID
        case BudgetScope.AGENT:
            if command.slug is not None:
                agent = agent_by_slug(act, command.slug)
            else:
                agent = act.tx.get(AgentRecord, _numbered(command))
            if agent.status == AgentStatus.TERMINATED:
                raise Conflict(f"{agent.name} is {agent.status}: it costs nothing any more.", "Name another agent.")
            return agent.id
        case BudgetScope.GOAL:
            goal = act.tx.get(Goal, _numbered(command))
            if goal.status in GOAL_FINAL or goal.status == GoalStatus.ARCHIVED:
                raise Conflict(f"{goal.name_tag} is {goal.status}: it costs nothing any more.", "Name another goal.")
            return goal.id


def _numbered(command: _OfBudget) -> int:
    if command.scope_id is None:
        raise Invalid(f"Which {command.scope}?", "Give its number in scope_id.")
    return command.scope_id


def _find(tx: Transaction, scope: BudgetScope, scope_id: int) -> Budget | None:
    found = tx.select(Budget, "scope = :scope AND scope_id = :id", scope=scope, id=scope_id)
    return found[0] if found else None


def _whose(tx: Transaction, scope: BudgetScope, scope_id: int) -> str:
    """Whose budget it is, for people."""
    if scope == BudgetScope.COMPANY:
        return "the company"
    if scope == BudgetScope.GOAL:
        return f"G{scope_id}"
    return str(tx.value("SELECT name FROM agents WHERE id = :id", id=scope_id))


# Before a run starts --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a run holds back from its start on, or why it must not start: `scope` names the widest budget that holds it.

    `used_up`: nothing of that scope can start; otherwise a run that needs less still may. `guessed`: nothing is known
    of such runs, so nobody is warned of what they may cost.
    """

    micros: int
    scope: str = ""
    why: str = ""
    used_up: bool = False
    guessed: bool = False
    standings: tuple[Standing, ...] = ()


def reserve(act: Act, run: Run) -> Reservation:
    """What the run may hold back. A budget that it would overdraw keeps it, and the operator is asked once (F24)."""
    standings = tuple(standings_of(act.tx, run))
    known = known_cost(act.tx, run)
    micros = _guess(act.tx, run, standings) if known is None else known
    holding = [standing for standing in standings if standing.holds(micros)]
    if not holding:
        return Reservation(micros, guessed=known is None, standings=standings)
    words = [hold(act, run, standing, micros) for standing in holding]
    widest = next((standing for standing in holding if standing.is_used_up), holding[0])
    return Reservation(micros, str(widest.budget.scope), "; ".join(words), widest.is_used_up)


def known_cost(tx: Transaction, run: Run) -> int | None:
    """What a run like this has cost its agent on average, else the dearest of its kind on the same runner and model.

    At least 1 once its agent ever cost anything; None when no such run has ended yet.
    """
    costs = [row["cost_micros"] for row in tx.all(LAST_COSTS, agent=run.agent_id, kind=run.kind)]
    if costs:
        return max(1, -(-int(sum(costs)) // len(costs)))
    runner = tx.get(AgentRecord, run.agent_id).runner
    found = tx.one(DEAREST, kind=run.kind, runner=runner.get("kind"), model=runner.get("model")) or {}
    if not (found.get("micros") or found.get("succeeded")) and first_run_cost(runner):
        return None
    least = 1 if tx.value(COSTED, agent=run.agent_id) is not None else 0
    return max(least, int(found.get("micros") or 0))


def _guess(tx: Transaction, run: Run, standings: Iterable[Standing]) -> int:
    """What a run of which nothing is known holds back: the stated figure, or what is left if that is less (F24)."""
    left = [max(standing.left, 0) for standing in standings]
    return min(first_run_cost(tx.get(AgentRecord, run.agent_id).runner), *left) if left else 0


def standings_of(tx: Transaction, run: Run) -> Iterable[Standing]:
    """The budgets that a run counts in, widest first, as they stand now."""
    of_run = ((BudgetScope.COMPANY, COMPANY_ID), (BudgetScope.AGENT, run.agent_id), (BudgetScope.GOAL, run.goal_id))
    for scope, scope_id in of_run:
        budget = None if scope_id is None else _find(tx, scope, scope_id)
        if budget is not None and budget.limit_micros > 0:
            yield standing_now(tx, budget)


def standing_now(tx: Transaction, budget: Budget) -> Standing:
    """How a budget stands: what its ended runs cost since the period began, and what live ones hold back."""
    start = period_start(budget.period, tx.now)
    column = SCOPED[budget.scope]
    parameters: dict[str, Any] = {} if column == "" else {"id": budget.scope_id}
    ended: int = tx.value(BUDGET_ENDED.format(column), since=start, **parameters)
    held_back: int = tx.value(BUDGET_HELD_BACK.format(column), **parameters)
    return standing_of(budget, ended + held_back, tx.now)


def hold(act: Act, run: Run, standing: Standing, micros: int) -> str:
    """Why a budget holds a run; asks the operator, unless the same was asked in this period already."""
    budget = standing.budget
    whose = _whose(act.tx, budget.scope, budget.scope_id)
    why = f"budget of {whose}: {standing_words(standing)}"
    if not standing.is_used_up:
        why += f", and {run.name_tag} ({run.kind}) needs about {money(micros)}"
    entity = entity_of(budget.scope, budget.scope_id)
    asked = act.tx.select(
        Approval, "kind = :kind AND entity = :entity ORDER BY id DESC LIMIT 1", kind=ApprovalKind.BUDGET, entity=entity
    )
    if asked and asked[0].status == ApprovalStatus.PENDING:
        return why
    if asked and asked[0].status in _SAID_NO and is_about(asked[0], standing):
        return f"{why}; you said no to more"
    grant = min(standing.grant_for(micros), MONEY_MAX)
    left = money(max(standing.left, 0))
    title = f"The budget of {whose} is used up" if standing.is_used_up else f"The budget of {whose} has {left} left"
    payload = {
        "budget": budget.id, "scope": str(budget.scope), "scope_id": budget.scope_id, "period": str(budget.period),
        "period_start": standing.start, "limit": standing.allowed, "spent": standing.spent, "needs": micros,
        "raise": grant, "run": run.id, "why": why,
        "slug": act.tx.value("SELECT slug FROM agents WHERE id = :id", id=budget.scope_id)
        if budget.scope == BudgetScope.AGENT else "",
    }  # fmt: skip
    ask(act, ApprovalKind.BUDGET, entity, f"{title}: {money(standing.allowed)} {per(budget.period)}", payload,
        expires_at=standing.end)  # fmt: skip
    return why


def is_about(approval: Approval, standing: Standing) -> bool:
    """Whether a question was asked about a budget as it still is: the same period, the same money."""
    payload = approval.payload
    return (payload.get("period_start"), payload.get("limit")) == (standing.start, standing.allowed)


def note_start(act: Act, run: Run, reservation: Reservation) -> None:
    """A run began with what it holds back: the operator may be warned, and need not answer what was asked for it."""
    for before in reservation.standings:
        budget = before.budget
        if not reservation.guessed:
            _warn(act, standing_of(budget, before.spent + reservation.micros, act.tx.now))
        asked = _pending(act, entity_of(budget.scope, budget.scope_id))
        if asked is not None and asked.payload.get("run") == run.id:
            _withdraw(act, asked, f"{run.name_tag} could start")


# What a run cost ------------------------------------------------------------------------------------------------


class RecordCost(Command):
    """Keep what a run has cost and used so far, so that it counts also if the run is killed, timed out or lost.

    Also the last word of a run that was ended meanwhile: what it cost was spent all the same.
    """

    who = letters("S")
    run: int
    cost_micros: int = Field(0, ge=0, description="Millionths of a US dollar since it began")
    tokens_in: int = Field(0, ge=0, description="Since it began")
    tokens_out: int = Field(0, ge=0, description="Since it began")


@handles(RecordCost)
def record_cost(act: Act, command: RecordCost) -> Answer:
    run = act.tx.get(Run, command.run)
    if run.status in AT_WORK or run.status in _CUT_OFF:
        run = note_spent(act, run, command.cost_micros, command.tokens_in, command.tokens_out)
    return {"id": run.id, "cost_micros": run.cost_micros, "tokens_in": run.tokens_in, "tokens_out": run.tokens_out}


def note_spent(act: Act, run: Run, cost_micros: int, tokens_in: int, tokens_out: int) -> Run:
    """What a run at work, or one that was cut off, told of its spend; nothing that was told before shrinks."""
    told = spent_by(run, cost_micros, tokens_in, tokens_out)
    if all(getattr(run, name) == value for name, value in told.items()):
        return run
    # At work it holds back at least what it has cost: sums over what is held back need no second look.
    held_back = max(run.reserved_micros, told["cost_micros"]) if run.status in AT_WORK else 0
    costs_more = told["cost_micros"] > run.cost_micros
    run = act.tx.update(run, "RunCostTold", **told, reserved_micros=held_back)
    if costs_more:
        warn(act, run)
    return run


def spent_by(run: Run, cost_micros: int, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    """What a run cost and used: never less than was told before, never more than can be added up."""
    told = {"cost_micros": cost_micros, "tokens_in": tokens_in, "tokens_out": tokens_out}
    return {name: max(getattr(run, name), min(value, MONEY_MAX)) for name, value in told.items()}


def note_late_cost(act: Act, run: Run, cost_micros: int, tokens_in: int, tokens_out: int) -> None:
    """The end of a run that was ended meanwhile."""
    if run.status in _CUT_OFF:
        note_spent(act, run, cost_micros, tokens_in, tokens_out)


def warn(act: Act, run: Run) -> None:
    """Tell once a period that a budget is nearly used up."""
    for each in standings_of(act.tx, run):
        _warn(act, each)


def _warn(act: Act, standing: Standing) -> None:
    if not standing.warns:
        return
    budget = standing.budget
    whose = _whose(act.tx, budget.scope, budget.scope_id)
    told = {
        "spent_micros": standing.spent, "allowed_micros": standing.allowed, "percent": standing.percent,
        "words": f"{standing.percent} % of the budget of {whose}: {standing_words(standing)}",
    }  # fmt: skip
    act.tx.update(budget, "BudgetWarned", touch=False, warned_period=standing.start, told=told)


# The question ---------------------------------------------------------------------------------------------------


@answers(ApprovalKind.BUDGET)
def _answer(act: Act, approval: Approval) -> str:
    payload = approval.payload
    budget = act.tx.find(Budget, payload.get("budget"))
    if budget is None:
        return ""
    until = "" if budget.period == BudgetPeriod.TOTAL else f"; what is held starts after {this(budget.period)}"
    if approval.status != ApprovalStatus.APPROVED:
        return f"no more{until}"
    consume_as_system(act, approval)
    if period_start(budget.period, act.tx.now) != payload["period_start"]:
        return "a new period has begun"
    _raise_once(act, budget, int(payload["raise"]))
    return f"{money(int(payload['raise']))} more {this(budget.period)}"


def withdraw_question(act: Act, scope: BudgetScope, scope_id: int, why: str) -> None:
    """What was asked about a budget is settled otherwise: by more money, or by a pause."""
    asked = _pending(act, entity_of(scope, scope_id))
    if asked is not None:
        _withdraw(act, asked, why)


def _pending(act: Act, entity: str) -> Approval | None:
    where = "kind = :kind AND entity = :entity AND status = 'pending'"
    found = act.tx.select(Approval, where, kind=ApprovalKind.BUDGET, entity=entity)
    return found[0] if found else None


def _withdraw(act: Act, asked: Approval, why: str) -> None:
    APPROVAL.require(asked.name_tag, asked.status, ApprovalStatus.CANCELLED, "CancelApproval", SYSTEM_CAPACITY)
    act.tx.update(asked, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note=why)
