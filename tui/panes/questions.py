"""A question to the operator as a block of a thread: what is asked, about exactly what, and what became of it."""

import json
from collections.abc import Iterator
from typing import Any

from core.domain.entities import Approval
from core.domain.states import ApprovalKind, ApprovalStatus
from tui.panes.differences import of_payload
from tui.panes.words import clock_time
from tui.widgets.prose import Block
from tui.widgets.row import Tone


def question(approval: Approval) -> Block:
    """What waits for a decision, or was decided."""
    pending = approval.status == ApprovalStatus.PENDING
    tone: Tone = "warn" if pending else "dim"
    state = "waits for you" if pending else f"{approval.status.replace('_', ' ')} by {approval.decided_by or 'nobody'}"
    heading = (
        (f"? {approval.name_tag} {approval.kind.replace('_', ' ')}", tone), (state, tone),
        (f"{approval.requested_by} {clock_time(approval.created_at)}", "dim"),
    )  # fmt: skip
    differences = of_payload(approval.payload) if approval.kind == ApprovalKind.GOAL_CHANGE else None
    about = f"why: {approval.payload.get('why', '')}" if differences is not None else about_what(approval)
    note = f"\n→ {approval.note}" if approval.note else ""
    body = f"{approval.title}\n{about}{note}\nsha256 {approval.payload_hash[:16]}…"
    return Block(heading, body, tone, differences)  # type: ignore[arg-type]


def about_what(approval: Approval) -> str:
    """What exactly is asked about. What is bound by its hash is shown as it is, field by field."""
    payload = approval.payload
    match approval.kind:
        case ApprovalKind.MAIL if "body" in payload:
            return f"{payload.get('from', approval.requested_by)} writes:\n{payload['body']}"
        case ApprovalKind.CHALLENGE if "facts" in payload:
            answers = payload.get("answers")
            said = answers.items() if isinstance(answers, dict) else ()
            lines = [f"{payload.get('by', approval.requested_by)} holds against it: {payload['facts']}", ""]
            lines.append(f"The coordinator decided: {str(payload.get('decision', '')).replace('_', ' ')}")
            return "\n".join(lines + [f"{str(name).replace('_', ' ')}: {text}" for name, text in said])
        case ApprovalKind.QUESTION if payload.get("what") == "try_again":
            return "\n".join(_tried(payload))
        case _:
            return json.dumps(payload, ensure_ascii=False, indent=2) if payload else ""


_TOLD = frozenset({"what", "why", "findings", "on_reject", "plan"})


def _tried(payload: dict[str, Any]) -> Iterator[str]:
    """Why something came to a person after several attempts: the last word, and what reviewers found."""
    yield str(payload.get("why", ""))
    findings = payload.get("findings")
    for finding in findings if isinstance(findings, list) else ():
        if isinstance(finding, dict):
            yield f"finding {finding.get('number', '')} by {finding.get('by', '')}: {finding.get('what', '')}"
            yield from (f"  {name}: {finding[name]}" for name in ("where", "change", "because") if finding.get(name))
    if rest := {name: value for name, value in payload.items() if name not in _TOLD}:
        yield json.dumps(rest, ensure_ascii=False, indent=2)
