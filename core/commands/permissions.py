"""What a run's program may do: asked of the operator, answered once, and never alive longer than its run."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from core.commands.approvals import DecideApproval, answers, ask, consume_as_system, decide_approval, require_pending
from core.commands.moves import SYSTEM_CAPACITY
from core.commands.redlines import note_blocked
from core.commands.registry import Act, Answer, Command, Text, Title, handles, letters
from core.domain.entities import Approval, Run
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import canonical_hash
from core.domain.guardrails import ACT_TEXT_MAX, GuardAction, Guardrails, RedLine
from core.domain.lifecycles import APPROVAL
from core.domain.limits import PERMISSIONS_PER_RUN
from core.domain.permissions import (
    ASK_EACH_TIME,
    COMMAND_MAX,
    DETAILS_MAX,
    DIFFERENCES_MAX,
    FILES_MAX,
    FOLDER_MAX,
    Cover,
    Permit,
    WishKind,
    cover_as_json,
    cover_from,
    cover_of,
)
from core.domain.states import RUN_LIVE, ApprovalKind, ApprovalStatus

# What is done to a file, in the words that red lines have for it.
_VERBS = {WishKind.DELETE: ("delete", "rm"), WishKind.MOVE: ("move", "mv", "edit")}
_OF_RUN = "entity = :entity AND kind = 'permission' ORDER BY id"
Path = Annotated[Text, StringConstraints(max_length=FOLDER_MAX)]


class FileWish(BaseModel):
    """A file that is to be changed or read: its unified difference, empty when it is only read."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    path: Path
    difference: Annotated[str, StringConstraints(max_length=DIFFERENCES_MAX)] = ""
    added: int = Field(0, ge=0)
    removed: int = Field(0, ge=0)
    is_new: bool = False


class AskPermission(Command):
    """Ask the operator whether your program may do this; it does nothing before the answer."""

    who = letters("A")
    reads_guardrails = True
    example = {"title": "Run the tests", "kind": "command", "folder": "/home/ada/site", "command": "npm test"}
    title: Title
    kind: WishKind
    folder: Path = Field("", description="Where it acts")
    command: Annotated[Text, StringConstraints(max_length=COMMAND_MAX)] = Field("", description="Literally")
    details: Annotated[Text, StringConstraints(max_length=DETAILS_MAX)] = ""
    files: tuple[FileWish, ...] = Field((), max_length=FILES_MAX)
    more_files: int = Field(0, ge=0, description="So many files more that are not listed")
    cut: tuple[Text, ...] = Field((), max_length=FILES_MAX + 5, description="What is not here whole")
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$", description="Of the whole wish")
    more_arguments: bool = Field(False, description="It has arguments beside these; they stand in the details")
    wait_ms: int | None = Field(None, ge=1, description="Refused when nobody has answered after this")


@dataclass(frozen=True, slots=True)
class _Checked:
    """Which red line it touches by what it does, which by words of a changed text; `is_whole`: all was looked at.

    `is_final`: it is of a kind that asks each time.
    """

    act: RedLine | None
    text: RedLine | None
    is_whole: bool
    is_final: bool

    @property
    def line(self) -> RedLine | None:
        return self.act or self.text

    @property
    def asks_each_time(self) -> bool:
        """Whether a yes for the run is no yes to this."""
        return self.line is not None or not self.is_whole or self.is_final


@handles(AskPermission)
def ask_permission(act: Act, command: AskPermission) -> Answer:
    """`permit` and `note` when it needs no person; else `waits`, the question's number."""
    run = act.own_run()
    checked = _checked(act.guardrails, command)
    line = checked.act
    if line is not None and line.action == GuardAction.BLOCK_AND_NOTIFY:
        note_blocked(act, run.task_id, line, command.model_dump(mode="json"))
        about = f": {line.about}" if line.about else ""
        return _refused(f"it crosses the red line {line.name}{about}")
    cover = _cover(command)
    known = act.tx.select(Approval, _OF_RUN, entity=f"run:{run.id}")
    for earlier in known:
        kept = cover_from(earlier.payload["cover"])
        if earlier.status == ApprovalStatus.APPROVED and not checked.asks_each_time and kept.covers(cover):
            return {"permit": Permit.RUN, "note": f"allowed for this run by {earlier.name_tag}"}
        if earlier.status == ApprovalStatus.REJECTED and kept.digest == cover.digest:
            return _refused(f"{earlier.name_tag} refused exactly this: {earlier.note}")
    if len(known) >= PERMISSIONS_PER_RUN:
        return _refused(f"{run.name_tag} has asked {len(known)} times already; a person reads each of them")
    payload = _payload(command, cover, checked)
    until = None if command.wait_ms is None else act.tx.now + command.wait_ms
    approval = ask(act, ApprovalKind.PERMISSION, f"run:{run.id}", command.title, payload, until)
    return {"waits": approval.id, "payload_hash": approval.payload_hash}


