"""Changes of a goal at work: proposed at the end of a round, shown side by side, decided by the operator (S2-12)."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.commands.approvals import answers, ask, consume_as_system
from core.commands.must_haves import MustHaveDraft, delivered_ids
from core.commands.registry import Act, Lines, Reason, Text, Title
from core.domain.actors import HUMAN
from core.domain.entities import Approval, Goal, MustHave, Task
from core.domain.errors import Conflict, Invalid
from core.domain.goal_change import Wanted, content_of, numbered, same_content, without
from core.domain.goals import content_hash
from core.domain.limits import LINES_MAX
from core.domain.states import ApprovalKind, ApprovalStatus, GoalStatus, TaskStatus


class GoalChange(BaseModel):
    """What the goal is to become. What is left out stays as it is; must-haves are named whole."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    must_haves: tuple[MustHaveDraft | Title, ...] = Field(
        max_length=LINES_MAX, description="All of them; those not named are dropped"
    )
    constraints: Lines | None = None
    description: Text | None = None
    out_of_scope: Lines | None = None
    why: Reason = Field(description="Why the goal is to change")


def require_unchanging(act: Act, goal: Goal) -> None:
    """Raises Conflict while a change of the goal waits for the operator: nothing is planned on ground that moves."""
    found = pending_about(act, goal, ApprovalKind.GOAL_CHANGE)
    if found:
        raise Conflict(
            f"{goal.name_tag} may be about to change: {found[0].name_tag} waits for the operator.",
            "Wait for the answer.",
        )


def pending_about(act: Act, goal: Goal, kind: ApprovalKind) -> list[Approval]:
    """The questions of one kind about a goal that wait for the operator."""
    return act.tx.select(
        Approval, "kind = :kind AND entity = :entity AND status = 'pending'", kind=kind, entity=f"goal:{goal.id}"
    )


def ask_goal_change(act: Act, goal: Goal, change: GoalChange) -> Approval:
    """Put a change before the operator: {"before", "after", "why", "replaced"}. Raises Invalid, or Conflict."""
    before = content_of(goal)
    after, replaced = _after(act, goal, change)
    if same_content(before, after):
        raise Invalid(f"This leaves {goal.name_tag} as it is.", "Say what is to change, or take another decision.")
    payload = {"before": before, "after": after, "why": change.why, "replaced": replaced}
    return ask(act, ApprovalKind.GOAL_CHANGE, f"goal:{goal.id}", f"May {goal.name_tag} be changed?", payload)


def _after(act: Act, goal: Goal, change: GoalChange) -> tuple[dict[str, Any], dict[str, str]]:
    known = ", ".join(must["id"] for must in goal.must_haves) or "none"
    wanted = [
        Wanted("", must, "") if isinstance(must, str) else Wanted(must.id, must.text, must.verify)
        for must in change.must_haves
    ]
    try:
        must_haves, replaced = numbered(goal.must_haves, wanted, delivered_ids(act, goal))
    except KeyError as error:
        raise Invalid(f"{goal.name_tag} has no must-have {error.args[0]}.", f"It has: {known}.") from None
    except ValueError as error:
        raise Invalid(f"{error.args[0]} is named twice.", "Name each must-have once.") from None
    if goal.must_haves and not any(not must["waived_by"] for must in must_haves):
        raise Invalid("This leaves no must-have to deliver.", "Decide report or stop, or name what is to be delivered.")
    given = change.model_dump(mode="json", include={"constraints", "description", "out_of_scope"}, exclude_none=True)
    return {**content_of(goal), **given, "must_haves": [dict(must) for must in must_haves]}, replaced


@answers(ApprovalKind.GOAL_CHANGE)
def answer_goal_change(act: Act, approval: Approval) -> str:
    """Approved, the goal becomes exactly what was shown; else the operator's word is the next plan's input."""
    goal = act.tx.get(Goal, int(approval.entity.partition(":")[2]))
    if goal.status != GoalStatus.ACTIVE:
        return str(goal.status)
    if approval.status != ApprovalStatus.APPROVED:
        act.tx.update(goal, "GoalChangeRefused", touch=False, reason=approval.note)
        return "unchanged"
    if not same_content(content_of(goal), approval.payload["before"]):
        raise Conflict(
            f"{goal.name_tag} changed after this was asked; it would undo that.",
            "Reject it with a word; the coordinator asks anew.",
        )
    consume_as_system(act, approval)
    goal = _become(act, goal, approval)
    _follow_in_drafts(act, goal, approval.payload.get("replaced", {}))
    return "changed"


def _become(act: Act, goal: Goal, approval: Approval) -> Goal:
    after = approval.payload["after"]
    # A waiver that came meanwhile is the operator's own and stays.
    waived = {must["id"]: must["waived_by"] for must in goal.must_haves if must["waived_by"]}
    shown: list[MustHave] = after["must_haves"]
    must_haves: list[MustHave] = [{**must, "waived_by": waived.get(must["id"], must["waived_by"])} for must in shown]
    hashed = content_hash(goal.title, after["description"], must_haves, after["constraints"], after["out_of_scope"])
    return act.tx.update(
        goal, "GoalAdjusted",
        description=after["description"], must_haves=must_haves, constraints=after["constraints"],
        out_of_scope=after["out_of_scope"], content_hash=hashed, reviewed_by=HUMAN, reviewed_at=act.tx.now,
        reviewed_hash=hashed, reason=approval.note,
    )  # fmt: skip


def _follow_in_drafts(act: Act, goal: Goal, replaced: dict[str, str]) -> None:
    """Drafts name what the goal has now; an agent's draft for what was dropped has nothing left to deliver."""
    from core.commands.moves import move_task

    known = {must["id"] for must in goal.must_haves}
    for task in _drafts(act, goal):
        left = without(task.must_haves, known, replaced)
        if left == task.must_haves:
            continue
        dropped = ", ".join(must_id for must_id in task.must_haves if must_id not in left)
        changed = act.tx.update(task, "TaskEdited", must_haves=left, offer=task.offer + 1)
        if not left and task.created_by != HUMAN:
            reason = f"{goal.name_tag} no longer asks for {dropped}"
            move_task(act, changed, TaskStatus.CANCELLED, "CancelTask", "TaskCancelled", as_system=True, reason=reason)


def _drafts(act: Act, goal: Goal) -> Iterable[Task]:
    found = act.tx.select(Task, "goal_id = :goal AND status = 'draft' ORDER BY id", goal=goal.id)
    return [act.tx.get(Task, task.id) for task in found]
