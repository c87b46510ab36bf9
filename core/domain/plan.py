"""`plan_tick(facts, now)`: what the next tick does, and what it holds back and why. Pure (DESIGN §5)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from core.domain import facts as bases
from core.domain.entities import AgentRecord, Goal, Round, Task
from core.domain.facts import Attempts, Facts
from core.domain.goals import mission_is_defined
from core.domain.limits import (
    ACTIONS_PER_STEP,
    BROADCASTS_BEFORE_ROUTER,
    HEARTBEAT_MS,
    OFFERS_PER_BROADCAST,
    RUN_ATTEMPTS,
    STALL_MS,
    TICK_MS,
)
from core.domain.states import (
    AgentStatus,
    ApprovalKind,
    GoalStatus,
    OfferAnswer,
    Origin,
    Risk,
    Role,
    RoundDecision,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)


class Step(IntEnum):
    """The order of a tick. Dependencies and objections need no step of their own: counters are kept with each move."""

    RECOVER = 1
    EXPIRE = 2
    MENTIONS = 4
    ROUNDS = 5
    REVIEWS = 6
    BROADCAST = 8
    ROUTE = 9
    HEARTBEAT = 10


@dataclass(frozen=True, slots=True)
class Action:
    """One command that the tick sends as the system: its name, its arguments, and why."""

    step: Step
    act: str
    arguments: Mapping[str, Any]
    why: str


@dataclass(frozen=True, slots=True)
class Held:
    """Something that waits, and for what."""

    entity: str
    why: str


Item = Action | Held


@dataclass(frozen=True, slots=True)
class Plan:
    """All of one tick. `broken` are rules that failed, with their error: the others still count."""

    actions: tuple[Action, ...]
    held: tuple[Held, ...]
    broken: tuple[tuple[Step, str], ...] = ()

    def of(self, step: Step) -> tuple[Action, ...]:
        """The actions of one step, in order."""
        return tuple(action for action in self.actions if action.step == step)


def plan_tick(facts: Facts, now: int) -> Plan:
    """What this tick does. The same facts and time give the same plan; each step is bounded."""
    actions: list[Action] = []
    held: list[Held] = []
    broken: list[tuple[Step, str]] = []
    for step, rule in RULES:
        taken = 0
        try:
            for item in rule(facts, now):
                if isinstance(item, Held):
                    held.append(item)
                elif taken < ACTIONS_PER_STEP:
                    actions.append(item)
                    taken += 1
        except Exception as error:
            broken.append((step, f"{type(error).__name__}: {error}"))
    return Plan(tuple(actions), tuple(held), tuple(broken))


# Steps 1 and 2: what ended without a word, what is over --------------------------------------------------------


def recover(facts: Facts, now: int) -> Iterator[Item]:
    """Runs whose process or owner is gone are lost; claims of agents that cannot work go back (F1)."""
    for run in facts.runs:
        why = facts.lost.get(run.id)
        if why is not None:
            yield Action(Step.RECOVER, "LoseRun", {"run": run.id, "why": why}, why)
    able = {agent.id for agent in facts.agents if agent.status == AgentStatus.ACTIVE}
    for task in facts.busy:
        idle = task.status in (TaskStatus.CLAIMED, TaskStatus.WORKING) and task.current_run is None
        if idle and task.assignee_id not in able:
            why = "its agent is paused or gone"
            yield Action(Step.RECOVER, "ReleaseTask", {"task": task.id, "why": why}, why)


def expire(facts: Facts, now: int) -> Iterator[Item]:
    """Questions whose time is over are withdrawn."""
    for approval in facts.approvals:
        if approval.expires_at is not None and approval.expires_at <= now:
            yield Action(Step.EXPIRE, "ExpireApproval", {"approval": approval.id}, "its time is over")


# Step 4: mentions --------------------------------------------------------------------------------------------


def mentions(facts: Facts, now: int) -> Iterator[Item]:
    """One run an agent and subject, however often it was named (S2-29)."""
    if not facts.company.dispatching:
        return
    agents = {agent.id: agent for agent in facts.agents}
    paused = {goal.id for goal in facts.goals if goal.paused_at is not None}
    for mention in facts.mentions:
        agent = agents.get(mention.agent_id)
        if agent is None or agent.status != AgentStatus.ACTIVE:
            yield Held(f"mention:{mention.id}", "the agent is not active")
            continue
        if mention.goal_id in paused:
            yield Held(f"mention:{mention.id}", "its goal is paused")
            continue
        key = f"mention:{mention.id}#{mention.version}"
        yield queue(
            Step.MENTIONS, RunKind.MENTION, agent, key, "mentioned on the board",
            task_id=mention.task_id, goal_id=mention.goal_id, mention_id=mention.id,
        )  # fmt: skip


# Step 5: rounds and the goals above them ---------------------------------------------------------------------------


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
        waits = goal.status == GoalStatus.PLANNING or (goal.status == GoalStatus.ACTIVE and goal.id not in with_round)
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
            yield from _call_coordinator(
                facts, RunKind.ROUND_REVIEW, base, f"round {round_.number} is over", goal, round_id=round_.id
            )
        case RoundStatus.STALLED if not has_run:
            yield from _call_coordinator(
                facts, RunKind.STALL, bases.stall_base(round_), "the round is stalled", goal, round_id=round_.id
            )
        case _:
            return


def _moving(facts: Facts, round_: Round) -> bool:
    moving = (TaskStatus.CLAIMED, TaskStatus.WORKING, TaskStatus.REVIEW)
    return round_.id in facts.runnable or any(
        task.round_id == round_.id and task.status in moving for task in facts.busy
    )


def _goal(facts: Facts, goal: Goal) -> Iterator[Item]:
    last = facts.last_rounds.get(goal.id)
    if any(approval.entity == f"goal:{goal.id}" for approval in facts.approvals):
        yield Held(f"goal:{goal.id}", "it waits for the operator's answer")
        return
    reporting = last is not None and last.decision == RoundDecision.REPORT and not goal.reason
    kind = RunKind.REPORT if goal.status == GoalStatus.ACTIVE and reporting else RunKind.PLAN
    why = {RunKind.REPORT: "every round is closed: the report is due", RunKind.PLAN: "it needs a plan"}[kind]
    yield from _call_coordinator(facts, kind, bases.goal_base(goal, last), why, goal)


def _call_coordinator(
    facts: Facts, kind: RunKind, base: str, why: str, goal: Goal, *, round_id: int | None = None,
    task_id: int | None = None, step: Step = Step.ROUNDS,
) -> Iterator[Item]:  # fmt: skip
    """One more attempt of the coordinator, or the operator's turn when the attempts are used up (F23)."""
    entity = f"round:{round_id}" if round_id else f"task:{task_id}" if task_id else f"goal:{goal.id}"
    if not facts.company.dispatching:
        yield Held(entity, f"the company is stopped: {facts.company.stop_reason}")
        return
    if goal.paused_at is not None:
        yield Held(entity, f"{goal.name_tag} is paused")
        return
    coordinator = _pick(facts, (Role.COORDINATOR,))
    if coordinator is None:
        yield Held(entity, "there is no active coordinator")
        return
    if _is_asked(facts, entity):
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


