"""Words on the blackboard, whoever writes them, and whom they wake."""

from collections.abc import Iterable

from core.commands.registry import Act
from core.domain.entities import AgentRecord, Approval, Comment, Mention
from core.domain.states import CommentKind, MentionStatus


def say(
    act: Act, event: str, kind: CommentKind, body: str, *,
    goal: int | None, task: int | None = None, reply_to: int | None = None, confidence: float | None = None,
) -> Comment:  # fmt: skip
    """Write a comment below a task or a goal, or a letter that belongs to neither; it wakes nobody by itself."""
    return act.tx.insert(
        Comment, event,
        goal_id=goal, task_id=task, author=act.label, run_id=act.run.id if act.run else None,
        kind=kind, body=body, reply_to=reply_to, confidence=confidence,
    )  # fmt: skip


def mention(act: Act, comment: Comment, names: Iterable[str]) -> list[str]:
    """Wake the named agents: nobody twice, nobody themselves, one pending wake an agent and task (S2-29, F7)."""
    tx = act.tx
    woken = []
    for name in dict.fromkeys(names):
        found = tx.select(AgentRecord, "slug = :slug AND status <> 'terminated'", slug=name)
        if not found or found[0].slug == comment.author:
            continue
        agent = found[0]
        pending = tx.value(
            "SELECT 1 FROM mentions WHERE agent_id = :agent AND coalesce(task_id, 0) = :task"
            " AND coalesce(goal_id, 0) = :goal AND status = 'pending'",
            agent=agent.id, task=comment.task_id or 0, goal=comment.goal_id or 0,
        )  # fmt: skip
        if pending is None:
            tx.insert(
                Mention, "AgentMentioned",
                comment_id=comment.id, agent_id=agent.id, goal_id=comment.goal_id, task_id=comment.task_id,
                status=MentionStatus.PENDING, run_id=None,
            )  # fmt: skip
        woken.append(agent.slug)
    return woken


def tell_author(act: Act, approval: Approval, words: str, *, wakes: bool) -> None:
    """The operator's word on a question about the company: a letter to who asked, or to the CEO when they have retired.

    With `wakes` it is called to answer.
    """
    found = act.tx.select(
        AgentRecord,
        "status <> 'terminated' AND (slug = :slug OR role = 'ceo') ORDER BY slug <> :slug LIMIT 1",
        slug=approval.requested_by,
    )
    if not found:
        return
    kind = CommentKind.MAIL_REQUEST if wakes else CommentKind.MAIL_INFORM
    said = f"{words}: {approval.note}" if approval.note else f"{words}."
    body = f"@{found[0].slug} {approval.name_tag} ({approval.title}) {said}"
    letter = say(act, "LetterWritten", kind, body, goal=None)
    if wakes:
        mention(act, letter, [found[0].slug])
