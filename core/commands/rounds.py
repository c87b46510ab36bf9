"""Commands on rounds: opened with tasks, reviewed with three answers and one decision."""

from typing import TYPE_CHECKING

from pydantic import Field

from core.commands.approvals import ask
from core.commands.goal_changes import GoalChange, ask_goal_change, require_unchanging
from core.commands.moves import join_round, kill_run, move_task
from core.commands.registry import Act, Answer, Command, Reason, Text, handles, letters
from core.commands.shaping import require_shape
from core.commands.tasks import NewTask, add_task
from core.domain.entities import Goal, Round, Run, Task
from core.domain.errors import Conflict, Invalid
from core.domain.lifecycles import GOAL, ROUND
from core.domain.limits import TASKS_AT_ONCE
from core.domain.states import (
    TASK_FINAL,
    ApprovalKind,
    GoalStatus,
    RoundDecision,
    RoundStatus,
    RunKind,
    TaskStatus,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

LIVE = "status IN ('queued', 'starting', 'running')"


def open_round(act: Act, goal: Goal) -> Round:
    """The next round of a goal, empty. Raises Conflict while another is not closed."""
    require_unchanging(act, goal)
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
    example = {"goal": 3, "tasks": ({"title": "Count the links", "end_state": "Their number.", "must_haves": ("M2",)},)}
    goal: int
    tasks: tuple[NewTask, ...] = Field(min_length=1, max_length=TASKS_AT_ONCE)


@handles(OpenRound)
def open_round_command(act: Act, command: OpenRound) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    act.require_own_goal(goal.id)
    if goal.status != GoalStatus.ACTIVE:
        raise Conflict(f"{goal.name_tag} is {goal.status}: no round can be opened.", "Only an active goal has rounds.")
    require_shape(act, goal, command.tasks)
    _require_room(act, goal)
    if goal.reason:
        goal = act.tx.update(goal, "GoalNoteTaken", touch=False, reason="")
    round_, made = _open_with(act, goal, command.tasks)
    return {"id": round_.id, "number": round_.number, "tasks": made}


def _require_room(act: Act, goal: Goal) -> None:
    """Raises Conflict when the cap is reached, unless the operator decided about the goal since its last round began.

    A report that was sent back, or a refusal to give the goal up, asks for one round more.
    """
    last = act.tx.select(Round, "goal_id = :goal ORDER BY number DESC LIMIT 1", goal=goal.id)
    if not last or last[0].number < goal.round_cap:
        return
    word = act.tx.value(
        "SELECT 1 FROM approvals WHERE entity = :entity AND kind NOT IN ('mail', 'exchange') AND decided_at >= :since"
        " UNION SELECT 1 FROM events WHERE entity = 'goals' AND entity_id = :goal AND kind = 'GoalSentBack'"
        " AND at >= :since LIMIT 1",
        entity=f"goal:{goal.id}", goal=goal.id, since=last[0].created_at,
    )  # fmt: skip
    if word is None:
        raise Conflict(
            f"{goal.name_tag} has used its {goal.round_cap} rounds.",
            "Report what there is; the operator decides about the rest.",
        )


class ReviewRound(Command):
    """Close a finished round: three answers and exactly one decision (S2-11, S3-19)."""

    who = letters("C")
    example = {
        "round": 4, "goal_clear": "Yes.", "covered": "M1 by O17; M2 is open.", "next_step": "Count the links.",
        "decision": "next_round",
        "tasks": ({"title": "Count the links", "end_state": "Their number.", "must_haves": ("M2",)},),
    }  # fmt: skip
    round: int
    goal_clear: Text = Field(min_length=1, description="Is the goal still clear?")
    covered: Text = Field(min_length=1, description="Do the outputs cover the goal?")
    next_step: Text = Field(min_length=1, description="What comes next?")
    decision: RoundDecision
    tasks: tuple[NewTask, ...] = Field((), max_length=TASKS_AT_ONCE, description="With next_round: its tasks")
    goal_change: GoalChange | None = Field(None, description="With adjust_goal: what the goal is to become")


@handles(ReviewRound)
def review_round(act: Act, command: ReviewRound) -> Answer:
    tx = act.tx
    round_ = tx.get(Round, command.round)
    ROUND.require(round_.name_tag, round_.status, RoundStatus.CLOSED, "ReviewRound", act.capacities)
    act.require_own_goal(round_.goal_id)
    goal = tx.get(Goal, round_.goal_id)
    if goal.status != GoalStatus.ACTIVE:
        raise Conflict(f"{goal.name_tag} is {goal.status}: nothing follows from its rounds.", GOAL.hint(goal.status))
    _require_whole(command)
    if command.decision == RoundDecision.NEXT_ROUND and round_.number >= goal.round_cap:
        raise Conflict(
            f"{goal.name_tag} has used its {goal.round_cap} rounds.",
            "Decide report, adjust_goal or stop; else the operator decides.",
        )
    require_shape(act, goal, command.tasks)
    answers = {"goal_clear": command.goal_clear, "covered": command.covered, "next_step": command.next_step}
    round_ = tx.update(round_, "RoundReviewed", status=RoundStatus.CLOSED, answers=answers, decision=command.decision)
    answer: Answer = {"id": round_.id, "decision": str(command.decision)}
    if command.decision == RoundDecision.NEXT_ROUND:
        following, made = _open_with(act, goal, command.tasks)
        answer |= {"next_round": following.number, "tasks": made}
    if command.goal_change is not None:
        answer["approval"] = ask_goal_change(act, goal, command.goal_change).id
    if command.decision == RoundDecision.STOP:
        answer["approval"] = ask(
            act, ApprovalKind.GOAL_FAILURE, f"goal:{goal.id}", f"The coordinator asks to give {goal.name_tag} up",
            {"goal": goal.id, "why": command.next_step},
        ).id  # fmt: skip
    return answer


def _require_whole(command: ReviewRound) -> None:
    """Raises Invalid unless the decision has what it needs, and nothing that belongs to another one."""
    decision = command.decision
    if decision == RoundDecision.NEXT_ROUND and not command.tasks:
        raise Invalid(f"{decision} needs at least one task.", "Name the tasks of the next round.")
    if decision != RoundDecision.NEXT_ROUND and command.tasks:
        raise Invalid(f"{decision} opens no round.", "Leave tasks empty, or decide next_round.")
    if decision == RoundDecision.ADJUST_GOAL and command.goal_change is None:
        raise Invalid(f"{decision} needs goal_change.", "Say what the goal is to become, and why.")
    if decision != RoundDecision.ADJUST_GOAL and command.goal_change is not None:
        raise Invalid(f"{decision} changes no goal.", "Leave goal_change out, or decide adjust_goal.")


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


class EndRound(Command):
    """End a round that goes on or stands still: its open tasks are cancelled, and the coordinator reviews it."""

    who = letters("H")
    round: int
    reason: Reason


@handles(EndRound)
def end_round(act: Act, command: EndRound) -> Answer:
    tx = act.tx
    round_ = tx.get(Round, command.round)
    if round_.status not in (RoundStatus.OPEN, RoundStatus.STALLED):
        raise Conflict(f"{round_.name_tag} is {round_.status}: nothing in it goes on.", ROUND.hint(round_.status))
    tx.update(round_, "RoundEnded", answers={**round_.answers, "ended": command.reason})
    for run in tx.select(Run, f"round_id = :round AND {LIVE} AND kind = :kind", round=round_.id, kind=RunKind.STALL):
        kill_run(act, run, f"{round_.name_tag} was ended by the operator")
    cancelled = []
    for task in tx.select(Task, "round_id = :round ORDER BY id", round=round_.id):
        current = tx.get(Task, task.id)
        if current.status not in TASK_FINAL:
            move_task(act, current, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled", reason=command.reason)
            cancelled.append(task.id)
    return {"id": round_.id, "status": str(tx.get(Round, round_.id).status), "cancelled": cancelled}
