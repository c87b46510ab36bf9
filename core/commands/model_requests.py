"""Before a run's program asks a model through the gateway: whether its budgets still allow it (F24)."""

from core.commands.budgets import AT_WORK, hold, standings_of
from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.budgets import standing_of
from core.domain.entities import Run
from core.domain.errors import Fenced


class AdmitModelRequest(Command):
    """Let a run ask a model once more, unless a budget that it counts in is used up; then the operator is asked.

    What the run itself holds back is there for it to be spent: only what it has cost counts of it.
    """

    who = letters("S")
    run: int


@handles(AdmitModelRequest)
def admit_model_request(act: Act, command: AdmitModelRequest) -> Answer:
    run = act.tx.get(Run, command.run)
    if run.status not in AT_WORK:
        raise Fenced(f"{run.name_tag} is {run.status}: it asks no model any more.", "Stop working.")
    own = max(run.reserved_micros - run.cost_micros, 0)
    standings = [standing_of(each.budget, each.spent - own, act.tx.now) for each in standings_of(act.tx, run)]
    words = [hold(act, run, standing, 0) for standing in standings if standing.is_used_up]
    return {"id": run.id, "held": "; ".join(words)}
