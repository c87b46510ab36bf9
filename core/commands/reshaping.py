"""Commands that give a task another shape: split into parts, or sent back to its author (S2-13, S2-33)."""

from pydantic import Field

from core.commands.dependencies import Dependency, add_dependency
from core.commands.moves import join_round, meet_dependency, move_task, note_progress
from core.commands.registry import Act, Answer, Command, Reason, handles, letters
from core.commands.shaping import require_shape
from core.commands.tasks import NewTask, add_task, admit_work_of_agents
from core.commands.telling import mention, say
from core.domain.entities import Goal, Round, Task, TaskDep
from core.domain.errors import Conflict, Invalid
from core.domain.lifecycles import TASK
from core.domain.limits import PARTS_MAX, RUN_ATTEMPTS
from core.domain.risk import higher
from core.domain.states import TASK_FINAL, CommentKind, TaskStatus

SPLITS_DEEP = 3  # an agent splits parts of parts so often, then a person decides


class SplitTask(Command):
    """Put parts in the place of a task that nobody works on; what waited for it waits for all of them."""

    who = letters("HC")
    example = {
        "task": 12,
        "parts": (
            {"title": "Count the text files", "end_state": "Their number.", "must_haves": ("M1",)},
            {"title": "Count the other files", "end_state": "Their number.", "must_haves": ("M1",)},
        ),
        "reason": "It is too much for one run.",
    }
    task: int
    parts: tuple[NewTask, ...] = Field(min_length=2, max_length=PARTS_MAX)
    reason: Reason


@handles(SplitTask)
def split_task(act: Act, command: SplitTask) -> Answer:
    tx = act.tx
    task = tx.get(Task, command.task)
    TASK.require(task.name_tag, task.status, TaskStatus.CANCELLED, "SplitTask", act.capacities)
    goal = tx.get(Goal, task.goal_id)
    act.require_own_goal(goal.id)
    admit_work_of_agents(act, goal, len(command.parts))
    require_shape(act, goal, command.parts)
    _require_nothing_lost(goal, task, command.parts)
    _require_no_endless_split(act, task)
    waits_for = tx.select(TaskDep, "task_id = :task AND met = 0 ORDER BY id", task=task.id)
    parts = [_add_part(act, goal, task, part, waits_for) for part in command.parts]
    _hand_over(act, task, parts)
    if task.round_id is not None:
        note_progress(act, task.round_id)
    names = ", ".join(f"T{part}" for part in parts)
    reason = f"{command.reason} (in its place: {names})"
    move_task(act, tx.get(Task, task.id), TaskStatus.CANCELLED, "SplitTask", "TaskSplit", reason=reason)
    return {"id": task.id, "status": "cancelled", "parts": parts}


def _require_nothing_lost(goal: Goal, task: Task, parts: tuple[NewTask, ...]) -> None:
    """Raises Invalid when the parts together ask for less than the whole did (S3-29)."""
    if any(dependency.task == task.id for part in parts for dependency in part.depends_on):
        raise Invalid(f"A part cannot wait for {task.name_tag}: the parts take its place.", "Leave this out.")
    named = {must_id for part in parts for must_id in part.must_haves}
    waived = {must["id"] for must in goal.must_haves if must["waived_by"]}
    lost = [must_id for must_id in task.must_haves if must_id not in named and must_id not in waived]
    if lost:
        raise Invalid(
            f"No part names {', '.join(lost)}, which {task.name_tag} is to deliver.", "Name it in one of the parts."
        )


def _require_no_endless_split(act: Act, task: Task) -> None:
    """Raises Conflict when an agent splits parts of parts of parts: work must not breed work without a person (F23)."""
    depth, parent = 0, task.parent_id
    while parent is not None and depth < SPLITS_DEEP:
        above = act.tx.get(Task, parent)
        depth, parent = depth + (above.status == TaskStatus.CANCELLED), above.parent_id
    if act.run is not None and depth >= SPLITS_DEEP:
        raise Conflict(
            f"{task.name_tag} is {task.status} and came of {depth} splits already.", "Cancel it, or ask the operator."
        )


