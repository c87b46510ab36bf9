"""A question to the operator as a block of a thread: what is asked, about exactly what, and what became of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.domain.budgets import money
from core.domain.entities import Approval, Run
from core.domain.states import ApprovalKind, ApprovalStatus
from tui import signs
from tui.panes.coverage import person
from tui.panes.differences import of_payload
from tui.panes.payload import spelled
from tui.panes.permission import as_text, asks_for_run, drawing
from tui.panes.words import clock_time
from tui.staff_text import runner_words
from tui.text import in_words
from tui.widgets.prose import Block
from tui.widgets.row import Tone

TWO_SIDED = frozenset({ApprovalKind.GOAL_CHANGE, ApprovalKind.ORG_CHANGE})
"""Kinds that show what is before and after."""

# A yes to a program is used up by being heard: its states are no words for people.
_PERMITS: dict[ApprovalStatus, str] = {
    ApprovalStatus.CONSUMED: "allowed", ApprovalStatus.APPROVED: "allowed for its run",
    ApprovalStatus.REJECTED: "refused",
}  # fmt: skip
# Elsewhere a yes that was used is the usual one, and one that still lies there is told as such.
_DECIDED: dict[ApprovalStatus, str] = {
    ApprovalStatus.CONSUMED: "approved", ApprovalStatus.APPROVED: "approved, not used yet,",
    ApprovalStatus.REVISION_REQUESTED: "sent back",
}  # fmt: skip


def question(approval: Approval, failed: Sequence[Run] = ()) -> Block:
    """What waits for a decision, or was decided; `failed` are the attempts that it came from, the newest first."""
    pending = approval.status == ApprovalStatus.PENDING
    tone: Tone = "warn" if pending else "dim"
    words = (_PERMITS if asks_for_run(approval) else _DECIDED).get(approval.status) or in_words(approval.status)
    state = "waits for you" if pending else f"{words} by {person(approval.decided_by or 'nobody')} ·"
    heading = (
        (f"? {approval.name_tag} {in_words(approval.kind)}", tone), (state, tone),
        (f"{approval.requested_by} {clock_time(approval.created_at)}", "dim"),
    )  # fmt: skip
    differences = of_payload(approval.payload) if approval.kind in TWO_SIDED else None
    wish = drawing(approval) if asks_for_run(approval) else None
    about = f"why: {approval.payload.get('why', '')}" if differences is not None else about_what(approval)
    about = "" if wish is not None else about
    note = f"\n→ {approval.note}" if approval.note else ""
    parts = [approval.title, about, *(_attempt(run) for run in failed)]
    body = "\n".join(part for part in parts if part) + f"{note}\nsha256 {approval.payload_hash[:16]}…"
    return Block(heading, body, tone, differences or wish)  # type: ignore[arg-type]


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
            lines.append(f"The coordinator decided: {in_words(payload.get('decision', ''))}")
            return "\n".join(lines + [f"{in_words(name)}: {text}" for name, text in said])
        case ApprovalKind.PERMISSION if asks_for_run(approval):
            return "\n".join(as_text(approval))
        case ApprovalKind.HIRE_AGENT if "slug" in payload:
            return "\n".join(_hire(payload))
        case ApprovalKind.BUDGET if "raise" in payload:
            return "\n".join(_budget(payload))
        case ApprovalKind.AUTONOMY:
            return "\n".join(_autonomy(payload))
        case ApprovalKind.QUESTION if payload.get("what") == "try_again":
            return "\n".join(_tried(payload))
        case ApprovalKind.QUESTION | ApprovalKind.GOAL_FAILURE:
            return "\n".join(_in_words(payload))
        case _:
            return "\n".join(spelled(payload))


_OURS = frozenset({"what", "on_reject", "base"})
"""Fields by which the company itself knows what to do with the answer; a person is told it in words."""
_TOLD = frozenset({"why", "findings", "plan", *_OURS})


def fields_to_read(payload: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """A question's fields as a person reads them, and what a no does where it is more than a no."""
    ours = _OURS if payload.get("what") == "try_again" else {"on_reject"}
    fields = {in_words(name): value for name, value in payload.items() if name not in ours}
    if isinstance(fields.get("goal"), int):
        fields["goal"] = f"G{fields['goal']}"
    return fields, "a no cancels it" if payload.get("on_reject") == "cancel" else ""


def _attempt(run: Run) -> str:
    """How an attempt ended, and what it said of it."""
    ended = signs.RUN[run.status][1] + (f" ({in_words(run.exit_kind)})" if run.exit_kind else "")
    return f"{run.name_tag} {ended}: {run.detail or 'it says nothing of why'}"


def _in_words(payload: dict[str, Any]) -> Iterator[str]:
    """A question field by field: why first, a goal by its short name, and what a no ends."""
    if why := payload.get("why"):
        yield f"why: {why}"
    rest, no = fields_to_read({name: value for name, value in payload.items() if name != "why"})
    yield from spelled(rest)
    if no:
        yield no


def _tried(payload: dict[str, Any]) -> Iterator[str]:
    """Why something came to a person after several attempts: the last word, and what reviewers found."""
    if why := payload.get("why"):
        yield str(why)
    findings = payload.get("findings")
    for finding in findings if isinstance(findings, list) else ():
        if isinstance(finding, dict):
            yield f"finding {finding.get('number', '')} by {finding.get('by', '')}: {finding.get('what', '')}"
            yield from (f"  {name}: {finding[name]}" for name in ("where", "change", "because") if finding.get(name))
    yield from spelled({name: value for name, value in payload.items() if name not in _TOLD})


def _hire(payload: dict[str, Any]) -> Iterator[str]:
    """The whole hire: what it costs and what is lacking without it first, then field by field."""
    yield f"costs: {payload.get('cost') or 'not known'}"
    lacking = ", ".join(_texts(payload.get("lacking")))
    yield f"without it nobody can: {lacking}" if lacking else "without it: nothing that is asked for is lacking"
    if still := _texts(payload.get("still_lacking")):
        yield f"still lacking with it: {', '.join(still)}"
    if alike := _texts(payload.get("alike")):
        yield f"idle, and can all of this: {', '.join(alike)}"
    yield f"why: {payload.get('why') or 'no reason was given'}"
    yield ""
    yield f"{payload.get('name', '')} ({payload['slug']}), {payload.get('role', '')}"
    yield f"can: {', '.join(_texts(payload.get('capabilities'))) or 'anything'}"
    yield f"reports to: {payload.get('manager') or 'nobody'}"
    yield f"runs at once: {payload.get('max_runs', 1)}"
    yield f"runner: {runner_words(payload.get('runner'))}"


def _budget(payload: dict[str, Any]) -> Iterator[str]:
    """How much is spent of what, and what a yes adds."""
    yield str(payload.get("why", ""))
    for name, label in (("limit", "limit"), ("spent", "spent or held back"), ("raise", "a yes adds")):
        if isinstance(payload.get(name), int):
            yield f"{label}: {money(payload[name])}"
    yield f"period: {payload.get('period', '')}"


def _autonomy(payload: dict[str, Any]) -> Iterator[str]:
    """Which limit ended stage B, and what a yes switches on again."""
    yield f"It went back to stage A: {payload.get('why', '')}."
    if isinstance(payload.get("budget_micros"), int):
        yield f"A yes switches stage B on again, with {money(payload['budget_micros'])} a day."


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, (list, tuple)) else []
