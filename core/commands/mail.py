"""Mail: letters to the operator wait for an answer; an exchange without end goes to a person (C-18, F7).

It stands on the board as all words do: agents have no side channel (S3-05).
"""

import json
from collections.abc import Sequence

from core.commands.approvals import answers, ask, consume_as_system
from core.commands.registry import Act
from core.commands.telling import mention, say
from core.domain.actors import HUMAN, Agent, System
from core.domain.entities import AgentRecord, Approval, Comment, Goal, Mention, Task
from core.domain.limits import EXCHANGE_MESSAGES
from core.domain.mentions import GROUP_MAX, Said, Wakes, exchange, named_in
from core.domain.states import (
    GOAL_FINAL,
    TASK_FINAL,
    ApprovalKind,
    ApprovalStatus,
    CommentKind,
    GoalStatus,
    MentionStatus,
)

_WORDS = GROUP_MAX * EXCHANGE_MESSAGES // 2


def thread_of(comment: Comment | Mention) -> str:
    """The subject whose thread this is in, as approvals name it."""
    return f"goal:{comment.goal_id}" if comment.task_id is None else f"task:{comment.task_id}"


def _same_thread(comment: Comment) -> str:
    """The condition on rows of the same thread; its parameters are `task` and `goal`."""
    return (
        "goal_id = :goal AND task_id IS NULL AND :task IS NULL"
        if comment.task_id is None
        else "task_id = :task AND :goal > 0"
    )


def subjects_alive(act: Act, comment: Comment) -> list[str]:
    """The comment's task and goal, as approvals name them, without what has ended: nothing is asked about that."""
    task, goal = act.tx.find(Task, comment.task_id), act.tx.find(Goal, comment.goal_id)
    alive = [] if task is None or task.status in TASK_FINAL else [f"task:{task.id}"]
    ended = goal is None or goal.status in GOAL_FINAL or goal.status == GoalStatus.ARCHIVED
    return alive if ended else [*alive, f"goal:{comment.goal_id}"]


def pending(act: Act, kind: ApprovalKind, entity: str) -> Approval | None:
    """The question of one kind about a subject that waits for the operator."""
    found = act.tx.select(
        Approval, "kind = :kind AND entity = :entity AND status = 'pending'", kind=kind, entity=entity
    )
    return found[0] if found else None


def ask_by_mail(act: Act, comment: Comment, called: Wakes) -> int | None:
    """Put an agent's question or request before the operator, if it is for them. Answers the approval's id.

    While another one waits in the same thread, this one is only read there. About an ended task its goal is asked.
    """
    for_operator = called.operator or (
        comment.kind == CommentKind.MAIL_REQUEST and not called.names and not called.unknown
    )
    if not isinstance(act.actor, Agent) or comment.kind not in _ASKING or not for_operator:
        return None
    alive = subjects_alive(act, comment)
    if not alive or pending(act, ApprovalKind.MAIL, alive[0]) is not None:
        return None
    payload = {"comment": comment.id, "from": comment.author, "body": comment.body}
    first_line = next((line.strip() for line in comment.body.splitlines() if line.strip()), "")
    title = f"{comment.author} asks: {first_line}"
    return ask(act, ApprovalKind.MAIL, alive[0], title[:200], payload).id


_ASKING = frozenset({CommentKind.QUESTION, CommentKind.MAIL_REQUEST})


@answers(ApprovalKind.MAIL)
def answer_mail(act: Act, approval: Approval) -> str:
    """The operator's word goes below the question and wakes who asked; a no says nothing and wakes nobody."""
    if approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
    asked = act.tx.find(Comment, approval.payload.get("comment"))
    if approval.status == ApprovalStatus.REJECTED or asked is None:
        return "put aside"
    reply = say(
        act, "MailAnswered", CommentKind.DIALOGUE, approval.note or "Yes.",
        goal=asked.goal_id, task=asked.task_id, reply_to=asked.id,
    )  # fmt: skip
    mention(act, reply, [asked.author])
    return "answered"


