"""Well-formed tasks: what agents make says what is to be true in the end, and which must-have it serves (S3-20)."""

from collections.abc import Iterable

from core.commands.registry import Act
from core.domain.actors import Agent
from core.domain.entities import Goal
from core.domain.errors import Invalid
from core.domain.shape import Shaped, missing_of
from core.domain.states import GoalStatus, Origin, RunKind

_NAMED = 10


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
