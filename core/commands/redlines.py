"""Red lines: acts are checked before their effect; what pauses goes to the operator (D-03, S4-08)."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.commands.approvals import ask_anew, consume
from core.commands.moves import move_task, require_current_run
from core.commands.registry import Act, Answer, Command, handles, letters
from core.commands.telling import say
from core.domain.actors import SYSTEM, System
from core.domain.entities import Approval, Task
from core.domain.errors import Conflict
from core.domain.goals import canonical_hash
from core.domain.guardrails import PUBLICATION, GuardAction, RedLine
from core.domain.limits import TITLE_MAX
from core.domain.states import ApprovalKind, ApprovalStatus, CommentKind, TaskStatus

_NO = frozenset({ApprovalStatus.REJECTED, ApprovalStatus.REVISION_REQUESTED})
_BRIEF_MAX = 120


class CheckAct(Command):
    """Ask before an act with an effect (a tool call, a command) whether it crosses a red line; then do just that."""

    who = letters("A")
    reads_guardrails = True
    example = {"task": 12, "act": {"tool": "shell", "command": "rm -r build"}}
    task: int
    act: dict[str, Any] = Field(min_length=1, description="Exactly what will be done, e.g. tool and arguments")
    approval: int | None = Field(None, description="The approval that was granted for exactly this act")


@handles(CheckAct)
def check_act(act: Act, command: CheckAct) -> Answer:
    task = act.tx.get(Task, command.task)
    require_current_run(act, task)
    if task.status != TaskStatus.WORKING:
        raise Conflict(f"{task.name_tag} is {task.status}: nothing is done for it now.", "Start the task first.")
    return pass_gate(act, task, act.guardrails.of_act(command.act), command.act, command.approval)


def line_of_publication(act: Act, payload: Mapping[str, Any]) -> RedLine | None:
    """The red line of an output that is marked to leave the company: what it says may touch a stricter one."""
    by_mark, by_text = act.guardrails.of_tags((PUBLICATION,)), act.guardrails.of_act(payload)
    if by_text is not None and by_text.action == GuardAction.BLOCK_AND_NOTIFY:
        return by_text
    return by_mark or by_text


def pass_gate(
    act: Act,
    task: Task,
    line: RedLine | None,
    payload: dict[str, Any],
    approval: int | None = None,
    *,
    once_refused_asks_again: bool = False,
) -> Answer:
    """Whether the acting run may do exactly `payload` now, in the transaction of the act.

    {"allowed": True}, with `approval` if one was used up; or False with `line` and `why`, and with `waits` (the
    question's number) if the task now waits for the operator. Then the run has nothing more to do.
    """
    if approval is not None:
        return _use_up(act, task, act.tx.get(Approval, approval), payload)
    if line is None:
        return {"allowed": True}
    asked = _last_asked(act, task, payload)
    if asked is not None and asked.status == ApprovalStatus.APPROVED:
        return _use_up(act, task, asked, payload)
    if asked is not None and asked.status in _NO and not once_refused_asks_again:
        # The person has answered exactly this: the same question is not put again.
        return {"allowed": False, "line": line.name, "why": f"{asked.name_tag} was not approved: {asked.note}"}
    if line.action == GuardAction.BLOCK_AND_NOTIFY:
        return _block(act, task, line, payload)
    return _hold(act, task, line, payload)


def start_gate(act: Act, task: Task) -> Answer:
    """The gate before a task that carries a red line's tag is started; an approval covers one start (S4-08)."""
    line = act.guardrails.of_tags(task.tags)
    if line is None:
        return {"allowed": True}
    tag = next(tag for tag in task.tags if act.guardrails.of_tags((tag,)) == line)
    asked = {"intent": task.intent, "end_state": task.end_state, "constraints": list(task.constraints),
             "arguments": dict(task.arguments)}  # fmt: skip
    # What the person read is what may be started: another text needs another answer.
    payload = {"task": task.id, "tag": tag, "title": task.title, "on_reject": "cancel"}
    payload |= {name: text for name, text in asked.items() if text}
    return pass_gate(act, task, line, payload, once_refused_asks_again=True)


def _use_up(act: Act, task: Task, approval: Approval, payload: dict[str, Any]) -> Answer:
    if approval.kind != ApprovalKind.RED_LINE:
        raise Conflict(f"{approval.name_tag} is a {approval.kind}, not about a red line.", "Leave it out.")
    consume(act, approval, payload, frozenset({f"task:{task.id}"}))
    return {"allowed": True, "approval": approval.id}


def _last_asked(act: Act, task: Task, payload: dict[str, Any]) -> Approval | None:
    found = act.tx.select(
        Approval,
        "entity = :entity AND kind = 'red_line' AND payload_hash = :hash AND status <> 'cancelled'"
        " ORDER BY id DESC LIMIT 1",
        entity=f"task:{task.id}", hash=canonical_hash(payload),
    )  # fmt: skip
    return found[0] if found else None


def _hold(act: Act, task: Task, line: RedLine, payload: dict[str, Any]) -> Answer:
    why = _why(line)
    move_task(act, task, TaskStatus.WAITING_HUMAN, "HoldAct", "TaskWaits", as_system=True, reason=why)
    title = f"{task.name_tag} stands at the red line {line.name}: {_brief(payload)}"[:TITLE_MAX]
    approval = ask_anew(act, ApprovalKind.RED_LINE, f"task:{task.id}", title, payload)
    return {"allowed": False, "line": line.name, "why": why, "waits": approval.id}


def _block(act: Act, task: Task, line: RedLine, payload: dict[str, Any]) -> Answer:
    """Refused and told. What was to be done is not repeated in the words: it may be a secret."""
    note_blocked(act, task.id, line, payload)
    why = _why(line)
    if task.status == TaskStatus.CLAIMED:
        # By its tag: the whole task is the act. It waits for a person, who cancels it or takes the tag away (F16).
        move_task(act, task, TaskStatus.WAITING_HUMAN, "HoldAct", "TaskWaits", as_system=True, reason=why)
    return {"allowed": False, "line": line.name, "why": why}


def note_blocked(act: Act, task_id: int | None, line: RedLine, payload: Mapping[str, Any]) -> None:
    """Tell of an act that is blocked: on its task, once, and as an event that names the act by its hash alone."""
    if task_id is not None:
        _tell_once(act, act.tx.get(Task, task_id), line)
    facts = {"task": task_id, "line": line.name, "act": canonical_hash(dict(payload))}
    act.tx.record("RedLineBlocked", "redline", task_id or 0, facts)


def _tell_once(act: Act, task: Task, line: RedLine) -> None:
    body = f"An act of {act.label} for {task.name_tag} was blocked at the red line {line.name}. {line.about}".strip()
    told = act.tx.value(
        "SELECT 1 FROM comments WHERE task_id = :task AND author = :by AND body = :body LIMIT 1",
        task=task.id, by=SYSTEM, body=body,
    )  # fmt: skip
    if told is None:
        as_system = Act(act.tx, System(), act.capacities)
        say(as_system, "CommentAdded", CommentKind.NOTE, body, goal=task.goal_id, task=task.id)


def _why(line: RedLine) -> str:
    return f"red line {line.name} ({line.action}): {line.about}" if line.about else f"red line {line.name}"


def _brief(payload: dict[str, Any]) -> str:
    text = str(payload.get("title") or payload.get("command") or json.dumps(payload, ensure_ascii=False))
    return text if len(text) <= _BRIEF_MAX else text[: _BRIEF_MAX - 1] + "…"