def _add_part(act: Act, goal: Goal, whole: Task, part: NewTask, waits_for: list[TaskDep]) -> int:
    """A part has the whole's parent, place, dependencies, constraints, tags and risk, and what it asks for itself."""
    own = {dependency.task for dependency in part.depends_on}
    inherited = tuple(
        Dependency(task=edge.depends_on, on_fail=edge.on_fail) for edge in waits_for if edge.depends_on not in own
    )
    # No gate before the whole and no limit to it is left out by taking it apart.
    kept = {
        "constraints": tuple(dict.fromkeys((*whole.constraints, *part.constraints))),
        "tags": tuple(dict.fromkeys((*whole.tags, *part.tags))),
        "risk": higher(whole.risk, part.risk),
    }
    wanted = part.model_copy(update={"parent": part.parent or whole.id, **kept})
    made = add_task(act, goal, wanted, TaskStatus.DRAFT, None)
    for dependency in inherited:
        # An edge to something that ended already holds as it held for the whole, so it is not refused here.
        _inherit(act, made.id, dependency)
    if whole.round_id is not None:
        round_ = act.tx.get(Round, whole.round_id)
        join_round(act, act.tx.get(Task, made.id), round_, "TaskEnqueued", TaskStatus.PENDING)
    return made.id


def _inherit(act: Act, task_id: int, dependency: Dependency) -> None:
    target = act.tx.get(Task, dependency.task)
    if target.status not in TASK_FINAL:
        add_dependency(act, task_id, dependency)
        return
    act.tx.insert(
        TaskDep, "DependencyAdded", task_id=task_id, depends_on=target.id, on_fail=dependency.on_fail, met=False
    )
    task = act.tx.get(Task, task_id)
    act.tx.update(task, "TaskDependencyAdded", open_deps=task.open_deps + 1)


def _hand_over(act: Act, task: Task, parts: list[int]) -> None:
    """Dependents wait for the parts before they stop to wait for the whole, so that none is ready in between."""
    for edge in act.tx.select(TaskDep, "depends_on = :task AND met = 0 ORDER BY id", task=task.id):
        dependent = act.tx.get(Task, edge.task_id)
        if dependent.status in TASK_FINAL:
            continue
        for part in parts:
            add_dependency(act, dependent.id, Dependency(task=part, on_fail=edge.on_fail))
        meet_dependency(act, edge)


class SendBackTask(Command):
    """Make a pending task a draft again because something is missing in it; its author is woken with the reason."""

    who = letters("HCS")
    example = {"task": 12, "why": "It does not say how one sees that it is done."}
    task: int
    why: Reason


@handles(SendBackTask)
def send_back_task(act: Act, command: SendBackTask) -> Answer:
    task = act.tx.get(Task, command.task)
    act.require_own_goal(task.goal_id)
    TASK.require(task.name_tag, task.status, TaskStatus.DRAFT, "SendBackTask", act.capacities)
    _require_no_endless_return(act, task)
    task = move_task(act, task, TaskStatus.DRAFT, "SendBackTask", "TaskSentBack", reason=command.why)
    comment = say(act, "TaskSentToAuthor", CommentKind.MAIL_REQUEST, command.why, goal=task.goal_id, task=task.id)
    return {"id": task.id, "status": "draft", "comment": comment.id, "wakes": mention(act, comment, [task.created_by])}


def _require_no_endless_return(act: Act, task: Task) -> None:
    """Raises Conflict when agents have sent it back as often as anything may be tried (F7, F23)."""
    times = act.tx.value(
        "SELECT count(*) FROM comments WHERE task_id = :task AND run_id IS NOT NULL AND EXISTS (SELECT 1 FROM events"
        " WHERE entity = 'comments' AND entity_id = comments.id AND kind = 'TaskSentToAuthor')",
        task=task.id,
    )
    if act.run is not None and times >= RUN_ATTEMPTS:
        raise Conflict(
            f"{task.name_tag} is {task.status} and was sent back {times} times already.",
            "Mend it yourself, or cancel it.",
        )
