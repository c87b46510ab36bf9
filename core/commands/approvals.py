"""Questions to the operator: asked once, decided once, consumed once."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic import Field

from core.commands.moves import finish_round, kill_run, move_task
from core.commands.registry import Act, Answer, Command, Text, Title, handles, letters
from core.domain.actors import SYSTEM, Operator
from core.domain.entities import AgentRecord, Approval, Company, Entity, Goal, Round, Run, Task
from core.domain.errors import Conflict, Invalid
from core.domain.goals import canonical_hash
from core.domain.lifecycles import APPROVAL, GOAL, ROUND
from core.domain.limits import QUESTIONS_PER_AGENT
from core.domain.states import (
    GOAL_FINAL,
    TASK_FINAL,
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    GoalStatus,
    RoundStatus,
    TaskStatus,
)

DECISIONS = {
    "approved": ("ApprovalApproved", ApprovalStatus.APPROVED),
    "rejected": ("ApprovalRejected", ApprovalStatus.REJECTED),
    "revision_requested": ("ApprovalSentBack", ApprovalStatus.REVISION_REQUESTED),
}

# Only the program's own questions say what a "no" ends, and an agent's about the task that it has itself.
ON_REJECT = "on_reject"

# Questions whose payload only one command knows how to make.
ASKED_BY_THEIR_OWN = {
    ApprovalKind.HIRE_AGENT: "ProposeHire, as the CEO",
    ApprovalKind.ORG_CHANGE: "ProposeOrganisation, as the CEO",
    ApprovalKind.GOAL_CHANGE: "ReviewRound with adjust_goal",
    ApprovalKind.CHALLENGE: "ChallengeRound",
    ApprovalKind.EXCHANGE: "a comment; the system asks by itself when an exchange does not end",
    ApprovalKind.AUTONOMY: "nothing; the system asks when a limit of stage B is reached",
    ApprovalKind.BUDGET: "nothing; the system asks when a budget holds a run back",
    ApprovalKind.MAIL: "AddComment of kind question or mail_request that names @operator",
}

Answering = Callable[[Act, Approval], str]
_ANSWERS: dict[ApprovalKind, Answering] = {}


def answers(kind: ApprovalKind) -> Callable[[Answering], Answering]:
    """Register what a decision on this kind of question sets in motion, in the decision's transaction.

    The function gets the decided approval and answers a word for what followed.
    """

    def register(answering: Answering) -> Answering:
        _ANSWERS[kind] = answering
        return answering

    return register


def ask(
    act: Act, kind: ApprovalKind, entity: str, title: str, payload: dict[str, Any], expires_at: int | None = None
) -> Approval:
    """Put a question to the operator. Raises Conflict if the same one is already pending (F13)."""
    pending = act.tx.select(
        Approval, "kind = :kind AND entity = :entity AND status = 'pending'", kind=kind, entity=entity
    )
    if pending:
        raise Conflict(f"{pending[0].name_tag} already asks this about {entity}.", "Wait for the operator's answer.")
    return act.tx.insert(
        Approval, "ApprovalRequested",
        kind=kind, entity=entity, title=title, payload=payload, payload_hash=canonical_hash(payload),
        status=ApprovalStatus.PENDING, requested_by=act.label, run_id=act.run.id if act.run else None,
        decided_by=None, decided_at=None, note="", consumed_at=None, expires_at=expires_at,
    )  # fmt: skip


def ask_anew(act: Act, kind: ApprovalKind, entity: str, title: str, payload: dict[str, Any]) -> Approval:
    """Put a question that a move needs. An older one of the kind gives way: it must not hinder the move (F1)."""
    older = "kind = :kind AND entity = :entity AND status = 'pending'"
    for approval in act.tx.select(Approval, older, kind=kind, entity=entity):
        act.tx.update(approval, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note="a newer question is asked")
    return ask(act, kind, entity, title, payload)


def consume(act: Act, approval: Approval, payload: dict[str, Any], subjects: frozenset[str]) -> Approval:
    """Use an approval in the transaction of its act. Raises Conflict unless approved, unused, equal and about it."""
    APPROVAL.require(approval.name_tag, approval.status, ApprovalStatus.CONSUMED, "ConsumeApproval", act.capacities)
    if approval.entity not in subjects:
        raise Conflict(f"{approval.name_tag} is about {approval.entity}, not about this.", "Ask about this.")
    if canonical_hash(payload) != approval.payload_hash:
        raise Conflict(
            f"{approval.name_tag} approved something else than this.", "Ask again with exactly what is to be done."
        )
    return act.tx.update(approval, "ApprovalConsumed", status=ApprovalStatus.CONSUMED, consumed_at=act.tx.now)


class RequestApproval(Command):
    """Ask the operator about a goal or a round; the answer is a decision on the approval."""

    who = letters("CXS")
    example = {
        "kind": "question",
        "entity": "goal:3",
        "title": "May the audit leave the archives out?",
        "payload": {"why": "…"},
    }
    kind: ApprovalKind
    entity: str = Field(pattern=r"^(task|goal|round|agent|company):[1-9][0-9]{0,17}$", description="e.g. goal:3")
    title: Title
    payload: dict[str, Any] = Field(default_factory=dict, description="Exactly what will be done if approved")


@handles(RequestApproval)
def request_approval(act: Act, command: RequestApproval) -> Answer:
    if command.kind in ASKED_BY_THEIR_OWN:
        raise Invalid(f"{command.kind} is not asked like this.", f"Send {ASKED_BY_THEIR_OWN[command.kind]}.")
    _require_subject(act, command)
    _require_own_words(act, command.payload)
    _require_room(act)
    approval = ask(act, command.kind, command.entity, command.title, command.payload)
    return {"id": approval.id, "payload_hash": approval.payload_hash}


def _require_own_words(act: Act, payload: dict[str, Any]) -> None:
    """Raises Invalid when an agent says what only the program's own questions say: its no would end a goal."""
    if act.run is not None and ON_REJECT in payload:
        raise Invalid(f"{ON_REJECT} in a payload is the program's own.", "Leave it out; say it in words.")


