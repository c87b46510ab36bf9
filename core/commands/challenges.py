"""A reviewer challenges the coordinator's review of a round: one challenge, one answer, the operator (S2-31, C-07)."""

from pydantic import Field

from core.commands.approvals import answers, ask, consume_as_system
from core.commands.goal_changes import pending_about
from core.commands.moves import SYSTEM_CAPACITY, kill_run
from core.commands.registry import Act, Answer, Command, Text, handles, letters
from core.commands.telling import mention, say
from core.domain.entities import AgentRecord, Approval, Comment, Goal, Round, Run
from core.domain.errors import Conflict, NotFound
from core.domain.lifecycles import APPROVAL
from core.domain.limits import TEXT_MAX
from core.domain.states import (
    ApprovalKind,
    ApprovalStatus,
    CommentKind,
    GoalStatus,
    RebuttalAnswer,
    RoundStatus,
    RunKind,
)

_CHALLENGED = "kind = 'challenge' AND entity = :goal AND json_extract(payload, '$.round') = :round"
_LIVE = "status IN ('queued', 'starting', 'running')"


class ChallengeRound(Command):
    """Challenge what the coordinator decided about a round, with facts; once a round, before the goal is reported."""

    who = letters("R")
    example = {"round": 4, "facts": "M2 counts as covered, but O17 names only half of the files."}
    round: int
    facts: Text = Field(min_length=1, description="What the decision overlooks, and where it can be seen")


@handles(ChallengeRound)
def challenge_round(act: Act, command: ChallengeRound) -> Answer:
    round_ = act.tx.get(Round, command.round)
    goal = act.tx.get(Goal, round_.goal_id)
    act.require_own_goal(goal.id)
    _require_open_to_challenge(act, goal, round_)
    comment = _say(act, goal, command.facts, None)
    payload = {
        "round": round_.id, "decision": str(round_.decision), "answers": round_.answers, "facts": command.facts,
        "by": act.label, "comment": comment.id,
    }  # fmt: skip
    title = f"{act.label} challenges the review of round {round_.number} of {goal.name_tag}"
    approval = ask(act, ApprovalKind.CHALLENGE, f"goal:{goal.id}", title, payload)
    for run in act.tx.select(Run, f"goal_id = :goal AND {_LIVE} AND kind = :kind", goal=goal.id, kind=RunKind.REPORT):
        kill_run(act, run, f"{approval.name_tag} challenges what it would report")
    return {"id": approval.id, "comment": comment.id, "wakes": _wake_coordinators(act, comment)}


def _require_open_to_challenge(act: Act, goal: Goal, round_: Round) -> None:
    if goal.status != GoalStatus.ACTIVE:
        raise Conflict(f"{goal.name_tag} is {goal.status}: its rounds are settled.", "Comment on the goal instead.")
    if round_.status != RoundStatus.CLOSED or round_.decision is None:
        raise Conflict(f"{round_.name_tag} is {round_.status}: there is no decision to challenge.", "Wait for it.")
    later = "goal_id = :goal AND number > :number AND status = 'closed' LIMIT 1"
    if act.tx.select(Round, later, goal=goal.id, number=round_.number):
        raise Conflict(f"A later round of {goal.name_tag} is closed already.", "Challenge the review of that one.")
    before = act.tx.select(
        Approval, f"{_CHALLENGED} AND status <> 'revision_requested' LIMIT 1", goal=f"goal:{goal.id}", round=round_.id
    )
    if before:
        raise Conflict(f"{before[0].name_tag} challenged this review already.", "Once a round; a person decides.")


def _say(act: Act, goal: Goal, body: str, reply_to: int | None) -> Comment:
    return say(act, "CommentAdded", CommentKind.REBUTTAL, body, goal=goal.id, reply_to=reply_to)


def _wake_coordinators(act: Act, comment: Comment) -> list[str]:
    found = act.tx.select(AgentRecord, "role = 'coordinator' AND status = 'active' ORDER BY id")
    return mention(act, comment, [agent.slug for agent in found])