def _is_asked(facts: Facts, entity: str) -> bool:
    """Whether a question about this waits for the operator already; another run would only ask it again."""
    return any(asked.entity == entity and asked.kind == ApprovalKind.QUESTION for asked in facts.approvals)


def _pick(facts: Facts, roles: tuple[Role, ...], barred: frozenset[int] = frozenset()) -> AgentRecord | None:
    """The active agent of the first role that has one, with the fewest live runs; ties by id."""
    load = _load(facts)
    for role in roles:
        able = [
            agent
            for agent in facts.agents
            if agent.role == role and agent.status == AgentStatus.ACTIVE and agent.id not in barred
        ]
        if able:
            return min(able, key=lambda agent: (load.get(agent.id, 0), agent.id))
    return None


def _load(facts: Facts) -> dict[int, int]:
    """Live runs an agent; what waits for a paused goal keeps nobody from other work."""
    paused = {goal.id for goal in facts.goals if goal.paused_at is not None}
    load: dict[int, int] = {}
    for run in facts.runs:
        if run.status == RunStatus.QUEUED and run.goal_id in paused:
            continue
        load[run.agent_id] = load.get(run.agent_id, 0) + 1
    return load


# Step 6: reviews ---------------------------------------------------------------------------------------------------


def reviews(facts: Facts, now: int) -> Iterator[Item]:
    """Every finished task gets a reviewer who never ran it (S2-18, S3-18)."""
    reviewed = {run.task_id for run in facts.runs if run.kind == RunKind.REVIEW}
    for task in facts.busy:
        if task.status != TaskStatus.REVIEW or task.id in reviewed:
            continue
        if not facts.company.dispatching:
            yield Held(f"task:{task.id}", f"the company is stopped: {facts.company.stop_reason}")
            continue
        roles = (Role.CHALLENGER, Role.REVIEWER) if task.risk == Risk.HIGH else (Role.REVIEWER, Role.CHALLENGER)
        reviewer = _pick(facts, roles, facts.authors.get(task.id, frozenset()))
        if reviewer is None:
            yield Held(f"task:{task.id}", "nobody who never ran it is there to review it")
            continue
        if _is_asked(facts, f"task:{task.id}"):
            yield Held(f"task:{task.id}", "its review waits for the operator's answer")
            continue
        base = bases.review_base(task)
        tried = facts.attempts.get(base, Attempts())
        if tried.failed >= RUN_ATTEMPTS * (1 + tried.granted):
            if not tried.asked:
                title = f"The review of {task.name_tag} failed {tried.failed} times"
                arguments = {"kind": "question", "entity": f"task:{task.id}", "title": title,
                             "payload": {"what": "try_again", "on_reject": "cancel", "base": base}}  # fmt: skip
                yield Action(Step.REVIEWS, "RequestApproval", arguments, title)
            yield Held(f"task:{task.id}", "its review waits for the operator's answer")
            continue
        yield queue(
            Step.REVIEWS, RunKind.REVIEW, reviewer, f"{base}#{tried.ended}", "it waits for its review", task_id=task.id
        )


