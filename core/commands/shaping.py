"""Well-formed tasks: what agents make says what is to be true in the end, and which must-have it serves (S3-20)."""

from collections.abc import Iterable

from core.commands.registry import Act
from core.domain.actors import Agent
from core.domain.entities import Goal, Task, TaskDep
from core.domain.errors import Conflict, Invalid
from core.domain.goals import content_hash, draft_hash
from core.domain.lifecycles import Who
from core.domain.shape import Shaped, missing_of
from core.domain.states import GoalStatus, Origin, RunKind

_NAMED = 10
_HASH_SHOWN = 16


def require_shape(act: Act, goal: Goal, tasks: Iterable[Shaped]) -> None:
    """Raises Invalid, which names all that is missing in tasks that an agent makes. A person's drafts may be rough."""
    if not isinstance(act.actor, Agent):
        return
    found = [(str(getattr(new, "title", "")), missing) for new in tasks if (missing := missing_of(new, goal))]
    if not found:
        return
    said = [f"{title[:60]!r} lacks {' and '.join(missing)}" for title, missing in found[:_NAMED]]
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    raise Invalid(f"Not every task is well-formed: {'; '.join(said)}{more}.", "Say what is missing and send it again.")


def clear_review(act: Act, goal: Goal) -> None:
    """An agent changes what a draft would begin with: what the person approved was something else (C-10)."""
    if act.run is None or goal.status != GoalStatus.DRAFT or goal.reviewed_by is None:
        return
    # These the person asked for, with a draft of their own that is to be split (S1-11).
    if act.run.kind != RunKind.SPLIT or goal.origin != Origin.OPERATOR:
        act.tx.update(goal, "GoalReviewCleared", touch=False, reviewed_by=None, reviewed_at=None, reviewed_hash=None)


def text_hash(goal: Goal) -> str:
    """The hash of a goal's own text, without its draft tasks."""
    return content_hash(goal.title, goal.description, goal.must_haves, goal.constraints, goal.out_of_scope)


def cover_tasks(act: Act, goal_id: int) -> Goal:
    """Let a draft's hash cover its draft tasks as they are now: what a person reviews is all that would begin (C-10).

    It touches the goal not at all (S1-16). A review that stands covers them too: the person made or asked for them.
    """
    goal = act.tx.get(Goal, goal_id)
    if goal.status != GoalStatus.DRAFT:
        return goal
    drafts = "SELECT id FROM tasks WHERE goal_id = :goal AND status = 'draft'"
    tasks = act.tx.select(Task, f"id IN ({drafts}) ORDER BY id", goal=goal_id)
    edges = act.tx.select(TaskDep, f"task_id IN ({drafts}) ORDER BY id", goal=goal_id)
    hashed = draft_hash(text_hash(goal), goal, tasks, edges)
    if hashed == goal.content_hash:
        return goal
    reviewed = hashed if goal.reviewed_hash == goal.content_hash else goal.reviewed_hash
    return act.tx.update(goal, "DraftTasksCovered", touch=False, content_hash=hashed, reviewed_hash=reviewed)


def is_own_draft(act: Act, goal: Goal) -> bool:
    """Whether the acting agent made the goal; what a CEO drafted is the CEO's in office, whoever that is now."""
    return goal.created_by == act.label or (goal.origin == Origin.CEO and Who.CEO in act.capacities)


def require_read(goal: Goal, seen: str | None) -> None:
    """Raises Conflict when a draft or its tasks are no longer what the person read, whose hash is `seen`.

    The first `_HASH_SHOWN` signs of it are enough: so many are shown where people read.
    """
    if seen is not None and (len(seen) < _HASH_SHOWN or not goal.content_hash.startswith(seen)):
        raise Conflict(f"{goal.name_tag} or its draft tasks changed since you read it.", "Read it again, then decide.")
