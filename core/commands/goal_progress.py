"""Commands that move a goal: dispatched, planned, reported, accepted, ended."""

from collections.abc import Sequence

from pydantic import Field

from core.commands.moves import cancel_questions, kill_run, meet_dependency, move_task
from core.commands.registry import Act, Answer, Command, Reason, Text, handles, letters
from core.commands.rounds import open_round
from core.commands.shaping import require_read
from core.commands.telling import say
from core.domain.actors import HUMAN, SYSTEM
from core.domain.discussion import is_placeholder
from core.domain.entities import Goal, MustHave, Round, Run, Task, TaskDep
from core.domain.errors import Conflict, Invalid
from core.domain.goals import is_reviewed
from core.domain.lifecycles import GOAL, ROUND, Who
from core.domain.states import (
    GOAL_FINAL,
    TASK_FINAL,
    BudgetScope,
    CommentKind,
    GoalStatus,
    RoundStatus,
    TaskStatus,
)

REVIEWED = "reviewed_by = 'human' AND reviewed_hash = content_hash"
HAS_DRAFT = "EXISTS (SELECT 1 FROM tasks WHERE tasks.goal_id = goals.id AND tasks.status = 'draft')"


class DispatchGoal(Command):
    """Put a reviewed draft to work: planning by discussion, or straight to a first round.

    By the system only at stage B, within its limits (D-01).
    """

    who = letters("HS")
    goal: int
    discussion: bool = Field(True, description="False: the draft tasks become round 1 at once")
    content_hash: str | None = Field(None, description="Hash of what the person read; refused if it differs")


@handles(DispatchGoal)
def dispatch_goal(act: Act, command: DispatchGoal) -> Answer:
    from core.commands.autonomy import auto_dispatch
    from core.commands.runs import end_live_runs

    goal = act.tx.get(Goal, command.goal)
    target = GoalStatus.PLANNING if command.discussion else GoalStatus.ACTIVE
    GOAL.require(goal.name_tag, goal.status, target, "DispatchGoal", act.capacities)
    require_read(goal, command.content_hash)
    if goal.exploring:
        raise Conflict(f"{goal.name_tag} is draft and still talked over; it was not dispatched.", "Say ready first.")
    unattended = Who.SYSTEM in act.capacities
    # Asked before the draft tasks are looked at, and refused with the goal's name (S1-14).
    if not is_reviewed(goal) and not unattended:
        raise Conflict(
            f"{goal.name_tag} {goal.title!r} was drafted by {goal.created_by} and no person has reviewed exactly this"
            " content; it was not dispatched.",
            "Read it and approve it (ReviewGoal), or edit it.",
        )
    drafts = act.tx.select(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal.id)
    if not drafts:
        raise Conflict(f"{goal.name_tag} has no draft task; it was not dispatched.", "Add a task first (S1-13).")
    if unattended:
        goal = auto_dispatch(act, goal, target)
    else:
        # The same conditions once more in the statement that acts, so that no other writer can come between (C-10).
        # What a person dispatches is no longer stage B's, also if that had it before.
        goal = act.tx.update(
            goal, "GoalDispatched", guard=f"{REVIEWED} AND {HAS_DRAFT}", status=target, auto_dispatched_at=None
        )
    end_live_runs(act, "goal_id = :goal AND kind = 'split'", f"{goal.name_tag} is {target}", goal=goal.id)
    if target == GoalStatus.ACTIVE:
        _open_with_drafts(act, goal, drafts)
    return {"id": goal.id, "status": str(goal.status)}


def _open_with_drafts(act: Act, goal: Goal, drafts: Sequence[Task]) -> Round:
    from core.commands.moves import join_round

    round_ = open_round(act, goal)
    for task in _without_placeholder(act, drafts):
        join_round(act, task, act.tx.get(Round, round_.id), "TaskEnqueued", TaskStatus.PENDING)
    return round_


class ActivateGoal(Command):
    """End the planning: every draft task of the goal becomes part of round 1."""

    who = letters("CS")
    example = {"goal": 3}
    goal: int