# Exchanges --------------------------------------------------------------------------------------------------------


def goes_in_circles(act: Act, comment: Comment, names: Sequence[str], agents: frozenset[str]) -> bool:
    """Whether a small group of agents has only woken each other, and changed nothing meanwhile (F7).

    Looked at are the words of this thread, and those that led to this one over whatever threads. A decision of the
    operator about the exchange begins the count anew.
    """
    return any(
        last and not _changed_anything(act, last)
        for last in (exchange(words(act, comment, names), agents) for words in (_thread, _chain))
    )


def _changed_anything(act: Act, last: Sequence[Said]) -> bool:
    """Whether one of those who wrote these words changed a task or an output since the first of them."""
    since = act.tx.value("SELECT min(id) FROM events WHERE entity = 'comments' AND entity_id = :id", id=last[0].id)
    group = {word.author for word in last}
    marks = {f"agent{i}": slug for i, slug in enumerate(sorted(group))}
    changed = act.tx.value(
        # The plus keeps the planner on the newest events, instead of all of tasks that there ever were.
        "SELECT 1 FROM events WHERE id > :since AND +entity IN ('tasks', 'outputs')"
        f" AND actor IN ({', '.join(f':{mark}' for mark in marks)}) ORDER BY id DESC LIMIT 1",
        since=since or 0, **marks,
    )  # fmt: skip
    return changed is not None


def _thread(act: Act, comment: Comment, names: Sequence[str]) -> list[Said]:
    """The last words of the comment's thread since the operator last decided about it, oldest first."""
    tx = act.tx
    decided = tx.value(
        "SELECT max(id) FROM events WHERE entity = 'approvals' AND entity_id IN (SELECT id FROM approvals"
        " WHERE entity = :entity AND kind = 'exchange' AND decided_by IS NOT NULL)",
        entity=thread_of(comment),
    )  # fmt: skip
    rows = tx.all(
        "SELECT id, author, body, kind,"
        " (SELECT min(id) FROM events WHERE entity = 'comments' AND entity_id = comments.id) AS event"
        f" FROM comments WHERE {_same_thread(comment)} ORDER BY id DESC LIMIT {_WORDS}",
        task=comment.task_id, goal=comment.goal_id,
    )  # fmt: skip
    chosen = _chosen(act, [row["id"] for row in rows])
    return [
        Said(
            row["id"], row["author"],
            frozenset(names) if row["id"] == comment.id
            else frozenset(chosen.get(row["id"], ())) | _written(row["kind"], row["body"]),
        )
        for row in reversed(rows) if row["event"] > (decided or 0)
    ]  # fmt: skip


def _chain(act: Act, comment: Comment, names: Sequence[str]) -> list[Said]:
    """The words that led to this one, oldest first: each woke the run that wrote the next, in whatever thread.

    It begins after the operator's last word in this thread, and after a word that the operator let go on.
    """
    spoke = act.tx.value(
        f"SELECT max(id) FROM comments WHERE {_same_thread(comment)} AND author = :human",
        task=comment.task_id, goal=comment.goal_id, human=HUMAN,
    )  # fmt: skip
    said = [Said(comment.id, comment.author, frozenset(names))]
    run_id = comment.run_id
    while run_id is not None and len(said) < _WORDS:
        word = act.tx.one(
            "SELECT comments.id, author, comments.run_id, EXISTS (SELECT 1 FROM events WHERE entity = 'mentions'"
            " AND entity_id = mentions.id AND kind = 'MentionReleased') AS released FROM mentions"
            " JOIN comments ON comments.id = comment_id WHERE mentions.run_id = :run",
            run=run_id,
        )
        if word is None or word["released"] or word["id"] <= (spoke or 0):
            break
        said.append(Said(word["id"], word["author"], frozenset({said[-1].author})))
        run_id = word["run_id"]
    return said[::-1]


