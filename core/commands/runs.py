"""The lives of runs, and the offers that a broadcast makes. The system's own commands."""

from typing import Any

from pydantic import Field

from core.blackboard.queries import ALIVE_GOALS
from core.commands import budgets
from core.commands.briefing import briefed
from core.commands.moves import ending, kill_run, release_task
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.domain.autonomy import is_idle
from core.domain.entities import AgentRecord, Company, Goal, Mention, Offer, Round, Run, Task
from core.domain.errors import Conflict
from core.domain.lifecycles import RUN
from core.domain.limits import COOL_DOWN_MAX_MS, LEASE_MS, RUN_ATTEMPTS, RUNS_AT_ONCE, STARTS_PER_MINUTE, TICK_MS
from core.domain.states import (
    PERMANENT,
    AgentStatus,
    GoalStatus,
    MentionStatus,
    OfferAnswer,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)

_HELD = (TaskStatus.CLAIMED, TaskStatus.WORKING)


class QueueRun(Command):
    """Ask for one attempt of one agent. The key makes a second request for the same attempt harmless."""

    who = letters("S")
    kind: RunKind
    agent_id: int
    task_id: int | None = None
    goal_id: int | None = None
    round_id: int | None = None
    offers: tuple[int, ...] = Field((), description="Tasks that a broadcast shows")
    mention_id: int | None = None
    cause: int | None = Field(None, description="Id of the event that led to it")
    brief: dict[str, Any] = Field(default_factory=dict, description="What it is begun for, beyond its subject")
    key: str


@handles(QueueRun)
def queue_run(act: Act, command: QueueRun) -> Answer:
    tx = act.tx
    known = tx.value("SELECT id FROM runs WHERE idempotency_key = :key", key=command.key)
    if known is not None:
        return {"id": known, "queued": False}
    agent = tx.get(AgentRecord, command.agent_id)
    if agent.status != AgentStatus.ACTIVE:
        raise Conflict(f"{agent.name} is {agent.status}.", "Choose an active agent.")
    goal_id = command.goal_id
    if command.task_id is not None:
        goal_id = tx.get(Task, command.task_id).goal_id
    run = tx.insert(
        Run, "RunQueued",
        agent_id=command.agent_id, kind=command.kind, task_id=command.task_id, goal_id=goal_id,
        round_id=command.round_id, status=RunStatus.QUEUED, fence=1, owner=None, pid=None, pid_started=None,
        lease_until=None, model="", prompt_hash="", tokens_in=0, tokens_out=0, cost_micros=0, exit_kind="", detail="",
        session="", cause=command.cause or _cause(act, command, goal_id), idempotency_key=command.key,
        started_at=None, ended_at=None, brief=command.brief,
    )  # fmt: skip
    if command.kind == RunKind.EXECUTE and command.task_id is not None:
        _bind(act, run, command.task_id)
    for task_id in command.offers:
        _offer(act, run, tx.get(Task, task_id))
    if command.mention_id is not None:
        mention = tx.get(Mention, command.mention_id)
        if mention.status != MentionStatus.PENDING:
            raise Conflict(f"Mention {mention.id} is {mention.status}.", "Mention the agent again in a new comment.")
        tx.update(mention, "MentionTaken", status=MentionStatus.WOKEN, run_id=run.id)
    return {"id": run.id, "queued": True}


def _cause(act: Act, command: QueueRun, goal_id: int | None) -> int | None:
    """The last event of what the run is about."""
    about = (("tasks", command.task_id), ("rounds", command.round_id), ("goals", goal_id))
    entity, entity_id = next((pair for pair in about if pair[1] is not None), ("agents", command.agent_id))
    found: int | None = act.tx.value(
        "SELECT max(id) FROM events WHERE entity = :entity AND entity_id = :id", entity=entity, id=entity_id
    )
    return found


def _bind(act: Act, run: Run, task_id: int) -> None:
    task = act.tx.get(Task, task_id)
    if task.plan_until is not None:
        raise Conflict(f"The plan of {task.name_tag} stands open for objection.", "Wait for its window.")
    if task.status not in _HELD or task.assignee_id != run.agent_id or task.current_run is not None:
        raise Conflict(f"{task.name_tag} is not waiting for a run of A{run.agent_id}.", "Assign it first: AssignTask.")
    act.tx.update(task, "TaskRunQueued", touch=False, current_run=run.id)


def _offer(act: Act, run: Run, task: Task) -> None:
    known = act.tx.select(
        Offer, "task_id = :task AND agent_id = :agent AND offer = :offer",
        task=task.id, agent=run.agent_id, offer=task.offer,
    )  # fmt: skip
    if known:
        act.tx.update(known[0], "TaskOffered", run_id=run.id, answer=OfferAnswer.OPEN)
    else:
        act.tx.insert(
            Offer, "TaskOffered",
            task_id=task.id, agent_id=run.agent_id, offer=task.offer, run_id=run.id, answer=OfferAnswer.OPEN,
        )  # fmt: skip


