"""Before a run's program asks a model through the gateway: whether its budgets still allow it (F24)."""

from collections.abc import Mapping

from pydantic import Field

from core.blackboard.transaction import Transaction
from core.commands.budgets import AT_WORK, hold, standings_of
from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.budgets import standing_of
from core.domain.entities import Budget, Run
from core.domain.errors import Fenced
from core.domain.states import BudgetScope


class AdmitModelRequest(Command):
    """Let a run ask a model once more, unless a budget that it counts in is used up; then the operator is asked.

    What the run itself holds back is there for it to be spent: only what it has cost counts of it. Where nothing is
    left but for requests that are on their way, it `waits` until they are counted.
    """

    who = letters("S")
    run: int
    on_its_way: dict[int, int] = Field(
        default_factory=dict, description="Micros that requests on their way may cost, by run"
    )


@handles(AdmitModelRequest)
def admit_model_request(act: Act, command: AdmitModelRequest) -> Answer:
    run = act.tx.get(Run, command.run)
    if run.status not in AT_WORK:
        raise Fenced(f"{run.name_tag} is {run.status}: it asks no model any more.", "Stop working.")
    own = max(run.reserved_micros - run.cost_micros, 0)
    standings = [standing_of(each.budget, each.spent - own, act.tx.now) for each in standings_of(act.tx, run)]
    words = [hold(act, run, standing, 0) for standing in standings if standing.is_used_up]
    waits = not words and any(
        _on_its_way(act.tx, run, each.budget, command.on_its_way) >= each.left for each in standings
    )
    return {"id": run.id, "held": "; ".join(words), "waits": waits}


def _on_its_way(tx: Transaction, asking: Run, budget: Budget, by_run: Mapping[int, int]) -> int:
    """What requests on their way may cost a budget beyond what their runs hold back of it."""
    more = 0
    for run_id, micros in by_run.items():
        run = tx.find(Run, run_id)
        if run is None or not _counts_in(run, budget):
            continue
        kept = run.cost_micros
        if run.id != asking.id and run.status in AT_WORK:
            kept = max(kept, run.reserved_micros)
        more += max(run.cost_micros + micros - kept, 0)
    return more


def _counts_in(run: Run, budget: Budget) -> bool:
    match budget.scope:
        case BudgetScope.AGENT:
            return run.agent_id == budget.scope_id
        case BudgetScope.GOAL:
            return run.goal_id == budget.scope_id
    return True
