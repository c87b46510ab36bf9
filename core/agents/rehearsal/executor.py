"""An executor at its task: the real work, one output, a handoff, and the operator's word where it needs one."""

from typing import Any

from core.agents.rehearsal import plans, quoting, rebutting
from core.agents.rehearsal.deliveries import approved_figures, deliver
from core.agents.rehearsal.handoffs import handoff
from core.agents.rehearsal.quoting import Word
from core.agents.rehearsal.shift import AuditFailed, Shift
from core.agents.rehearsal.words import cut, listed, named, plain
from core.agents.rehearsal.works import ALL_WORKS, CHOICE, CLOSER_LOOK, LEFT_OUT, largest_finding
from core.agents.runner import Outcome
from core.domain.entities import Decision, Review, Task
from core.domain.states import BlockKind, CommentKind, RebuttalAnswer, TaskStatus

NOT_ASKED_FOR: dict[str, tuple[str, str]] = {"marks": ("places", "text"), CLOSER_LOOK: ("first_marks", "text")}
"""Where a result holds lines of the person's files: they stay out of every output without the operator's word."""


async def execute(shift: Shift) -> Outcome:
    """From the claim to the review: a plan if it is complex, the work, what the last review said, the delivery."""
    task = await shift.task()
    if task.status == TaskStatus.CLAIMED:
        await shift.act("StartTask", task=task.id)
        task = await shift.task()
    if task.status != TaskStatus.WORKING:
        return Outcome(exit_kind="waiting", detail=f"{task.name_tag} is {task.status}")
    kind = str(task.arguments.get("audit", ""))
    if kind not in ALL_WORKS:
        reason = "Its arguments name no audit that a rehearsal agent can do."
        await shift.act("FailTask", task=task.id, reason=reason)
        return Outcome(detail=reason)
    if await plans.plan_is_due(shift, task, kind):
        return Outcome(exit_kind="planned", detail="the plan stands open for objection")
    shift.desk.say(f"{task.name_tag}: {ALL_WORKS[kind].intent}")
    try:
        result = await figures(shift, task, kind)
    except AuditFailed as error:
        return await stop(shift, task, error)
    content = {"kind": kind, "result": without_lines(kind, result)}
    remarks = await plans.adjusted(shift, task)
    refusal = await rebutting.refusal_of(shift, task)
    if refusal is not None:
        if await rebutting.answer_review(shift, task, refusal, content) == RebuttalAnswer.REJECT:
            return Outcome(exit_kind="rebutted", detail="computed again and equal: the reviewer answers")
        remarks.append(changed(shift, refusal))
    if kind == CLOSER_LOOK and result.get("path") is not None:
        said = await quoting.quote(shift, task, result["path"], result["first_marks"])
        if said.word == Word.WAITS:
            return Outcome(exit_kind="waiting", detail="the operator decides whether lines may be quoted")
        remarks.append(quoting.told(said, result["first_marks"]))
    await hand_in(shift, task, kind, content, handoff(kind, result, remarks, serving(task, kind)))
    return Outcome()


async def hand_in(shift: Shift, task: Task, kind: str, content: dict[str, Any], body: str) -> None:
    """The output, named for what it delivers and for the decisions that it carries out; the handoff; the review."""
    work = ALL_WORKS[kind]
    delivers = () if is_step(task, kind) else task.must_haves
    summary = work.end_state if delivers or not task.must_haves else f"{work.end_state} {serving(task, kind)}"
    await deliver(
        shift, task, f"{work.title}: the figures", content, summary=summary, must_haves=delivers,
        decisions=await carried_out(shift, task, kind),
    )  # fmt: skip
    await shift.act("AddComment", task=task.id, kind=CommentKind.HANDOFF, body=body)
    await shift.act("SubmitTask", task=task.id)


def is_step(task: Task, kind: str) -> bool:
    """Whether the task only prepares what its must-haves ask for."""
    return kind == CHOICE or bool(task.arguments.get("step"))


def serving(task: Task, kind: str) -> str:
    """What is said of a must-have that the task serves and does not deliver."""
    return f"A step towards {listed(list(task.must_haves))}." if task.must_haves and is_step(task, kind) else ""


async def carried_out(shift: Shift, task: Task, kind: str) -> list[int]:
    """The decisions that these figures carry out: what is left out is left out of each of them."""
    if kind == CHOICE:
        return []
    known = await shift.find(Decision, "goal_id = :goal AND text = :text", goal=task.goal_id, text=LEFT_OUT)
    return [decision.id for decision in known]


async def figures(shift: Shift, task: Task, kind: str) -> dict[str, Any]:
    """What the child process found. Raises AuditFailed."""
    if kind == CHOICE:
        path, finding = largest_finding(await approved_figures(shift, await shift.goal()), frozenset())
        return {"path": path, "finding": finding}
    if kind != CLOSER_LOOK:
        return await shift.audit(kind)
    path = task.arguments.get("path")
    if path is not None:
        return await shift.audit(kind, path=path)
    counted = await shift.audit("inventory")
    if counted["total"]["files"]:
        raise AuditFailed("The folder holds files now, and this task names none of them.")
    return {"path": None, "nothing": "The folder holds no file to look at.", "total": counted["total"]}


def without_lines(kind: str, result: dict[str, Any]) -> dict[str, Any]:
    """The result without any line of the person's files: places only."""
    kept = dict(result)
    if kind in NOT_ASKED_FOR and result.get("path", "") is not None:
        rows, field = NOT_ASKED_FOR[kind]
        kept[rows] = [{name: value for name, value in row.items() if name != field} for row in result[rows]]
    readme = result.get("readme")
    if readme is not None:
        kept["readme"] = {
            **{name: value for name, value in readme.items() if name != "headings"},
            "heading_count": len(readme["headings"]),
        }
    return kept


def changed(shift: Shift, refusal: Review) -> str:
    """What the review asked for that sent the task back."""
    findings = "; ".join(str(finding.get("what", "")) for finding in refusal.findings) or refusal.dimensions["summary"]
    shift.desk.say(f"The review said: {plain(findings)}")
    return f"Changed after the review: all computed again, because {named(findings, 100)}."


async def stop(shift: Shift, task: Task, error: AuditFailed) -> Outcome:
    """A folder that is gone is for a person to bring back; anything else ends the task with its reason."""
    reason = cut(plain(str(error)), 1500)
    if await shift.folder_is_gone():
        reason = f"The folder is gone: {reason} Bring it back, then unblock this task; or cancel it."
        await shift.act("BlockTask", task=task.id, block_kind=BlockKind.NEEDS_INPUT, reason=reason)
        return Outcome(exit_kind="blocked", detail=reason)
    await shift.act("FailTask", task=task.id, reason=reason)
    return Outcome(exit_kind="gave_up", detail=reason)
