"""What ended without a word, what is over, who was mentioned."""

from collections.abc import Iterator

from core.domain.facts import Facts
from core.domain.states import (
    AgentStatus,
    RunKind,
    TaskStatus,
)
from core.domain.tick.actions import Action, Held, Item, Step, queue


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
