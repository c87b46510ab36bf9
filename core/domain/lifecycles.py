"""Who may move what where. Commands, documentation and tests read the same tables (DESIGN §4)."""

from dataclasses import dataclass
from enum import StrEnum

from core.domain.errors import Conflict, Forbidden
from core.domain.states import ApprovalStatus, GoalStatus, RoundStatus, RunStatus, TaskStatus


class Who(StrEnum):
    """A capacity in which somebody acts; one actor may have several."""

    OPERATOR = "H"
    COORDINATOR = "C"
    REVIEWER = "R"
    ASSIGNEE = "A"
    SYSTEM = "S"
    CEO = "X"


WHO_NAMES = {
    Who.OPERATOR: "the operator",
    Who.COORDINATOR: "the coordinator",
    Who.REVIEWER: "a reviewer",
    Who.ASSIGNEE: "the assignee by its current run",
    Who.SYSTEM: "the system",
    Who.CEO: "the CEO",
}


@dataclass(frozen=True, slots=True)
class Move:
    """One legal step. `source` None means that the thing comes into being. `act` is the command that does it."""

    source: str | None
    target: str
    act: str
    who: frozenset[Who]
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """All legal steps of one kind of thing; anything else is a Conflict."""

    thing: str
    moves: tuple[Move, ...]
    final: frozenset[str]

    def acts_from(self, state: str) -> list[Move]:
        """The legal next steps from a state."""
        return [move for move in self.moves if move.source == state]

    def find(self, source: str | None, target: str, act: str) -> Move | None:
        """The step from `source` to `target` by `act`, if it is legal at all."""
        for move in self.moves:
            if move.source == source and move.target == target and move.act == act:
                return move
        return None

    def require(self, name: str, source: str, target: str, act: str, capacities: frozenset[Who]) -> None:
        """Raises Conflict (names the state and the legal next acts) or Forbidden (names who may)."""
        move = self.find(source, target, act)
        if move is None:
            raise Conflict(f"{name} is {source}: {act} is not possible.", self.hint(source))
        if not (move.who & capacities):
            raise Forbidden(f"{act} on {name} is not yours to do.", f"It is for {people(move.who)}.")

    def hint(self, state: str) -> str:
        """What can be done from a state, for people."""
        acts = self.acts_from(state)
        if not acts:
            return f"A {self.thing} that is {state} stays so."
        listed = ", ".join(sorted({f"{move.act} (→ {move.target})" for move in acts}))
        return f"Possible now: {listed}."


def people(who: frozenset[Who]) -> str:
    """'the operator or the coordinator' for a set of capacities."""
    return " or ".join(WHO_NAMES[w] for w in Who if w in who)


def _moves(thing: str, final: frozenset[str], rows: list[tuple[str, str, str, str, str]]) -> Lifecycle:
    moves = [
        Move(source or None, target, act, frozenset(Who(letter) for letter in who), condition)
        for sources, target, act, who, condition in rows
        for source in (sources.split() or [""])
    ]
    return Lifecycle(thing, tuple(moves), final)


GOAL = _moves(
    "goal",
    frozenset({GoalStatus.ARCHIVED}),
    [
        ("", "draft", "CreateGoal", "HX", ""),
        ("draft", "planning", "DispatchGoal", "HS", "reviewed if not the operator's own; ≥ 1 draft task; S at stage B"),
        ("draft", "active", "DispatchGoal", "HS", "reviewed if not the operator's own; ≥ 1 draft task; S at stage B"),
        ("planning", "active", "ActivateGoal", "CS", "≥ 1 task"),
        ("planning", "active", "CloseTurn", "S", "the discussion has converged"),
        ("planning", "active", "EndDiscussion", "H", "the tasks cover every must-have"),
        ("active", "reporting", "ReportGoal", "C", "every must-have covered or waived"),
        ("reporting", "done", "AcceptGoal", "H", ""),
        ("reporting", "active", "SendBackGoal", "H", "with a note"),
        ("draft planning active reporting", "cancelled", "CancelGoal", "H", "with a reason"),
        ("planning active", "draft", "RecallGoal", "H", "stage B dispatched it"),
        ("planning active", "failed", "FailGoal", "H", "the coordinator asks by an approval"),
        ("done failed cancelled", "archived", "ArchiveGoal", "H", ""),
    ],
)

