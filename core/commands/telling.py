"""The operator's word on a question about the company: a letter to who asked, which belongs to no goal."""

from core.commands.registry import Act
from core.domain.entities import AgentRecord, Approval, Comment
from core.domain.states import CommentKind


def tell_author(act: Act, approval: Approval, words: str, *, wakes: bool) -> None:
    """Write to who asked, or to the CEO when they have retired; with `wakes` it is called to answer."""
    from core.commands.comments import mention

    found = act.tx.select(
        AgentRecord,
        "status <> 'terminated' AND (slug = :slug OR role = 'ceo') ORDER BY slug <> :slug LIMIT 1",
        slug=approval.requested_by,
    )
    if not found:
        return
    letter = act.tx.insert(
        Comment, "LetterWritten",
        goal_id=None, task_id=None, author=act.label, run_id=None,
        kind=CommentKind.MAIL_REQUEST if wakes else CommentKind.MAIL_INFORM,
        body=f"@{found[0].slug} {approval.name_tag} ({approval.title}) {words}: {approval.note}", reply_to=None,
        confidence=None,
    )  # fmt: skip
    if wakes:
        mention(act, letter, [found[0].slug])