class StartRun(Command):
    """Begin a queued run in this owner's process, if the company is started and the caps allow it (F14, F20)."""

    who = letters("S")
    run: int
    owner: str
    runs_at_once: int = RUNS_AT_ONCE
    starts_per_minute: int = STARTS_PER_MINUTE


@handles(StartRun)
def start_run(act: Act, command: StartRun) -> Answer:
    tx = act.tx
    run = tx.get(Run, command.run)
    RUN.require(run.name_tag, run.status, RunStatus.STARTING, "StartRun", act.capacities)
    why = _moot(act, run)
    if why:
        # The board moved on while it was queued: starting it would only make an agent invent work (F3, F6).
        give_back(act, kill_run(act, run, why), why, costs_attempt=False)
        return {"id": run.id, "started": False, "why": why}
    agent = tx.get(AgentRecord, run.agent_id)
    scope, why = _held_back(act, run, agent, command)
    if why:
        return {"id": run.id, "started": False, "scope": scope, "why": why}
    kept = budgets.reserve(act, run)
    if kept.why:
        return {"id": run.id, "started": False, "scope": kept.scope, "why": kept.why, "used_up": kept.used_up}
    run = tx.update(
        run, "RunStarted", status=RunStatus.STARTING, owner=command.owner, started_at=tx.now,
        lease_until=tx.now + LEASE_MS, reserved_micros=kept.micros, model=_model_of(agent), **briefed(act, run, agent),
    )  # fmt: skip
    budgets.note_start(act, run, kept)
    return {"id": run.id, "started": True, "fence": run.fence, "brief": run.brief}


def _model_of(agent: AgentRecord) -> str:
    """The model that its runner names, so that costs can be told by model; empty for a runner without one."""
    model = agent.runner.get("model")
    return model if isinstance(model, str) else ""


def _moot(act: Act, run: Run) -> str:
    """Why a queued run has nothing to do any more; empty if it has."""
    tx = act.tx
    if run.kind == RunKind.BROADCAST:
        open_offer = (
            "SELECT 1 FROM offers JOIN tasks ON tasks.id = offers.task_id WHERE offers.run_id = :run"
            " AND tasks.status = 'pending' AND tasks.open_deps = 0 AND tasks.offer = offers.offer LIMIT 1"
        )
        offered = tx.value("SELECT 1 FROM offers WHERE run_id = :run LIMIT 1", run=run.id)
        return "none of its tasks is on offer any more" if offered and tx.value(open_offer, run=run.id) is None else ""
    if run.kind == RunKind.PROPOSE:
        idle = is_idle(tx.get(Company, 1), tx.select(Goal, ALIVE_GOALS))
        return "" if idle else "a goal is alive by now"
    subject: Task | Round | Goal | None = None
    if run.kind == RunKind.DISCUSS:
        over = tx.value(
            "SELECT ended_at FROM turns WHERE goal_id = :goal ORDER BY number DESC LIMIT 1", goal=run.goal_id
        )
        return "that turn of the discussion is over" if over is not None else ""
    if run.kind in (RunKind.EXECUTE, RunKind.REVIEW, RunKind.RULE):
        subject = tx.find(Task, run.task_id)
    elif run.kind in (RunKind.ROUND_REVIEW, RunKind.STALL):
        subject = tx.find(Task, run.task_id) if run.round_id is None else tx.find(Round, run.round_id)
    elif run.kind in (RunKind.PLAN, RunKind.REPORT, RunKind.EXPLORE, RunKind.SPLIT):
        subject = tx.find(Goal, run.goal_id)
    if subject is None or subject.status in _WANTED[run.kind]:
        return ""
    return f"{subject.name_tag} is {subject.status} by now"


_WANTED: dict[RunKind, frozenset[str]] = {
    RunKind.EXECUTE: frozenset({TaskStatus.CLAIMED, TaskStatus.WORKING}),
    RunKind.REVIEW: frozenset({TaskStatus.REVIEW}),
    RunKind.RULE: frozenset({TaskStatus.REVIEW}),
    RunKind.EXPLORE: frozenset({GoalStatus.DRAFT}),
    RunKind.SPLIT: frozenset({GoalStatus.DRAFT}),
    RunKind.ROUND_REVIEW: frozenset({RoundStatus.REVIEWING}),
    RunKind.STALL: frozenset({RoundStatus.STALLED, TaskStatus.PENDING}),
    RunKind.PLAN: frozenset({GoalStatus.PLANNING, GoalStatus.ACTIVE}),
    RunKind.REPORT: frozenset({GoalStatus.ACTIVE}),
}


