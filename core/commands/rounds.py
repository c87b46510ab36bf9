"""Commands on rounds: opened with tasks, reviewed with three answers and one decision."""

from typing import TYPE_CHECKING

from pydantic import Field

from core.commands.moves import join_round
from core.commands.registry import Act, Answer, Command, Text, Title, handles, letters
from core.commands.tasks import NewTask, add_task
from core.domain.entities import Goal, MustHave, Round, Task
from core.domain.errors import Conflict, Invalid
from core.domain.lifecycles import ROUND
from core.domain.limits import TASKS_AT_ONCE
from core.domain.states import ApprovalKind, GoalStatus, RoundDecision, RoundStatus, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Sequence


def open_round(act: Act, goal: Goal) -> Round:
    """The next round of a goal, empty. Raises Conflict while another is not closed."""
    unclosed = act.tx.select(Round, "goal_id = :goal AND status <> 'closed'", goal=goal.id)
    if unclosed:
        raise Conflict(f"{goal.name_tag} has round {unclosed[0].number} {unclosed[0].status}.", "Close it first.")
    last = act.tx.value("SELECT max(number) FROM rounds WHERE goal_id = :goal", goal=goal.id) or 0
    return act.tx.insert(
        Round,
        "RoundOpened",
        goal_id=goal.id,
        number=last + 1,
        status=RoundStatus.OPEN,
        answers={},
        decision=None,
        open_tasks=0,
        total_tasks=0,
        review_attempts=0,
    )


def _open_with(act: Act, goal: Goal, tasks: "Sequence[NewTask]") -> tuple[Round, list[int]]:
    round_ = open_round(act, goal)
    # Drafts that were made between two rounds are taken along, as EnqueueTask says; else they would wait for ever.
    for draft in act.tx.select(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal.id):
        join_round(act, draft, act.tx.get(Round, round_.id), "TaskEnqueued", TaskStatus.PENDING)
    made = [add_task(act, goal, new, TaskStatus.PENDING, act.tx.get(Round, round_.id)).id for new in tasks]
    return round_, made


class OpenRound(Command):
    """Open the next round of an active goal with these tasks."""

    who = letters("C")
    goal: int
    tasks: tuple[NewTask, ...] = Field(min_length=1, max_length=TASKS_AT_ONCE)


@handles(OpenRound)
def open_round_command(act: Act, command: OpenRound) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    act.require_own_goal(goal.id)
    if goal.status != GoalStatus.ACTIVE:
        raise Conflict(f"{goal.name_tag} is {goal.status}: no round can be opened.", "Only an active goal has rounds.")
    if goal.reason:
        act.tx.update(goal, "GoalNoteTaken", touch=False, reason="")
    round_, made = _open_with(act, goal, command.tasks)
    return {"id": round_.id, "number": round_.number, "tasks": made}


class ReviewRound(Command):
    """Close a finished round: three answers and exactly one decision (S2-11, S3-19)."""

    who = letters("C")
    round: int
    goal_clear: Text = Field(min_length=1, description="Is the goal still clear?")
    covered: Text = Field(min_length=1, description="Do the outputs cover the goal?")
    next_step: Text = Field(min_length=1, description="What comes next?")
    decision: RoundDecision
    tasks: tuple[NewTask, ...] = Field((), max_length=TASKS_AT_ONCE, description="Tasks of the next round")
    add_must_haves: tuple[Title, ...] = Field((), description="With adjust_goal; none can be taken away")


@handles(ReviewRound)
def review_round(act: Act, command: ReviewRound) -> Answer:
    tx = act.tx
    round_ = tx.get(Round, command.round)
    ROUND.require(round_.name_tag, round_.status, RoundStatus.CLOSED, "ReviewRound", act.capacities)
    act.require_own_goal(round_.goal_id)
    opens = command.decision in (RoundDecision.NEXT_ROUND, RoundDecision.ADJUST_GOAL)
    if opens and not command.tasks:
        raise Invalid(f"{command.decision} needs at least one task.", "Name the tasks of the next round.")
    if command.add_must_haves and command.decision != RoundDecision.ADJUST_GOAL:
        raise Invalid(f"{command.decision} changes no must-have.", "Leave add_must_haves empty, or decide adjust_goal.")
    if not opens and command.tasks:
        raise Invalid(f"{command.decision} opens no round.", "Leave tasks empty, or decide next_round.")
    goal = tx.get(Goal, round_.goal_id)
    if opens and round_.number >= goal.round_cap:
        raise Conflict(
            f"{goal.name_tag} has used its {goal.round_cap} rounds.",
            "Decide report or stop; else the operator decides.",
        )
    answers = {"goal_clear": command.goal_clear, "covered": command.covered, "next_step": command.next_step}
    round_ = tx.update(round_, "RoundReviewed", status=RoundStatus.CLOSED, answers=answers, decision=command.decision)
    answer: Answer = {"id": round_.id, "decision": str(command.decision)}
    if command.decision == RoundDecision.ADJUST_GOAL:
        goal = _add_must_haves(act, goal, command.add_must_haves)
    if opens:
        following, made = _open_with(act, goal, command.tasks)
        answer |= {"next_round": following.number, "tasks": made}
    if command.decision == RoundDecision.STOP:
        from core.commands.approvals import ask

        ask(
            act, ApprovalKind.GOAL_FAILURE, f"goal:{goal.id}", f"The coordinator asks to give {goal.name_tag} up",
            {"goal": goal.id, "why": command.next_step},
        )  # fmt: skip
    return answer


def _add_must_haves(act: Act, goal: Goal, texts: "Sequence[str]") -> Goal:
    from core.domain.goals import content_hash

    known = list(goal.must_haves)
    known += [MustHave(id=f"M{i}", text=text, waived_by="") for i, text in enumerate(texts, len(known) + 1)]
    hashed = content_hash(goal.title, goal.description, known, goal.constraints)
    return act.tx.update(goal, "GoalAdjusted", must_haves=known, content_hash=hashed)


class StallRound(Command):
    """Mark a round in which nothing has been runnable or running for ten minutes (C-05)."""

    who = letters("S")
    round: int
    why: Text


@handles(StallRound)
def stall_round(act: Act, command: StallRound) -> Answer:
    round_ = act.tx.get(Round, command.round)
    ROUND.require(round_.name_tag, round_.status, RoundStatus.STALLED, "StallRound", act.capacities)
    act.tx.update(round_, "RoundStalled", status=RoundStatus.STALLED, answers={"stalled": command.why})
    return {"id": round_.id, "status": "stalled"}


class EscalateRound(Command):
    """Hand a round to the operator: its cap is reached, or its review failed three times."""

    who = letters("S")
    round: int
    why: Text


@handles(EscalateRound)
def escalate_round(act: Act, command: EscalateRound) -> Answer:
    round_ = act.tx.get(Round, command.round)
    ROUND.require(round_.name_tag, round_.status, RoundStatus.ESCALATED, "EscalateRound", act.capacities)
    act.tx.update(round_, "RoundEscalated", status=RoundStatus.ESCALATED, answers={"escalated": command.why})
    return {"id": round_.id, "status": "escalated"}
