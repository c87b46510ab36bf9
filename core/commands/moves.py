"""Moves of tasks and rounds with all that follows from them in the same transaction: counters, dependents, runs."""

from typing import Any

from core.commands.registry import Act
from core.commands.shaping import cover_tasks
from core.domain.entities import AgentRecord, Approval, Mention, Remark, Round, Run, Task, TaskDep
from core.domain.errors import Conflict, Fenced
from core.domain.lifecycles import APPROVAL, ROUND, TASK, Who
from core.domain.limits import RUN_ATTEMPTS
from core.domain.states import (
    RUN_LIVE,
    TASK_FINAL,
    ApprovalKind,
    ApprovalStatus,
    MentionStatus,
    OnFail,
    RemarkStatus,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)

SYSTEM_CAPACITY = frozenset({Who.SYSTEM})
# The stall clock needs no finer grain, and each note is an event.
PROGRESS_GRAIN_MS = 1_000
_HELD = frozenset({TaskStatus.CLAIMED, TaskStatus.WORKING})


def require_current_run(act: Act, task: Task) -> Run:
    """The acting run, if it is the task's current one. Raises Fenced when it was and is no more (F4), and Conflict
    when it never was: a number that was mistyped ends no run.
    """
    run = act.own_run()
    if task.current_run != run.id:
        if run.task_id is not None and run.task_id != task.id:
            raise Conflict(
                f"{run.name_tag} works on T{run.task_id}, not on {task.name_tag}; nothing was written.",
                f"Name your own task: {run.task_id}.",
            )
        raise Fenced(
            f"R{run.id} is not the current run of {task.name_tag}; nothing was written.", "Stop working on it."
        )
    return run


def move_task(
    act: Act, task: Task, target: TaskStatus, by: str, event: str, *, as_system: bool = False, **changes: Any
) -> Task:
    """Move a task by the command `by`; keeps its round's counters, its dependents and its runs in step."""
    moved = _change(act, task, target, by, event, as_system=as_system, **changes)
    if target in TASK_FINAL:
        _settle(act, moved)
    elif moved.round_id is not None:
        note_progress(act, moved.round_id)
    if task.status == TaskStatus.DRAFT:
        cover_tasks(act, task.goal_id)
    return moved


def _change(act: Act, task: Task, target: TaskStatus, by: str, event: str, *, as_system: bool, **changes: Any) -> Task:
    """The move itself, without what follows for others."""
    capacities = act.capacities | SYSTEM_CAPACITY if as_system else act.capacities
    TASK.require(task.name_tag, task.status, target, by, capacities)
    if task.status in _HELD and target not in _HELD:
        _end_runs_of(act, task)
        changes.setdefault("current_run", None)
        changes.setdefault("lease_until", None)
    if task.plan_until is not None:
        changes.setdefault("plan_until", None)
    if target == TaskStatus.PENDING:
        changes.update(offer=task.offer + 1, broadcasts=0, broadcast_at=None, current_run=None, lease_until=None)
    if target != TaskStatus.BLOCKED and task.block_kind is not None:
        changes.setdefault("block_kind", None)
    return act.tx.update(task, event, status=target, **changes)


def _end_runs_of(act: Act, task: Task) -> None:
    """Leaving `working` ends the run: by its own word it goes on to finish, by anybody else's it is killed (F4)."""
    own = act.run.id if act.run else None
    for run in act.tx.select(
        Run, "task_id = :task AND status IN ('queued', 'starting', 'running') AND kind = 'execute'", task=task.id
    ):
        if run.id != own:
            kill_run(act, run, f"{task.name_tag} was taken away")


def kill_run(act: Act, run: Run, detail: str) -> Run:
    """End a live run; the dispatcher sees the event and ends its process."""
    if run.status not in RUN_LIVE:
        raise Conflict(f"{run.name_tag} has already ended ({run.status}).", "Nothing is to be ended.")
    return act.tx.update(
        run,
        "RunKilled",
        status=RunStatus.KILLED,
        exit_kind="killed",
        detail=detail,
        **ending(act, run, f"{run.name_tag} was ended"),
    )


