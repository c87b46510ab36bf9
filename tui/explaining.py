"""Why a thing is where it is and what happens next, in the words of a person. Pure; no Textual."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.entities import AgentRecord, Company, Goal, Round, Run, Task
from core.domain.goals import is_reviewed
from core.domain.limits import BROADCASTS_BEFORE_ROUTER
from core.domain.states import GoalStatus, RoundStatus, RunKind, RunStatus, TaskStatus
from tui.text import ago

if TYPE_CHECKING:
    from tui.projection import Projection


@dataclass(frozen=True, slots=True)
class Explanation:
    """`why` it is here, and what happens `next` without and with you."""

    why: str
    next: str = ""


_RUN_KINDS = {
    RunKind.PROPOSE: "drafts a goal",
    RunKind.EXPLORE: "asks about it",
    RunKind.DISCUSS: "discusses it",
    RunKind.RULE: "rules on the disputed review",
    RunKind.HEARTBEAT: "looks after the company",
    RunKind.PLAN: "plans it",
    RunKind.BROADCAST: "looks at what is on offer",
    RunKind.EXECUTE: "works on it",
    RunKind.REVIEW: "reviews it",
    RunKind.MENTION: "answers a mention",
    RunKind.ROUND_REVIEW: "reviews the round",
    RunKind.STALL: "looks into why nothing moves",
    RunKind.REPORT: "writes the report",
}


def explain(view: "Projection", ref: str, now: int) -> Explanation:
    """What `ref` (e.g. `task:12`) waits for, and what comes next."""
    thing = view.find(ref)
    match thing:
        case Goal():
            said = _goal(view, thing, now)
        case Task():
            said = _task(view, thing, now)
        case Round():
            said = _round(view, thing, now)
        case AgentRecord():
            said = Explanation(f"{thing.role}: {view.agent_state(thing, now)}", _runs(view, now, agent=thing.id))
        case Company():
            said = _company(thing)
        case _:
            return Explanation("it is not on this board any more")
    items = view.items_of(ref)
    if items:
        return Explanation(items[0].why, said.next if items[0].why == said.why else "it waits for you")
    if held := view.held.get(ref):
        return Explanation(said.why, f"held back at the last tick: {held}")
    return said


def _company(company: Company) -> Explanation:
    if company.dispatching:
        return Explanation("started: runs are dispatched")
    return Explanation(company.stop_reason or "stopped", "s starts it: until then no run begins")


def _goal(view: "Projection", goal: Goal, now: int) -> Explanation:
    if goal.paused_at is not None:
        return Explanation(f"paused {ago(now, goal.paused_at)} ago", "no run starts for it until it is resumed")
    match goal.status:
        case GoalStatus.DRAFT if not is_reviewed(goal):
            return Explanation(f"{goal.created_by} drafted it", "it cannot be dispatched before you have read it")
        case GoalStatus.DRAFT:
            return Explanation("reviewed, not dispatched", "d puts it to work")
        case GoalStatus.PLANNING:
            return Explanation(
                "dispatched; it needs its first tasks", _runs(view, now, goal=goal.id) or "the coordinator is called"
            )
        case GoalStatus.ACTIVE:
            return _active(view, goal, now)
        case GoalStatus.REPORTING:
            return Explanation("the report is there", "you accept it or send it back")
        case _:
            report = view.report(goal.id)
            if goal.status == GoalStatus.DONE and report is not None:
                where = f"in {view.outputs_folder}/{report.path}" if report.path else "under 2"
                return Explanation(goal.reason or "it is done", f"nothing: it is over; its report is {where}")
            return Explanation(goal.reason or f"it ended as {goal.status}", "nothing: it is over")


def _active(view: "Projection", goal: Goal, now: int) -> Explanation:
    rounds = view.rounds(goal.id)
    run = _runs(view, now, goal=goal.id)
    if not rounds:
        return Explanation("at work without a round", run or "the coordinator is called")
    last = rounds[-1]
    if last.status == RoundStatus.CLOSED:
        return Explanation(f"round {last.number} is closed: {_spoken(last.decision)}", run or "the report is due")
    done = last.total_tasks - last.open_tasks
    why = f"round {last.number}: {done} of {last.total_tasks} tasks are over"
    return Explanation(why, _round(view, last, now).next)


def _round(view: "Projection", round_: Round, now: int) -> Explanation:
    done = round_.total_tasks - round_.open_tasks
    why = f"{done} of {round_.total_tasks} tasks are over"
    match round_.status:
        case RoundStatus.OPEN:
            return Explanation(why, "when all are over, the coordinator reviews the round")
        case RoundStatus.STALLED:
            said = round_.answers.get("stalled", "nothing in it can run")
            return Explanation(said, _runs(view, now, round=round_.id) or "the coordinator is called")
        case RoundStatus.REVIEWING:
            run = _runs(view, now, round=round_.id)
            return Explanation(why, run or "the coordinator answers three questions and decides")
        case RoundStatus.ESCALATED:
            return Explanation(round_.answers.get("escalated", "its review came to no end"), "you decide")
        case _:
            return Explanation(f"{why}; decided: {_spoken(round_.decision)}", "nothing: it is over")


def _spoken(decision: object) -> str:
    return str(decision or "none").replace("_", " ")


def _task(view: "Projection", task: Task, now: int) -> Explanation:
    who = view.slug(task.assignee_id)
    run = view.tables.get(Run, task.current_run)
    match task.status:
        case TaskStatus.DRAFT:
            return Explanation("a draft", f"it becomes part of a round when G{task.goal_id} is at work")
        case TaskStatus.PENDING if task.open_deps:
            names = ", ".join(f"{cause.name_tag} ({cause.status})" for cause in view.waits_for(task))
            return Explanation(f"it waits for {names or f'{task.open_deps} other tasks'}", "then it is offered")
        case TaskStatus.PENDING:
            shown = f"on offer, shown {task.broadcasts} of {BROADCASTS_BEFORE_ROUTER} times"
            why = f"{task.reason} — {shown}" if task.reason else shown
            needs = f" (needs {', '.join(task.capabilities)})" if task.capabilities else ""
            return Explanation(why, f"an agent claims it, or the router gives it to one that fits{needs}")
        case TaskStatus.CLAIMED | TaskStatus.WORKING:
            return _held_by(view, task, who, run, now)
        case TaskStatus.REVIEW:
            reviewer = _runs(view, now, task=task.id, kind=RunKind.REVIEW)
            return Explanation("handed in; it needs the verdict of somebody who never ran it", reviewer)
        case TaskStatus.BLOCKED:
            return Explanation(f"blocked ({task.block_kind}): {task.reason}", "it goes on when it is unblocked")
        case TaskStatus.WAITING_HUMAN:
            return Explanation(task.reason or "it waits for you", "it goes on when you have answered")
        case _:
            return Explanation(task.reason or f"it is {task.status}", "nothing: it is over")


def _held_by(view: "Projection", task: Task, who: str, run: Run | None, now: int) -> Explanation:
    tried = f", attempt {task.attempts + 1}" if task.attempts else ""
    back = f"; sent back: {task.reason}" if task.review_attempts and task.reason else ""
    if run is None:
        return Explanation(f"{who} holds it{tried}{back}", "its run is queued at the next tick")
    return Explanation(f"{who} holds it{tried}{back}", _run(view, run, now))


def _runs(view: "Projection", now: int, **about: object) -> str:
    """The first live run about something, in a sentence; empty when there is none."""
    for run in view.live_runs:
        if all(getattr(run, name if name == "kind" else f"{name}_id") == value for name, value in about.items()):
            return _run(view, run, now)
    return ""


def _run(view: "Projection", run: Run, now: int) -> str:
    does = f"{view.slug(run.agent_id)} {_RUN_KINDS.get(run.kind, run.kind)} ({run.name_tag})"
    if run.status == RunStatus.QUEUED:
        return f"{does}: queued, {view.held_runs.get(run.id, 'about to start')}"
    if run.started_at is not None:
        return f"{does} since {ago(now, run.started_at)}"
    return does
