"""Plans of complex tasks: open for objection for 300 s; silence lets them run (S3-13)."""

from pydantic import Field

from core.commands.approvals import ask_anew
from core.commands.comments import AddComment, add_comment
from core.commands.moves import move_task, require_current_run
from core.commands.registry import Act, Answer, Command, handles, letters
from core.domain.entities import AgentRecord, Comment, Task
from core.domain.errors import Conflict, Forbidden
from core.domain.lifecycles import TASK
from core.domain.limits import COMMENT_MAX, OBJECTION_WINDOW_MS, PLANS_A_TASK
from core.domain.states import ApprovalKind, CommentKind, TaskStatus


class PostPlan(Command):
    """Lay the plan of your working task open for objection; your run is over, silence lets the next one carry it out.

    The agent itself judges whether a task is complex enough for it.
    """

    who = letters("A")
    example = {"task": 12, "body": "I count by two ways and compare, because links may count twice."}
    task: int
    body: str = Field(min_length=1, max_length=COMMENT_MAX, description="What you will do, and why so")


@handles(PostPlan)
def post_plan(act: Act, command: PostPlan) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    require_current_run(act, task)
    if task.status != TaskStatus.WORKING:
        raise Conflict(f"{task.name_tag} is {task.status}: it takes no plan now.", TASK.hint(task.status))
    _require_no_standing_plan(act, task)
    comment = add_comment(act, AddComment(task=task.id, kind=CommentKind.PLAN, body=command.body))
    until = tx.now + OBJECTION_WINDOW_MS
    # The task is read again: what the comment set in motion may have changed it.
    task = tx.update(
        tx.get(Task, task.id), "PlanPosted",
        plan_comment=comment["id"], plan_until=until, plans=task.plans + 1,
        current_run=None, lease_until=None, fence=task.fence + 1, reason="",
    )  # fmt: skip
    return {"id": task.id, "comment": comment["id"], "until": until}


def _require_no_standing_plan(act: Act, task: Task) -> None:
    """A plan that stood is carried out: one more needs an objection in its time, or work that was handed in since."""
    plan = act.tx.find(Comment, task.plan_comment)
    if plan is None or plan.author != act.label:
        return
    since = act.tx.value(
        "SELECT 1 FROM events WHERE entity = 'tasks' AND entity_id = :task"
        " AND kind IN ('PlanObjected', 'TaskSubmitted') AND id > (SELECT max(id) FROM events"
        " WHERE entity = 'tasks' AND entity_id = :task AND kind = 'PlanPosted') LIMIT 1",
        task=task.id,
    )
    if since is None:
        raise Conflict(f"Your plan of {task.name_tag} stands.", "Carry it out and submit the task.")


class ClosePlan(Command):
    """The window is over and nobody objected: the plan stands."""

    who = letters("S")
    task: int


@handles(ClosePlan)
def close_plan(act: Act, command: ClosePlan) -> Answer:
    task = act.tx.get(Task, command.task)
    if task.plan_until is not None and task.plan_until > act.tx.now:
        raise Conflict(f"The plan of {task.name_tag} still stands open for objection.", "Wait for its window.")
    return _stands(act, task)


class AcceptPlan(Command):
    """Let a plan run at once, before its window is over."""

    who = letters("H")
    task: int


@handles(AcceptPlan)
def accept_plan(act: Act, command: AcceptPlan) -> Answer:
    return _stands(act, act.tx.get(Task, command.task))


def _stands(act: Act, task: Task) -> Answer:
    if task.plan_until is None:
        raise Conflict(f"No plan of {task.name_tag} stands open for objection.", TASK.hint(task.status))
    task = act.tx.update(task, "PlanStands", plan_until=None)
    return {"id": task.id, "plan": task.plan_comment, "status": str(task.status)}


def _require_concerned(act: Act, task: Task) -> None:
    """Raises Forbidden for an agent's run that is about another goal, or about none and was not offered this task."""
    if act.run is None or act.run.goal_id == task.goal_id:
        return
    if act.run.goal_id is None and act.tx.value(
        "SELECT 1 FROM offers WHERE run_id = :run AND task_id = :task LIMIT 1", run=act.run.id, task=task.id
    ):
        return
    raise Forbidden(
        f"R{act.run.id} is not about G{task.goal_id}: a plan there is not yours to hold up.",
        "Write a note or an observation on the task; those who work on its goal may object.",
    )


def objected(act: Act, task: Task, comment: Comment) -> None:
    """What an objection sets in motion, in its own transaction.

    Raises Forbidden when the plan's author objects, or a run that is about something else.

    The author's next run adjusts the plan first; after PLANS_A_TASK plans the operator is asked. Without an open plan
    an objection is only said.
    """
    if task.plan_until is None:
        return
    author = act.tx.find(AgentRecord, task.assignee_id)
    if author is not None and author.slug == comment.author:
        raise Forbidden(f"The plan of {task.name_tag} is your own.", "Silence lets it run; others may object.")
    _require_concerned(act, task)
    why = f"{comment.author} objects (comment {comment.id}): {comment.body}"
    task = act.tx.update(task, "PlanObjected", plan_until=None, reason=why)
    if task.plans % PLANS_A_TASK:
        return
    move_task(act, task, TaskStatus.WAITING_HUMAN, "ObjectPlan", "TaskWaits", as_system=True, reason=why)
    ask_anew(
        act, ApprovalKind.QUESTION, f"task:{task.id}", f"{task.plans} plans of {task.name_tag} met an objection",
        {"what": "try_again", "why": why, "on_reject": "cancel", "plan": task.plan_comment},
    )  # fmt: skip
