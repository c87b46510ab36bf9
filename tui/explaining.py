"""Why a thing is where it is and what happens next, in the words of a person. Pure; no Textual."""

from typing import TYPE_CHECKING

from core.domain.actors import HUMAN
from core.domain.entities import AgentRecord, Approval, Company, Entity, Goal, Output, Round, Run, Task, Turn
from core.domain.goals import is_reviewed
from core.domain.guardrails import GuardAction
from core.domain.inbox import InboxItem
from core.domain.limits import BROADCASTS_BEFORE_ROUTER, DISCUSSION_TURNS, PLANS_A_TASK
from core.domain.reporting import report_file, report_title
from core.domain.states import (
    TASK_FINAL,
    AgentStatus,
    ApprovalKind,
    GoalStatus,
    ReviewStep,
    RoundDecision,
    RoundStatus,
    RunKind,
    RunStatus,
    TaskStatus,
    TurnOutcome,
)
from tui.explaining_people import WITHOUT_YOU, of_agent, of_question
from tui.explanation import Explanation
from tui.text import ago, counted, in_words, left, one_line

if TYPE_CHECKING:
    from tui.projection import Projection


_RUN_KINDS = {
    RunKind.PROPOSE: "drafts a goal",
    RunKind.EXPLORE: "asks about it",
    RunKind.DISCUSS: "discusses it",
    RunKind.SPLIT: "makes its draft tasks",
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
    thing: Entity | None = view.find(ref)
    kind, _, number = ref.partition(":")
    if kind == "approval" and number.isdecimal():
        thing = view.tables.get(Approval, int(number))
    match thing:
        case Approval():
            return of_question(view, thing, now)
        case Goal():
            said = _goal(view, thing, now)
        case Task():
            said = _task(view, thing, now)
        case Round():
            said = _round(view, thing, now)
        case AgentRecord():
            said = of_agent(view, thing, now, _runs(view, now, agent=thing.id))
        case Company():
            said = _company(view, thing)
        case _:
            return Explanation("it is not on this board any more")
    items = view.items_of(ref)
    if items:
        return _waiting(items[0], said)
    is_discussed = isinstance(thing, Goal) and thing.status == GoalStatus.PLANNING and said.next
    if (held := view.held.get(ref)) and not is_discussed:
        return Explanation(said.why, f"held back at the last tick: {held}")
    return Explanation(said.why, _standing_still(view, thing) or said.next)


def _standing_still(view: "Projection", thing: Entity | None) -> str:
    """Why nothing of it begins although it is its turn; empty where that is not so."""
    goal = thing if isinstance(thing, Goal) else view.find(f"goal:{getattr(thing, 'goal_id', 0)}")
    at_work = isinstance(thing, Task) and thing.status in _IS_GOING
    at_work |= isinstance(thing, Round) and thing.status in (RoundStatus.OPEN, RoundStatus.REVIEWING)
    at_work |= isinstance(thing, Goal) and thing.status in (GoalStatus.PLANNING, GoalStatus.ACTIVE)
    if thing is None or not at_work or (isinstance(thing, Task) and thing.plan_until is not None):
        return ""
    about = {Task: "task_id", Round: "round_id", Goal: "goal_id"}[type(thing)]
    if any(getattr(run, about) == thing.id and run.status != RunStatus.QUEUED for run in view.live_runs):
        return ""
    if isinstance(goal, Goal) and goal.paused_at is not None:
        return "" if goal is thing else f"{goal.name_tag} is paused: no run starts for it until it is resumed"
    company = view.company
    if company is not None and not company.dispatching:
        return f"the company is stopped: {view.keymap.shown('start')} starts it, until then no run begins"
    return ""


def why_left(view: "Projection", agent: AgentRecord) -> str:
    """The reason that was given when it was paused or retired; empty while it is there."""
    return "" if agent.status == AgentStatus.ACTIVE else one_line(view.left.get(agent.id, ""))


_TELLS_ITSELF = frozenset({"plan", "stalled", "exploring", "blocked"})
_IS_GOING = frozenset({TaskStatus.PENDING, TaskStatus.CLAIMED, TaskStatus.WORKING, TaskStatus.REVIEW})


def _waiting(item: InboxItem, said: Explanation) -> Explanation:
    """It is in the inbox: why, and what becomes of it as long as nobody decides."""
    if item.kind in _TELLS_ITSELF:
        return said
    if item.kind == ApprovalKind.RED_LINE and said.why.startswith("red line "):
        line = said.why.replace(f" ({GuardAction.PAUSE_AND_ESCALATE})", "").rstrip(".")
        return Explanation(f"{line}; silence never approves", WITHOUT_YOU[item.kind])
    return Explanation(
        item.why, WITHOUT_YOU.get(item.kind) or (said.next if item.why == said.why else "it waits for you")
    )


def _company(view: "Projection", company: Company) -> Explanation:
    if company.dispatching:
        live = len(view.live_runs)
        return Explanation(
            "started: runs are dispatched", f"{counted(live, 'run')} at work or queued; the clock ticks on"
        )
    return Explanation(
        company.stop_reason or "stopped", f"{view.keymap.shown('start')} starts it: until then no run begins"
    )


def _goal(view: "Projection", goal: Goal, now: int) -> Explanation:
    if goal.paused_at is not None:
        return Explanation(f"paused {ago(now, goal.paused_at)} ago", "no run starts for it until it is resumed")
    match goal.status:
        case GoalStatus.DRAFT if goal.exploring:
            why = "you and the coordinator are finding out what it asks for"
            return Explanation(
                why,
                _runs(view, now, goal=goal.id)
                or f"your word wakes the coordinator; {view.keymap.shown('approve')} ends the talk",
            )
        case GoalStatus.DRAFT if not is_reviewed(goal):
            return Explanation(f"{goal.created_by} drafted it", "it cannot be dispatched before you have read it")
        case GoalStatus.DRAFT:
            return Explanation("reviewed, not dispatched", f"{view.keymap.shown('dispatch')} puts it to work")
        case GoalStatus.PLANNING:
            return _planning(view, goal, now)
        case GoalStatus.ACTIVE:
            return _active(view, goal, now)
        case GoalStatus.REPORTING:
            return Explanation("the report is there", "you accept it or send it back")
        case _:
            report = view.report(goal.id)
            if goal.status == GoalStatus.DONE and report is not None:
                where = f"in {view.outputs_folder}/{report.path}" if report.path else _report_file(goal, report)
                return Explanation(goal.reason or "it is done", f"nothing: it is over; its report is {where}")
            return Explanation(goal.reason or f"it ended as {goal.status}", "nothing: it is over")


def _report_file(goal: Goal, report: Output) -> str:
    """Where a composed report is read."""
    begins, number = report_title(goal.id, 0)[:-1], report.title.rpartition(" ")[2]
    if report.title.startswith(begins) and number.isdecimal():
        return f"reports/{report_file(goal.id, int(number))} in the company's folder, and under 2"
    return "under 2"


def _planning(view: "Projection", goal: Goal, now: int) -> Explanation:
    """Dispatched with a discussion: which turn it is in and whom that waits for (S2-08)."""
    turns = [turn for turn in view.tables.all(Turn) if turn.goal_id == goal.id]
    run = _runs(view, now, goal=goal.id)
    if not turns:
        return Explanation("dispatched; it needs its first tasks", run or "the agents are called to discuss it")
    turn = max(turns, key=lambda each: each.number)
    of = f"turn {turn.number} of {DISCUSSION_TURNS}"
    if turn.ended_at is None:
        waits = [name for agent in turn.agents if (name := view.slug(agent)) and not _has_spoken(view, turn, agent)]
        return Explanation(
            f"{of}: waits for {', '.join(waits)}" if waits else f"{of}: all have spoken",
            run or ("they are woken at the next tick" if waits else "the turn is closed at the next tick"),
        )
    if turn.outcome == TurnOutcome.GOES_ON:
        return Explanation(f"{of} is over and brought something new", run or "the next turn opens")
    ended = "you ended the discussion" if turn.outcome == TurnOutcome.ENDED else f"no agreement after {of}"
    return Explanation(ended, run or "the coordinator rules and makes the tasks")


def _has_spoken(view: "Projection", turn: Turn, agent: int) -> bool:
    key = f"discuss:{turn.id}:{agent}#"
    return any(
        run.status == RunStatus.SUCCEEDED and (run.idempotency_key or "").startswith(key)
        for run in view.tables.all(Run)
    )


def _active(view: "Projection", goal: Goal, now: int) -> Explanation:
    rounds = view.rounds(goal.id)
    run = _runs(view, now, goal=goal.id)
    if not rounds:
        return Explanation("at work without a round", run or "the coordinator is called")
    last = rounds[-1]
    if last.status == RoundStatus.CLOSED:
        why = f"round {last.number} is closed: {in_words(last.decision or 'none')}"
        if goal.reason:
            return Explanation(f"{why}; to be heeded: {one_line(goal.reason)}", run or "the coordinator plans on")
        is_over = last.decision == RoundDecision.REPORT
        return Explanation(why, run or ("the report is due" if is_over else "the coordinator plans on"))
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
            return Explanation(said, _out_of_it(view, round_, now))
        case RoundStatus.REVIEWING:
            run = _runs(view, now, round=round_.id)
            return Explanation(why, run or "the coordinator answers three questions and decides")
        case RoundStatus.ESCALATED:
            return Explanation(round_.answers.get("escalated", "its review came to no end"), "you decide")
        case _:
            return Explanation(f"{why}; decided: {in_words(round_.decision or 'none')}", "nothing: it is over")


def _out_of_it(view: "Projection", round_: Round, now: int) -> str:
    """What can be done about a round that stands still: what waits for a person, the coordinator, or its end."""
    tasks = [task for task in view.tasks(round_.goal_id) if task.round_id == round_.id]
    stuck = [task for task in tasks if task.status in (TaskStatus.WAITING_HUMAN, TaskStatus.BLOCKED)]
    parts = []
    if stuck:
        names = ", ".join(f"{task.name_tag} ({in_words(task.status)})" for task in stuck[:3])
        parts.append(f"{names}{' and more' if len(stuck) > 3 else ''} can be decided in the inbox")
    run = _runs(view, now, round=round_.id)
    parts.append(run or ("no agent can help" if _wait_for_people(view, tasks) else "the coordinator is called"))
    return "; ".join([*parts, f"{view.keymap.shown('block')} ends the round"])


def _wait_for_people(view: "Projection", tasks: list[Task]) -> bool:
    """Whether all that is open waits for a person, or for a task that does."""
    still_open = [task for task in tasks if task.status not in TASK_FINAL]
    asked = {task.id for task in still_open if task.status == TaskStatus.WAITING_HUMAN}
    while more := {t.id for t in still_open if any(each.id in asked for each in view.waits_for(t))} - asked:
        asked |= more
    return bool(still_open) and len(asked) == len(still_open)


def _task(view: "Projection", task: Task, now: int) -> Explanation:
    who = view.slug(task.assignee_id)
    run = view.tables.get(Run, task.current_run)
    if task.plan_until is not None:
        nth = f"plan {task.plans}: " if task.plans > 1 else ""
        why = f"{nth}{who}'s plan stands open for objection, {left(now, task.plan_until)} left"
        return Explanation(why, "silence lets it run: the work goes on when the time is up")
    match task.status:
        case TaskStatus.DRAFT if task.round_id is not None and task.reason:
            by = "you" if task.created_by == HUMAN else task.created_by
            return Explanation(f"sent back to {by}: {one_line(task.reason)}", f"{by} may change it and offer it again")
        case TaskStatus.DRAFT:
            return Explanation("a draft", f"it becomes part of a round when G{task.goal_id} is at work")
        case TaskStatus.PENDING if task.open_deps:
            names = ", ".join(f"{cause.name_tag} ({in_words(cause.status)})" for cause in view.waits_for(task))
            return Explanation(f"it waits for {names or f'{task.open_deps} other tasks'}", "then it is offered")
        case TaskStatus.PENDING:
            shown = f"on offer, shown {task.broadcasts} of {BROADCASTS_BEFORE_ROUTER} times"
            why = f"{task.reason} — {shown}" if task.reason else shown
            needs = f" (needs {', '.join(task.capabilities)})" if task.capabilities else ""
            return Explanation(why, f"an agent claims it, or the router gives it to one that fits{needs}")
        case TaskStatus.CLAIMED | TaskStatus.WORKING:
            return _held_by(view, task, who, run, now)
        case TaskStatus.REVIEW:
            return _in_review(view, task, now)
        case TaskStatus.BLOCKED:
            return Explanation(
                f"blocked ({in_words(task.block_kind)}): {task.reason}", "it goes on when it is unblocked"
            )
        case TaskStatus.WAITING_HUMAN:
            return Explanation(task.reason or "it waits for you", "it goes on when you have answered")
        case _:
            return Explanation(task.reason or f"it is {in_words(task.status)}", "nothing: it is over")


_OBJECTED = " objects (comment "


def _in_review(view: "Projection", task: Task, now: int) -> Explanation:
    """Which word it waits for: a first or second verdict, the reply to a rebuttal, or a ruling (S2-20, C-07)."""
    reviewer = _runs(view, now, task=task.id, kind=RunKind.REVIEW)
    match task.review_step:
        case ReviewStep.SECOND:
            why = "high risk: a second verdict is due, by somebody who has not seen the first"
            return Explanation(why, reviewer or "another reviewer is called")
        case ReviewStep.REPLY:
            why = f"its author does not accept the refusal: {one_line(task.reason)}"
            return Explanation(why, reviewer or "the reviewer looks once more; if it stays, the coordinator rules")
        case ReviewStep.RULING:
            ruling = _runs(view, now, task=task.id, kind=RunKind.RULE)
            return Explanation(f"disputed: {one_line(task.reason)}", ruling or "the coordinator rules")
        case _:
            why = "handed in; it needs the verdict of somebody who never ran it"
            return Explanation(why, reviewer or "a reviewer is called at the next tick")


def _held_by(view: "Projection", task: Task, who: str, run: Run | None, now: int) -> Explanation:
    tried = f", attempt {task.attempts + 1}" if task.attempts else ""
    back = f"; sent back: {task.reason}" if task.review_attempts and task.reason else ""
    if task.plans and _OBJECTED in task.reason:
        back = f"; its plan met an objection ({task.plans} of {PLANS_A_TASK}): {task.reason}"
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
    if run.paused_at is not None:
        return f"{does}: paused by you {ago(now, run.paused_at)} ago; it goes on when you resume it (w, p)"
    if (asked := view.permission_of(run)) is not None:
        return f"{does}: its program waits for your word on {asked.name_tag}, in the inbox"
    if run.started_at is not None:
        return f"{does} since {ago(now, run.started_at)}"
    return does
