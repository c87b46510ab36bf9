"""The closed sets of words: statuses, kinds and verdicts. What may follow what is in `lifecycles`."""

from enum import StrEnum


class Role(StrEnum):
    CEO = "ceo"
    COORDINATOR = "coordinator"
    PLANNER = "planner"
    EXECUTOR = "executor"
    REVIEWER = "reviewer"
    CHALLENGER = "challenger"


class OrgStatus(StrEnum):
    SETTLED = "settled"
    PENDING_REVIEW = "pending_review"


class Autonomy(StrEnum):
    """Stage A: a CEO's draft waits for the operator. Stage B: see D-01."""

    A = "A"
    B = "B"


class BudgetScope(StrEnum):
    COMPANY = "company"
    AGENT = "agent"
    GOAL = "goal"


class BudgetPeriod(StrEnum):
    """Periods begin at 00:00 UTC, weeks on Monday; `total` never begins anew."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    TOTAL = "total"


class AgentStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    TERMINATED = "terminated"


class Origin(StrEnum):
    OPERATOR = "operator"
    CEO = "ceo"
    IMPORT = "import"


class GoalStatus(StrEnum):
    """S1-03, and `reporting` for phase 4."""

    DRAFT = "draft"
    PLANNING = "planning"
    ACTIVE = "active"
    REPORTING = "reporting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    ARCHIVED = "archived"


class ExperienceStatus(StrEnum):
    """Agents are told of kept ones only."""

    NEW = "new"
    KEPT = "kept"
    DROPPED = "dropped"


class RoundStatus(StrEnum):
    OPEN = "open"
    STALLED = "stalled"
    REVIEWING = "reviewing"
    ESCALATED = "escalated"
    CLOSED = "closed"


class RoundDecision(StrEnum):
    NEXT_ROUND = "next_round"
    REPORT = "report"
    ADJUST_GOAL = "adjust_goal"
    STOP = "stop"


class TaskStatus(StrEnum):
    DRAFT = "draft"
    PENDING = "pending"
    CLAIMED = "claimed"
    WORKING = "working"
    REVIEW = "review"
    BLOCKED = "blocked"
    WAITING_HUMAN = "waiting_human"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class BlockKind(StrEnum):
    NEEDS_INPUT = "needs_input"
    CAPABILITY = "capability"
    TRANSIENT = "transient"
    DEPENDENCY = "dependency"


class Risk(StrEnum):
    LOW = "low"
    STANDARD = "standard"
    HIGH = "high"


class OnFail(StrEnum):
    """What a dependent does when what it depends on failed or was cancelled (C-12)."""

    CANCEL = "cancel"
    PROCEED = "proceed"
    HOLD = "hold"


class RunKind(StrEnum):
    PROPOSE = "propose"
    EXPLORE = "explore"
    DISCUSS = "discuss"
    SPLIT = "split"
    HEARTBEAT = "heartbeat"
    PLAN = "plan"
    BROADCAST = "broadcast"
    EXECUTE = "execute"
    REVIEW = "review"
    RULE = "rule"
    MENTION = "mention"
    ROUND_REVIEW = "round_review"
    STALL = "stall"
    REPORT = "report"


class RunStatus(StrEnum):
    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    PROTOCOL_VIOLATION = "protocol_violation"
    KILLED = "killed"
    LOST = "lost"


class CommentKind(StrEnum):
    NOTE = "note"
    OBSERVATION = "observation"
    PLAN = "plan"
    OBJECTION = "objection"
    HANDOFF = "handoff"
    REBUTTAL = "rebuttal"
    DECISION = "decision"
    QUESTION = "question"
    DIALOGUE = "dialogue"
    MAIL_INFORM = "mail_inform"
    MAIL_REQUEST = "mail_request"
    REPORT = "report"
    REVIEW = "review"


class OutputType(StrEnum):
    CODE = "code"
    DOCUMENT = "document"
    DATA = "data"
    CONFIG = "config"
    OTHER = "other"


class Verdict(StrEnum):
    APPROVED = "approved"
    REJECTED = "rejected"
    NEEDS_REVISION = "needs_revision"


class Dimension(StrEnum):
    """What a review looks at (S2-19)."""

    REQUIREMENT_COVERAGE = "requirement_coverage"
    DESIGN_CONSISTENCY = "design_consistency"
    CODE_QUALITY = "code_quality"
    DIRECTION = "direction"
    ARTEFACT_AUTHENTICITY = "artefact_authenticity"


class Freedom(StrEnum):
    """How much a reviewer may judge by its own measure (S2-23)."""

    HIGH = "high"
    MID = "mid"
    LOW = "low"


class ReviewStep(StrEnum):
    """What a task in review waits for; also the stage in which a verdict was given (S2-20, C-07)."""

    REVIEW = "review"
    SECOND = "second"
    REPLY = "reply"
    RULING = "ruling"


class RebuttalAnswer(StrEnum):
    """What the judged side says to a verdict (S3-17)."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    PARTIAL = "PARTIAL"


class TurnOutcome(StrEnum):
    """How a turn of a discussion ended."""

    OPEN = "open"
    GOES_ON = "goes_on"
    CONVERGED = "converged"
    NOT_CONVERGED = "not_converged"
    ENDED = "ended"


class ApprovalKind(StrEnum):
    HIRE_AGENT = "hire_agent"
    ORG_CHANGE = "org_change"
    RED_LINE = "red_line"
    PERMISSION = "permission"
    QUESTION = "question"
    BUDGET = "budget"
    GOAL_FAILURE = "goal_failure"
    GOAL_CHANGE = "goal_change"
    CHALLENGE = "challenge"
    EXCHANGE = "exchange"
    MAIL = "mail"
    AUTONOMY = "autonomy"


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    REVISION_REQUESTED = "revision_requested"
    CANCELLED = "cancelled"
    CONSUMED = "consumed"


class OfferAnswer(StrEnum):
    """The three-level answer to a broadcast (S3-02)."""

    OPEN = "open"
    CLAIM = "claim"
    OBSERVATION = "observation"
    NO_REPLY = "no_reply"


class RemarkStatus(StrEnum):
    """Words into a run: `heard` once its agent took them up, `unheard` if the run ended before."""

    WAITING = "waiting"
    HEARD = "heard"
    UNHEARD = "unheard"


class MentionStatus(StrEnum):
    """`held`: an exchange went on too long, and a person decides whether it wakes (F7)."""

    PENDING = "pending"
    WOKEN = "woken"
    HELD = "held"
    DROPPED = "dropped"


GOAL_FINAL = frozenset({GoalStatus.DONE, GoalStatus.FAILED, GoalStatus.CANCELLED})
TASK_FINAL = frozenset({TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED})
RUN_LIVE = frozenset({RunStatus.QUEUED, RunStatus.STARTING, RunStatus.RUNNING})
PERMANENT = frozenset({
    "answers", "auth", "forbidden", "invalid", "key", "model", "no_runner", "not_found", "not_started", "quota",
    "unsupervised", "untrusted",
})  # fmt: skip
"""Exit kinds of failed runs that another try does not mend, e.g. a program that is not there (F14)."""
