"""Commands on goals as drafts: made, edited, reviewed, sent back to their author."""

from collections.abc import Sequence

from pydantic import Field

from core.commands.registry import Act, Answer, Command, Reason, Text, Title, handles, letters
from core.commands.tasks import NewTask, add_task
from core.domain.actors import HUMAN, Agent, Operator
from core.domain.entities import Comment, Goal, MustHave
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import content_hash, is_reviewed
from core.domain.lifecycles import GOAL
from core.domain.limits import ROUND_CAP, TASKS_AT_ONCE
from core.domain.states import (
    CommentKind,
    GoalStatus,
    Origin,
    TaskStatus,
)


def number_must_haves(texts: Sequence[str], start: int = 1) -> list[MustHave]:
    """Must-haves M1, M2, … from their texts."""
    return [MustHave(id=f"M{i}", text=text, waived_by="") for i, text in enumerate(texts, start)]


class CreateGoal(Command):
    """Make a draft goal. Dispatching it is another act (S1-10)."""

    who = letters("HX")
    title: Title
    description: Text = ""
    must_haves: tuple[Title, ...] = Field((), description="What must be delivered; each gets an id M1, M2, …")
    constraints: tuple[Text, ...] = ()
    split: bool = Field(True, description="False: exactly one draft task with the same description (S1-12)")
    tasks: tuple[NewTask, ...] = Field((), max_length=TASKS_AT_ONCE, description="Draft tasks to begin with")
    round_cap: int = Field(ROUND_CAP, ge=1, le=100)


@handles(CreateGoal)
def create_goal(act: Act, command: CreateGoal) -> Answer:
    by_human = isinstance(act.actor, Operator)
    if not by_human:
        _refuse_second_draft(act, command)
    must_haves = number_must_haves(command.must_haves)
    hashed = content_hash(command.title, command.description, must_haves, command.constraints)
    goal = act.tx.insert(
        Goal,
        "GoalCreated",
        title=command.title,
        description=command.description,
        must_haves=must_haves,
        constraints=command.constraints,
        status=GoalStatus.DRAFT,
        origin=Origin.OPERATOR if by_human else Origin.CEO,
        created_by=act.label,
        content_hash=hashed,
        reviewed_by=HUMAN if by_human else None,
        reviewed_at=act.tx.now if by_human else None,
        reviewed_hash=hashed if by_human else None,
        split=command.split,
        round_cap=command.round_cap,
        paused_at=None,
        reason="",
    )
    tasks = [add_task(act, goal, new, TaskStatus.DRAFT, None).id for new in command.tasks]
    if not tasks:
        only = NewTask(title=command.title, intent=command.description or command.title, end_state="")
        tasks.append(add_task(act, goal, only, TaskStatus.DRAFT, None).id)
    return {"id": goal.id, "status": "draft", "content_hash": hashed, "tasks": tasks}


def _refuse_second_draft(act: Act, command: CreateGoal) -> None:
    if command.split:
        raise Invalid("A CEO's draft is not split before a person has seen it.", "Send split: false (S1-11).")
    if len(command.tasks) > 1:
        raise Invalid("A CEO's draft has exactly one draft task.", "Leave tasks out; the coordinator plans them.")
    open_drafts = act.tx.select(Goal, "status = 'draft' AND origin = 'ceo' LIMIT 1")
    if open_drafts:
        raise Conflict(
            f"{open_drafts[0].name_tag} is a CEO's draft that still waits for the operator.", "Edit that one (S1-18)."
        )


class EditGoal(Command):
    """Change a draft. A human's edit reviews what it saved; an agent's edit clears the review (D-02)."""

    who = letters("HX")
    goal: int
    title: Title | None = None
    description: Text | None = None
    must_haves: tuple[Title, ...] | None = None
    constraints: tuple[Text, ...] | None = None


@handles(EditGoal)
def edit_goal(act: Act, command: EditGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: only a draft can be edited.", GOAL.hint(goal.status))
    if isinstance(act.actor, Agent) and goal.created_by != act.label:
        raise Forbidden(f"{goal.name_tag} is not your draft.", "Comment on it instead.")
    title = command.title if command.title is not None else goal.title
    description = command.description if command.description is not None else goal.description
    constraints = command.constraints if command.constraints is not None else goal.constraints
    must_haves = list(goal.must_haves) if command.must_haves is None else number_must_haves(command.must_haves)
    hashed = content_hash(title, description, must_haves, constraints)
    if hashed == goal.content_hash:
        return {"id": goal.id, "changed": False, "content_hash": hashed}
    by_human = isinstance(act.actor, Operator)
    act.tx.update(
        goal,
        "GoalEdited",
        title=title,
        description=description,
        must_haves=must_haves,
        constraints=constraints,
        content_hash=hashed,
        reviewed_by=HUMAN if by_human else None,
        reviewed_at=act.tx.now if by_human else None,
        reviewed_hash=hashed if by_human else None,
    )
    return {"id": goal.id, "changed": True, "content_hash": hashed}


class ReviewGoal(Command):
    """Approve exactly this content of a draft, so that it may be dispatched."""

    who = letters("H")
    goal: int
    content_hash: str | None = Field(None, description="Hash of what the person read; refused if it differs")


@handles(ReviewGoal)
def review_goal(act: Act, command: ReviewGoal) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: there is no draft to review.", GOAL.hint(goal.status))
    if command.content_hash is not None and command.content_hash != goal.content_hash:
        raise Conflict(f"{goal.name_tag} changed since you read it.", "Read it again, then decide.")
    if is_reviewed(goal):
        raise Conflict(f"{goal.name_tag} is reviewed already.", "Dispatch it, edit it, or cancel it.")
    goal = act.tx.update(
        goal,
        "GoalReviewed",
        touch=False,
        reviewed_by=HUMAN,
        reviewed_at=act.tx.now,
        reviewed_hash=goal.content_hash,
    )
    return {"id": goal.id, "reviewed_hash": goal.reviewed_hash}


class ReviseGoal(Command):
    """Send a draft back to its author with a note; the author is woken with it (F22)."""

    who = letters("H")
    goal: int
    note: Reason


@handles(ReviseGoal)
def revise_goal(act: Act, command: ReviseGoal) -> Answer:
    from core.commands.comments import mention

    goal = act.tx.get(Goal, command.goal)
    if goal.status != GoalStatus.DRAFT:
        raise Conflict(f"{goal.name_tag} is {goal.status}: only a draft can be sent back.", GOAL.hint(goal.status))
    if goal.origin != Origin.CEO:
        raise Conflict(f"{goal.name_tag} is your own draft.", "Edit it.")
    comment = act.tx.insert(
        Comment,
        "GoalSentToAuthor",
        goal_id=goal.id,
        task_id=None,
        author=act.label,
        run_id=None,
        kind=CommentKind.MAIL_REQUEST,
        body=command.note,
        reply_to=None,
        confidence=None,
    )
    woken = mention(act, comment, [goal.created_by])
    return {"id": goal.id, "comment": comment.id, "wakes": woken}
