"""What the system begins by itself below drafts: stage B's dispatch, and the tasks of a person's own draft."""

from collections.abc import Iterator

from core.domain.autonomy import limit_reached, why_held, why_limited
from core.domain.facts import Facts
from core.domain.states import Autonomy, GoalStatus, Origin, Role, RunKind
from core.domain.tick.actions import Action, Held, Item, Step, pick, queue


def stage_b(facts: Facts, now: int) -> Iterator[Item]:
    """A CEO's draft is dispatched without a person, within the limits; at a limit it is stage A again (D-01)."""
    company = facts.company
    if company.autonomy != Autonomy.B or not company.dispatching:
        return
    limit = limit_reached(company, facts.stage_b_spent)
    if limit is not None:
        yield Action(Step.HEARTBEAT, "ReturnAutonomy", {}, why_limited(limit, company, facts.stage_b_spent))
        return
    ceos = {agent.id for agent in facts.agents if agent.role == Role.CEO}
    busy = any(run.agent_id in ceos for run in facts.runs)
    for goal in facts.goals:
        if goal.status != GoalStatus.DRAFT or goal.origin != Origin.CEO or goal.paused_at is not None:
            continue
        spoken, has_draft = goal.id in facts.spoken_about, goal.id not in facts.taskless
        why = why_held(goal, spoken=spoken, busy=busy, has_draft=has_draft)
        if why:
            yield Held(f"goal:{goal.id}", why)
        else:
            yield Action(Step.HEARTBEAT, "DispatchGoal", {"goal": goal.id}, "stage B: a new draft of the CEO")
            return


def split(facts: Facts, now: int) -> Iterator[Item]:
    """A person's own draft gets its draft tasks by one run, unless the person said otherwise (S1-11)."""
    if not facts.company.dispatching:
        return
    at_it = {run.goal_id for run in facts.runs if run.kind == RunKind.SPLIT}
    planner = pick(facts, (Role.PLANNER, Role.COORDINATOR))
    for goal in facts.goals:
        if planner is None or goal.id not in facts.unsplit or goal.id in at_it or goal.paused_at is not None:
            continue
        key, why = f"split:{goal.id}#{facts.unsplit[goal.id]}", f"{goal.name_tag} has no tasks yet"
        yield queue(Step.ROUNDS, RunKind.SPLIT, planner, key, why, goal_id=goal.id)
