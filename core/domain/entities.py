"""The things on the blackboard, as frozen records. A field is a column; `records` maps them.

Times are integer milliseconds UTC; money is integer millionths of a US dollar.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NotRequired, TypedDict

from core.domain.states import (
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    Autonomy,
    BlockKind,
    BudgetPeriod,
    BudgetScope,
    CommentKind,
    GoalStatus,
    MentionStatus,
    OfferAnswer,
    OnFail,
    OrgStatus,
    Origin,
    OutputType,
    ReviewStep,
    Risk,
    Role,
    RoundDecision,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
    TurnOutcome,
    Verdict,
)


class MustHave(TypedDict):
    """One thing that the goal must deliver; `waived_by` names the person who dropped it, or is empty.

    `verify` says how one can see that it is there (boards of the first schema have none).
    """

    id: str
    text: str
    waived_by: str
    verify: NotRequired[str]


class Criterion(TypedDict):
    """What a task is judged by, frozen at its first review (F8): an id that findings name, and its text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A row. `letter` is what a person types before the number (G12, T345, A7, R88).

    `added` holds the fields that a later schema brought, with the value that older rows and events have.
    """

    table: ClassVar[str] = ""
    letter: ClassVar[str] = ""
    added: ClassVar[dict[str, Any]] = {}

    id: int

    @property
    def name_tag(self) -> str:
        return f"{self.letter}{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Company(Entity):
    """`budget_micros` is what stage B may spend a day; `auto_in_a_row` counts its goals since a person last looked."""

    table: ClassVar[str] = "company"
    letter: ClassVar[str] = "C"
    added: ClassVar[dict[str, Any]] = {"auto_in_a_row": 0}
    name: str
    mission: str
    locale: str
    org_status: OrgStatus
    autonomy: Autonomy
    dispatching: bool
    stop_reason: str
    budget_micros: int
    auto_in_a_row: int
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecord(Entity):
    """A hired agent. `manager_id` is who it reports to; `runner` is {"kind": …, settings}."""

    table: ClassVar[str] = "agents"
    letter: ClassVar[str] = "A"
    added: ClassVar[dict[str, Any]] = {"duties": ""}
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
    duties: str
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(Entity):
    """The parent of tasks. `exploring` is set while the talk of phase 1 goes on.

    `auto_dispatched_at` (ms) is set when stage B dispatched it without a person (D-01).
    """

    table: ClassVar[str] = "goals"
    letter: ClassVar[str] = "G"
    added: ClassVar[dict[str, Any]] = {"exploring": False, "out_of_scope": (), "auto_dispatched_at": None}
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
    created_at: int
    updated_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Entity):
    """One turn of a goal's discussion: each of `agents` (ids) is woken once.

    What it brought is what came after `after_comment` and `after_task` (ids); counted when it ends.
    """

    table: ClassVar[str] = "turns"
    letter: ClassVar[str] = "D"
    goal_id: int
    number: int
    agents: tuple[int, ...]
    after_comment: int
    after_task: int
    new_tasks: int
    questions: int
    objections: int
    outcome: TurnOutcome
    ended_at: int | None
    created_at: int
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
    """One attempt of one agent. `pid` and `pid_started` (ms) are the fingerprint of its process, if any.

    `brief` is what the run was begun for beyond its subject, e.g. a heartbeat's agenda; `reserved_micros` is held back
    from the budgets until the run's own cost is known.
    """

    table: ClassVar[str] = "runs"
    letter: ClassVar[str] = "R"
    added: ClassVar[dict[str, Any]] = {"brief": {}, "reserved_micros": 0}
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
    """A delivered thing. Small content lies in `content`, a larger one in the company's folder at `path`.

    `must_haves` are those that it delivers; `publish` marks what is to leave the company.
    """

    table: ClassVar[str] = "outputs"
    letter: ClassVar[str] = "O"
    added: ClassVar[dict[str, Any]] = {"must_haves": (), "publish": False}
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
    must_haves: tuple[str, ...]
    publish: bool
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(Entity):
    """A verdict. One that is not `settled` waits for a second, by somebody who must not see it."""

    table: ClassVar[str] = "reviews"
    added: ClassVar[dict[str, Any]] = {
        "stage": ReviewStep.REVIEW,
        "settled": True,
        "rebuttal_answer": "",
        "rebutted_by": "",
    }
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
    stage: ReviewStep
    settled: bool
    rebuttal_answer: str
    rebutted_by: str
    created_at: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Entity):
    """What was decided in a discussion; `covered_by` are the outputs that carry it out."""

    table: ClassVar[str] = "decisions"
    added: ClassVar[dict[str, Any]] = {"waived_by": ""}
    goal_id: int
    task_id: int | None
    comment_id: int | None
    text: str
    covered_by: tuple[int, ...]
    created_by: str
    waived_by: str
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
class Budget(Entity):
    """A limit on money for the company, an agent or a goal, a period.

    `extra_micros` was granted once, for the period that began at `extra_period` (ms); `warned_period` is the period in
    which 80 % was told.
    """

    table: ClassVar[str] = "budgets"
    letter: ClassVar[str] = "B"
    scope: BudgetScope
    scope_id: int
    limit_micros: int
    period: BudgetPeriod
    extra_micros: int
    extra_period: int
    warned_period: int
    created_at: int
    updated_at: int
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
        Turn,
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
        Budget,
    )
}
