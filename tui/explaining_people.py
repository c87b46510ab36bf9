"""Why an agent is as it is and what ends that; why a question waits, or what became of it. Pure; no Textual."""

from typing import TYPE_CHECKING

from core.domain.entities import AgentRecord, Approval
from core.domain.states import ApprovalKind, ApprovalStatus, TaskStatus
from tui.explanation import Explanation
from tui.text import ago, left, one_line

if TYPE_CHECKING:
    from tui.projection import Projection

WITHOUT_YOU: dict[str, str] = {
    ApprovalKind.HIRE_AGENT: "nobody is hired before you decide",
    ApprovalKind.ORG_CHANGE: "the organisation stays as it is before you decide",
    ApprovalKind.RED_LINE: "the act is held: nothing of it is done before you decide",
    ApprovalKind.PERMISSION: "its program waits, and the run with it",
    ApprovalKind.QUESTION: "it stands still until you answer",
    ApprovalKind.BUDGET: "nothing that it would pay for starts before you decide",
    ApprovalKind.GOAL_FAILURE: "the goal is not given up before you decide",
    ApprovalKind.GOAL_CHANGE: "the goal stays as it is, and nothing is planned before you decide",
    ApprovalKind.CHALLENGE: "the decision stands until you decide",
    ApprovalKind.EXCHANGE: "their last word wakes nobody before you decide",
    ApprovalKind.MAIL: "the others go on; your answer wakes who asked",
    ApprovalKind.AUTONOMY: "the drafts of the CEO wait for you, as at stage A",
}
"""What becomes of what was asked for as long as nobody decides, by the kind of the question."""

_OVER = "nothing: it is over"
_ENDS: dict[str, str] = {
    "asks": "it goes on when you have answered; the question is in the inbox",
    "needs you": "it goes on when you have answered; the question is in the inbox",
    "budget": "it starts when the budget is raised, or when its period ends",
    "plan": "silence lets it run: the work goes on when the time is up",
    "cooling": "its runs start when the time is up",
    "queued": "it starts as soon as nothing holds it back",
    "claimed": "its work goes back to others if no run of it comes",
    "blocked": "it goes on when the task is unblocked",
    "silent": "its run is taken for lost at a tick, and its task goes back",
    "in circles": "what it runs on and its duties can be changed; its task is given to others after some attempts",
    "fails": "what it runs on can be changed; after some attempts you are asked",
    "cannot run": "what it runs on must be changed: another try fails alike",
    "no runner": "it gets no work before it has something to run on",
    "idle": "work that fits it, a word to it, or a tick wakes it",
    "retired": _OVER,
}


def of_agent(view: "Projection", agent: AgentRecord, now: int, run: str) -> Explanation:
    """By the same rules as the roster; `run` tells what its live run does, and is empty without one."""
    from tui.panes.staff_health import conditions

    is_so = conditions(view, now)[agent.id]
    because = {"paused": " because: ", "retired": " because: ", "idle": "; "}.get(is_so.state, ": ")
    why = f"{agent.role}: {is_so.state}{because if is_so.why else ''}{one_line(is_so.why)}"
    if is_so.state == "working":
        return Explanation(why, run or "its run goes on")
    if is_so.state == "stopped":
        return Explanation(why, f"{view.keymap.shown('start')} starts the company: until then no run begins")
    if is_so.state == "paused":
        return Explanation(why, run or "it gets no run until it is resumed")
    return Explanation(why, _ENDS[is_so.state])


def of_question(view: "Projection", question: Approval, now: int) -> Explanation:
    """Why it waits for a decision and what happens without one, or what was decided and what follows from that."""
    item = next((each for each in view.inbox() if each.id == f"approval:{question.id}"), None)
    note = f": {one_line(question.note)}" if question.note else ""
    when = f"{ago(now, question.decided_at)} ago" if question.decided_at is not None else ""
    who = "you" if question.decided_by in (None, "", "human") else question.decided_by
    match question.status:
        case ApprovalStatus.PENDING:
            why = item.why if item is not None else f"{question.requested_by} asks and waits"
            ends = ""
            if question.expires_at is not None and question.expires_at > now:
                ends = f"; in {left(now, question.expires_at)} it ends by itself, and silence is no yes"
            return Explanation(why, WITHOUT_YOU[question.kind] + ends)
        case ApprovalStatus.APPROVED:
            return Explanation(f"{who} said yes {when}{note}".rstrip(), _of_a_yes(view, question))
        case ApprovalStatus.CONSUMED:
            return Explanation(f"{who} said yes {when}{note}, and it was used".strip(), "nothing: a yes counts once")
        case ApprovalStatus.REJECTED:
            return Explanation(f"{who} said no {when}{note}".rstrip(), "nothing: it is decided")
        case ApprovalStatus.REVISION_REQUESTED:
            return Explanation(
                f"{who} sent it back {when}{note}".rstrip(), "who asked may ask anew, with other content"
            )
        case ApprovalStatus.CANCELLED:
            return Explanation(f"it was withdrawn or ended{note}", "nothing: nobody asks it any more")


def _of_a_yes(view: "Projection", question: Approval) -> str:
    """Whether something still uses it."""
    thing = view.find(question.entity)
    is_over = getattr(thing, "status", None) in (TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.CANCELLED)
    if question.kind == ApprovalKind.PERMISSION:
        return "it counts until its run ends"
    return "nothing: what it was asked for is over" if is_over else "it counts once, for exactly what it shows"