TASK = _moves(
    "task",
    frozenset({TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED}),
    [
        ("", "draft", "CreateTask", "HCAX", ""),
        ("", "pending", "CreateTask", "HCAX", "in an open round"),
        ("draft", "pending", "EnqueueTask", "HCXA", "in an open round; the CEO only below a reviewed goal"),
        ("draft", "pending", "DispatchGoal", "HS", "with round 1"),
        ("draft", "pending", "ActivateGoal", "CS", "with round 1"),
        ("draft", "pending", "CloseTurn", "S", "with round 1"),
        ("draft", "pending", "EndDiscussion", "H", "with round 1"),
        ("draft", "pending", "OpenRound", "C", "taken along"),
        ("draft", "pending", "ReviewRound", "C", "taken along"),
        ("pending", "claimed", "ClaimTask", "A", "compare-and-swap; one task an agent"),
        ("pending", "claimed", "AssignTask", "HCS", "the router after three broadcasts, or a named assignee"),
        ("claimed", "working", "StartTask", "A", ""),
        ("working", "review", "SubmitTask", "A", "≥ 1 verified output and a handoff"),
        ("review", "done", "ReviewTask", "R", "approved, by somebody who never ran it"),
        ("review", "working", "ReviewTask", "R", "needs_revision: the same agent"),
        ("review", "pending", "ReviewTask", "R", "rejected: the claim is cleared"),
        ("review", "waiting_human", "ReviewTask", "R", "the third refusal"),
        ("review", "done", "RuleTask", "C", "two verdicts or a rebuttal disagree: approved"),
        ("review", "working", "RuleTask", "C", "needs_revision: the same agent"),
        ("review", "pending", "RuleTask", "C", "rejected: the claim is cleared"),
        ("review", "waiting_human", "RuleTask", "C", "the third refusal"),
        ("working", "review", "RebutReview", "A", "REJECT or PARTIAL with facts, once a verdict"),
        ("pending", "review", "RebutReview", "A", "the judged side of a rejection, before anybody claims it again"),
        ("working", "failed", "FailTask", "A", "with a reason"),
        ("working", "blocked", "BlockTask", "A", "with a block kind"),
        ("working", "waiting_human", "AskOperator", "A", "red line or question"),
        (
            "claimed working",
            "waiting_human",
            "HoldAct",
            "S",
            "a red line that pauses, before its effect",
        ),
        ("working", "waiting_human", "ObjectPlan", "S", "the third plan met an objection"),
        ("blocked", "pending", "UnblockTask", "SCHX", ""),
        ("waiting_human", "pending", "ResumeTask", "H", ""),
        ("waiting_human", "working", "ResumeTask", "H", "go_on: the same agent"),
        ("claimed working", "pending", "ReleaseTask", "S", "lease or process lost; fence + 1"),
        ("claimed working", "waiting_human", "ReleaseTask", "S", "three attempts are used up"),
        ("pending", "draft", "SendBackTask", "HCS", "malformed: its author is told what is missing"),
        ("draft pending blocked", "cancelled", "SplitTask", "HC", "its parts take its place"),
        (
            "draft pending claimed working review blocked",
            "cancelled",
            "CancelTask",
            "HCS",
            "with a reason",
        ),
        ("waiting_human", "cancelled", "CancelTask", "HS", "with a reason; what a person is asked no agent withdraws"),
    ],
)

ROUND = _moves(
    "round",
    frozenset({RoundStatus.CLOSED}),
    [
        ("", "open", "DispatchGoal", "HS", "without discussion"),
        ("", "open", "ActivateGoal", "CS", "with the draft tasks"),
        ("", "open", "CloseTurn", "S", "with the draft tasks"),
        ("", "open", "EndDiscussion", "H", "with the draft tasks"),
        ("", "open", "OpenRound", "C", "one open round a goal"),
        ("", "open", "ReviewRound", "C", "next_round"),
        ("open stalled", "reviewing", "FinishRound", "S", "every task is final"),
        ("open", "stalled", "StallRound", "S", "nothing runnable or running for 10 minutes"),
        ("stalled", "open", "ResumeRound", "S", ""),
        ("reviewing", "closed", "ReviewRound", "C", "three answers and exactly one decision"),
        ("reviewing", "escalated", "EscalateRound", "S", "the cap is reached, or three reviews failed"),
        ("escalated", "closed", "ResolveRound", "H", ""),
        ("open stalled reviewing escalated", "closed", "CloseRound", "S", "its goal ended"),
    ],
)

