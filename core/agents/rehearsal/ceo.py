"""The CEO: one draft for the audit of the folder, or a hire; notes taken in; a heartbeat's agenda worked off."""

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from core.agents.rehearsal.answering import reply
from core.agents.rehearsal.hiring import propose_again, propose_hire
from core.agents.rehearsal.mail import noted, unanswered
from core.agents.rehearsal.refusals import next_kinds
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import counted, cut, plain
from core.agents.rehearsal.works import WORKS
from core.agents.runner import Outcome
from core.domain.ceo_mode import CeoMode
from core.domain.entities import Approval, Comment, Goal, Round, Task
from core.domain.errors import Conflict, Forbidden
from core.domain.goals import mission_is_defined
from core.domain.states import BlockKind, CommentKind, GoalStatus, RunStatus, TaskStatus


def description(folder: str) -> str:
    """What the goal says; it names the folder, by which a later run knows its own goal again."""
    return (
        f"Audit the folder {folder} for real: every figure is computed from its files, recomputed by a reviewer, and"
        " put together in one report."
    )


async def propose(shift: Shift) -> Outcome:
    """What the CEO's mode asks for: the first hire, nothing while the operator owes an answer, or one draft."""
    mode = shift.assignment.run.brief.get("mode")
    if mode == CeoMode.TEAM_BUILDING:
        return await propose_hire(shift)
    if mode in (CeoMode.AWAITING_HIRE, CeoMode.AWAITING_ORG):
        return no_reply("the operator decides first; nothing is hurried")
    return await draft(shift)


async def draft(shift: Shift) -> Outcome:
    """One draft for the operator, unless this folder had its audit, or the operator wanted none like it."""
    folder = plain(shift.folder_name)
    if await shift.folder_is_gone():
        return Outcome(RunStatus.FAILED, "no_folder", f"{folder} is not a folder that can be read.")
    before = await shift.find(Goal, "created_by = :slug AND status <> 'failed' ORDER BY id", slug=shift.slug)
    known = [goal for goal in before if goal.description.startswith(description(folder))]
    refused = {each["goal"] for each in shift.assignment.run.brief.get("refill", {}).get("rejected", [])}
    for goal in known:
        if goal.name_tag not in refused:
            return no_reply(f"{goal.name_tag} is the audit of this folder, and it is {goal.status}.")
    kinds = next_kinds(known)
    if not kinds:
        return no_reply(f"the operator refused {known[-1].name_tag}, and nothing else is left that I could propose")
    shift.desk.say(f"No goal is alive. I draft the audit of {folder}.")
    try:
        await _create(shift, folder, kinds, known)
    except Conflict as refused:  # the operator began a goal meanwhile
        return no_reply(refused.message)
    return Outcome(detail="one draft waits for the operator")


async def _create(shift: Shift, folder: str, kinds: list[str], refused: list[Goal]) -> None:
    left_out = [WORKS[kind] for kind in WORKS if kind not in kinds]
    why = "".join(f" The operator refused {goal.name_tag}: “{cut(goal.reason, 500)}”" for goal in refused[-3:])
    without = f", {counted(len(kinds), 'part')} of {len(WORKS)}" if left_out else ""
    await shift.act(
        "CreateGoal",
        title=f"Audit of {cut(plain(os.path.basename(folder)) or folder, 120)}{without}",
        description=description(folder) + why,
        must_haves=tuple({"text": WORKS[kind].must_have, "verify": WORKS[kind].verify} for kind in kinds),
        constraints=(
            "Read only: nothing in the folder is changed.",
            "No line of its files is quoted in the report without the operator's word.",
        ),
        out_of_scope=tuple(work.must_have for work in left_out),
        split=False,
    )


async def take_note(shift: Shift) -> Outcome:
    """A draft sent back: the note becomes a further constraint, which clears the review. Other words get an answer."""
    goal = await shift.goal()
    note = await noted(shift)
    if note is None or goal.created_by != shift.slug:
        answered = [await reply(shift, word, await standing(shift)) for word in await unanswered(shift)]
        if not answered:
            return no_reply("nothing here asks anything of me")
        return Outcome(detail=counted(len(answered), "answer"))
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


async def standing(shift: Shift) -> str:
    """What the CEO can say to anything that it has no model for: what waits for the operator, from the board."""
    waits = await shift.find(Approval, "kind IN ('hire_agent', 'org_change') AND status = 'pending' ORDER BY id")
    drafts = await shift.find(Goal, "created_by = :slug AND status = 'draft' ORDER BY id", slug=shift.slug)
    parts = [
        "I read this. I am a rehearsal agent without a model: I draft the audit of the folder and see to what stands."
    ]
    if not mission_is_defined(shift.assignment.company.mission):
        parts.append("The company has no mission: the operator sets it before anything is drafted.")
    parts += [f"{each.name_tag} ({cut(plain(each.title), 80)}) waits for the operator." for each in waits[:3]]
    parts += [
        f"{each.name_tag} is my draft; it waits for the operator, and a second one is not made." for each in drafts
    ]
    return " ".join(parts).replace("@", "＠")


async def answer_letter(shift: Shift) -> Outcome:
    """A letter about no goal: a hire that was sent back is proposed anew; nothing else has a thread to answer in."""
    if await propose_again(shift):
        return Outcome(detail="the hire waits for the operator again")
    return no_reply("nothing here asks anything of me")


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
