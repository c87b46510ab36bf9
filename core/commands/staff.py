"""Agents that the operator changes or retires. Nothing of what they did is ever deleted."""

from typing import Any, Literal

from pydantic import Field

from core.commands.company import agent_by_slug, manager_by_slug, require_free_name, require_runner
from core.commands.moves import cancel_questions, release_task
from core.commands.organisation import current_chart, reports_of, require_no_cycle
from core.commands.registry import Act, Answer, Command, Reason, Slug, Text, Title, handles, letters
from core.commands.runs import end_live_runs
from core.domain.entities import AgentRecord, Mention, Task
from core.domain.errors import Conflict
from core.domain.limits import CAPABILITIES
from core.domain.organisation import changed_chart
from core.domain.states import AgentStatus, MentionStatus, TaskStatus

_HELD = (TaskStatus.CLAIMED, TaskStatus.WORKING)


class RetireAgent(Command):
    """Let an agent go for good: its runs end, its open tasks go back, who reports to it reports to its manager."""

    who = letters("H")
    agent: Slug
    reason: Reason


@handles(RetireAgent)
def retire_agent(act: Act, command: RetireAgent) -> Answer:
    agent = agent_by_slug(act, command.agent)
    if agent.status == AgentStatus.TERMINATED:
        raise Conflict(f"{agent.name} has retired already.", "What it did stays on the board.")
    heir = _heir(act, agent)
    reports = reports_of(act, agent)
    for report in reports:
        act.tx.update(report, "AgentReassigned", manager_id=heir.id if heir else None)
    why = f"{agent.name} has retired: {command.reason}"
    # A new CEO takes over whom the old one led.
    told = {"reason": command.reason, "reports": [report.id for report in reports]}
    agent = act.tx.update(agent, "AgentRetired", status=AgentStatus.TERMINATED, told=told)
    ended = end_live_runs(act, "agent_id = :agent", why, agent=agent.id)
    tasks = _give_up_tasks(act, agent, why)
    cancel_questions(act, f"agent:{agent.id}")
    # After its runs ended: an interrupted reader's mention had come back.
    dropped = _drop_mentions(act, agent)
    return {
        "id": agent.id, "status": "terminated", "ended_runs": ended, "tasks": tasks, "dropped_mentions": dropped,
        "reports": [report.slug for report in reports], "reports_to": heir.slug if heir else None,
    }  # fmt: skip


def _heir(act: Act, agent: AgentRecord) -> AgentRecord | None:
    """The nearest manager above that is still there."""
    seen = {agent.id}
    above = act.tx.find(AgentRecord, agent.manager_id)
    while above is not None and above.id not in seen:
        if above.status != AgentStatus.TERMINATED:
            return above
        seen.add(above.id)
        above = act.tx.find(AgentRecord, above.manager_id)
    return None


def _give_up_tasks(act: Act, agent: AgentRecord, why: str) -> list[int]:
    """What it held and what was kept for it is everybody's again; what is in review stays under its name."""
    tasks = act.tx.select(
        Task,
        "assignee_id = :agent AND status IN ('draft', 'pending', 'claimed', 'working', 'blocked', 'waiting_human')"
        " ORDER BY id",
        agent=agent.id,
    )
    for task in tasks:
        if task.status in _HELD:
            release_task(act, task, why, costs_attempt=False)
        else:
            act.tx.update(task, "TaskUnassigned", assignee_id=None, last_assignee_id=agent.id)
    return [task.id for task in tasks]


def _drop_mentions(act: Act, agent: AgentRecord) -> int:
    waiting = act.tx.select(Mention, "agent_id = :agent AND status IN ('pending', 'held') ORDER BY id", agent=agent.id)
    for mention in waiting:
        act.tx.update(mention, "MentionDropped", status=MentionStatus.DROPPED)
    return len(waiting)


class EditAgent(Command):
    """Change what an agent is called, can do, answers for, or runs on. What is left out stays."""

    who = letters("H")
    agent: Slug
    name: Title | None = None
    capabilities: tuple[Slug, ...] | None = Field(None, max_length=CAPABILITIES)
    manager: Slug | Literal[""] | None = Field(None, description="Who it reports to; empty: nobody")
    duties: Text | None = Field(None, max_length=2000, description="What it is responsible for")
    runner: dict[str, Any] | None = Field(None, description="Runner kind and settings, whole")
    max_runs: int | None = Field(None, ge=1, le=100, description="Runs at once")


@handles(EditAgent)
def edit_agent(act: Act, command: EditAgent) -> Answer:
    agent = agent_by_slug(act, command.agent)
    if agent.status == AgentStatus.TERMINATED:
        raise Conflict(f"{agent.name} has retired.", "What it was stays as it is.")
    wanted = command.model_dump(exclude_none=True, exclude={"agent", "manager"})
    if command.name is not None:
        others = act.tx.select(AgentRecord, "id <> :id", id=agent.id)
        require_free_name(others, agent.slug, command.name)
    if command.runner is not None:
        require_runner(command.runner)
    if command.manager is not None:
        wanted["manager_id"] = manager_by_slug(act, command.manager).id if command.manager else None
        change = {"agent": agent.slug, "manager": command.manager}
        require_no_cycle(changed_chart(current_chart(act), [change]))
    changes = {name: value for name, value in wanted.items() if getattr(agent, name) != value}
    if changes:
        act.tx.update(agent, "AgentEdited", **changes)
    return {"id": agent.id, "changed": sorted(changes)}