def _held_back(act: Act, run: Run, agent: AgentRecord, command: StartRun) -> tuple[str, str]:
    """What keeps a queued run from starting (company, agent, goal or task) and why; both empty if nothing does."""
    tx = act.tx
    company = tx.get(Company, 1)
    if act.guardrails.problem:
        return "company", f"nothing is dispatched without red lines: {act.guardrails.problem}"
    if not company.dispatching:
        return "company", f"the company is stopped: {company.stop_reason}"
    if agent.status != AgentStatus.ACTIVE:
        return "agent", f"{agent.name} is {agent.status}"
    if agent.cooldown_until is not None and agent.cooldown_until > tx.now:
        return "agent", f"{agent.name} cools down"
    paused = tx.value("SELECT paused_at FROM goals WHERE id = :goal", goal=run.goal_id)
    if paused is not None:
        return "goal", f"G{run.goal_id} is paused"
    live = "SELECT count(*) FROM runs WHERE status IN ('starting', 'running')"
    if run.kind == RunKind.EXECUTE and tx.value(f"{live} AND task_id = :t AND kind = 'execute'", t=run.task_id):
        return "task", f"an earlier run of T{run.task_id} has not ended yet"
    if tx.value(live) >= command.runs_at_once:
        return "company", f"{command.runs_at_once} runs at once are the company's cap"
    if tx.value(f"{live} AND agent_id = :agent", agent=agent.id) >= agent.max_runs:
        return "agent", f"{agent.name} works at its cap of {agent.max_runs}"
    recent = tx.value("SELECT count(*) FROM runs WHERE started_at > :since", since=tx.now - 60_000)
    if recent >= command.starts_per_minute:
        return "company", f"{command.starts_per_minute} starts a minute are the company's cap"
    return "", ""


class ConfirmRun(Command):
    """The run's agent is at work."""

    who = letters("S")
    run: int


@handles(ConfirmRun)
def confirm_run(act: Act, command: ConfirmRun) -> Answer:
    run = act.tx.get(Run, command.run)
    RUN.require(run.name_tag, run.status, RunStatus.RUNNING, "ConfirmRun", act.capacities)
    act.tx.update(run, "RunConfirmed", status=RunStatus.RUNNING)
    return {"id": run.id, "status": "running"}


class RecordProcess(Command):
    """Keep the fingerprint of a run's process, so that a later owner can tell it from a stranger's (F17)."""

    who = letters("S")
    run: int
    pid: int
    pid_started: int = Field(description="Start time of the process, ms UTC")


@handles(RecordProcess)
def record_process(act: Act, command: RecordProcess) -> Answer:
    run = act.tx.get(Run, command.run)
    act.tx.update(run, "RunProcessStarted", pid=command.pid, pid_started=command.pid_started)
    return {"id": run.id}


class RenewRuns(Command):
    """Renew the leases of runs that are alive in this owner's process."""

    who = letters("S")
    runs: tuple[int, ...]
    owner: str


@handles(RenewRuns)
def renew_runs(act: Act, command: RenewRuns) -> Answer:
    renewed = []
    for run_id in command.runs:
        run = act.tx.find(Run, run_id)
        if run is not None and run.status in (RunStatus.STARTING, RunStatus.RUNNING) and run.owner == command.owner:
            act.tx.update(run, "RunRenewed", lease_until=act.tx.now + LEASE_MS)
            renewed.append(run_id)
    return {"renewed": renewed}


class FinishRun(Command):
    """End a run with its outcome; a task that it still held goes back (F1, F2)."""

    who = letters("S")
    run: int
    status: RunStatus
    exit_kind: str = ""
    detail: Text = ""
    tokens_in: int = Field(0, ge=0)
    tokens_out: int = Field(0, ge=0)
    cost_micros: int = Field(0, ge=0)
    session: str = ""
    retry_at: int | None = Field(None, description="With rate_limited: when its provider takes requests again")


@handles(FinishRun)
def finish_run(act: Act, command: FinishRun) -> Answer:
    tx = act.tx
    run = tx.get(Run, command.run)
    if run.status in RUN.final:
        budgets.note_late_cost(act, run, command.cost_micros, command.tokens_in, command.tokens_out)
        return {"id": run.id, "status": str(run.status), "finished": False}
    RUN.require(run.name_tag, run.status, command.status, "FinishRun", act.capacities)
    run = tx.update(
        run, "RunFinished", status=command.status, exit_kind=command.exit_kind, detail=command.detail,
        **budgets.spent_by(run, command.cost_micros, command.tokens_in, command.tokens_out),
        session=command.session or run.session,
        **ending(act, run, f"{run.name_tag} ended before ({command.status})"),
    )  # fmt: skip
    budgets.warn(act, run)
    limited = command.status == RunStatus.RATE_LIMITED
    retry_at = min(command.retry_at, tx.now + COOL_DOWN_MAX_MS) if limited and command.retry_at is not None else None
    if retry_at is None and (limited or _needs_rest(run)):
        retry_at = tx.now + TICK_MS
    if retry_at is not None:
        _cool_down(act, tx.get(AgentRecord, run.agent_id), retry_at, shared=limited)
    give_back(act, run, command.detail or f"{run.name_tag} ended {run.status}", costs_attempt=not limited)
    return {"id": run.id, "status": str(run.status), "finished": True}