def _refused(note: str) -> Answer:
    return {"permit": Permit.REFUSED, "note": note}


def _cover(command: AskPermission) -> Cover:
    digest = canonical_hash(command.model_dump(mode="json", exclude={"wait_ms"}))
    paths = [file.path for file in command.files]
    is_whole = _is_whole(command) and not command.more_arguments
    return cover_of(command.kind, command.folder, command.command, paths, digest, is_whole=is_whole)


def _payload(command: AskPermission, cover: Cover, checked: _Checked) -> dict[str, Any]:
    line = checked.line
    told = command.model_dump(mode="json", exclude={"title", "wait_ms"})
    return told | {
        "red_line": {"name": line.name, "about": line.about} if line else None,
        "checked": checked.is_whole,
        "cover": cover_as_json(cover),
        "for_run": "" if checked.asks_each_time else cover.in_words(),
    }


def _checked(guardrails: Guardrails, command: AskPermission) -> _Checked:
    is_final = command.kind in ASK_EACH_TIME
    try:
        act = _strictest(guardrails, _acts(command))
        is_short = sum(len(file.difference) for file in command.files) <= ACT_TEXT_MAX  # the writer serves everybody
        text = _strictest(guardrails, ({"text": file.difference} for file in command.files)) if is_short else None
        return _Checked(act, text, is_short and _is_whole(command), is_final)
    except Invalid:
        # Too long for the lines: a person looks, each time.
        return _Checked(None, None, False, is_final)


def _strictest(guardrails: Guardrails, parts: Iterable[dict[str, Any]]) -> RedLine | None:
    found = [line for part in parts if (line := guardrails.of_act(part)) is not None]
    return next((line for line in found if line.action == GuardAction.BLOCK_AND_NOTIFY), next(iter(found), None))


def _acts(command: AskPermission) -> list[dict[str, Any]]:
    """What it does, in parts that are short enough to be checked; a file with what is done to it: `read .env`.

    The text of differences is apart: to write words down is not to do what they say, it only asks.
    """
    done = [{"action": verb, "path": _seen_from(command.folder, file.path)}
            for file in command.files for verb in _VERBS.get(command.kind, (str(command.kind),))]  # fmt: skip
    told = [{"title": command.title, "details": command.details}, {"command": command.command}]
    return [*told, *_arguments(command.details), *done]


def _arguments(details: str) -> Iterable[dict[str, Any]]:
    """What stands in the details as JSON, each text in it by itself. Raises Invalid for what is nested too deep."""
    for line in details.split("\n"):
        if line[:1] in ("{", "["):
            try:
                yield {"arguments": json.loads(line)}
            except ValueError:  # words, or cut: then it is checked as a text
                continue
            except RecursionError:
                raise Invalid("The arguments are nested too deep to be checked.", "Say it more plainly.") from None


def _seen_from(folder: str, path: str) -> str:
    """The path from the folder where it is within that: deleting below outputs/ or tmp/ is no red line."""
    return path.removeprefix(f"{folder.rstrip('/')}/") if folder else path


def _is_whole(command: AskPermission) -> bool:
    return not command.cut and not command.more_files


class AnswerPermission(Command):
    """Allow what a run's program asks for, once or for its run, or refuse it. The first decision wins."""

    who = letters("H")
    approval: int
    permit: Permit
    note: Text = Field("", description="The reason; needed for a refusal")
    payload_hash: str | None = Field(None, description="Hash of what the person saw; refused if it differs")


