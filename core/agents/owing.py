"""What a run owes the board before it may end in words: without it, its words would change nothing. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.domain.states import Role, RunKind
from core.reading.offered import offered

NO_REPLY = "NO_REPLY"
REMINDERS = 2  # how often a run that ends in words is told what it owes
_MARKS = "`*_\"'. "
# Where only these end the work. In other kinds of runs any command that is offered does.
_ENDS: Mapping[RunKind, frozenset[str]] = {
    RunKind.BROADCAST: frozenset({"ClaimTask", "AnswerOffer", "AddComment", "RebutReview"}),
    RunKind.EXECUTE: frozenset({"SubmitTask", "FailTask", "BlockTask", "AskOperator", "PostPlan", "RebutReview"}),
    RunKind.REVIEW: frozenset({"ReviewTask"}),
    RunKind.RULE: frozenset({"RuleTask"}),
    RunKind.ROUND_REVIEW: frozenset({"ReviewRound"}),
    RunKind.REPORT: frozenset({"ReportGoal", "OpenRound", "RequestApproval", "AnswerChallenge"}),
}
# After these the run has nothing more to do: its task or round is no longer its own.
_FINAL = frozenset({RunKind.EXECUTE, RunKind.REVIEW, RunKind.RULE, RunKind.ROUND_REVIEW})
# Nobody waits for the answer of these: silence is one (S3-02).
_MAY_BE_SILENT = frozenset(
    {RunKind.BROADCAST, RunKind.DISCUSS, RunKind.MENTION, RunKind.PROPOSE, RunKind.HEARTBEAT}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Owed:
    """One of `commands` ends the run's work; with `silence` NO_REPLY does too. `final`: then nothing more is to do."""

    commands: frozenset[str]
    silence: bool
    final: bool

    def met_by(self, command: str, answer: Mapping[str, Any]) -> bool:
        """Whether this call, with this answer of the board, was it: also one that put the task before the operator."""
        return command in self.commands or "waits" in answer or answer.get("status") == "waiting_human"


def owed_by(role: Role, kind: RunKind) -> Owed:
    """What a run of this kind of an agent of this role owes."""
    known = _ENDS.get(kind)
    commands = frozenset(one.name for one in offered(role, kind).commands) if known is None else known
    return Owed(commands, kind in _MAY_BE_SILENT, kind in _FINAL)


def is_no_reply(text: str) -> bool:
    """Whether an agent's last words are that it has nothing to say."""
    return any(line.strip(_MARKS) == NO_REPLY for line in text.splitlines())
