"""The things on the blackboard, as frozen records. A field is a column; `records` maps them.

Times are integer milliseconds UTC; money is integer millionths of a US dollar.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from core.domain.states import (
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    Autonomy,
    BlockKind,
    CommentKind,
    GoalStatus,
    MentionStatus,
    OfferAnswer,
    OnFail,
    OrgStatus,
    Origin,
    OutputType,
    Risk,
    Role,
    RoundDecision,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
    Verdict,
)


class MustHave(TypedDict):
    """One thing that the goal must deliver; `waived_by` names the person who dropped it, or is empty."""

    id: str
    text: str
    waived_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A row. `letter` is what a person types before the number (G12, T345, A7, R88)."""

    table: ClassVar[str] = ""
    letter: ClassVar[str] = ""

    id: int

    @property
    def name_tag(self) -> str:
        return f"{self.letter}{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Company(Entity):
    table: ClassVar[str] = "company"
    letter: ClassVar[str] = "C"
    name: str
    mission: str
    locale: str
    org_status: OrgStatus
    autonomy: Autonomy
    dispatching: bool
    stop_reason: str
    budget_micros: int
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord(Entity):
    """A hired agent. `manager_id` is who it reports to; `runner` is {"kind": …, settings}."""

    table: ClassVar[str] = "agents"
    letter: ClassVar[str] = "A"
    slug: str
    name: str
    role: Role
    capabilities: tuple[str, ...]
    manager_id: int | None
    runner: dict[str, Any]
    status: AgentStatus
    max_runs: int
    budget_micros: int
    cooldown_until: int | None
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(Entity):
    table: ClassVar[str] = "goals"
    letter: ClassVar[str] = "G"
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
    table: ClassVar[str] = "tasks"
    letter: ClassVar[str] = "T"
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
    created_at: int
    updated_at: int
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
class Run(Entity):
    """One attempt of one agent. `pid` and `pid_started` (ms) are the fingerprint of its process, if any."""

    table: ClassVar[str] = "runs"
    letter: ClassVar[str] = "R"
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
    queued_at: int
    started_at: int | None
    ended_at: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment(Entity):
    table: ClassVar[str] = "comments"
    goal_id: int | None
    task_id: int | None
    author: str
    run_id: int | None
    kind: CommentKind
    body: str
    reply_to: int | None
    confidence: float | None
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention(Entity):
    table: ClassVar[str] = "mentions"
    comment_id: int
    agent_id: int
    goal_id: int | None
    task_id: int | None
    status: MentionStatus
    run_id: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output(Entity):
    """A delivered thing. Small content lies in `content`, a larger one in the company's folder at `path`."""

    table: ClassVar[str] = "outputs"
    letter: ClassVar[str] = "O"
    goal_id: int
    task_id: int | None
    run_id: int | None
    type: OutputType
    title: str
    summary: str
    content: str | None
    path: str | None
    sha256: str
    size: int
    verified_at: int
    created_by: str
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(Entity):
    table: ClassVar[str] = "reviews"
    subject: str
    subject_id: int
    subject_hash: str
    reviewer: str
    run_id: int | None
    attempt: int
    verdict: Verdict
    dimensions: dict[str, str]
    findings: tuple[dict[str, Any], ...]
    opened_outputs: tuple[int, ...]
    rebuttal: str
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Entity):
    table: ClassVar[str] = "decisions"
    goal_id: int
    task_id: int | None
    comment_id: int | None
    text: str
    covered_by: tuple[int, ...]
    created_by: str
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval(Entity):
    """A question to the operator. `entity` names its subject, e.g. `task:12`."""

    table: ClassVar[str] = "approvals"
    letter: ClassVar[str] = "Q"
    kind: ApprovalKind
    entity: str
    title: str
    payload: dict[str, Any]
    payload_hash: str
    status: ApprovalStatus
    requested_by: str
    run_id: int | None
    decided_by: str | None
    decided_at: int | None
    note: str
    consumed_at: int | None
    expires_at: int | None
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience(Entity):
    table: ClassVar[str] = "experiences"
    task_id: int
    comment_id: int
    author: str
    body: str
    status: str
    uses: int
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge(Entity):
    table: ClassVar[str] = "knowledge"
    path: str
    heading: str
    body: str
    sha256: str
    updated_at: int
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
class Event:
    """What happened. `changed` holds the fields of the row after the act (all of them for a new row)."""

    id: int
    at: int
    actor: str
    run_id: int | None
    entity: str
    entity_id: int
    kind: str
    changed: dict[str, Any]
    cause: int | None


ENTITIES: dict[str, type[Entity]] = {
    cls.table: cls
    for cls in (
        Company,
        AgentRecord,
        Goal,
        Round,
        Task,
        TaskDep,
        Run,
        Comment,
        Mention,
        Output,
        Review,
        Decision,
        Approval,
        Experience,
        Knowledge,
        Offer,
    )
}
