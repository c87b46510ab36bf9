"""What the inbox shows of a question: who waits, and what a yes, a no and a word back do. Pure."""

from core.domain.actors import HUMAN, SYSTEM
from core.domain.budget_items import question
from core.domain.budgets import money
from core.domain.entities import AgentRecord, Approval
from core.domain.hiring import same_name
from core.domain.inbox_item import Choice, InboxItem
from core.domain.organisation import chart_of, same_chart
from core.domain.permission_items import wish
from core.domain.states import AgentStatus, ApprovalKind

_VERBS = {
    ApprovalKind.CHALLENGE: ("uphold", "dismiss"),
    ApprovalKind.EXCHANGE: ("let go on", "stop"),
    ApprovalKind.AUTONOMY: ("go on at B", "stay at A"),
}
_WHY_MAX = 200  # code points
# Kinds of questions that a person may change before deciding; the room asks for the rest of the command.
EDITABLE = frozenset({ApprovalKind.HIRE_AGENT, ApprovalKind.ORG_CHANGE})
_SENT_BACK = {
    ApprovalKind.RED_LINE: "it must not be done like this; the agent is told why and goes on",
    ApprovalKind.GOAL_FAILURE: "the goal goes on; the coordinator plans on",
    ApprovalKind.CHALLENGE: "the decision stands for now; who challenged it is told why and may do so again",
    ApprovalKind.HIRE_AGENT: "nobody is hired; the CEO is woken with your note and may ask anew",
    ApprovalKind.ORG_CHANGE: "it stays under review; the CEO is woken with your note and proposes anew",
}


def of_approval(approval: Approval, agents: list[AgentRecord]) -> InboxItem:
    """A pending question, with what each answer to it sets in motion."""
    if approval.kind == ApprovalKind.BUDGET and "raise" in approval.payload:
        return question(approval)
    if approval.kind == ApprovalKind.PERMISSION and approval.entity.startswith("run:"):
        return wish(approval)

    def decide(key: str, verb: str, decision: str, effect: str, note: str = "") -> Choice:
        arguments: dict[str, object] = {
            "approval": approval.id,
            "decision": decision,
            "payload_hash": approval.payload_hash,
        }
        return Choice(key, verb, "DecideApproval", arguments, effect, note)

    refusal = "it is cancelled" if approval.payload.get("on_reject") == "cancel" else "it goes on without"
    effects = {
        ApprovalKind.RED_LINE: ("exactly this may be done, once", "it must not be done; the work goes on without it"),
        ApprovalKind.GOAL_FAILURE: ("the goal ends as failed", "the coordinator plans on"),
        ApprovalKind.GOAL_CHANGE: (
            "the goal becomes exactly this",
            "the goal stays as it is; the coordinator plans on with your word",
        ),
        ApprovalKind.CHALLENGE: ("the coordinator plans on with what it says", "the coordinator's decision stands"),
        ApprovalKind.EXCHANGE: ("they may go on for as long again", "nobody is woken by their last word"),
        ApprovalKind.AUTONOMY: (_goes_on(approval), "a CEO's draft waits for you again"),
        ApprovalKind.MAIL: ("your answer wakes who asked", "it is put aside; nobody is woken"),
        ApprovalKind.HIRE_AGENT: ("the agent is hired exactly as shown", "nobody is hired; the CEO reads why"),
        ApprovalKind.ORG_CHANGE: (
            "the organisation becomes exactly what is shown",
            "the organisation stays as it is; the CEO reads why",
        ),
    }
    yes, no = effects.get(approval.kind, ("it is tried again", refusal))
    if approval.payload.get("on_reject") == "cancel":
        no = refusal
    back = _SENT_BACK.get(approval.kind, "the agent is told why and tries again")
    asks_again = approval.kind == ApprovalKind.QUESTION and approval.payload.get("what") == "try_again"
    does, does_not = _VERBS.get(approval.kind, ("try again" if asks_again else "approve", "reject"))
    choices = [decide("a", does, "approved", yes), decide("b", does_not, "rejected", no, "note")]
    if approval.kind == ApprovalKind.MAIL:
        choices = [decide("a", "answer", "approved", yes, "note"), decide("b", "put aside", "rejected", no, "note")]
    elif approval.kind not in (
        ApprovalKind.EXCHANGE,
        ApprovalKind.GOAL_CHANGE,
        ApprovalKind.AUTONOMY,
    ):  # a no with a word says it all
        choices.append(decide("r", "send back", "revision_requested", back, "note"))
    if approval.kind in EDITABLE and (approval.kind == ApprovalKind.HIRE_AGENT or "changes" in approval.payload):
        hashed: dict[str, object] = {"approval": approval.id, "payload_hash": approval.payload_hash}
        choices.append(Choice("e", "edit", "EditApproval", hashed, "you change it first, then decide", undoable=False))
    return InboxItem(
        id=f"approval:{approval.id}",
        entity=approval.entity,
        kind=approval.kind,
        title=approval.title,
        why=overtaken(approval, agents) or _why_asked(approval),
        since=approval.created_at,
        urgent=approval.kind == ApprovalKind.RED_LINE,
        choices=tuple(choices),
    )


def _goes_on(approval: Approval) -> str:
    budget = approval.payload.get("budget_micros")
    return f"stage B goes on, with {money(budget)} a day" if isinstance(budget, int) else "stage B goes on"


def _why_asked(approval: Approval) -> str:
    """Who waits, and for what reason if it was given."""
    # the person's own act may set a question in motion, e.g. a third objection
    who = "the board" if approval.requested_by in (HUMAN, SYSTEM) else approval.requested_by
    why = approval.payload.get("why")
    if isinstance(why, str) and why.strip():
        return f"{who} asks: {why.strip()[:_WHY_MAX]}"
    return f"{who} asks and waits; silence never approves"


def overtaken(approval: Approval, agents: list[AgentRecord]) -> str:
    """Why a hire or a change of the organisation can no longer be carried out as it was asked; empty if it can."""
    payload = approval.payload
    is_change = approval.kind == ApprovalKind.ORG_CHANGE and "changes" in payload
    if is_change and not same_chart(chart_of(agents), payload["before"]):
        return "overtaken: the organisation changed after this was asked; edit it (also as it is), or reject it"
    if approval.kind != ApprovalKind.HIRE_AGENT:
        return ""
    slug, name = str(payload.get("slug", "")), str(payload.get("name", ""))
    for agent in agents:
        if agent.slug == slug or same_name(agent.name, name):
            return f"{agent.name_tag} {agent.name} ({agent.slug}) has that name by now: edit it, or reject it"
    gone = [a for a in agents if a.slug == payload.get("manager") and a.status == AgentStatus.TERMINATED]
    return f"{gone[0].name}, its manager, has retired: edit it, or reject it" if gone else ""
