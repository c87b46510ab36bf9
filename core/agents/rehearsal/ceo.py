"""The CEO: one draft goal for the audit of the folder; a note about it taken in; a heartbeat's agenda worked off."""

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from core.agents.rehearsal.mail import noted
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import counted, cut, plain
from core.agents.rehearsal.works import WORKS
from core.agents.runner import Outcome
from core.domain.entities import Comment, Goal, Round, Task
from core.domain.errors import Conflict, Forbidden
from core.domain.states import BlockKind, CommentKind, GoalStatus, RunStatus, TaskStatus


def description(folder: str) -> str:
    """What the goal says; it names the folder, by which a later run knows its own goal again."""
    return (
        f"Audit the folder {folder} for real: every figure is computed from its files, recomputed by a reviewer, and"
        " put together in one report."
    )


async def propose(shift: Shift) -> Outcome:
    """One draft for the operator, unless this folder had its audit or the operator did not want it."""
    folder = plain(shift.folder_name)
    if await shift.folder_is_gone():
        return Outcome(RunStatus.FAILED, "no_folder", f"{folder} is not a folder that can be read.")
    for goal in await shift.find(Goal, "created_by = :slug AND status <> 'failed' ORDER BY id", slug=shift.slug):
        if goal.description.startswith(description(folder)):
            return no_reply(f"{goal.name_tag} is the audit of this folder, and it is {goal.status}.")
    shift.desk.say(f"No goal is alive. I draft the audit of {folder}.")
    await shift.act(
        "CreateGoal",
        title=f"Audit of {cut(plain(os.path.basename(folder)) or folder, 120)}",
        description=description(folder),
        must_haves=tuple({"text": work.must_have, "verify": work.verify} for work in WORKS.values()),
        constraints=(
            "Read only: nothing in the folder is changed.",
            "No line of its files is quoted in the report without the operator's word.",
        ),
        split=False,
    )
    return Outcome(detail="one draft waits for the operator")


async def take_note(shift: Shift) -> Outcome:
    """A draft sent back: the note becomes a further constraint, which clears the review."""
    goal = await shift.goal()
    note = await noted(shift)
    if note is None or goal.created_by != shift.slug:
        return no_reply("nothing here asks anything of me")
    if goal.status != GoalStatus.DRAFT:
        body = f"{goal.name_tag} is {goal.status}: its text is settled. Send the report back with this note instead."
        await shift.act("AddComment", goal=goal.id, body=body, reply_to=note.id)
        return Outcome()
    constraint = f"The operator asks: “{note.body}”"
    if constraint not in goal.constraints:
        await shift.act("EditGoal", goal=goal.id, constraints=(*goal.constraints, constraint))
    body = "I took your note in as a constraint. The draft waits for your review again."
    await shift.act("AddComment", goal=goal.id, body=body, reply_to=note.id)
    return Outcome(detail="the note is a constraint now")


async def look_after(shift: Shift) -> Outcome:
    """Each thing on the heartbeat's agenda gets a next step, or a word; nothing is said twice."""
    agenda = shift.assignment.run.brief.get("agenda", [])
    done = [await deal_with(shift, item) for item in agenda]
    return Outcome(detail=f"{sum(done)} of {counted(len(agenda), 'thing')} dealt with")


async def deal_with(shift: Shift, item: Mapping[str, Any]) -> bool:
    """Try again what only failed for now, enqueue what waits below a reviewed goal, comment on the rest."""
    subject, _, number = str(item["entity"]).partition(":")
    tasks = await shift.find(Task, "id = :id", id=int(number)) if subject == "task" else []
    if tasks:
        task = tasks[0]
        with contextlib.suppress(Conflict, Forbidden):  # it moved on meanwhile, or is somebody else's to decide
            if task.status == TaskStatus.BLOCKED and task.block_kind == BlockKind.TRANSIENT:
                await shift.act("UnblockTask", task=task.id, note="It was only for now: try again.")
                return True
            if item["kind"] == "draft":
                await shift.act("EnqueueTask", task=task.id)
                return True
        return await say(shift, {"task": task.id}, f"I see: {item['why']}. The coordinator decides what becomes of it.")
    rounds = await shift.find(Round, "id = :id", id=int(number)) if subject == "round" else []
    goal_id = rounds[0].goal_id if rounds else int(number)
    return await say(shift, {"goal": goal_id}, f"I see: {item['title']}: {item['why']}.")


async def say(shift: Shift, about: Mapping[str, int], body: str) -> bool:
    """A note, unless exactly this was said there before."""
    subject, number = next(iter(about.items()))
    said = f"{subject}_id = :id AND author = :slug AND body = :body LIMIT 1"
    if await shift.find(Comment, said, id=number, slug=shift.slug, body=body):
        return False
    with contextlib.suppress(Conflict):
        await shift.act("AddComment", kind=CommentKind.NOTE, body=body, **about)
        return True
    return False