def ending(act: Act, run: Run, why: str) -> dict[str, Any]:
    """What ends with a run, whatever ends it; the fields that its end changes beside how it ended."""
    _leave_unheard(act, run)
    _end_permissions(act, run, why)
    fields: dict[str, Any] = {"ended_at": act.tx.now, "fence": run.fence + 1, "reserved_micros": 0}
    return fields if run.paused_at is None else {**fields, "paused_at": None}


def _leave_unheard(act: Act, run: Run) -> None:
    """A run ends: what was said into it and is not heard by now never will be, and the board says so."""
    for remark in act.tx.select(Remark, "run_id = :run AND status = 'waiting' ORDER BY id", run=run.id):
        act.tx.update(remark, "RemarkUnheard", status=RemarkStatus.UNHEARD, told={"run_id": run.id})


def _end_permissions(act: Act, run: Run, why: str) -> None:
    """A run ends: what it asked is asked by nobody any more, and what was allowed for it is over."""
    where = "entity = :entity AND kind = 'permission' AND status IN ('pending', 'approved') ORDER BY id"
    for approval in act.tx.select(Approval, where, entity=f"run:{run.id}"):
        if approval.status == ApprovalStatus.PENDING:
            act.tx.update(approval, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note=why)
        else:
            act.tx.update(approval, "ApprovalConsumed", status=ApprovalStatus.CONSUMED, consumed_at=act.tx.now)


def _settle(act: Act, task: Task) -> None:
    """What follows from an end. A loop, not a recursion: a chain of dependents may be longer than Python's stack."""
    ended = [task]
    while ended:
        task = ended.pop()
        ended += _tell_dependents(act, task)
        _let_go(act, task)


def _tell_dependents(act: Act, task: Task) -> list[Task]:
    """Dependents learn of an end (C-12). Answers those that were cancelled by it."""
    cancelled = []
    for edge in act.tx.select(TaskDep, "depends_on = :task AND met = 0 ORDER BY id", task=task.id):
        dependent = act.tx.get(Task, edge.task_id)
        if dependent.status in TASK_FINAL:
            continue
        if task.status == TaskStatus.DONE or edge.on_fail == OnFail.PROCEED:
            meet_dependency(act, edge)
        elif edge.on_fail == OnFail.CANCEL:
            reason = f"dependency_failed: {task.name_tag} is {task.status}"
            cancelled.append(
                _change(
                    act, dependent, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled", as_system=True, reason=reason
                )
            )
        # HOLD: it stays, and the inbox names it until a person or the coordinator decides (F16).
    return cancelled


def _let_go(act: Act, task: Task) -> None:
    tx = act.tx
    cancel_questions(act, f"task:{task.id}")
    for run in tx.select(Run, "task_id = :task AND status IN ('queued', 'starting', 'running')", task=task.id):
        # Who was asked something about it may still answer; whose work was approved may still come to its own end.
        over = run.kind == RunKind.EXECUTE and run.status == RunStatus.RUNNING and task.status == TaskStatus.DONE
        if run.kind != RunKind.MENTION and not over and (act.run is None or run.id != act.run.id):
            kill_run(act, run, f"{task.name_tag} is {task.status}")
    if task.round_id is not None:
        _count_down(act, tx.get(Round, task.round_id))


def meet_dependency(act: Act, edge: TaskDep) -> None:
    """Count a dependency as met; the dependent may become ready."""
    act.tx.update(edge, "DependencyMet", met=True)
    dependent = act.tx.get(Task, edge.task_id)
    act.tx.update(dependent, "TaskDependencyMet", open_deps=dependent.open_deps - 1)


def _count_down(act: Act, round_: Round) -> None:
    left = round_.open_tasks - 1
    round_ = act.tx.update(round_, "RoundProgressed", open_tasks=left, progress_at=act.tx.now)
    if left == 0 and round_.status in (RoundStatus.OPEN, RoundStatus.STALLED):
        finish_round(act, round_)


