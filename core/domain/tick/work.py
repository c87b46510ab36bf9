"""Who reviews, who is shown what, who gets what nobody claimed."""

from collections.abc import Iterator

from core.domain import facts as bases
from core.domain.entities import AgentRecord, Task
from core.domain.facts import Attempts, Facts
from core.domain.limits import (
    BROADCASTS_BEFORE_ROUTER,
    OFFERS_PER_BROADCAST,
    RUN_ATTEMPTS,
    TICK_MS,
)
from core.domain.states import (
    AgentStatus,
    OfferAnswer,
    ReviewStep,
    Risk,
    Role,
    RunKind,
    TaskStatus,
)
from core.domain.tick.actions import Action, Held, Item, Step, load_of, pick, queue
from core.domain.tick.rounds import call_coordinator, is_asked


def reviews(facts: Facts, now: int) -> Iterator[Item]:
    """Every finished task gets a reviewer who never ran it; high risk a second one; a dispute the coordinator."""
    judged = {run.task_id for run in facts.runs if run.kind in (RunKind.REVIEW, RunKind.RULE)}
    for task in facts.busy:
        if task.status != TaskStatus.REVIEW or task.id in judged:
            continue
        if not facts.company.dispatching:
            yield Held(f"task:{task.id}", f"the company is stopped: {facts.company.stop_reason}")
        elif task.review_step == ReviewStep.RULING:
            yield from _ruling(facts, task)
        else:
            yield from _review(facts, task)


def _review(facts: Facts, task: Task) -> Iterator[Item]:
    roles = (Role.CHALLENGER, Role.REVIEWER) if task.risk == Risk.HIGH else (Role.REVIEWER, Role.CHALLENGER)
    reviewer = _judge_of(facts, task, roles)
    if reviewer is None:
        yield from _nobody(facts, task, bases.review_base(task), roles)
        return
    if is_asked(facts, f"task:{task.id}"):
        yield Held(f"task:{task.id}", "its review waits for the operator's answer")
        return
    base = bases.review_base(task)
    tried = facts.attempts.get(base, Attempts())
    if tried.failed >= RUN_ATTEMPTS * (1 + tried.granted):
        if not tried.asked:
            yield _question(task, f"The review of {task.name_tag} failed {tried.failed} times", base)
        yield Held(f"task:{task.id}", "its review waits for the operator's answer")
        return
    why = {
        ReviewStep.SECOND: "high risk: it waits for a second look",
        ReviewStep.REPLY: "its rebuttal waits for a reply",
    }
    yield queue(
        Step.REVIEWS, RunKind.REVIEW, reviewer, f"{base}#{tried.ended}",
        why.get(task.review_step, "it waits for its review"), task_id=task.id,
    )  # fmt: skip


def _judge_of(facts: Facts, task: Task, roles: tuple[Role, ...]) -> AgentRecord | None:
    """No author; for a second look not the first reviewer; to a rebuttal who gave the verdict answers, else another."""
    authors = facts.authors.get(task.id, frozenset())
    judges = facts.judges.get(task.id, frozenset())
    if task.review_step == ReviewStep.SECOND:
        return pick(facts, roles, authors | judges)
    if task.review_step == ReviewStep.REPLY:
        others = frozenset(agent.id for agent in facts.agents) - judges
        return pick(facts, roles, authors | others) or pick(facts, roles, authors)
    return pick(facts, roles, authors)


def _ruling(facts: Facts, task: Task) -> Iterator[Item]:
    goal = next((goal for goal in facts.goals if goal.id == task.goal_id), None)
    if goal is None:
        return
    authors, base = facts.authors.get(task.id, frozenset()), bases.ruling_base(task)
    if pick(facts, (Role.COORDINATOR,), authors) is None:
        yield from _nobody(facts, task, base, (Role.COORDINATOR,))
        return
    why = f"the verdict on {task.name_tag} is disputed"
    yield from call_coordinator(
        facts, RunKind.RULE, base, why, goal, task_id=task.id, step=Step.REVIEWS, barred=authors
    )  # fmt: skip


def _nobody(facts: Facts, task: Task, base: str, roles: tuple[Role, ...]) -> Iterator[Item]:
    """Nobody who may judge it is there. Where the role is there at all, nothing is lacking: the operator is asked."""
    second = task.review_step == ReviewStep.SECOND
    yield Held(
        f"task:{task.id}",
        "nobody else is there for its second look"
        if second
        else f"nobody who never ran it is there to {_TO[roles[-1]]}",
    )
    if pick(facts, roles) is None or is_asked(facts, f"task:{task.id}"):
        return
    title = f"Every reviewer has worked on {task.name_tag} itself: hire or resume another, then approve"
    if second:
        title = f"{task.name_tag} is of high risk and has nobody for a second look: hire or resume one, then approve"
    elif roles == (Role.COORDINATOR,):
        title = f"Every coordinator has worked on {task.name_tag} itself: hire or resume another to rule, then approve"
    yield _question(task, title, f"{base}:nobody")


_TO = {Role.REVIEWER: "review it", Role.CHALLENGER: "review it", Role.COORDINATOR: "rule on it"}


def _question(task: Task, title: str, base: str) -> Action:
    arguments = {"kind": "question", "entity": f"task:{task.id}", "title": title,
                 "payload": {"what": "try_again", "on_reject": "cancel", "base": base}}  # fmt: skip
    return Action(Step.REVIEWS, "RequestApproval", arguments, title)


