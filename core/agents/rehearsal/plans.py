"""The plan of a complex task: laid open first, adjusted after an objection (S3-13). The agent itself judges."""

import re

from core.agents.rehearsal.shift import Shift
from core.agents.rehearsal.words import cut, named, plain
from core.agents.rehearsal.works import ALL_WORKS
from core.domain.entities import Comment, Goal, Task
from core.domain.errors import Conflict
from core.domain.states import CommentKind, Risk

_ASKS = re.compile(r"\b(plan first|with a plan|a plan before|show (me )?the plan)\b|先.{0,6}(计划|方案)", re.IGNORECASE)


def is_complex(task: Task, goal: Goal) -> bool:
    """High risk, or a must-have (or a constraint) of the task that asks for a plan first; all else just begins."""
    texts = [must["text"] for must in goal.must_haves if must["id"] in task.must_haves]
    texts += [*task.constraints, *goal.constraints, task.intent]
    return task.risk == Risk.HIGH or any(_ASKS.search(text) for text in texts)


async def plan_is_due(shift: Shift, task: Task, kind: str) -> bool:
    """Lay the plan open, if the task is complex and no plan of ours stands; True when this run ends with that."""
    if not is_complex(task, await shift.goal()):
        return False
    objections: list[Comment] = []
    if task.plan_comment is not None:
        since = "task_id = :task AND id > :plan AND kind = :kind ORDER BY id"
        plans = await shift.find(Comment, "id = :id", id=task.plan_comment)
        objections = await shift.find(
            Comment, since, task=task.id, plan=task.plan_comment, kind=str(CommentKind.OBJECTION)
        )
        if plans and plans[0].author == shift.slug and not objections:
            return False
    try:
        await shift.act("PostPlan", task=task.id, body=plan_of(task, kind, objections))
    except Conflict:  # it stood already when somebody objected: the handoff tells of it
        return False
    return True


def plan_of(task: Task, kind: str, objections: list[Comment]) -> str:
    """What will be done, and what an objection changed in it."""
    work = ALL_WORKS[kind]
    lines = [f"Plan for {task.name_tag}: {work.title.lower()}, by a program of its own that only reads the folder."]
    lines += [f"* Delivered: {work.end_state}", "* Left out: what git ignores, and links."]
    lines += [f"* Adjusted after {one.author} objected: “{cut(plain(one.body), 300).replace('@', '＠')}”. I tell in the"
              " handoff what of it my program can heed." for one in objections]  # fmt: skip
    return "\n".join(lines)


async def adjusted(shift: Shift, task: Task) -> list[str]:
    """For the handoff: what the objections to the task's plans were, and what became of them."""
    found = await shift.find(
        Comment,
        "task_id = :task AND kind = :kind ORDER BY id DESC LIMIT 1",
        task=task.id,
        kind=str(CommentKind.OBJECTION),
    )
    return [f"Plan adjusted after {one.author} objected: “{named(one.body, 60)}”." for one in found if task.plans > 1]