def finish_round(act: Act, round_: Round) -> Round:
    """Every task is final: the round waits for its one review (S2-10)."""
    ROUND.require(round_.name_tag, round_.status, RoundStatus.REVIEWING, "FinishRound", SYSTEM_CAPACITY)
    cancel_questions(act, f"round:{round_.id}")
    return act.tx.update(round_, "RoundFinished", status=RoundStatus.REVIEWING, progress_at=act.tx.now)


def note_progress(act: Act, round_id: int) -> None:
    """A task moved: a stalled round may go on, and the stall clock starts anew."""
    round_ = act.tx.get(Round, round_id)
    if round_.status == RoundStatus.STALLED:
        cancel_questions(act, f"round:{round_.id}")
        act.tx.update(round_, "RoundResumed", status=RoundStatus.OPEN, progress_at=act.tx.now)
    elif act.tx.now - round_.progress_at >= PROGRESS_GRAIN_MS:
        act.tx.update(round_, "RoundProgressed", progress_at=act.tx.now)


def join_round(act: Act, task: Task, round_: Round, event: str, status: TaskStatus) -> Task:
    """Put a task into a round and count it."""
    joined = act.tx.update(task, event, round_id=round_.id, status=status)
    act.tx.update(
        round_,
        "RoundProgressed",
        open_tasks=round_.open_tasks + 1,
        total_tasks=round_.total_tasks + 1,
        progress_at=act.tx.now,
    )
    return joined


def cancel_questions(act: Act, entity: str, but: frozenset[ApprovalKind] = frozenset()) -> None:
    """Pending questions about a subject that has ended or moved on are withdrawn, except those of some kinds."""
    for approval in act.tx.select(Approval, "entity = :entity AND status = 'pending'", entity=entity):
        if approval.kind in but:
            continue
        APPROVAL.require(
            approval.name_tag, approval.status, ApprovalStatus.CANCELLED, "CancelApproval", SYSTEM_CAPACITY
        )
        act.tx.update(approval, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note="its subject changed")
        if approval.kind == ApprovalKind.EXCHANGE:
            _drop_held(act, entity)


def _drop_held(act: Act, entity: str) -> None:
    """Nobody decides any more whether these wake: they are only read on the board."""
    subject, _, number = entity.partition(":")
    where = "task_id = :id" if subject == "task" else "task_id IS NULL AND goal_id = :id"
    for mention in act.tx.select(Mention, f"{where} AND status = 'held' ORDER BY id", id=int(number)):
        act.tx.update(mention, "MentionDropped", status=MentionStatus.DROPPED)


def release_task(act: Act, task: Task, why: str, *, costs_attempt: bool = True) -> Task:
    """A claim whose run is lost: back to pending with a new fence, or to the operator when attempts are used up."""
    from core.commands.approvals import ask_anew

    attempts = task.attempts + (1 if costs_attempt else 0)
    if attempts >= RUN_ATTEMPTS:
        moved = move_task(
            act,
            task,
            TaskStatus.WAITING_HUMAN,
            "ReleaseTask",
            "TaskWaits",
            as_system=True,
            attempts=attempts,
            fence=task.fence + 1,
            reason=why,
        )
        ask_anew(
            act,
            ApprovalKind.QUESTION,
            f"task:{task.id}",
            f"{task.name_tag} was tried {attempts} times without a result",
            {"what": "try_again", "why": why, "on_reject": "cancel"},
        )
        return moved
    return move_task(
        act,
        task,
        TaskStatus.PENDING,
        "ReleaseTask",
        "TaskReleased",
        as_system=True,
        attempts=attempts,
        fence=task.fence + 1,
        reason=why,
        last_assignee_id=task.assignee_id,
        assignee_id=None,
    )


def never_ran(act: Act, task: Task, agent: AgentRecord) -> bool:
    """Whether the agent never worked on the task (S3-18, F13)."""
    ran = act.tx.value(
        "SELECT 1 FROM runs WHERE task_id = :task AND agent_id = :agent AND kind = :kind LIMIT 1",
        task=task.id,
        agent=agent.id,
        kind=RunKind.EXECUTE,
    )
    wrote = act.tx.value(
        "SELECT 1 FROM outputs WHERE task_id = :task AND created_by = :slug LIMIT 1", task=task.id, slug=agent.slug
    )
    return ran is None and wrote is None