def _require_room(act: Act) -> None:
    """Raises Conflict when as many questions of the agent wait as may: a person reads each of them (F23)."""
    waiting = "status = 'pending' AND requested_by = :agent"
    asked = act.tx.value(f"SELECT count(*) FROM approvals WHERE {waiting}", agent=act.label)
    if act.run is not None and asked >= QUESTIONS_PER_AGENT:
        raise Conflict(f"{asked} questions of {act.label} wait for the operator already.", "Wait for the answers.")


def _require_subject(act: Act, command: RequestApproval) -> None:
    """What nobody could decide is not asked: no such thing, an ended one, or a failure of what is no goal at work.

    Agents ask about the goal of their run alone.
    """
    name, _, number = command.entity.partition(":")
    subject = act.tx.get(_SUBJECTS[name], int(number))
    if isinstance(subject, (Task, Goal, Round)):
        # A question holds up what it is about, and may end it.
        act.require_own_goal(subject.id if isinstance(subject, Goal) else subject.goal_id)
    status = getattr(subject, "status", "")
    if command.kind == ApprovalKind.GOAL_FAILURE:
        if not isinstance(subject, Goal):
            raise Invalid(f"{command.entity} is no goal.", "Ask about a goal, e.g. goal:3.")
        if GOAL.find(status, GoalStatus.FAILED, "FailGoal") is None:
            raise Conflict(f"{subject.name_tag} is {status}: it cannot be given up.", GOAL.hint(status))
    if status in _ENDED.get(name, ()):
        raise Conflict(f"{subject.name_tag} is {status}: there is nothing to ask about it.", "Ask about what is open.")


