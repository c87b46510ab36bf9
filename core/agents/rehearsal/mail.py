"""What the operator writes to an agent by its name, and the answer of one that has no model."""

from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.runner import Outcome
from core.domain.entities import Comment


async def noted(shift: Shift) -> Comment | None:
    """The operator's comment that woke this run; agents' thanks to each other wake nobody for long (F7)."""
    return next(
        iter(
            await shift.find(
                Comment,
                "author = 'human' AND id IN (SELECT comment_id FROM mentions WHERE run_id = :run) ORDER BY id DESC",
                run=shift.assignment.run.id,
            )
        ),
        None,
    )


async def answer(shift: Shift) -> Outcome:
    """Anybody else who is named by the operator says what a rehearsal agent can do."""
    note = await noted(shift)
    if note is None:
        return no_reply("no person asked")
    can = ", ".join(shift.assignment.agent.capabilities) or shift.assignment.agent.role
    body = (
        f"I read your note. I am a rehearsal agent without a model: I do {can}, and nothing else. To change the plan,"
        " send the draft or the report back with your note."
    )
    about = {"task": note.task_id} if note.task_id is not None else {"goal": note.goal_id}
    await shift.act("AddComment", body=body, reply_to=note.id, **about)
    return Outcome()
