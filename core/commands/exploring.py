"""Phase 1: the talk of operator and coordinator in which a draft grows until it is ready (S2-07)."""

from core.commands.registry import Act, Answer, Command, handles, letters
from core.commands.runs import end_live_runs
from core.commands.shaping import require_read
from core.domain.actors import HUMAN, Agent
from core.domain.entities import Comment, Goal
from core.domain.errors import Conflict, Forbidden
from core.domain.goals import not_verifiable
from core.domain.lifecycles import GOAL, Who
from core.domain.states import GoalStatus, RunKind


class ExploreGoal(Command):
    """Talk a draft over with the coordinator, for the first time or again."""

    who = letters("H")
    goal: int


@handles(ExploreGoal)
def explore_goal(act: Act, command: ExploreGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    _require_draft(goal)
    if goal.exploring:
        raise Conflict(f"{goal.name_tag} is draft and talked over already.", "Answer, edit it, or say ready.")
    act.tx.update(goal, "ExplorationOpened", touch=False, exploring=True)
    return {"id": goal.id, "exploring": True}


class ReadyGoal(Command):
    """End the talk: exactly this content, with its draft tasks, is reviewed and may be dispatched."""

    who = letters("H")
    goal: int
    content_hash: str | None = None


@handles(ReadyGoal)
def ready_goal(act: Act, command: ReadyGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    _require_draft(goal)
    if not goal.exploring:
        raise Conflict(f"{goal.name_tag} is draft and not talked over.", "Dispatch it, edit it, or talk it over.")
    require_read(goal, command.content_hash)
    if not any(not must["waived_by"] for must in goal.must_haves):
        raise Conflict(f"{goal.name_tag} is draft and names nothing that must be delivered.", "Add a must-have.")
    if vague := not_verifiable(goal.must_haves):
        raise Conflict(
            f"{goal.name_tag} is draft and does not say how to verify {', '.join(vague)}.",
            "Say for each how one can see that it is there, or waive it.",
        )
    end_live_runs(act, "goal_id = :goal AND kind = 'explore'", "the operator said ready", goal=goal.id)
    goal = act.tx.update(
        goal, "GoalReady", exploring=False, reviewed_by=HUMAN, reviewed_at=act.tx.now, reviewed_hash=goal.content_hash
    )
    return {"id": goal.id, "exploring": False, "reviewed_hash": goal.reviewed_hash}


def _require_draft(goal: Goal) -> None:
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: only a draft is talked over.", GOAL.hint(goal.status))


def last_word(act: Act, goal_id: int) -> Comment | None:
    """The newest word of the talk over a goal."""
    found = act.tx.select(
        Comment, "goal_id = :goal AND task_id IS NULL AND kind = 'dialogue' ORDER BY id DESC LIMIT 1", goal=goal_id
    )
    return found[0] if found else None


def admit_word(act: Act, goal: Goal) -> None:
    """One question at a time: the coordinator speaks when it is its turn, to what the operator said last.

    Raises Forbidden for other agents, Conflict out of turn.
    """
    if not goal.exploring or goal.status != GoalStatus.DRAFT or not isinstance(act.actor, Agent):
        return
    if Who.COORDINATOR not in act.capacities:
        raise Forbidden(
            f"{goal.name_tag} is talked over by the operator and the coordinator.", "Write an observation instead."
        )
    act.require_own_goal(goal.id)
    last = last_word(act, goal.id)
    if last is not None and last.author != HUMAN:
        raise Conflict(f"{goal.name_tag}: the last word is an agent's; nothing was written.", "Wait for the operator.")
    run = act.own_run()
    base = (run.idempotency_key or "").partition("#")[0]
    if run.kind == RunKind.EXPLORE and base.startswith("explore:") and last is not None:
        heard = base.rpartition(":")[2]
        if heard != str(last.id):
            raise Conflict(
                f"{goal.name_tag}: the operator wrote again meanwhile (comment {last.id}); nothing was written.",
                "Read it; a new run answers to that.",
            )