class AnswerChallenge(Command):
    """Answer a challenge of a round's review, once: ACCEPT settles it, else the operator decides."""

    who = letters("C")
    example = {"approval": 9, "answer": "PARTIAL", "facts": "O17 does name half of them; O21 names the rest."}
    approval: int
    answer: RebuttalAnswer
    facts: Text = Field(min_length=1, description="Why, with what can be seen on the board")


@handles(AnswerChallenge)
def answer_challenge(act: Act, command: AnswerChallenge) -> Answer:
    approval = act.tx.get(Approval, command.approval)
    if approval.kind != ApprovalKind.CHALLENGE:
        raise NotFound(f"{approval.name_tag} is no challenge.", "Name the approval that the challenge made.")
    goal = _goal_of(act, approval)
    act.require_own_goal(goal.id)
    if approval.status != ApprovalStatus.PENDING:
        raise Conflict(f"{approval.name_tag} is {approval.status}: it is settled.", "Look at what became of it.")
    said = approval.payload["comment"]
    if act.tx.value("SELECT 1 FROM comments WHERE goal_id = :goal AND reply_to = :said AND kind = 'rebuttal' LIMIT 1",
                    goal=goal.id, said=said) is not None:  # fmt: skip
        raise Conflict(f"{approval.name_tag} has its answer already.", "One answer; the operator decides.")
    comment = _say(act, goal, f"{command.answer}: {command.facts}"[:TEXT_MAX], said)
    if command.answer == RebuttalAnswer.ACCEPT:
        _withdraw(act, approval, "the coordinator accepts the challenge")
        _uphold(act, goal, approval)
        return {"id": approval.id, "comment": comment.id, "status": "accepted"}
    return {"id": approval.id, "comment": comment.id, "status": "pending"}


@answers(ApprovalKind.CHALLENGE)
def decide_challenge(act: Act, approval: Approval) -> str:
    """Upheld, the coordinator plans on with the facts; else its decision stands. Sent back, its author is told."""
    goal = _goal_of(act, approval)
    if goal.status != GoalStatus.ACTIVE:
        return str(goal.status)
    if approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
        _uphold(act, goal, approval)
        return "upheld"
    if approval.status == ApprovalStatus.REVISION_REQUESTED:
        _tell_author(act, goal, approval)
    return "the decision stands"


def _uphold(act: Act, goal: Goal, approval: Approval) -> None:
    """What the challenged decision asked for is withdrawn, and the facts are the next plan's input."""
    for kind in (ApprovalKind.GOAL_FAILURE, ApprovalKind.GOAL_CHANGE):
        for other in pending_about(act, goal, kind):
            _withdraw(act, other, "the review that asked for it was challenged with success")
    facts = f"challenge upheld: {approval.payload['facts']}"
    note = f" The operator: {approval.note}" if approval.note and approval.decided_by else ""
    act.tx.update(goal, "ChallengeUpheld", touch=False, reason=(facts + note)[:TEXT_MAX])


def _withdraw(act: Act, approval: Approval, note: str) -> None:
    APPROVAL.require(approval.name_tag, approval.status, ApprovalStatus.CANCELLED, "CancelApproval", SYSTEM_CAPACITY)
    act.tx.update(approval, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note=note)


def _tell_author(act: Act, goal: Goal, approval: Approval) -> None:
    comment = _say(act, goal, approval.note, approval.payload["comment"])
    mention(act, comment, [approval.payload["by"]])


def _goal_of(act: Act, approval: Approval) -> Goal:
    return act.tx.get(Goal, int(approval.entity.partition(":")[2]))


def require_unchallenged(act: Act, goal: Goal) -> None:
    """Raises Conflict while a challenge waits: what is in doubt is not reported."""
    pending = pending_about(act, goal, ApprovalKind.CHALLENGE)
    if pending:
        raise Conflict(
            f"The review of {goal.name_tag} is challenged: {pending[0].name_tag} waits for the operator.",
            "Answer it (AnswerChallenge), then wait.",
        )
