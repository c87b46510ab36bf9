"""Going on with the session of an ended run: a new run of its agent on its task, with the operator's remark."""

import json
from typing import Any

from pydantic import Field

from core.blackboard.queries import RUNNER_THEN
from core.commands.company import ResumeAgent, resume_agent
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.commands.runs import QueueRun, queue_run
from core.commands.task_moves import AssignTask, assign_task
from core.domain.attach import cannot_continue, shares_sessions
from core.domain.entities import AgentRecord, Run, Task
from core.domain.errors import Conflict
from core.domain.lifecycles import RUN
from core.domain.runner_uses import runner_line
from core.domain.states import AgentStatus, RunKind, RunStatus, TaskStatus

_HELD = (TaskStatus.CLAIMED, TaskStatus.WORKING)


class ResumeSession(Command):
    """Go on with the session of an ended run: the same agent takes the same task up again, with a remark.

    With `resume_agent` a paused agent works again from then on.
    A pending task is assigned to the agent; one that it holds gets a run, or its queued run takes the session over.
    Raises Conflict, which says why the session cannot be gone on with and what to do instead.
    """

    who = letters("H")
    run: int
    remark: Text = ""
    resume_agent: bool = Field(False, description="Let its agent work again first, where it is paused")


@handles(ResumeSession)
def resume_session(act: Act, command: ResumeSession) -> Answer:
    tx = act.tx
    old = tx.get(Run, command.run)
    if old.status not in RUN.final:
        raise Conflict(
            f"{old.name_tag} is {old.status}: its session has not ended.", "Say it into the run (SpeakToRun)."
        )
    if old.kind != RunKind.EXECUTE or old.task_id is None:
        raise Conflict(f"{old.name_tag} did not work on a task ({old.kind}).", "Comment on what it was about.")
    task, agent = tx.get(Task, old.task_id), tx.get(AgentRecord, old.agent_id)
    instead = f"Comment on {task.name_tag}: whoever works on it reads that."
    _require_session(act, old, agent, instead)
    if agent.status == AgentStatus.PAUSED and command.resume_agent:
        resume_agent(act, ResumeAgent(agent=agent.slug))
        agent = tx.get(AgentRecord, agent.id)
    if agent.status != AgentStatus.ACTIVE:
        together = "Let it work again in the same step: resume_agent (in a shell --resume-agent)."
        hint = together if agent.status == AgentStatus.PAUSED else instead
        raise Conflict(f"{agent.name} is {agent.status}.", hint)
    used = tx.one(
        "SELECT sum(tokens_in) AS a, sum(tokens_out) AS b, sum(cost_micros) AS c FROM runs"
        " WHERE agent_id = :agent AND session = :session",
        agent=agent.id, session=old.session,
    )  # fmt: skip
    brief = {
        "continues": old.name_tag, "session": old.session, "remark": command.remark,
        "session_used": list((used or {}).values()),
    }  # fmt: skip
    return _continued(act, old, task, agent, brief)


def _require_session(act: Act, old: Run, agent: AgentRecord, instead: str) -> None:
    """Raises Conflict where the run left no session that its agent's runner could go on with now."""
    if why := cannot_continue(agent.runner):
        raise Conflict(f"{agent.name} {why}; nothing was queued.", instead)
    if not old.session:
        raise Conflict(f"{old.name_tag} left no session to go on with.", instead)
    then = json.loads(act.tx.value(RUNNER_THEN, agent=agent.id, run=old.id) or "{}")
    if not shares_sessions(then, agent.runner):
        raise Conflict(
            f"{old.name_tag} was a run of {runner_line(then)}; {agent.name} works by {runner_line(agent.runner)} now,"
            " which does not know its session; nothing was queued.",
            instead,
        )


def _continued(act: Act, old: Run, task: Task, agent: AgentRecord, brief: dict[str, Any]) -> Answer:
    tx = act.tx
    if task.status == TaskStatus.PENDING:
        assign_task(act, AssignTask(task=task.id, agent=agent.slug))
        task = tx.get(Task, task.id)
    if task.status not in _HELD:
        raise Conflict(f"{task.name_tag} is {task.status}: nobody can work on it now.", _first(task))
    if task.assignee_id != agent.id:
        raise Conflict(
            f"{task.name_tag} is with another agent by now.", f"Comment on {task.name_tag}, or take it away."
        )
    current = tx.find(Run, task.current_run)
    if current is not None and current.status == RunStatus.QUEUED:
        tx.update(current, "RunContinues", brief={**current.brief, **brief})
        return {"id": current.id, "continues": old.id, "queued": False}
    if current is not None and current.status not in RUN.final:
        raise Conflict(f"{current.name_tag} works on {task.name_tag} already.", f"Speak to {current.name_tag}.")
    times = tx.value("SELECT count(*) FROM runs WHERE idempotency_key LIKE :like", like=f"continue:{old.id}:%")
    queued = queue_run(
        act,
        QueueRun(
            kind=RunKind.EXECUTE, agent_id=agent.id, task_id=task.id, round_id=task.round_id, brief=brief,
            key=f"continue:{old.id}:{times}",
        ),
    )  # fmt: skip
    return {"id": queued["id"], "continues": old.id, "queued": True}


def _first(task: Task) -> str:
    match task.status:
        case TaskStatus.BLOCKED:
            return "Unblock it first."
        case TaskStatus.WAITING_HUMAN:
            return "Answer what it waits for first (see the inbox)."
        case TaskStatus.DRAFT:
            return "Enqueue it first."
        case TaskStatus.REVIEW:
            return "Wait for the verdict."
        case _:
            return "Create a new task for what is left."