@handles(ActivateGoal)
def activate_goal(act: Act, command: ActivateGoal) -> Answer:
    from core.commands.discussion import require_no_open_turn

    goal = act.tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.ACTIVE, "ActivateGoal", act.capacities)
    act.require_own_goal(goal.id)
    require_no_open_turn(act, goal)
    _require_own_tasks(act, goal)
    return activate(act, goal, "ActivateGoal")


def _require_own_tasks(act: Act, goal: Goal) -> None:
    """Raises Conflict when there is only what stands for the whole goal: who rules makes the tasks (S2-30)."""
    wanted = [must["id"] for must in goal.must_haves if not must["waived_by"]]
    drafts = act.tx.select(Task, "goal_id = :goal AND status = 'draft'", goal=goal.id)
    if wanted and drafts and all(is_placeholder(task) for task in drafts):
        raise Conflict(
            f"{goal.name_tag} has no task of its own yet: none is for {', '.join(wanted[:20])}.",
            "Create the tasks, then activate it.",
        )


def activate(act: Act, goal: Goal, by: str) -> Answer:
    """Begin the work of a planned goal by the command `by`: its draft tasks are round 1, but for a placeholder."""
    GOAL.require(goal.name_tag, goal.status, GoalStatus.ACTIVE, by, act.capacities)
    drafts = act.tx.select(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal.id)
    if not drafts:
        raise Conflict(f"{goal.name_tag} has no task to begin with.", "Create tasks first, then activate it.")
    drafts = _without_placeholder(act, drafts)
    named = {must_id for task in drafts for must_id in task.must_haves}
    missing = [must["id"] for must in goal.must_haves if must["id"] not in named and not must["waived_by"]]
    goal = act.tx.update(goal, "GoalActivated", status=GoalStatus.ACTIVE)
    round_ = _open_with_drafts(act, goal, drafts)
    return {"id": goal.id, "round": round_.id, "tasks": [task.id for task in drafts], "not_in_this_round": missing}


def _without_placeholder(act: Act, drafts: Sequence[Task]) -> list[Task]:
    """The tasks to begin with; what only stood for them is cancelled, and whoever waits for it goes on without."""
    others = [task for task in drafts if not is_placeholder(task)]
    if not others or len(others) == len(drafts):
        return list(drafts)
    for placeholder in (task for task in drafts if is_placeholder(task)):
        for edge in act.tx.select(TaskDep, "depends_on = :task AND met = 0 ORDER BY id", task=placeholder.id):
            meet_dependency(act, edge)
        move_task(
            act, placeholder, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled",
            as_system=True, reason="superseded by the tasks of the plan",
        )  # fmt: skip
    return [act.tx.get(Task, task.id) for task in others]


class AcceptGoal(Command):
    """Accept the report: the goal is done."""

    who = letters("H")
    goal: int
    note: Text = ""


@handles(AcceptGoal)
def accept_goal(act: Act, command: AcceptGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.DONE, "AcceptGoal", act.capacities)
    end_goal(act, goal, GoalStatus.DONE, "GoalAccepted", command.note)
    return {"id": goal.id, "status": "done"}


class SendBackGoal(Command):
    """Send the report back with a note: the goal is active again and the coordinator is woken with it."""

    who = letters("H")
    goal: int
    note: Reason


@handles(SendBackGoal)
def send_back_goal(act: Act, command: SendBackGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.ACTIVE, "SendBackGoal", act.capacities)
    comment = say(act, "GoalNoteWritten", CommentKind.MAIL_REQUEST, command.note, goal=goal.id)
    act.tx.update(goal, "GoalSentBack", status=GoalStatus.ACTIVE, reason=command.note)
    return {"id": goal.id, "status": "active", "comment": comment.id}


class CancelGoal(Command):
    """Stop a goal for good: its open tasks are cancelled and its runs end."""

    who = letters("H")
    goal: int
    reason: Reason


@handles(CancelGoal)
def cancel_goal(act: Act, command: CancelGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.CANCELLED, "CancelGoal", act.capacities)
    end_goal(act, goal, GoalStatus.CANCELLED, "GoalCancelled", command.reason)
    return {"id": goal.id, "status": "cancelled"}


