"""What ended without a word, what is over, who was mentioned, and the CEO's heartbeat."""

from collections.abc import Iterator

from core.domain.facts import Facts
from core.domain.goals import mission_is_defined
from core.domain.limits import (
    HEARTBEAT_MS,
)
from core.domain.states import (
    AgentStatus,
    GoalStatus,
    Origin,
    Role,
    RunKind,
    TaskStatus,
)
from core.domain.tick.actions import Action, Held, Item, Step, pick, queue


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


def heartbeat(facts: Facts, now: int) -> Iterator[Item]:
    """No goal alive and a mission: one run that proposes. Idleness is decided here, without a model (S1-01, F6)."""
    if not facts.company.dispatching:
        return
    # After a crash or a closed room nobody waits a quarter of an hour for what had begun already.
    is_cut_off = facts.proposal_cut_off and not facts.goals and mission_is_defined(facts.company.mission)
    if facts.heartbeat_at is not None and now - facts.heartbeat_at < HEARTBEAT_MS and not is_cut_off:
        return
    ceo = pick(facts, (Role.CEO,))
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
