"""What would follow from an answer: what is dispatched, what it may cost at most, what exactly is executed. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.budgets import money
from core.domain.entities import Approval, Goal, Run, Task
from core.domain.inbox_item import InboxItem
from core.domain.limits import DISCUSSION_SEATS, DISCUSSION_TURNS, RUN_ATTEMPTS, RUNS_AT_ONCE
from core.domain.states import ApprovalKind, TaskStatus

_NAMED = 4


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is known of the subject of an item.

    `tasks` are its open ones, `queued` the runs that wait to start, `bounds` the budgets that count for it: what is
    left of each (micros) and its words, e.g. `the company's budget today`; `is_free` when its agents call no model,
    `unmetered` when one of them is a program whose use nobody counts; `at_once` are the runs that may live.
    """

    goal: Goal | None = None
    task: Task | None = None
    tasks: Sequence[Task] = ()
    queued: Sequence[Run] = ()
    approval: Approval | None = None
    bounds: Sequence[tuple[int, str]] = ()
    is_free: bool = False
    unmetered: bool = False
    at_b: bool = False
    at_once: int = RUNS_AT_ONCE


def preview(item: InboxItem, ahead: Ahead) -> list[tuple[str, str]]:
    """Lines of what follows: a word that says what is told (`a yes`, `costs`, …), and the words for it."""
    if not item.choices:
        return []
    return [*_does(item, ahead), *_costs(item, ahead)]


def _does(item: InboxItem, ahead: Ahead) -> Iterator[tuple[str, str]]:
    match item.kind:
        case "draft" | "exploring":
            by = (
                "stage B may dispatch exactly this at its next tick"
                if ahead.at_b
                else "d may then dispatch exactly this"
            )
            yield "a yes", f"starts nothing yet: {by}"
            yield "then", _dispatched(ahead)
        case "dispatch":
            yield "a yes", f"starts {_dispatched(ahead)}"
        case "report":
            yield "a yes", "dispatches nothing: the goal is over with this report"
            yield "sent back", "the coordinator is called with your note, and plans on from what is delivered"
        case "plan":
            yield "silence", "is a yes: the work goes on by itself when the window ends"
        case "stopped":
            waiting = f": {_runs(ahead.queued)}" if ahead.queued else ""
            yield "a yes", f"starts what is queued, at most {ahead.at_once} runs at once{waiting}"
        case "stalled":
            yield "a no", f"cancels {_tasks(ahead.tasks)}"
        case "escalation":
            yield "a yes", "calls the coordinator once more, to write the report"
            yield "a no", f"cancels the goal and {_tasks(ahead.tasks)}"
        case TaskStatus.BLOCKED | TaskStatus.WAITING_HUMAN | "held":
            yield "a yes", _offered(ahead.task)
        case TaskStatus.DRAFT:
            yield "a yes", _offered(ahead.task)
        case _:
            yield from _answers(item, ahead)


def _answers(item: InboxItem, ahead: Ahead) -> Iterator[tuple[str, str]]:
    """Of questions: exactly what a yes lets be done."""
    approval = ahead.approval
    if approval is None:
        return
    exactly = f"exactly what the question shows (sha256 {approval.payload_hash[:16]}…)"
    match approval.kind:
        case ApprovalKind.RED_LINE:
            yield "a yes", f"lets {approval.requested_by} do {exactly}, once"
        case ApprovalKind.PERMISSION:
            yield "a yes", f"is heard at once by the program that waits: it does {exactly}"
        case ApprovalKind.BUDGET:
            held = f"{_runs(ahead.queued)} and whatever else it holds back" if ahead.queued else "what it holds back"
            yield "a yes", f"starts {held}, at the next tick"
        case ApprovalKind.HIRE_AGENT:
            yield "a yes", f"hires {exactly}; it works as soon as something is offered to it"
        case ApprovalKind.GOAL_CHANGE | ApprovalKind.ORG_CHANGE:
            yield "a yes", f"makes it {exactly}, on the side of after"
        case ApprovalKind.QUESTION if approval.payload.get("what") == "try_again":
            yield "a yes", f"grants {RUN_ATTEMPTS} more attempts"
            if approval.payload.get("on_reject") == "cancel":
                yield "a no", "ends it: it is cancelled"
        case ApprovalKind.QUESTION:
            yield "a yes", f"lets {approval.requested_by} go on with {exactly}"
        case ApprovalKind.GOAL_FAILURE:
            yield "a yes", f"ends the goal, with {_tasks(ahead.tasks)}"
        case _:
            pass


def _costs(item: InboxItem, ahead: Ahead) -> Iterator[tuple[str, str]]:
    """At most what the budgets leave: nothing that they do not cover starts."""
    if item.kind in _COST_NOTHING or (item.kind == "report" and not ahead.bounds):
        return
    if ahead.approval is not None and "raise" in ahead.approval.payload:
        yield "costs", f"at most {money(int(ahead.approval.payload['raise']))} more than now, by a single yes"
    elif ahead.is_free:
        yield "costs", "nothing: its agents call no model"
    elif ahead.bounds:
        micros, words = min(ahead.bounds)
        apart = "; what its programs use without a meter is not counted" if ahead.unmetered else ""
        yield "costs", f"at most {money(max(0, micros))}, what is left of {words}; nothing starts beyond it{apart}"
    else:
        yield "costs", "no budget bounds it; $ sets one"


_COST_NOTHING = frozenset(
    {"stalled", ApprovalKind.GOAL_FAILURE, ApprovalKind.ORG_CHANGE, ApprovalKind.MAIL, ApprovalKind.PERMISSION}
)


def _dispatched(ahead: Ahead) -> str:
    rounds = f", then up to {ahead.goal.round_cap} rounds" if ahead.goal is not None else ""
    talk = f"up to {DISCUSSION_SEATS} agents discuss {_tasks(ahead.tasks)} in {DISCUSSION_TURNS} turns"
    return f"{talk}{rounds}, {ahead.at_once} runs at once"


def _offered(task: Task | None) -> str:
    if task is None:
        return "puts it on offer again"
    able = f"an agent that can {', '.join(task.capabilities)}" if task.capabilities else "any executor"
    return f"puts {task.name_tag} on offer again at the next tick, to {able}"


def _tasks(tasks: Sequence[Task]) -> str:
    if not tasks:
        return "no task"
    more = len(tasks) - _NAMED
    return ", ".join(task.name_tag for task in tasks[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _runs(runs: Sequence[Run]) -> str:
    more = len(runs) - _NAMED
    return ", ".join(run.name_tag for run in runs[:_NAMED]) + (f" and {more} more" if more > 0 else "")