APPROVAL = _moves(
    "approval",
    frozenset(
        {
            ApprovalStatus.REJECTED,
            ApprovalStatus.REVISION_REQUESTED,
            ApprovalStatus.CANCELLED,
            ApprovalStatus.CONSUMED,
        }
    ),
    [
        ("", "pending", "RequestApproval", "CXS", "one pending a kind and entity"),
        ("", "pending", "AskOperator", "A", "about its task"),
        ("", "pending", "ReviewTask", "R", "the third refusal"),
        ("", "pending", "ReviewRound", "C", "stop: may the goal be given up? adjust_goal: may it be changed?"),
        ("", "pending", "RuleTask", "C", "the third refusal"),
        ("", "pending", "ChallengeRound", "R", "the coordinator's review is challenged"),
        ("", "pending", "AskPermission", "A", "one pending a run; what its program wants to do"),
        ("", "pending", "ProposeHire", "X", "one pending a name"),
        ("", "pending", "ProposeOrganisation", "X", "no circle, no unknown name"),
        ("", "pending", "ReturnAutonomy", "S", "a limit of stage B is reached"),
        ("", "pending", "StartRun", "S", "a budget holds the run back"),
        ("", "pending", "CallOperator", "S", "a mail to the operator, or an exchange without end"),
        ("", "pending", "HoldAct", "S", "a red line that pauses"),
        ("", "pending", "ObjectPlan", "S", "the third plan met an objection"),
        ("", "pending", "ReleaseTask", "S", "three attempts are used up"),
        ("pending", "approved", "DecideApproval", "H", ""),
        ("pending", "approved", "AnswerPermission", "H", "a permission for its run; once, it is consumed at once"),
        ("pending", "rejected", "DecideApproval", "H", "with a reason"),
        ("pending", "revision_requested", "DecideApproval", "H", "with a reason"),
        ("pending", "pending", "EditApproval", "H", "a hire or a change of the organisation"),
        ("pending", "cancelled", "CancelApproval", "S", "its subject changed"),
        ("approved", "consumed", "ConsumeApproval", "ACHS", "in the act's transaction; payload hash equal"),
    ],
)

RUN = _moves(
    "run",
    frozenset(
        {
            RunStatus.SUCCEEDED,
            RunStatus.FAILED,
            RunStatus.TIMED_OUT,
            RunStatus.RATE_LIMITED,
            RunStatus.PROTOCOL_VIOLATION,
            RunStatus.KILLED,
            RunStatus.LOST,
        }
    ),
    [
        ("", "queued", "QueueRun", "S", ""),
        ("queued", "starting", "StartRun", "S", "within the caps and budgets, while the company is started"),
        ("starting", "running", "ConfirmRun", "S", ""),
        ("starting running", "succeeded", "FinishRun", "S", ""),
        ("queued starting running", "failed", "FinishRun", "S", ""),
        ("starting running", "timed_out", "FinishRun", "S", ""),
        ("starting running", "rate_limited", "FinishRun", "S", ""),
        ("starting running", "protocol_violation", "FinishRun", "S", ""),
        ("queued starting running", "killed", "KillRun", "HS", "its task left, its agent paused, or a stop"),
        ("queued starting running", "lost", "LoseRun", "S", "its process or its owner is gone"),
    ],
)

# Steps that no command of that name makes: they follow from others, in their transaction.
INNER = {
    "FailGoal": ("DecideApproval",),
    "ObjectPlan": ("AddComment",),
    "CallOperator": ("AddComment",),
    "HoldAct": ("StartTask", "CheckAct", "AddOutput"),
    "FinishRound": ("ReviewTask", "RuleTask", "FailTask", "CancelTask", "SplitTask", "EndRound", "DecideApproval"),
    "ResumeRound": (
        "UnblockTask",
        "ResumeTask",
        "CancelTask",
        "ClaimTask",
        "AssignTask",
        "DecideApproval",
        "EnqueueTask",
        "SendBackTask",
        "SplitTask",
    ),
    "CloseRound": ("CancelGoal", "DecideApproval", "RecallGoal"),
    "CancelApproval": (
        "ExpireApproval",
        "CancelTask",
        "CancelGoal",
        "RecallGoal",
        "SetAutonomy",
        "SetBudget",
        "RaiseBudget",
        "StartRun",
        "PauseAgent",
        "PauseGoal",
        "StopCompany",
        "ResumeTask",
        "ReviewTask",
        "ReviewRound",
        "AnswerChallenge",
        "RetireAgent",
        "WithdrawPermission",
        "FinishRun",
        "KillRun",
        "LoseRun",
    ),
    "ConsumeApproval": (
        "AddOutput",
        "CheckAct",
        "StartTask",
        "DecideApproval",
        "AnswerPermission",
        "FinishRun",
        "KillRun",
        "LoseRun",
    ),
}

LIFECYCLES = {cycle.thing: cycle for cycle in (GOAL, TASK, ROUND, APPROVAL, RUN)}
