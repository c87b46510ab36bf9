"""Rounds and the goals above them: reviews, stalls, plans and reports, and the limit of attempts."""

from collections.abc import Iterator

from core.domain import facts as bases
from core.domain.discussion import goes_on
from core.domain.entities import Goal, Round
from core.domain.facts import Attempts, Facts
from core.domain.limits import (
    RUN_ATTEMPTS,
    STALL_MS,
    STALLS_A_ROUND,
)
from core.domain.states import (
    ApprovalKind,
    GoalStatus,
    Role,
    RoundDecision,
    RoundStatus,
    RunKind,
    TaskStatus,
)
from core.domain.tick.actions import Action, Held, Item, Step, pick, queue

# Talk that waits for a person does not hold the plan or the report up.
_ASIDE = frozenset({ApprovalKind.MAIL, ApprovalKind.EXCHANGE, ApprovalKind.BUDGET})


def rounds(facts: Facts, now: int) -> Iterator[Item]:
    """Round over, stalled, or due for its review; goals that wait for a plan or a report (C-05, S2-10)."""
    goals = {goal.id: goal for goal in facts.goals}
    calls = (RunKind.ROUND_REVIEW, RunKind.STALL)
    running = {run.round_id for run in facts.runs if run.kind in calls}
    for round_ in facts.rounds:
        goal = goals.get(round_.goal_id)
        if goal is not None:
            yield from _round(facts, goal, round_, now, round_.id in running)
    with_round = {round_.goal_id for round_ in facts.rounds}
    busy_goals = {run.goal_id for run in facts.runs if run.kind in (RunKind.PLAN, RunKind.REPORT)}
    for goal in facts.goals:
        planned = goal.status == GoalStatus.PLANNING and not goes_on(facts.turns.get(goal.id), facts.agents)
        waits = planned or (goal.status == GoalStatus.ACTIVE and goal.id not in with_round)
        if waits and goal.id not in busy_goals:
            yield from _goal(facts, goal)


def _round(facts: Facts, goal: Goal, round_: Round, now: int, has_run: bool) -> Iterator[Item]:
    match round_.status:
        case RoundStatus.OPEN:
            moving = _moving(facts, round_)
            if not moving and round_.open_tasks and now - round_.progress_at >= STALL_MS:
                why = f"no task of round {round_.number} can run, and {round_.open_tasks} wait"
                yield Action(Step.ROUNDS, "StallRound", {"round": round_.id, "why": why}, why)
        case RoundStatus.REVIEWING if not has_run:
            if round_.number > goal.round_cap:
                why = f"the cap of {goal.round_cap} rounds is reached"
                yield Action(Step.ROUNDS, "EscalateRound", {"round": round_.id, "why": why}, why)
                return
            base = bases.round_review_base(round_)
            if facts.attempts.get(base, Attempts()).failed >= RUN_ATTEMPTS:
                why = f"its review failed {RUN_ATTEMPTS} times"
                yield Action(Step.ROUNDS, "EscalateRound", {"round": round_.id, "why": why}, why)
                return
            yield from call_coordinator(
                facts, RunKind.ROUND_REVIEW, base, f"round {round_.number} is over", goal, round_id=round_.id
            )
        case RoundStatus.STALLED if round_.id in facts.only_people:
            yield Held(f"round:{round_.id}", "every open task in it waits for the operator")
        case RoundStatus.STALLED if not has_run and _stalls_on(facts, round_):
            yield from _ask_about_stalls(facts, round_)
        case RoundStatus.STALLED if not has_run:
            yield from call_coordinator(
                facts, RunKind.STALL, bases.stall_base(round_), "the round is stalled", goal, round_id=round_.id
            )
        case _:
            return


def _stalls_on(facts: Facts, round_: Round) -> bool:
    """Whether the coordinator was called as often as it is to a round that stands still again and again (F23)."""
    tried = facts.attempts.get(bases.stalls_base(round_), Attempts())
    return tried.failed >= STALLS_A_ROUND * (1 + tried.granted)