def _written(kind: str, body: str) -> frozenset[str]:
    return frozenset() if kind == CommentKind.NOTE else frozenset(named_in(body))


def _chosen(act: Act, comments: Sequence[int]) -> dict[int, list[str]]:
    """Whom comments woke by their rows: names that were chosen do not stand in the text."""
    if not comments:
        return {}
    found: dict[int, list[str]] = {}
    for row in act.tx.all(
        "SELECT comment_id, slug FROM mentions JOIN agents ON agents.id = agent_id"
        " WHERE comment_id IN (SELECT value FROM json_each(:comments))",
        comments=json.dumps(list(comments)),
    ):
        found.setdefault(row["comment_id"], []).append(row["slug"])
    return found


def hold(act: Act, comment: Comment, names: Sequence[str]) -> list[str]:
    """Keep these from being woken until a person decides; who is about to be woken anyway is not held.

    Nobody decides about what has ended: there they are not woken at all.
    """
    held = []
    status = MentionStatus.HELD if thread_of(comment) in subjects_alive(act, comment) else MentionStatus.DROPPED
    for agent in act.tx.select(AgentRecord, "status <> 'terminated' ORDER BY id"):
        if agent.slug not in names:
            continue
        known = {one.status for one in _mentions_of(act, comment, agent.id)}
        if MentionStatus.PENDING in known:
            continue
        held.append(agent.slug)
        if MentionStatus.HELD not in known:
            act.tx.insert(
                Mention, "MentionHeld" if status == MentionStatus.HELD else "MentionDropped",
                comment_id=comment.id, agent_id=agent.id, goal_id=comment.goal_id, task_id=comment.task_id,
                status=status, run_id=None,
            )  # fmt: skip
    return held


def _mentions_of(act: Act, comment: Comment, agent_id: int) -> list[Mention]:
    return act.tx.select(
        Mention, f"agent_id = :agent AND {_same_thread(comment)} AND status IN ('pending', 'held') ORDER BY id",
        agent=agent_id, task=comment.task_id, goal=comment.goal_id,
    )  # fmt: skip


def ask_about_exchange(act: Act, comment: Comment, held: Sequence[str]) -> int | None:
    """One question a thread: may they go on? Asked as the system, since no agent asks for it."""
    entity = thread_of(comment)
    if entity not in subjects_alive(act, comment):
        return None
    known = pending(act, ApprovalKind.EXCHANGE, entity)
    if known is not None:
        return known.id
    people = sorted({comment.author, *held})
    title = f"{' and '.join(people)} write to each other and change nothing"
    payload = {"comment": comment.id, "agents": people, "body": comment.body}
    as_system = Act(act.tx, System(), act.capacities, guardrails=act.guardrails)
    return ask(as_system, ApprovalKind.EXCHANGE, entity, title[:200], payload).id


@answers(ApprovalKind.EXCHANGE)
def answer_exchange(act: Act, approval: Approval) -> str:
    """Approved, who was held is woken; else the held words are only read on the board."""
    goes_on = approval.status == ApprovalStatus.APPROVED
    if goes_on:
        consume_as_system(act, approval)
    subject, _, number = approval.entity.partition(":")
    where = "task_id = :id" if subject == "task" else "task_id IS NULL AND goal_id = :id"
    woken = {one.agent_id for one in act.tx.select(Mention, f"{where} AND status = 'pending'", id=int(number))}
    for held in act.tx.select(Mention, f"{where} AND status = 'held' ORDER BY id", id=int(number)):
        if goes_on and held.agent_id not in woken:
            act.tx.update(held, "MentionReleased", status=MentionStatus.PENDING)
            woken.add(held.agent_id)
        else:
            act.tx.update(held, "MentionDropped", status=MentionStatus.DROPPED)
    return "goes on" if goes_on else "stopped"
