"""What the inbox shows of budgets: the question at the stop with its choices, and what a no still holds. Pure."""

from collections.abc import Iterable, Iterator

from core.domain.budgets import allowed_in, entity_of, money, per, period_end, this
from core.domain.entities import Approval, Budget, Run
from core.domain.inbox_item import Choice, InboxItem
from core.domain.states import ApprovalKind, ApprovalStatus, BudgetPeriod, BudgetScope, RunStatus

_SAID_NO = frozenset({ApprovalStatus.REJECTED, ApprovalStatus.REVISION_REQUESTED})


def question(approval: Approval) -> InboxItem:
    """A budget that holds runs back: raise it once, raise it for good, leave them held, or pause what costs it."""
    period = BudgetPeriod(approval.payload["period"])
    decide = {"approval": approval.id, "payload_hash": approval.payload_hash}
    more = money(int(approval.payload["raise"]))
    until = "until you raise it" if period == BudgetPeriod.TOTAL else f"until the end of {_THE[period]} (UTC)"
    once = Choice("a", "raise once", "DecideApproval", {**decide, "decision": "approved"},
                  f"{more} more {this(period)}, and what is held starts")  # fmt: skip
    no = Choice("b", "leave held", "DecideApproval", {**decide, "decision": "rejected"},
                f"nothing that it would pay for starts {until}", "note")  # fmt: skip
    return InboxItem(
        id=f"approval:{approval.id}", entity=approval.entity, kind=approval.kind, title=approval.title,
        why=str(approval.payload["why"]), since=approval.created_at,
        choices=(once, no, *_other_ways(approval)), lapses=_lapses(approval),
    )  # fmt: skip


_THE = {BudgetPeriod.DAY: "the day", BudgetPeriod.WEEK: "the week", BudgetPeriod.MONTH: "the month"}


def _lapses(approval: Approval) -> int | None:
    """When the period ends that is used up (ms UTC): then what is held starts by itself. None for a budget in all."""
    start = approval.payload.get("period_start")
    return period_end(BudgetPeriod(approval.payload["period"]), start) if isinstance(start, int) else None


def _other_ways(approval: Approval) -> tuple[Choice, Choice]:
    payload = approval.payload
    scope, scope_id = BudgetScope(payload["scope"]), int(payload["scope_id"])
    micros = int(payload["raise"])
    for_good = Choice(
        "r", "raise for good", "RaiseBudget", {"scope": str(scope), "scope_id": scope_id, "micros": micros},
        f"{money(micros)} more {per(BudgetPeriod(payload['period']))} from now on, and what is held starts",
    )  # fmt: skip
    match scope:
        case BudgetScope.COMPANY:
            pause = Choice("d", "stop all", "StopCompany", {}, "every run ends and its task goes back", "reason")
        case BudgetScope.AGENT:
            pause = Choice("d", "pause", "PauseAgent", {"agent": str(payload["slug"])},
                           f"{payload['slug']}'s runs end and their tasks go back", "reason")  # fmt: skip
        case BudgetScope.GOAL:
            pause = Choice("d", "pause", "PauseGoal", {"goal": scope_id}, "no run starts for it until it is resumed")
    return for_good, pause


def held_after_no(budgets: Iterable[Budget], approvals: Iterable[Approval], runs: Iterable[Run]) -> list[InboxItem]:
    """Runs that stay queued since the operator allowed no more: nothing waits without being seen (F16)."""
    queued = [run for run in runs if run.status == RunStatus.QUEUED]
    standing = {entity_of(each.scope, each.scope_id): each for each in budgets if each.limit_micros > 0}
    if not queued or not standing:
        return []
    last = {each.entity: each for each in approvals if each.kind == ApprovalKind.BUDGET and each.entity in standing}
    return list(_held(standing, last, queued))


def _held(standing: dict[str, Budget], last: dict[str, Approval], queued: list[Run]) -> Iterator[InboxItem]:
    for entity, approval in last.items():
        budget, payload = standing[entity], approval.payload
        start = payload.get("period_start")
        if approval.status not in _SAID_NO or start is None or allowed_in(budget, start) != payload["limit"]:
            continue
        waiting = [run for run in queued if _pays(budget, run)]
        if waiting:
            period = BudgetPeriod(payload["period"])
            micros = {"scope": str(budget.scope), "scope_id": budget.scope_id, "micros": int(payload["raise"])}
            once = Choice("a", "raise once", "RaiseBudget", {**micros, "once": True},
                          f"{money(int(payload['raise']))} more {this(period)}, and what is held starts")  # fmt: skip
            names = ", ".join(run.name_tag for run in waiting[:3]) + (" and more" if len(waiting) > 3 else "")
            yield InboxItem(
                id=f"budget:{budget.id}", entity=entity, kind="budget", title=approval.title,
                why=f"you allowed no more ({approval.note}); held: {names}",
                since=approval.decided_at or approval.created_at,
                choices=(once, *_other_ways(approval)), lapses=_lapses(approval),
            )  # fmt: skip


def _pays(budget: Budget, run: Run) -> bool:
    """Whether a run counts in a budget."""
    match budget.scope:
        case BudgetScope.COMPANY:
            return True
        case BudgetScope.AGENT:
            return run.agent_id == budget.scope_id
        case BudgetScope.GOAL:
            return run.goal_id == budget.scope_id