def _ask_about_stalls(facts: Facts, round_: Round) -> Iterator[Item]:
    base, entity = bases.stalls_base(round_), f"round:{round_.id}"
    tried = facts.attempts[base]
    if not tried.asked and not is_asked(facts, entity):
        title = f"Round {round_.number} of G{round_.goal_id} stands still again, after {tried.failed} calls"
        payload = {"what": "try_again", "on_reject": "cancel", "base": base}
        arguments = {"kind": "question", "entity": entity, "title": title, "payload": payload}
        yield Action(Step.ROUNDS, "RequestApproval", arguments, title)
    yield Held(entity, "it waits for the operator's answer")


def _moving(facts: Facts, round_: Round) -> bool:
    moving = (TaskStatus.CLAIMED, TaskStatus.WORKING, TaskStatus.REVIEW)
    return round_.id in facts.runnable or any(
        task.round_id == round_.id and task.status in moving for task in facts.busy
    )


def _goal(facts: Facts, goal: Goal) -> Iterator[Item]:
    last = facts.last_rounds.get(goal.id)
    if any(asked.entity == f"goal:{goal.id}" and asked.kind not in _ASIDE for asked in facts.approvals):
        yield Held(f"goal:{goal.id}", "it waits for the operator's answer")
        return
    reporting = last is not None and last.decision == RoundDecision.REPORT and not goal.reason
    kind = RunKind.REPORT if goal.status == GoalStatus.ACTIVE and reporting else RunKind.PLAN
    why = {RunKind.REPORT: "every round is closed: the report is due", RunKind.PLAN: "it needs a plan"}[kind]
    yield from call_coordinator(facts, kind, bases.goal_base(goal, last), why, goal)


def call_coordinator(
    facts: Facts, kind: RunKind, base: str, why: str, goal: Goal, *, round_id: int | None = None,
    task_id: int | None = None, step: Step = Step.ROUNDS, barred: frozenset[int] = frozenset(), entity: str = "",
) -> Iterator[Item]:  # fmt: skip
    """One more attempt of the coordinator, or the operator's turn when the attempts are used up (F23).

    The operator is asked about `entity`, which is what the run is about unless it is named.
    """
    subject = f"round:{round_id}" if round_id else f"task:{task_id}" if task_id else f"goal:{goal.id}"
    entity = entity or subject
    if not facts.company.dispatching:
        yield Held(entity, f"the company is stopped: {facts.company.stop_reason}")
        return
    if goal.paused_at is not None:
        yield Held(entity, f"{goal.name_tag} is paused")
        return
    coordinator = pick(facts, (Role.COORDINATOR,), barred)
    if coordinator is None:
        yield Held(entity, "there is no active coordinator" + (" who never ran it" if barred else ""))
        return
    if is_asked(facts, entity):
        yield Held(entity, "it waits for the operator's answer")
        return
    tried = facts.attempts.get(base, Attempts())
    if tried.failed >= RUN_ATTEMPTS * (1 + tried.granted):
        if not tried.asked:
            title = f"{coordinator.name} failed {tried.failed} times: {why}"
            arguments = {
                "kind": "question",
                "entity": entity,
                "title": title[:200],
                "payload": {"what": "try_again", "on_reject": "cancel", "base": base},
            }
            yield Action(step, "RequestApproval", arguments, title)
        yield Held(entity, "the operator said no" if tried.refused else "it waits for the operator's answer")
        return
    yield queue(
        step, kind, coordinator, f"{base}#{tried.ended}", why, goal_id=goal.id, round_id=round_id, task_id=task_id
    )


def is_asked(facts: Facts, entity: str) -> bool:
    """Whether a question about this waits for the operator already; another run would only ask it again."""
    return any(asked.entity == entity and asked.kind == ApprovalKind.QUESTION for asked in facts.approvals)