@handles(AnswerPermission)
def answer_permission(act: Act, command: AnswerPermission) -> Answer:
    approval = act.tx.get(Approval, command.approval)
    if approval.kind != ApprovalKind.PERMISSION or not approval.entity.startswith("run:"):
        raise Invalid(f"{approval.name_tag} is no permission that a run waits for.", "Send DecideApproval.")
    _require_waiting(act, approval)
    if command.permit != Permit.RUN:
        decision = "approved" if command.permit == Permit.ONCE else "rejected"
        decided = DecideApproval(
            approval=approval.id, decision=decision, note=command.note, payload_hash=command.payload_hash
        )
        return decide_approval(act, decided) | {"permit": str(command.permit)}
    if command.payload_hash is not None and command.payload_hash != approval.payload_hash:
        raise Conflict(f"{approval.name_tag} changed since you read it.", "Read it again, then decide.")
    if not approval.payload.get("for_run"):
        is_final = approval.payload["kind"] in ASK_EACH_TIME and approval.payload.get("checked")
        why = "deletes or moves" if is_final else "could not be checked whole"
        why = "crosses a red line" if approval.payload.get("red_line") else why
        raise Conflict(f"{approval.name_tag} {why}: such an act asks each time.", "Allow it once, or refuse it.")
    APPROVAL.require(
        approval.name_tag, approval.status, ApprovalStatus.APPROVED, "AnswerPermission", act.capacities
    )  # fmt: skip
    act.tx.update(
        approval, "ApprovalApproved", status=ApprovalStatus.APPROVED, decided_by=act.label, decided_at=act.tx.now,
        note=command.note.strip(),
    )  # fmt: skip
    return {"id": approval.id, "status": "approved", "permit": "run", "follow_up": approval.payload["for_run"]}


def _require_waiting(act: Act, approval: Approval) -> None:
    """Raises Conflict when it is decided, or its run has ended: whoever would hear the answer is gone."""
    if approval.status == ApprovalStatus.CANCELLED:
        raise Conflict(
            f"{approval.name_tag} is over: {approval.note}. Nothing was allowed.",
            "If its agent still wants it, a later run asks anew.",
        )
    require_pending(approval)
    run = act.tx.find(Run, approval.run_id)
    if run is None or run.status not in RUN_LIVE:
        ended = "its run" if run is None else f"{run.name_tag} ({run.status})"
        raise Conflict(
            f"{approval.name_tag} is over: {ended} has ended.", "If its agent still wants it, a later run asks anew."
        )


@answers(ApprovalKind.PERMISSION)
def _decided(act: Act, approval: Approval) -> str:
    """A yes once is used up by being given: the run's program hears it at once."""
    if approval.status == ApprovalStatus.REVISION_REQUESTED:
        raise Conflict(f"{approval.name_tag} is not sent back: its program waits.", "Refuse it with a reason.")
    if approval.status == ApprovalStatus.APPROVED:
        consume_as_system(act, approval)
        return "allowed once"
    return "refused"


class WithdrawPermission(Command):
    """Take back your run's question for a permission: its program no longer wants it."""

    who = letters("A")
    example = {"approval": 7}
    approval: int


@handles(WithdrawPermission)
def withdraw_permission(act: Act, command: WithdrawPermission) -> Answer:
    approval = act.tx.get(Approval, command.approval)
    if approval.kind != ApprovalKind.PERMISSION or approval.run_id != act.own_run().id:
        raise Forbidden(f"{approval.name_tag} is not a question of your run.", "Withdraw only what your own run asked.")
    if approval.status != ApprovalStatus.PENDING:
        return {"id": approval.id, "status": str(approval.status)}
    APPROVAL.require(
        approval.name_tag, approval.status, ApprovalStatus.CANCELLED, "CancelApproval", SYSTEM_CAPACITY
    )  # fmt: skip
    act.tx.update(
        approval, "ApprovalCancelled", status=ApprovalStatus.CANCELLED, note="its program took the question back"
    )  # fmt: skip
    return {"id": approval.id, "status": "cancelled"}