def broadcast(facts: Facts, now: int) -> Iterator[Item]:
    """Show changed pending tasks to every free executor, once an agent and version of a task (C-09, C-11)."""
    if not facts.company.dispatching:
        for task in facts.ready:
            yield Held(f"task:{task.id}", f"the company is stopped: {facts.company.stop_reason}")
        return
    paused = {goal.id for goal in facts.goals if goal.paused_at is not None}
    # A task that names an agent who cannot work is everybody's: it must not wait for ever (F16).
    active = {agent.id for agent in facts.agents if agent.status == AgentStatus.ACTIVE}
    open_tasks = [task for task in facts.ready if task.assignee_id not in active and task.goal_id not in paused]
    due = [
        task.id
        for task in open_tasks
        # Once the router has its turn there is nothing left to count: a quiet board stays quiet (F6).
        if task.broadcasts < BROADCASTS_BEFORE_ROUTER
        and (task.broadcast_at is None or now - task.broadcast_at >= TICK_MS)
    ]
    if due:
        yield Action(Step.BROADCAST, "CountBroadcast", {"tasks": due}, "on offer for another tick")
    live = {run.id for run in facts.runs}
    seen = {
        (offer.task_id, offer.agent_id, offer.offer)
        for offer in facts.offers
        if offer.answer != OfferAnswer.OPEN or offer.run_id in live
    }
    load = load_of(facts)
    holders = {task.assignee_id for task in facts.busy if task.status in (TaskStatus.CLAIMED, TaskStatus.WORKING)}
    for agent in facts.agents:
        free = agent.status == AgentStatus.ACTIVE and not load.get(agent.id) and agent.id not in holders
        if agent.role != Role.EXECUTOR or not free or (agent.cooldown_until or 0) > now:
            continue
        shown = [task for task in open_tasks if (task.id, agent.id, task.offer) not in seen][:OFFERS_PER_BROADCAST]
        if shown:
            ids = [task.id for task in shown]
            key = f"broadcast:{agent.id}:{facts.tick}:{now}:{ids[0]}"
            yield queue(Step.BROADCAST, RunKind.BROADCAST, agent, key, "new tasks on the board", offers=ids)


def route(facts: Facts, now: int) -> Iterator[Item]:
    """Claimed tasks get their run; named or unclaimed tasks get an agent, or the coordinator is asked (C-09)."""
    agents = {agent.id: agent for agent in facts.agents}
    goals = {goal.id: goal for goal in facts.goals}
    for task in facts.busy:
        # While its plan stands open for objection nobody works on it; the rule of plans says that it is held.
        is_held = task.plan_until is not None and task.plan_until > now
        if task.status in (TaskStatus.CLAIMED, TaskStatus.WORKING) and task.current_run is None and not is_held:
            yield from _start_work(facts, task, agents.get(task.assignee_id or 0))
    if not facts.company.dispatching:
        return
    load = load_of(facts)
    asked = {run.task_id for run in facts.runs if run.kind == RunKind.STALL}
    # Without any executor whatever is made of a task fits nobody again: its round has the attempts, not each task (F6).
    has_executor = any(agent.role == Role.EXECUTOR for agent in facts.agents)
    called = {task.round_id for task in facts.ready if task.id in asked}
    for task in facts.ready:
        goal = goals.get(task.goal_id)
        if goal is None or goal.paused_at is not None:
            yield Held(f"task:{task.id}", "its goal is paused or not active")
            continue
        named = agents.get(task.assignee_id or 0)
        if named is not None and named.status == AgentStatus.ACTIVE:
            yield Action(Step.ROUTE, "AssignTask", {"task": task.id, "agent": named.slug}, "it names its agent")
            continue
        if task.broadcasts < BROADCASTS_BEFORE_ROUTER:
            yield Held(f"task:{task.id}", f"on offer, broadcast {task.broadcasts} of {BROADCASTS_BEFORE_ROUTER}")
            continue
        if now - (task.broadcast_at or 0) < TICK_MS:
            yield Held(f"task:{task.id}", "on offer, the last broadcast is not over")
            continue
        fitting = _fitting(facts, task)
        if fitting:
            best = min(
                fitting,
                key=lambda agent: (
                    (agent.cooldown_until or 0) > now,
                    agent.id == task.last_assignee_id,
                    load.get(agent.id, 0),
                    agent.id,
                ),
            )
            load[best.id] = load.get(best.id, 0) + 1
            yield Action(Step.ROUTE, "AssignTask", {"task": task.id, "agent": best.slug}, "nobody claimed it")
        elif not has_executor and task.round_id is not None:
            yield Held(f"task:{task.id}", "there is no executor: hire one")
            if task.round_id not in called:
                called.add(task.round_id)
                yield from call_coordinator(
                    facts, RunKind.STALL, bases.no_executor_base(task.round_id), "there is no executor", goal,
                    task_id=task.id, step=Step.ROUTE, entity=f"round:{task.round_id}",
                )  # fmt: skip
        elif task.id not in asked:
            yield from call_coordinator(
                facts, RunKind.STALL, bases.no_fit_base(task), f"{task.name_tag} fits nobody", goal,
                task_id=task.id, step=Step.ROUTE,
            )  # fmt: skip


def _start_work(facts: Facts, task: Task, agent: AgentRecord | None) -> Iterator[Item]:
    if not facts.company.dispatching:
        yield Held(f"task:{task.id}", f"the company is stopped: {facts.company.stop_reason}")
    elif agent is not None and agent.status == AgentStatus.ACTIVE:
        key = f"execute:{task.id}:{task.fence}"
        yield queue(Step.ROUTE, RunKind.EXECUTE, agent, key, "it is claimed", task_id=task.id, round_id=task.round_id)


def _fitting(facts: Facts, task: Task) -> list[AgentRecord]:
    """Active executors that can do all that the task asks for."""
    needed = set(task.capabilities)
    return [
        agent
        for agent in facts.agents
        if agent.role == Role.EXECUTOR and agent.status == AgentStatus.ACTIVE and needed <= set(agent.capabilities)
    ]
