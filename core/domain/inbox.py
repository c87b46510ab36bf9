"""Everything that waits for a person, in one list. Pure: the room and the command line show the same."""

from collections.abc import Iterable

from core.domain.actors import HUMAN
from core.domain.approval_items import of_approval
from core.domain.approval_items import overtaken as overtaken
from core.domain.entities import AgentRecord, Approval, Company, Goal, Round, Task, TaskDep
from core.domain.goals import is_reviewed
from core.domain.guardrails import GUARDRAILS_FILE
from core.domain.inbox_item import Choice as Choice
from core.domain.inbox_item import InboxItem as InboxItem
from core.domain.limits import OBJECTION_WINDOW_MS, PLANS_A_TASK
from core.domain.states import (
    TASK_FINAL,
    AgentStatus,
    ApprovalKind,
    ApprovalStatus,
    Autonomy,
    GoalStatus,
    OnFail,
    OrgStatus,
    Origin,
    Role,
    RoundStatus,
    TaskStatus,
)


def inbox(
    company: Company | None,
    goals: Iterable[Goal],
    rounds: Iterable[Round],
    tasks: Iterable[Task],
    deps: Iterable[TaskDep],
    approvals: Iterable[Approval],
    agents: Iterable[AgentRecord],
    more: Iterable[InboxItem] = (),
) -> list[InboxItem]:
    """What the operator owes now, oldest first below the urgent ones; `more` was found elsewhere."""
    task_map = {task.id: task for task in tasks}
    goals, agents = list(goals), list(agents)
    pending = [approval for approval in approvals if approval.status == ApprovalStatus.PENDING]
    asked = {approval.entity for approval in pending}
    items = [*more, *(of_approval(approval, agents) for approval in pending)]
    at_b = company is not None and company.autonomy == Autonomy.B
    items += [item for goal in goals if (item := _of_goal(goal, at_b)) is not None]
    items += [item for round_ in rounds if (item := _of_round(round_)) is not None]
    items += _of_tasks(task_map, asked)
    items += _held(task_map, deps)
    items += _missing_roles(goals, task_map.values(), agents)
    items += _of_organisation(company, pending, agents)
    held = company is not None and company.stop_reason.startswith(GUARDRAILS_FILE)
    if company is not None and not company.dispatching and (held or any(goal.status in _AT_WORK for goal in goals)):
        items.append(_stopped(company))
    return sorted(items, key=lambda item: (not item.urgent, item.since, item.id))


_AT_WORK = (GoalStatus.PLANNING, GoalStatus.ACTIVE)


_STAGE_A = "it cannot be dispatched before you have read it"
_STAGE_B = "stage B may dispatch it at the next tick; your word on it comes first"


def _of_goal(goal: Goal, at_b: bool) -> InboxItem | None:
    entity = f"goal:{goal.id}"
    hashed = {"goal": goal.id, "content_hash": goal.content_hash}
    cancel = Choice("b", "reject", "CancelGoal", {"goal": goal.id}, "the goal ends as cancelled", "reason")
    if goal.status == GoalStatus.DRAFT and goal.exploring:
        return InboxItem(
            id=f"explore:{entity}", entity=entity, kind="exploring", title=goal.title,
            why="you and the coordinator are finding out what it asks for; it cannot be dispatched before it is ready",
            since=goal.updated_at,
            choices=(Choice("a", "ready", "ReadyGoal", dict(hashed), "the talk ends; this may be dispatched"), cancel),
        )  # fmt: skip
    if goal.status == GoalStatus.DRAFT and not is_reviewed(goal):
        begins_alone = at_b and goal.origin == Origin.CEO and goal.auto_dispatched_at is None
        return InboxItem(
            id=f"review:{entity}", entity=entity, kind="draft", title=goal.title,
            why=f"{goal.created_by} drafted it; {_STAGE_B if begins_alone else _STAGE_A}",
            since=goal.updated_at,
            choices=(
                Choice("a", "approve", "ReviewGoal", dict(hashed), "exactly this content may then be dispatched"),
                cancel,
                Choice("r", "send back", "ReviseGoal", {"goal": goal.id}, "the author is woken with your note", "note"),
            ),
        )  # fmt: skip
    if goal.status == GoalStatus.DRAFT:
        return InboxItem(
            id=f"dispatch:{entity}", entity=entity, kind="dispatch", title=goal.title,
            why="reviewed; it waits for you to dispatch it", since=goal.reviewed_at or goal.updated_at,
            choices=(
                Choice("d", "dispatch", "DispatchGoal", dict(hashed), "the agents begin to plan it"),
                cancel,
            ),
        )  # fmt: skip
    if goal.status == GoalStatus.REPORTING:
        return InboxItem(
            id=f"report:{entity}", entity=entity, kind="report", title=goal.title,
            why="the report is there; every must-have is covered or waived", since=goal.updated_at,
            choices=(
                Choice("a", "accept", "AcceptGoal", {"goal": goal.id}, "the goal is done"),
                Choice("r", "send back", "SendBackGoal", {"goal": goal.id}, "the coordinator plans on with your note",
                       "note"),
                cancel,
            ),
        )  # fmt: skip
    return None