_SUBJECTS: dict[str, type[Entity]] = {
    cls.table.removesuffix("s"): cls for cls in (Task, Goal, Round, AgentRecord, Company)
}
_ENDED: dict[str, frozenset[str]] = {
    "task": TASK_FINAL,
    "goal": GOAL_FINAL | {GoalStatus.ARCHIVED},
    "round": frozenset({RoundStatus.CLOSED}),
    "agent": frozenset({AgentStatus.TERMINATED}),
}


class DecideApproval(Command):
    """Approve, reject or send back what waits for the operator. The first decision wins."""

    who = letters("H")
    approval: int
    decision: Literal["approved", "rejected", "revision_requested"]
    note: Text = Field("", description="The reason; needed unless approved")
    payload_hash: str | None = Field(None, description="Hash of what the person saw; refused if it differs")


@handles(DecideApproval)
def decide_approval(act: Act, command: DecideApproval) -> Answer:
    approval = act.tx.get(Approval, command.approval)
    event, status = DECISIONS[command.decision]
    require_pending(approval)
    APPROVAL.require(approval.name_tag, approval.status, status, "DecideApproval", act.capacities)
    note = command.note.strip()
    if command.decision != "approved" and not note:
        raise Invalid("A refusal needs a reason.", "Say in a line what is wrong or missing.")
    if command.payload_hash is not None and command.payload_hash != approval.payload_hash:
        raise Conflict(f"{approval.name_tag} changed since you read it.", "Read it again, then decide.")
    approval = act.tx.update(approval, event, status=status, decided_by=act.label, decided_at=act.tx.now, note=note)
    follow_up = _carry_out(act, approval)
    return {"id": approval.id, "status": str(approval.status), "follow_up": follow_up}


def require_pending(approval: Approval) -> None:
    """Raises Conflict when it is decided: the first decision wins."""
    if approval.status != ApprovalStatus.PENDING:
        raise Conflict(
            f"{approval.name_tag} was already decided: {approval.status}"
            + (f" by {approval.decided_by}." if approval.decided_by else "."),
            "Look at what became of it.",
        )


def _carry_out(act: Act, approval: Approval) -> str:
    """What a decision sets in motion at once, in its own transaction."""
    subject, _, number = approval.entity.partition(":")
    # A permission about a goal or the company is a question like others; about a run, its program waits for the word.
    if approval.kind in _ANSWERS and (approval.kind != ApprovalKind.PERMISSION or subject == "run"):
        return _ANSWERS[approval.kind](act, approval)
    if not number.isdecimal():
        return ""
    entity_id = int(number)
    if subject == "task":
        return _answer_task(act, approval, act.tx.get(Task, entity_id))
    if subject == "round":
        return _answer_round(act, approval, act.tx.get(Round, entity_id))
    if subject in ("company", "agent"):
        return _answer_asker(act, approval)
    if approval.kind == ApprovalKind.GOAL_FAILURE and approval.status == ApprovalStatus.APPROVED:
        from core.commands.goal_progress import end_goal

        goal = act.tx.get(Goal, entity_id)
        GOAL.require(goal.name_tag, goal.status, GoalStatus.FAILED, "FailGoal", act.capacities)
        consume_as_system(act, approval)
        end_goal(act, goal, GoalStatus.FAILED, "GoalFailed", str(approval.payload.get("why", approval.title)))
        return "failed"
    if approval.kind == ApprovalKind.QUESTION and approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
        return "tried again"
    if subject == "goal" and approval.status == ApprovalStatus.REJECTED:
        return _give_up(act, approval, act.tx.get(Goal, entity_id))
    return ""


def _answer_asker(act: Act, approval: Approval) -> str:
    """Nothing moves by itself when the company or an agent was asked about: who asked hears it and is woken."""
    from core.commands.telling import tell_author

    if approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
    if approval.requested_by == SYSTEM:
        return ""
    words = {ApprovalStatus.APPROVED: "was approved", ApprovalStatus.REJECTED: "was refused"}
    tell_author(act, approval, words.get(approval.status, "was sent back"), wakes=True)
    return "answered"


