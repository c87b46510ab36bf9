"""Goals, rounds and tasks, what is on offer, and the runs that work."""

from dataclasses import dataclass
from typing import Any, ClassVar

from core.domain.entities.base import Criterion, Entity, MustHave
from core.domain.states import (
    BlockKind,
    GoalStatus,
    OfferAnswer,
    OnFail,
    Origin,
    ReviewStep,
    Risk,
    RoundDecision,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(Entity):
    """The parent of tasks. `exploring` is set while the talk of phase 1 goes on. `repository` is that of its tasks.

    `auto_dispatched_at` (ms) is set when stage B dispatched it without a person (D-01).
    """

    table: ClassVar[str] = "goals"
    letter: ClassVar[str] = "G"
    added: ClassVar[dict[str, Any]] = {
        "exploring": False,
        "out_of_scope": (),
        "auto_dispatched_at": None,
        "repository": "",
    }
    title: str
    description: str
    must_haves: tuple[MustHave, ...]
    constraints: tuple[str, ...]
    status: GoalStatus
    origin: Origin
    created_by: str
    content_hash: str
    reviewed_by: str | None
    reviewed_at: int | None
    reviewed_hash: str | None
    split: bool
    round_cap: int
    paused_at: int | None
    reason: str
    exploring: bool
    out_of_scope: tuple[str, ...]
    auto_dispatched_at: int | None
    repository: str
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Round(Entity):
    """`open_tasks` and `total_tasks` are kept in the transactions that move tasks."""

    table: ClassVar[str] = "rounds"
    letter: ClassVar[str] = "N"
    goal_id: int
    number: int
    status: RoundStatus
    answers: dict[str, str]
    decision: RoundDecision | None
    open_tasks: int
    total_tasks: int
    review_attempts: int
    progress_at: int
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Entity):
    """A unit of work. While `plan_until` (ms) is set, its plan stands open for objection and nobody works on it.

    `review_step` says what it waits for while it is in review; `criteria` are frozen at the first verdict.
    `repository` is the git repository that it is worked on in, as it was named; empty: none.
    """

    table: ClassVar[str] = "tasks"
    letter: ClassVar[str] = "T"
    added: ClassVar[dict[str, Any]] = {
        "tags": (),
        "plan_comment": None,
        "plan_until": None,
        "plans": 0,
        "criteria": (),
        "review_step": ReviewStep.REVIEW,
        "repository": "",
    }
    goal_id: int
    round_id: int | None
    parent_id: int | None
    retry_of: int | None
    title: str
    intent: str
    end_state: str
    constraints: tuple[str, ...]
    must_haves: tuple[str, ...]
    capabilities: tuple[str, ...]
    arguments: dict[str, Any]
    risk: Risk
    status: TaskStatus
    block_kind: BlockKind | None
    assignee_id: int | None
    last_assignee_id: int | None
    current_run: int | None
    fence: int
    lease_until: int | None
    attempts: int
    review_attempts: int
    priority: int
    open_deps: int
    offer: int
    broadcasts: int
    broadcast_at: int | None
    created_by: str
    idempotency_key: str | None
    reason: str
    tags: tuple[str, ...]
    plan_comment: int | None
    plan_until: int | None
    plans: int
    criteria: tuple[Criterion, ...]
    review_step: ReviewStep
    repository: str
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree(Entity):
    """Where one agent works on a task in git: the `number`-th of the task, on a branch of its own.

    `repository` is its folder, resolved; `path` goes from the company's folder; `base` is the commit (40 or 64 digits)
    that it was begun from, by the name `begins_from`. Closed ones are not taken up again; their branches stay.
    """

    table: ClassVar[str] = "worktrees"
    task_id: int
    number: int
    agent_id: int
    repository: str
    path: str
    branch: str
    begins_from: str
    base: str
    closed_at: int | None
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDep(Entity):
    table: ClassVar[str] = "task_deps"
    task_id: int
    depends_on: int
    on_fail: OnFail
    met: bool
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Entity):
    """A pending task shown to one agent; `offer` is the task's own count of times it became claimable."""

    table: ClassVar[str] = "offers"
    task_id: int
    agent_id: int
    offer: int
    run_id: int | None
    answer: OfferAnswer
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Entity):
    """One attempt of one agent. `pid` and `pid_started` (ms) are the fingerprint of its process, if any.

    `brief` is what the run was begun for beyond its subject, e.g. a heartbeat's agenda; `reserved_micros` is held back
    from the budgets until the run's own cost is known. `paused_at` (ms) is set while it holds before its next turn.
    """

    table: ClassVar[str] = "runs"
    letter: ClassVar[str] = "R"
    added: ClassVar[dict[str, Any]] = {"brief": {}, "reserved_micros": 0, "paused_at": None}
    agent_id: int
    kind: RunKind
    task_id: int | None
    goal_id: int | None
    round_id: int | None
    status: RunStatus
    fence: int
    owner: str | None
    pid: int | None
    pid_started: int | None
    lease_until: int | None
    model: str
    prompt_hash: str
    tokens_in: int
    tokens_out: int
    cost_micros: int
    exit_kind: str
    detail: str
    session: str
    cause: int | None
    idempotency_key: str | None
    brief: dict[str, Any]
    reserved_micros: int
    paused_at: int | None
    queued_at: int
    started_at: int | None
    ended_at: int | None
    version: int