def _of_round(round_: Round) -> InboxItem | None:
    if round_.status == RoundStatus.STALLED:
        return InboxItem(
            id=f"stalled:round:{round_.id}", entity=f"round:{round_.id}", kind="stalled",
            title=f"Round {round_.number} of G{round_.goal_id} stands still",
            why=round_.answers.get("stalled", "nothing in it can run"), since=round_.updated_at,
            choices=(
                Choice("b", "end", "EndRound", {"round": round_.id},
                       "its open tasks are cancelled and the coordinator reviews the round", "reason"),
            ),
        )  # fmt: skip
    if round_.status != RoundStatus.ESCALATED:
        return None
    why = round_.answers.get("escalated", "its review did not come to an end")
    return InboxItem(
        id=f"escalated:round:{round_.id}", entity=f"round:{round_.id}", kind="escalation",
        title=f"Round {round_.number} of G{round_.goal_id} needs your decision", why=why, since=round_.updated_at,
        urgent=True,
        choices=(
            Choice("a", "report", "ResolveRound", {"round": round_.id, "decision": "report"}, "the report is written"),
            Choice("b", "stop", "ResolveRound", {"round": round_.id, "decision": "stop"}, "the goal is cancelled",
                   "note"),
        ),
    )  # fmt: skip


def _of_tasks(tasks: dict[int, Task], asked: set[str]) -> list[InboxItem]:
    """Tasks that wait for a person without a question of their own, and blocked ones that nobody else solves."""
    items = []
    for task in tasks.values():
        entity = f"task:{task.id}"
        if task.plan_until is not None:
            items.append(_of_plan(task, task.plan_until))
            continue
        resume = Choice("a", "resume", "ResumeTask", {"task": task.id}, "it is pending again")
        unblock = Choice("a", "unblock", "UnblockTask", {"task": task.id}, "it is pending again")
        cancel = Choice("b", "cancel", "CancelTask", {"task": task.id}, "the task ends without a result", "reason")
        if task.status == TaskStatus.WAITING_HUMAN and entity not in asked:
            choices, why = (resume, cancel), task.reason or "it waits for you"
        elif task.status == TaskStatus.DRAFT and task.round_id is not None and task.created_by == HUMAN:
            enqueue = Choice("a", "enqueue", "EnqueueTask", {"task": task.id}, "it is offered as it is now")
            choices, why = (enqueue, cancel), f"it was sent back to you: {task.reason}"
        elif task.status == TaskStatus.BLOCKED:
            choices, why = (unblock, cancel), f"blocked ({task.block_kind}): {task.reason}"
        else:
            continue
        items.append(
            InboxItem(
                id=f"wait:{entity}",
                entity=entity,
                kind=str(task.status),
                title=task.title,
                why=why,
                since=task.updated_at,
                choices=choices,
            )
        )
    return items


def _of_plan(task: Task, until: int) -> InboxItem:
    """A plan in its window; `since` is when it opened."""
    return InboxItem(
        id=f"plan:task:{task.id}", entity=f"task:{task.id}", kind="plan", title=task.title,
        why="its plan stands open for objection; silence lets it run", since=until - OBJECTION_WINDOW_MS, until=until,
        choices=(
            Choice("a", "let it run", "AcceptPlan", {"task": task.id}, "the work goes on at once"),
            Choice("b", "object", "AddComment", {"task": task.id, "kind": "objection"},
                   "the author adjusts the plan first" if task.plans % PLANS_A_TASK else "you are asked how it goes on",
                   "body"),
        ),
    )  # fmt: skip