# Steps 8 and 9: who does the work -------------------------------------------------------------------------------


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
    due = [task.id for task in open_tasks if task.broadcast_at is None or now - task.broadcast_at >= TICK_MS]
    if due:
        yield Action(Step.BROADCAST, "CountBroadcast", {"tasks": due}, "on offer for another tick")
    live = {run.id for run in facts.runs}
    seen = {
        (offer.task_id, offer.agent_id, offer.offer)
        for offer in facts.offers
        if offer.answer != OfferAnswer.OPEN or offer.run_id in live
    }
    load = _load(facts)
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
        if task.status in (TaskStatus.CLAIMED, TaskStatus.WORKING) and task.current_run is None:
            yield from _start_work(facts, task, agents.get(task.assignee_id or 0))
    if not facts.company.dispatching:
        return
    load = _load(facts)
    asked = {run.task_id for run in facts.runs if run.kind == RunKind.STALL}
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
        elif task.id not in asked:
            yield from _call_coordinator(
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


# Step 10: the CEO's heartbeat ----------------------------------------------------------------------------------------


def heartbeat(facts: Facts, now: int) -> Iterator[Item]:
    """No goal alive and a mission: one run that proposes. Idleness is decided here, without a model (S1-01, F6)."""
    if not facts.company.dispatching:
        return
    # After a crash or a closed room nobody waits a quarter of an hour for what had begun already.
    is_cut_off = facts.proposal_cut_off and not facts.goals and mission_is_defined(facts.company.mission)
    if facts.heartbeat_at is not None and now - facts.heartbeat_at < HEARTBEAT_MS and not is_cut_off:
        return
    ceo = _pick(facts, (Role.CEO,))
    if ceo is None or any(run.agent_id == ceo.id for run in facts.runs):
        return
    note = {"tick": facts.tick}
    if facts.goals:
        waiting = [
            goal.name_tag for goal in facts.goals if goal.status == GoalStatus.DRAFT and goal.origin == Origin.CEO
        ]
        result = f"normal; draft {', '.join(waiting)} waits for the operator" if waiting else "normal"
        yield Action(
            Step.HEARTBEAT, "NoteTick", {"kind": "HeartbeatNormal", "facts": {**note, "result": result}}, result
        )
    elif not mission_is_defined(facts.company.mission):
        result = "公司使命未设置，无法自主立项，需要人类补充"
        yield Action(
            Step.HEARTBEAT, "NoteTick", {"kind": "MissionMissing", "facts": {**note, "result": result}}, result
        )
    else:
        yield Action(
            Step.HEARTBEAT, "NoteTick", {"kind": "HeartbeatIdle", "facts": {**note, "result": "no goal is alive"}},
            "no goal is alive",
        )  # fmt: skip
        yield queue(Step.HEARTBEAT, RunKind.PROPOSE, ceo, f"propose:{now}", "no goal is alive")


def queue(step: Step, kind: RunKind, agent: AgentRecord, key: str, why: str, **about: Any) -> Action:
    """The action that asks for a run."""
    arguments = {"kind": kind, "agent_id": agent.id, "key": key}
    arguments |= {name: value for name, value in about.items() if value is not None}
    return Action(step, "QueueRun", arguments, why)


RULES: tuple[tuple[Step, Callable[[Facts, int], Iterator[Item]]], ...] = (
    (Step.RECOVER, recover),
    (Step.EXPIRE, expire),
    (Step.MENTIONS, mentions),
    (Step.ROUNDS, rounds),
    (Step.REVIEWS, reviews),
    (Step.BROADCAST, broadcast),
    (Step.ROUTE, route),
    (Step.HEARTBEAT, heartbeat),
)