class ArchiveGoal(Command):
    """Put an ended goal out of sight."""

    who = letters("H")
    goal: int


@handles(ArchiveGoal)
def archive_goal(act: Act, command: ArchiveGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    GOAL.require(goal.name_tag, goal.status, GoalStatus.ARCHIVED, "ArchiveGoal", act.capacities)
    act.tx.update(goal, "GoalArchived", status=GoalStatus.ARCHIVED)
    return {"id": goal.id, "status": "archived"}


class PauseGoal(Command):
    """Start no new run for a goal until it is resumed; what runs may finish."""

    who = letters("H")
    goal: int
    paused: bool = True


@handles(PauseGoal)
def pause_goal(act: Act, command: PauseGoal) -> Answer:
    from core.commands.budgets import withdraw_question

    goal = act.tx.get(Goal, command.goal)
    if goal.status in (GoalStatus.DONE, GoalStatus.FAILED, GoalStatus.CANCELLED, GoalStatus.ARCHIVED):
        raise Conflict(f"{goal.name_tag} is {goal.status}: there is nothing to pause.", GOAL.hint(goal.status))
    event = "GoalPaused" if command.paused else "GoalResumed"
    act.tx.update(goal, event, touch=False, paused_at=act.tx.now if command.paused else None)
    if command.paused:
        withdraw_question(act, BudgetScope.GOAL, goal.id, f"{goal.name_tag} was paused")
    return {"id": goal.id, "paused": command.paused}


class WaiveMustHave(Command):
    """Drop a must-have; only a person can (F10)."""

    who = letters("H")
    goal: int
    must_have: str


@handles(WaiveMustHave)
def waive_must_have(act: Act, command: WaiveMustHave) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status in GOAL_FINAL or goal.status == GoalStatus.ARCHIVED:
        raise Conflict(f"{goal.name_tag} is {goal.status}: there is nothing to waive.", GOAL.hint(goal.status))
    if command.must_have not in {must["id"] for must in goal.must_haves}:
        known = ", ".join(must["id"] for must in goal.must_haves) or "none"
        raise Invalid(f"{goal.name_tag} has no must-have {command.must_have}.", f"It has: {known}.")
    waived = [
        MustHave(**{**must, "waived_by": HUMAN}) if must["id"] == command.must_have else must
        for must in goal.must_haves
    ]
    act.tx.update(goal, "MustHaveWaived", touch=False, must_haves=waived)
    return {"id": goal.id, "waived": command.must_have}


def end_goal(act: Act, goal: Goal, status: GoalStatus, event: str, reason: str) -> Goal:
    """End a goal and all that hangs on it: its talk, tasks, round, questions, runs."""
    goal = act.tx.update(goal, event, status=status, reason=reason, exploring=False)
    wind_down(act, goal, f"{goal.name_tag} is {status}")
    return goal


def wind_down(act: Act, goal: Goal, why: str) -> None:
    """End what hangs on a goal that is no longer at work: its talk, open tasks, round, questions and runs."""
    from core.commands.discussion import end_turn, last_turn

    tx = act.tx
    turn = last_turn(act, goal.id)
    if turn is not None and turn.ended_at is None:
        end_turn(act, turn, why)
    for task in tx.select(Task, "goal_id = :goal ORDER BY id", goal=goal.id):
        current = tx.get(Task, task.id)
        if current.status not in TASK_FINAL:
            move_task(
                act, current, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled",
                as_system=True, reason=why,
            )  # fmt: skip
    for round_ in tx.select(Round, "goal_id = :goal AND status <> 'closed'", goal=goal.id):
        ROUND.require(round_.name_tag, round_.status, RoundStatus.CLOSED, "CloseRound", frozenset({Who.SYSTEM}))
        tx.update(round_, "RoundClosed", status=RoundStatus.CLOSED, answers={SYSTEM: why})
        cancel_questions(act, f"round:{round_.id}")
    cancel_questions(act, f"goal:{goal.id}")
    for run in tx.select(Run, "goal_id = :goal AND status IN ('queued', 'starting', 'running')", goal=goal.id):
        if act.run is None or run.id != act.run.id:
            kill_run(act, run, why)