def _give_up(act: Act, approval: Approval, goal: Goal) -> str:
    """A goal that nobody may try again would wait for ever: a no ends it, if that is what the question said (F16)."""
    from core.commands.goal_progress import end_goal

    if approval.payload.get("on_reject") != "cancel" or goal.status not in (GoalStatus.PLANNING, GoalStatus.ACTIVE):
        return ""
    end_goal(act, goal, GoalStatus.CANCELLED, "GoalCancelled", approval.note)
    return "cancelled"


def consume_as_system(act: Act, approval: Approval) -> Approval:
    """The decision itself is the act: consume it in the same transaction."""
    return act.tx.update(approval, "ApprovalConsumed", status=ApprovalStatus.CONSUMED, consumed_at=act.tx.now)


def _answer_task(act: Act, approval: Approval, task: Task) -> str:
    if task.status in TASK_FINAL:
        return str(task.status)
    if approval.status == ApprovalStatus.REJECTED and approval.payload.get("on_reject") == "cancel":
        move_task(act, task, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled", reason=approval.note)
        return "cancelled"
    if approval.kind == ApprovalKind.QUESTION and approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
    if task.status != TaskStatus.WAITING_HUMAN:
        return str(task.status)
    reason = approval.note or f"{approval.name_tag} {approval.status}"
    move_task(act, task, TaskStatus.PENDING, "ResumeTask", "TaskResumed", attempts=0, reason=reason)
    return "pending"


def _answer_round(act: Act, approval: Approval, round_: Round) -> str:
    if approval.status == ApprovalStatus.REJECTED and approval.payload.get("on_reject") == "cancel":
        # What cannot go on in it ends, so that the round comes to its review (F16).
        for task in act.tx.select(Task, "round_id = :round ORDER BY id", round=round_.id):
            current = act.tx.get(Task, task.id)
            if current.status not in TASK_FINAL:
                move_task(act, current, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled", reason=approval.note)
        return "cancelled"
    if approval.status != ApprovalStatus.APPROVED:
        return ""
    consume_as_system(act, approval)
    if round_.status == RoundStatus.ESCALATED:
        return "escalated"
    if round_.status == RoundStatus.STALLED and round_.open_tasks == 0:
        finish_round(act, round_)
    return str(round_.status)


class ResolveRound(Command):
    """Decide an escalated round in the coordinator's place."""

    who = letters("H")
    round: int
    decision: Literal["report", "stop"]
    note: Text = ""


@handles(ResolveRound)
def resolve_round(act: Act, command: ResolveRound) -> Answer:
    round_ = act.tx.get(Round, command.round)
    ROUND.require(round_.name_tag, round_.status, RoundStatus.CLOSED, "ResolveRound", act.capacities)
    act.tx.update(
        round_,
        "RoundResolved",
        status=RoundStatus.CLOSED,
        decision=command.decision,
        answers={"operator": command.note},
    )
    if command.decision == "stop":
        from core.commands.goal_progress import end_goal

        end_goal(
            act, act.tx.get(Goal, round_.goal_id), GoalStatus.CANCELLED, "GoalCancelled", command.note or "stopped"
        )
    return {"id": round_.id, "decision": command.decision}


class KillRun(Command):
    """End a run; its task goes back to pending with a new fence."""

    who = letters("HS")
    run: int
    reason: Text = "ended by the operator"


@handles(KillRun)
def kill_run_command(act: Act, command: KillRun) -> Answer:
    from core.commands.runs import give_back

    run = act.tx.get(Run, command.run)
    run = kill_run(act, run, command.reason)
    give_back(act, run, command.reason, costs_attempt=False, wakes_again=not isinstance(act.actor, Operator))
    return {"id": run.id, "status": "killed"}
