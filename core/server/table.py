"""Which address means which command or query, as data (S4-12, D-05): one board is one company, so no project's id.

`{goal}` in an address is the field of that name. Routes, OpenAPI and their tests are made from these rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import core.commands
import core.reading  # noqa: F401 - fills the registries
from core.commands.registry import REGISTRY, Registered
from core.reading.registry import READS, RegisteredRead


@dataclass(frozen=True, slots=True)
class Row:
    """One address: the method, the path, and the name in the registries."""

    method: str
    path: str
    name: str

    @property
    def of(self) -> Registered | RegisteredRead:
        """What it calls."""
        return READS[self.name] if self.name in READS else REGISTRY[self.name]

    @property
    def in_path(self) -> tuple[str, ...]:
        """The fields that stand in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


_GET = (
    ("/api/goals", "ListGoals"),
    ("/api/goals/{goal}", "ReadGoal"),
    ("/api/goals/{goal}/tasks", "ListTasks"),
    ("/api/goals/{goal}/comments", "ListComments"),
    ("/api/goals/{goal}/outputs", "ListOutputs"),
    ("/api/rounds/{round}", "ReadRound"),
    ("/api/rounds/{round}/tasks", "ListTasks"),
    ("/api/rounds/{round}/outputs", "ListOutputs"),
    ("/api/tasks", "ListTasks"),
    ("/api/tasks/{task}", "ReadTask"),
    ("/api/tasks/{task}/changes", "ReadChanges"),
    ("/api/tasks/{task}/comments", "ListComments"),
    ("/api/tasks/{task}/outputs", "ListOutputs"),
    ("/api/outputs/{output}", "ReadOutput"),
    ("/api/agents", "ReadStaff"),
    ("/api/experiences", "ListExperiences"),
    ("/api/knowledge", "ReadKnowledge"),
    ("/api/search", "SearchBoard"),
    ("/api/texts", "ReadText"),
)
_POST = (
    ("/api/company", "CreateCompany"),
    ("/api/company/start", "StartCompany"),
    ("/api/company/stop", "StopCompany"),
    ("/api/company/autonomy", "SetAutonomy"),
    ("/api/company/heartbeat", "CallHeartbeat"),
    ("/api/goals", "CreateGoal"),
    ("/api/goals/{goal}/accept", "AcceptGoal"),
    ("/api/goals/{goal}/activate", "ActivateGoal"),
    ("/api/goals/{goal}/archive", "ArchiveGoal"),
    ("/api/goals/{goal}/cancel", "CancelGoal"),
    ("/api/goals/{goal}/comments", "AddComment"),
    ("/api/goals/{goal}/dispatch", "DispatchGoal"),
    ("/api/goals/{goal}/end-discussion", "EndDiscussion"),
    ("/api/goals/{goal}/explore", "ExploreGoal"),
    ("/api/goals/{goal}/looked-at", "LookedAt"),
    ("/api/goals/{goal}/must-haves/{must_have}/waive", "WaiveMustHave"),
    ("/api/goals/{goal}/outputs", "AddOutput"),
    ("/api/goals/{goal}/pause", "PauseGoal"),
    ("/api/goals/{goal}/ready", "ReadyGoal"),
    ("/api/goals/{goal}/recall", "RecallGoal"),
    ("/api/goals/{goal}/report", "ReportGoal"),
    ("/api/goals/{goal}/review", "ReviewGoal"),
    ("/api/goals/{goal}/revise", "ReviseGoal"),
    ("/api/goals/{goal}/rounds", "OpenRound"),
    ("/api/goals/{goal}/send-back", "SendBackGoal"),
    ("/api/rounds/{round}/challenge", "ChallengeRound"),
    ("/api/rounds/{round}/end", "EndRound"),
    ("/api/rounds/{round}/resolve", "ResolveRound"),
    ("/api/rounds/{round}/review", "ReviewRound"),
    ("/api/tasks", "CreateTask"),
    ("/api/tasks/{task}/accept-plan", "AcceptPlan"),
    ("/api/tasks/{task}/answer-offer", "AnswerOffer"),
    ("/api/tasks/{task}/assign", "AssignTask"),
    ("/api/tasks/{task}/block", "BlockTask"),
    ("/api/tasks/{task}/cancel", "CancelTask"),
    ("/api/tasks/{task}/check-act", "CheckAct"),
    ("/api/tasks/{task}/claim", "ClaimTask"),
    ("/api/tasks/{task}/close-work-tree", "CloseWorkTree"),
    ("/api/tasks/{task}/comments", "AddComment"),
    ("/api/tasks/{task}/dependencies", "AddDependency"),
    ("/api/tasks/{task}/dependencies/{depends_on}/waive", "WaiveDependency"),
    ("/api/tasks/{task}/enqueue", "EnqueueTask"),
    ("/api/tasks/{task}/fail", "FailTask"),
    ("/api/tasks/{task}/outputs", "AddOutput"),
    ("/api/tasks/{task}/plan", "PostPlan"),
    ("/api/tasks/{task}/questions", "AskOperator"),
    ("/api/tasks/{task}/rebut", "RebutReview"),
    ("/api/tasks/{task}/resume", "ResumeTask"),
    ("/api/tasks/{task}/review", "ReviewTask"),
    ("/api/tasks/{task}/rule", "RuleTask"),
    ("/api/tasks/{task}/send-back", "SendBackTask"),
    ("/api/tasks/{task}/split", "SplitTask"),
    ("/api/tasks/{task}/start", "StartTask"),
    ("/api/tasks/{task}/submit", "SubmitTask"),
    ("/api/tasks/{task}/unblock", "UnblockTask"),
    ("/api/approvals", "RequestApproval"),
    ("/api/approvals/{approval}/answer", "AnswerChallenge"),
    ("/api/approvals/{approval}/decide", "DecideApproval"),
    ("/api/approvals/{approval}/permit", "AnswerPermission"),
    ("/api/approvals/{approval}/withdraw", "WithdrawPermission"),
    ("/api/decisions/{decision}/waive", "WaiveDecision"),
    ("/api/agents", "HireAgent"),
    ("/api/agents/{agent}/pause", "PauseAgent"),
    ("/api/agents/{agent}/resume", "ResumeAgent"),
    ("/api/agents/{agent}/retire", "RetireAgent"),
    ("/api/hires", "ProposeHire"),
    ("/api/organisation", "ProposeOrganisation"),
    ("/api/organisation/settle", "SettleOrganisation"),
    ("/api/budgets", "SetBudget"),
    ("/api/budgets/raise", "RaiseBudget"),
    ("/api/experiences/{experience}/drop", "DropExperience"),
    ("/api/experiences/{experience}/keep", "KeepExperience"),
    ("/api/permissions", "AskPermission"),
    ("/api/runs/{run}/continue", "ResumeSession"),
    ("/api/runs/{run}/kill", "KillRun"),
    ("/api/runs/{run}/pause", "PauseRun"),
    ("/api/runs/{run}/resume", "ResumeRun"),
    ("/api/runs/{run}/say", "SpeakToRun"),
)
_PATCH = (
    ("/api/company", "EditCompany"),
    ("/api/goals/{goal}", "EditGoal"),
    ("/api/tasks/{task}", "EditTask"),
    ("/api/agents/{agent}", "EditAgent"),
    ("/api/approvals/{approval}", "EditApproval"),
)
ROWS = tuple(
    Row(method, path, name)
    for method, rows in (("GET", _GET), ("POST", _POST), ("PATCH", _PATCH))
    for path, name in rows
)  # fmt: skip
# Words of an address that mean a value of its field, as the sources write them: `?expand=all`.
WORDS: Mapping[tuple[str, str, str], bool] = {("ReadTask", "expand", "all"): True}
