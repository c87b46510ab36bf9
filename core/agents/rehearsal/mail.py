"""What the operator writes to an agent by its name, and the answer of one that has no model."""

from core.agents.rehearsal.shift import Shift
from core.domain.actors import HUMAN
from core.domain.entities import Comment, Mention
from core.domain.mentions import named_in


async def noted(shift: Shift) -> Comment | None:
    """The operator's newest word that woke this run."""
    words = [word for word in await unanswered(shift) if word.author == HUMAN]
    return words[-1] if words else None


async def unanswered(shift: Shift) -> list[Comment]:
    """The words that woke this run, oldest first, which this agent has not answered.

    One wake stands for all words that named the agent until it came.
    """
    mentions = await shift.find(Mention, "run_id = :run", run=shift.assignment.run.id)
    if not mentions:
        return []
    woke = {mention.comment_id for mention in mentions}
    found = await shift.find(
        Comment,
        "goal_id IS :goal AND task_id IS :task AND id >= :first AND author <> :slug"
        " AND NOT EXISTS (SELECT 1 FROM comments AS own WHERE own.reply_to = comments.id AND own.author = :slug)"
        " ORDER BY id",
        goal=mentions[0].goal_id, task=mentions[0].task_id, first=min(woke), slug=shift.slug,
    )  # fmt: skip
    return [word for word in found if word.id in woke or shift.slug in named_in(word.body)]


async def answer_person(shift: Shift, word: Comment) -> bool:
    """Say what a rehearsal agent can do."""
    can = ", ".join(shift.assignment.agent.capabilities) or shift.assignment.agent.role
    body = (
        f"I read your note. I am a rehearsal agent without a model: I do {can}, and nothing else. To change the plan,"
        " send the draft or the report back with your note."
    )
    about = {"task": word.task_id} if word.task_id is not None else {"goal": word.goal_id}
    await shift.act("AddComment", body=body, reply_to=word.id, **about)
    return True
