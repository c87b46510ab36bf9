"""The sign, the word and the tone of every state: a state is never told by colour alone.

The lists, the panes and the help read the same tables.
"""

from core.domain.entities import Goal, Run, Task
from core.domain.goals import is_reviewed
from core.domain.inbox import InboxItem
from core.domain.states import ApprovalKind, GoalStatus, RoundStatus, RunStatus, TaskStatus
from tui.widgets.row import Tone

Look = tuple[str, str, Tone]

TASK: dict[str, Look] = {
    TaskStatus.DRAFT: ("·", "draft", "dim"),
    TaskStatus.PENDING: ("○", "pending", "info"),
    TaskStatus.CLAIMED: ("◔", "claimed", "info"),
    TaskStatus.WORKING: ("●", "working", "good"),
    TaskStatus.REVIEW: ("◆", "review", "info"),
    TaskStatus.BLOCKED: ("■", "blocked", "bad"),
    TaskStatus.WAITING_HUMAN: ("?", "needs you", "warn"),
    TaskStatus.DONE: ("✓", "done", "good"),
    TaskStatus.FAILED: ("✗", "failed", "bad"),
    TaskStatus.CANCELLED: ("–", "cancelled", "dim"),
}
GOAL: dict[str, Look] = {
    GoalStatus.DRAFT: ("?", "draft", "warn"),
    GoalStatus.PLANNING: ("◔", "planning", "info"),
    GoalStatus.ACTIVE: ("●", "active", "good"),
    GoalStatus.REPORTING: ("?", "report", "warn"),
    GoalStatus.DONE: ("✓", "done", "good"),
    GoalStatus.FAILED: ("✗", "failed", "bad"),
    GoalStatus.CANCELLED: ("–", "cancelled", "dim"),
    GoalStatus.ARCHIVED: ("–", "archived", "dim"),
}
ROUND: dict[str, Look] = {
    RoundStatus.OPEN: ("●", "open", "good"),
    RoundStatus.STALLED: ("■", "stalled", "warn"),
    RoundStatus.REVIEWING: ("◆", "review", "info"),
    RoundStatus.ESCALATED: ("?", "needs you", "warn"),
    RoundStatus.CLOSED: ("✓", "closed", "dim"),
}
RUN: dict[str, Look] = {
    RunStatus.QUEUED: ("○", "queued", "info"),
    RunStatus.STARTING: ("◔", "starting", "info"),
    RunStatus.RUNNING: ("●", "running", "good"),
    RunStatus.SUCCEEDED: ("✓", "succeeded", "good"),
    RunStatus.FAILED: ("✗", "failed", "bad"),
    RunStatus.TIMED_OUT: ("✗", "timed out", "bad"),
    RunStatus.RATE_LIMITED: ("◌", "rate limited", "warn"),
    RunStatus.PROTOCOL_VIOLATION: ("✗", "broke the protocol", "bad"),
    RunStatus.KILLED: ("–", "ended", "dim"),
    RunStatus.LOST: ("✗", "lost", "bad"),
}
AGENT: dict[str, Look] = {
    "working": ("●", "working", "good"),
    "asks": ("?", "asks", "warn"),
    "waiting": ("○", "waiting", "info"),
    "cooling": ("◌", "cooling", "warn"),
    "paused": ("‖", "paused", "warn"),
    "idle": ("·", "idle", "dim"),
    "gone": ("–", "gone", "dim"),
}
INBOX: dict[str, Look] = {
    "draft": ("?", "draft", "warn"),
    "dispatch": ("▸", "dispatch", "info"),
    "report": ("★", "report", "good"),
    "red_line": ("!", "red line", "bad"),
    "question": ("?", "question", "warn"),
    "permission": ("?", "asks", "warn"),
    "budget": ("!", "budget", "bad"),
    "hire_agent": ("+", "hire", "info"),
    "org_change": ("+", "org chart", "info"),
    "autonomy": ("↩", "stage A", "warn"),
    "goal_failure": ("✗", "give up", "bad"),
    "exploring": ("…", "exploring", "info"),
    "plan": ("◷", "plan", "info"),
    "goal_change": ("±", "change", "warn"),
    "challenge": ("?", "challenge", "warn"),
    "exchange": ("⇄", "exchange", "warn"),
    "mail": ("✉", "mail", "info"),
    "stalled": ("■", "stalled", "bad"),
    "escalation": ("!", "escalated", "bad"),
    "waiting_human": ("?", "needs you", "warn"),
    "blocked": ("■", "blocked", "bad"),
    "held": ("■", "held", "warn"),
    "stopped": ("■", "stopped", "warn"),
    "no reviewer": ("?", "no reviewer", "warn"),
    "no coordinator": ("?", "no leader", "warn"),
    "no ceo": ("?", "no CEO", "warn"),
    "no mission": ("?", "mission", "warn"),
    "no runner": ("■", "no runner", "bad"),
}
_PAUSED: Look = ("‖", "paused", "warn")
HELD: Look = ("◷", "decided", "dim")
_REVIEWED: Look = ("▸", "reviewed", "info")
_EXPLORING: Look = ("…", "exploring", "info")


def of_goal(goal: Goal) -> Look:
    """How a goal stands: a pause, a talk and a review show before the status."""
    if goal.paused_at is not None:
        return _PAUSED
    if goal.status == GoalStatus.DRAFT and goal.exploring:
        return _EXPLORING
    if goal.status == GoalStatus.DRAFT and is_reviewed(goal):
        return _REVIEWED
    return GOAL[goal.status]


def of_run(run: Run) -> Look:
    """How a run stands: a pause shows before the status."""
    return _PAUSED if run.paused_at is not None else RUN[run.status]


def of_task(task: Task) -> Look:
    """How a task stands; a pending one that waits for others says so."""
    if task.status == TaskStatus.PENDING and task.open_deps:
        return ("◌", "waits", "dim")
    return TASK[task.status]


def of_item(item: InboxItem) -> Look:
    """How an inbox item is marked; what a program asks for at a red line is told apart."""
    sign, word, tone = INBOX.get(item.kind, ("?", item.kind, "warn"))
    at_red_line = item.kind == ApprovalKind.PERMISSION and item.urgent
    return ("!", word, "bad") if at_red_line else (sign, word, tone)