def _held(tasks: dict[int, Task], deps: Iterable[TaskDep]) -> list[InboxItem]:
    """Tasks that wait for something that will never be done (F16)."""
    items = []
    for edge in deps:
        task, cause = tasks.get(edge.task_id), tasks.get(edge.depends_on)
        if edge.met or edge.on_fail != OnFail.HOLD or task is None or cause is None:
            continue
        if task.status in TASK_FINAL or cause.status not in TASK_FINAL or cause.status == TaskStatus.DONE:
            continue
        items.append(
            InboxItem(
                id=f"held:{edge.id}",
                entity=f"task:{task.id}",
                kind="held",
                title=task.title,
                why=f"it waits for {cause.name_tag}, which is {cause.status}",
                since=cause.updated_at,
                choices=(
                    Choice(
                        "a",
                        "go on without",
                        "WaiveDependency",
                        {"task": task.id, "depends_on": cause.id},
                        "it no longer waits for that",
                    ),
                    Choice("b", "cancel", "CancelTask", {"task": task.id}, "the task ends without a result", "reason"),
                ),
            )
        )
    return items


def _missing_roles(goals: Iterable[Goal], tasks: Iterable[Task], agents: Iterable[AgentRecord]) -> list[InboxItem]:
    """Work that waits for a role that no active agent has (F16)."""
    roles = {agent.role for agent in agents if agent.status == AgentStatus.ACTIVE}
    lacking: list[Goal | Task] = []
    if not roles & {Role.REVIEWER, Role.CHALLENGER}:
        lacking += [task for task in tasks if task.status == TaskStatus.REVIEW]
    if Role.COORDINATOR not in roles:
        lacking += [goal for goal in goals if goal.status in _AT_WORK or goal.exploring]
    return [
        InboxItem(
            id=f"lacking:{thing.table}:{thing.id}",
            entity=f"{'task' if isinstance(thing, Task) else 'goal'}:{thing.id}",
            kind="no reviewer" if isinstance(thing, Task) else "no coordinator",
            title=thing.title,
            why="no active agent has that role; hire or resume one",
            since=thing.updated_at,
        )
        for thing in lacking
    ]


def _of_organisation(company: Company | None, pending: list[Approval], agents: list[AgentRecord]) -> list[InboxItem]:
    """What the company as a whole lacks: a CEO who has retired, an organisation that was sent back."""
    if company is None:
        return []
    items = []
    ceos = [agent for agent in agents if agent.role == Role.CEO]
    if ceos and all(agent.status == AgentStatus.TERMINATED for agent in ceos):
        items.append(
            InboxItem(
                id="lacking:company:1", entity="company:1", kind="no ceo", title="The company has no CEO",
                why=f"{ceos[-1].name} has retired; nobody proposes goals or hires before you hire another",
                since=max(agent.updated_at for agent in ceos),
            )
        )  # fmt: skip
    asked = any(approval.kind == ApprovalKind.ORG_CHANGE for approval in pending)
    if company.org_status == OrgStatus.PENDING_REVIEW and not asked:
        settle = Choice("b", "leave as is", "SettleOrganisation", {}, "it is settled as it is; nothing is waited for")
        items.append(
            InboxItem(
                id="review:company:1", entity="company:1", kind="org_change", title="The organisation is under review",
                why="what the CEO proposed was sent back or withdrawn; it may propose anew", since=company.updated_at,
                choices=(settle,),
            )
        )  # fmt: skip
    return items


def _stopped(company: Company) -> InboxItem:
    return InboxItem(
        id="stopped:company:1", entity="company:1", kind="stopped", title="The company is stopped",
        why=company.stop_reason or "nothing is dispatched", since=company.updated_at, urgent=True,
        choices=(Choice("a", "start", "StartCompany", {}, "runs are dispatched again", undoable=False),),
    )  # fmt: skip
