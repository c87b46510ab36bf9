"""Who decided what, and why: which events are decisions, and the note that an event carries. Pure."""

from core.domain.entities import Event

DECISIONS = frozenset({
    "ApprovalApproved", "ApprovalRejected", "ApprovalSentBack",
    "GoalReviewed", "GoalDispatched", "GoalAutoDispatched", "GoalRecalled", "GoalAccepted", "GoalSentBack",
    "GoalSentToAuthor", "GoalCancelled", "GoalFailed", "GoalArchived", "GoalPaused", "GoalResumed", "GoalAdjusted",
    "GoalChangeRefused", "MustHaveWaived",
    "TaskReviewed", "TaskRuled", "TaskCancelled", "TaskResumed", "TaskUnblocked", "TaskAssigned", "TaskSentToAuthor",
    "PlanObjected", "ReviewRebutted",
    "RoundReviewed", "RoundResolved",
    "DecisionMade", "DecisionWaived", "ChallengeUpheld",
    "AgentHired", "AgentPaused", "AgentResumed", "AgentRetired", "AgentReassigned",
    "CompanyStarted", "CompanyStopped", "CompanyEdited", "AutonomyChanged", "AutonomyReturned",
    "BudgetSet", "BudgetRaised", "ExperienceKept", "ExperienceDropped",
})  # fmt: skip
"""Kinds of events by which somebody chose: a person, an agent in its office, or the system within its limits."""

_NOTES = ("note", "reason", "why", "stop_reason", "text", "rebuttal", "body", "words", "detail", "title")
_MOST = 400  # characters of a note; the whole of it is in the event's facts


def is_decision(event: Event) -> bool:
    """Whether somebody chose by it."""
    return event.kind in DECISIONS


def note_of(event: Event) -> str:
    """Why, in the words of who did it: the note, reason or text that the event carries, at most 400 characters; or ''.

    A verdict begins with its word; a round's with its decision.
    """
    changed = event.changed
    word = next((str(changed[name]) for name in ("verdict", "decision") if changed.get(name)), "")
    found = next((text for name in _NOTES if isinstance(text := changed.get(name), str) and text.strip()), "")
    for name in ("dimensions", "answers"):
        told = changed.get(name)
        if not found and isinstance(told, dict):
            found = str(told.get("summary") or next((each for each in told.values() if each), ""))
    parts = [part for part in (word.replace("_", " "), found.strip()) if part]
    text = ": ".join(parts)
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