def _cool_down(act: Act, agent: AgentRecord, until: int, *, shared: bool) -> None:
    """No run before `until`; after a 429 for nobody who names the same provider in its runner's settings (F14)."""
    provider = agent.runner.get("provider") if shared else None
    for one in act.tx.select(AgentRecord, "status <> 'terminated' ORDER BY id") if provider else [agent]:
        if one.id == agent.id or (one.runner.get("provider") == provider and (one.cooldown_until or 0) < until):
            act.tx.update(one, "AgentCooledDown", cooldown_until=until)


def _needs_rest(run: Run) -> bool:
    """A failed run that counts no attempt of a task, or fails again for sure, must not be asked for at once (F14)."""
    return run.status != RunStatus.SUCCEEDED and (run.kind in _TIRING or run.exit_kind in PERMANENT)


_TIRING = frozenset(
    {RunKind.BROADCAST, RunKind.PROPOSE, RunKind.MENTION, RunKind.HEARTBEAT, RunKind.SPLIT}
)  # fmt: skip


def give_back(act: Act, run: Run, why: str, *, costs_attempt: bool = True, wakes_again: bool = True) -> None:
    """What a run that has ended still held: its task, its note to read, and its unanswered offers."""
    tx = act.tx
    if run.task_id is not None:
        task = tx.get(Task, run.task_id)
        if task.current_run == run.id and task.status in _HELD:
            release_task(act, task, why, costs_attempt=costs_attempt)
    if wakes_again and run.kind == RunKind.MENTION and run.status in _UNHEARD:
        _wake_again(act, run)
    claimed = False
    offers = tx.select(Offer, "run_id = :run ORDER BY id", run=run.id) if run.kind == RunKind.BROADCAST else []
    for offer in offers:
        claimed = claimed or offer.answer == OfferAnswer.CLAIM
    for offer in offers:
        if offer.answer != OfferAnswer.OPEN:
            continue
        if run.status == RunStatus.SUCCEEDED and not claimed:
            tx.update(offer, "OfferAnswered", answer=OfferAnswer.NO_REPLY)
        else:
            tx.update(offer, "OfferReturned", run_id=None)


_UNHEARD = frozenset({RunStatus.RATE_LIMITED, RunStatus.KILLED, RunStatus.LOST})


def _wake_again(act: Act, run: Run) -> None:
    """A note whose reader was cut off is not lost (F22); but not for ever (F23), and a newer one counts for both."""
    for mention in act.tx.select(Mention, "run_id = :run AND status = 'woken'", run=run.id):
        newer = act.tx.value(
            "SELECT 1 FROM mentions WHERE agent_id = :agent AND coalesce(task_id, 0) = :task"
            " AND coalesce(goal_id, 0) = :goal AND status = 'pending'",
            agent=mention.agent_id, task=mention.task_id or 0, goal=mention.goal_id or 0,
        )  # fmt: skip
        if newer is None and mention.version < 2 * RUN_ATTEMPTS:
            act.tx.update(mention, "MentionReturned", status=MentionStatus.PENDING)


class LoseRun(Command):
    """The process or the owner of a run is gone: the run is lost and its task pending again (F1)."""

    who = letters("S")
    run: int
    why: Text


@handles(LoseRun)
def lose_run(act: Act, command: LoseRun) -> Answer:
    run = act.tx.get(Run, command.run)
    if run.status in RUN.final:
        return {"id": run.id, "lost": False}
    RUN.require(run.name_tag, run.status, RunStatus.LOST, "LoseRun", act.capacities)
    run = act.tx.update(
        run, "RunLost", status=RunStatus.LOST, exit_kind="lost", detail=command.why,
        **ending(act, run, f"{run.name_tag} was lost"),
    )  # fmt: skip
    give_back(act, run, command.why)
    return {"id": run.id, "lost": True}


def end_live_runs(act: Act, where: str, why: str, **parameters: Any) -> int:
    """Kill the live runs for a condition written by us; their tasks go back without costing an attempt."""
    runs = act.tx.select(Run, f"status IN ('queued', 'starting', 'running') AND ({where})", **parameters)
    for run in runs:
        give_back(act, kill_run(act, run, why), why, costs_attempt=False)
    return len(runs)
