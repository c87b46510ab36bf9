"""The mail tab: what was written to somebody about a thing, newest first, with what still waits for an answer.

A request is answered by a reply to it, by a later word of its addressee on the same thread, or by a decision on the
question that it became.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.company import OpenCompany
from core.domain.entities import AgentRecord, Approval, Comment, Task
from core.domain.mentions import PERSON, named_in
from core.domain.states import ApprovalKind, ApprovalStatus, CommentKind
from tui.filter_words import Keys, Values
from tui.panes.aid import names
from tui.panes.discussion import comment_block, person
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.widgets.prose import Block

MOST = 200
_KINDS = "kind IN ('mail_inform', 'mail_request')"
_WORDS = (
    "SELECT id, goal_id, task_id, author, reply_to FROM comments WHERE id > :first"
    " AND (reply_to IN (SELECT value FROM json_each(:ids)) OR goal_id IN (SELECT value FROM json_each(:goals)))"
    " ORDER BY id"
)


@dataclass(frozen=True, slots=True)
class Mailed:
    """One mail with its answer, as it is drawn, and what it can be filtered by."""

    blocks: tuple[Block, ...]
    text: str
    values: Values


MAIL_KEYS: Keys = {"is": ("waiting", "answered", "inform"), "from": (), "to": (), "goal": (), "task": ()}
"""What mail can be filtered by; `from` and `to` are names, a person is `you`."""


async def read_mail(company: OpenCompany, view: Projection, ref: str) -> list[Block]:
    """The mail of a goal or task; of an agent, to and from it; of the company, all."""
    return [block for each in await read_mailed(company, view, ref) for block in each.blocks]


async def read_mailed(company: OpenCompany, view: Projection, ref: str) -> list[Mailed]:
    """The same, mail by mail, newest first."""
    mails = await _mails(company, view, ref)
    answered = await _answered(company, view, mails)
    agents = frozenset(names(view))
    found = []
    for mail in mails:
        answer = answered.get(mail.id)
        blocks = [_block(view, mail, agents, mail.id in answered)]
        if answer is not None:
            heading = (f"↳ {person(answer.author)} answers", (clock_time(answer.created_at), "dim"))
            blocks.append(Block(heading, "", "good", comment_block(answer, agents).drawing))  # type: ignore[arg-type]
        words = (person(mail.author), *addressees(mail), mail.body, answer.body if answer is not None else "")
        found.append(Mailed(tuple(blocks), " ".join(words), _values(view, mail, mail.id in answered)))
    return found


def _values(view: Projection, mail: Comment, answered: bool) -> Values:
    task = view.tables.get(Task, mail.task_id)
    goal = task.goal_id if task is not None else mail.goal_id
    state = "inform" if mail.kind == CommentKind.MAIL_INFORM else "answered" if answered else "waiting"
    return {
        "is": (state,), "from": (person(mail.author),), "to": addressees(mail),
        "goal": (f"G{goal}",) if goal is not None else (), "task": (f"T{mail.task_id}",) if mail.task_id else (),
    }  # fmt: skip


async def _mails(company: OpenCompany, view: Projection, ref: str) -> list[Comment]:
    kind, _, number = ref.partition(":")
    read = company.board.readers.entities
    newest = f"ORDER BY id DESC LIMIT {MOST}"
    if kind == "company":
        return await read(Comment, f"{_KINDS} {newest}")
    if kind == "agent":
        agent = view.tables.get(AgentRecord, int(number) if number.isdecimal() else 0)
        slug = agent.slug if agent else ""
        found = await read(
            Comment, f"{_KINDS} AND (author = :slug OR instr(body, :name)) {newest}", slug=slug, name=f"@{slug}"
        )
        return [mail for mail in found if mail.author == slug or slug in addressees(mail)]
    if kind in ("goal", "task"):
        return await read(Comment, f"{_KINDS} AND {kind}_id = :id {newest}", id=int(number))
    return []


def addressees(mail: Comment) -> list[str]:
    """Whom a mail goes to; a request that names nobody goes to the operator."""
    found = ["you" if name in PERSON else name for name in named_in(mail.body)]
    to = [name for name in dict.fromkeys(found) if name != person(mail.author)]
    return to or (["you"] if mail.kind == CommentKind.MAIL_REQUEST and mail.author not in PERSON else [])


async def _answered(company: OpenCompany, view: Projection, mails: Sequence[Comment]) -> dict[int, Comment | None]:
    """The requests that were answered, with the answer; None where a decision has no words of its own."""
    asked = [mail for mail in mails if mail.kind == CommentKind.MAIL_REQUEST]
    if not asked:
        return {}
    goals = sorted({mail.goal_id for mail in asked if mail.goal_id is not None})
    readers = company.board.readers
    words = await readers.all(
        _WORDS, first=min(mail.id for mail in asked), ids=json.dumps([mail.id for mail in asked]),
        goals=json.dumps(goals),
    )  # fmt: skip
    # the first reply and the first later word of each author of a thread, in one pass: a board may have many thousands
    replies: dict[int, int] = {}
    said: dict[tuple[Any, ...], list[int]] = {}
    for word in words:
        if word["reply_to"] is not None:
            replies.setdefault(word["reply_to"], word["id"])
        said.setdefault((word["goal_id"], word["task_id"], person(word["author"])), []).append(word["id"])
    found: dict[int, int] = {}
    for mail in asked:
        spoken = [said.get((mail.goal_id, mail.task_id, name), []) for name in addressees(mail)]
        later = [ids[place] for ids in spoken if (place := bisect_right(ids, mail.id)) < len(ids)]
        if (number := replies.get(mail.id) or min(later, default=0)) > 0:
            found[mail.id] = number
    where = "id IN (SELECT value FROM json_each(:ids))"
    answers = {each.id: each for each in await readers.entities(Comment, where, ids=json.dumps(list(found.values())))}
    return dict.fromkeys(_decided(view)) | {mail: answers.get(number) for mail, number in found.items()}


def _decided(view: Projection) -> set[int]:
    """Mail to the operator on which a decision was made."""
    return {
        _comment_of(approval.payload)
        for approval in view.tables.all(Approval)
        if approval.kind == ApprovalKind.MAIL and approval.status != ApprovalStatus.PENDING
    }


def _comment_of(payload: Mapping[str, Any]) -> int:
    number = payload.get("comment")
    return number if isinstance(number, int) else 0


def _block(view: Projection, mail: Comment, agents: frozenset[str], answered: bool) -> Block:
    block = comment_block(mail, agents)
    to = ", ".join(addressees(mail)) or "nobody"
    about = f"T{mail.task_id}" if mail.task_id else f"G{mail.goal_id}" if mail.goal_id else "the company"
    author, kind, *rest = block.heading
    del kind
    if mail.kind == CommentKind.MAIL_INFORM:
        state = ("informs", "info")
    elif answered:
        state = ("✓ answered", "good")
    else:
        state = ("? waits for an answer", "warn")
    heading = (f"{author} → {to}", (about, "info"), state, *rest)
    tone = "warn" if state[1] == "warn" else None
    return Block(heading, "", tone, block.drawing)  # type: ignore[arg-type]
