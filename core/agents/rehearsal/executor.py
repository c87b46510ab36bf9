"""An executor at its task: the real work, one output, a handoff, and the operator's word where it needs one."""

from typing import Any

from core.agents.rehearsal import quoting
from core.agents.rehearsal.deliveries import QUOTE, deliver
from core.agents.rehearsal.handoffs import handoff
from core.agents.rehearsal.quoting import Permission, Word
from core.agents.rehearsal.shift import AuditFailed, Shift
from core.agents.rehearsal.words import cut, named, plain
from core.agents.rehearsal.works import CLOSER_LOOK, WORKS
from core.agents.runner import Outcome
from core.domain.entities import Review, Task
from core.domain.states import BlockKind, CommentKind, TaskStatus, Verdict

NOT_ASKED_FOR: dict[str, tuple[str, str]] = {"marks": ("places", "text"), CLOSER_LOOK: ("first_marks", "text")}
"""Where a result holds lines of the person's files: they stay out of every output without the operator's word."""


async def execute(shift: Shift) -> Outcome:
    """From the claim to the review."""
    task = await shift.task()
    if task.status == TaskStatus.CLAIMED:
        await shift.act("StartTask", task=task.id)
    kind = str(task.arguments.get("audit", ""))
    if kind not in WORKS:
        reason = "Its arguments name no audit that a rehearsal agent can do."
        await shift.act("FailTask", task=task.id, reason=reason)
        return Outcome(detail=reason)
    shift.desk.say(f"{task.name_tag}: {WORKS[kind].intent}")
    try:
        result = await figures(shift, task, kind)
    except AuditFailed as error:
        return await stop(shift, task, error)
    remarks = await changed(shift, task, kind)
    quote = None
    if kind == CLOSER_LOOK and result.get("path") is not None:
        quote = await quoting.permission(shift, task, result["path"], result["first_marks"])
        if quote.word == Word.NOT_ASKED:
            await quoting.ask(shift, task, quote.payload)
            return Outcome(exit_kind="waiting", detail="the operator decides whether lines may be quoted")
        remarks.append(await quote_or_not(shift, task, quote, result["first_marks"]))
    content = {"kind": kind, "result": without_lines(kind, result)}
    await deliver(shift, task, f"{WORKS[kind].title}: the figures", content, summary=WORKS[kind].end_state)
    body = handoff(kind, result, remarks)
    await shift.act("AddComment", task=task.id, kind=CommentKind.HANDOFF, body=body)
    await shift.act("SubmitTask", task=task.id)
    return Outcome()


async def figures(shift: Shift, task: Task, kind: str) -> dict[str, Any]:
    """What the child process found. Raises AuditFailed."""
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


async def quote_or_not(shift: Shift, task: Task, quote: Permission, marks: list[dict[str, Any]]) -> str:
    """Deliver the quoted lines if exactly that was approved, and use the approval up; what to say of it."""
    match quote.word:
        case Word.GRANTED:
            lines = [{"line": mark["line"], "text": mark["text"]} for mark in marks]
            content = {"kind": QUOTE, "path": quote.payload["path"], "lines": lines, "approval": quote.approval}
            title = f"Quoted lines of {named(quote.payload['path'], 100)}"
            await deliver(shift, task, title, content, approval=quote.approval, approved_payload=quote.payload)
            return f"The operator approved the quote (Q{quote.approval}): {len(lines)} lines."
        case Word.REFUSED:
            why = f": {named(quote.note, 80)}" if quote.note else ""
            return f"Figures only: the operator did not approve the quote (Q{quote.approval}{why})."
        case Word.USED:
            return f"The lines were quoted before, with Q{quote.approval}; they are not quoted again."
        case _:
            return "No marked line in it, so there is nothing to quote."


async def changed(shift: Shift, task: Task, kind: str) -> list[str]:
    """What the last review asked for, if it sent the task back."""
    reviews = await shift.find(Review, "subject = 'task' AND subject_id = :task ORDER BY id DESC LIMIT 1", task=task.id)
    if not reviews or reviews[0].verdict == Verdict.APPROVED:
        return []
    findings = "; ".join(str(finding.get("what", "")) for finding in reviews[0].findings)
    shift.desk.say(f"The review said: {plain(findings)}")
    return [f"Changed after the review: all computed again, because {named(findings, 100)}."]


async def stop(shift: Shift, task: Task, error: AuditFailed) -> Outcome:
    """A folder that is gone is for a person to bring back; anything else ends the task with its reason."""
    reason = cut(plain(str(error)), 1500)
    if await shift.folder_is_gone():
        reason = f"The folder is gone: {reason} Bring it back, then unblock this task; or cancel it."
        await shift.act("BlockTask", task=task.id, block_kind=BlockKind.NEEDS_INPUT, reason=reason)
        return Outcome(exit_kind="blocked", detail=reason)
    await shift.act("FailTask", task=task.id, reason=reason)
    return Outcome(exit_kind="gave_up", detail=reason)
