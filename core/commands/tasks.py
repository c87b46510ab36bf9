"""Commands that make and change tasks and their dependencies, also by agents (S2-43). Moves by the assignee: `work`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.commands.bounds import require_no_endless_work
from core.commands.dependencies import Dependency, add_dependency
from core.commands.moves import join_round, move_task
from core.commands.registry import Act, Answer, Command, Lines, Repository, Slug, Text, Title, handles, letters
from core.commands.shaping import clear_review, cover_tasks, is_own_draft, require_shape
from core.domain.discussion import PLACEHOLDER, placeholder_key
from core.domain.entities import Goal, Round, Task
from core.domain.errors import Conflict, Forbidden, Invalid
from core.domain.goals import is_reviewed
from core.domain.lifecycles import TASK, Who
from core.domain.limits import CAPABILITIES, LINES_MAX, REVIEW_ATTEMPTS, TASKS_PER_RUN
from core.domain.risk import higher, raised
from core.domain.shape import missing_of
from core.domain.states import (
    TASK_FINAL,
    GoalStatus,
    Risk,
    RoundStatus,
    TaskStatus,
)

_OPEN_ROUND = (RoundStatus.OPEN, RoundStatus.STALLED)


class NewTask(BaseModel):
    """Intent, end state, constraints: never steps (S3-01)."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    title: Title
    intent: Text = ""
    end_state: Text = Field("", description="What can be checked when it is done (S3-20)")
    constraints: Lines = ()
    must_haves: tuple[str, ...] = Field(
        (), max_length=LINES_MAX, description="Ids of the goal's must-haves that it covers"
    )
    capabilities: tuple[Slug, ...] = Field((), max_length=CAPABILITIES, description="What its agent must be able to do")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Facts for the agent's program")
    risk: Risk = Field(Risk.STANDARD, description="What is about risk control or live trading is high anyway (S3-16)")
    tags: Lines = Field((), description="What kind of work it is; a red line may name one")
    priority: int = Field(2, ge=0, le=4, description="0 is most urgent")
    repository: Repository | None = Field(
        None,
        description="The git repository it is worked on in, e.g. ../site or ../site#develop; unless named, the goal's",
    )
    depends_on: tuple[Dependency, ...] = ()
    parent: int | None = None
    retry_of: int | None = Field(None, description="The ended task that this one tries again")
    idempotency_key: str | None = Field(None, max_length=200)


def add_task(act: Act, goal: Goal, new: NewTask, status: TaskStatus, round_: Round | None) -> Task:
    """Insert a task of a goal with its dependencies; counts it in its round. Touches the goal not at all (S1-16)."""
    _require_known(goal, new.must_haves)
    _require_free_key(act, goal, new.idempotency_key)
    for reference in (new.parent, new.retry_of):
        if reference is not None and act.tx.get(Task, reference).goal_id != goal.id:
            raise Invalid(f"T{reference} belongs to another goal.", f"Name a task of {goal.name_tag}.")
    values = new.model_dump(exclude={"depends_on", "parent"})
    values["risk"] = raised(new.risk, (new.title, new.intent, new.end_state, *new.constraints), new.tags)
    values |= _kept_from(act, goal, new, values["risk"])
    values["repository"] = _repository_of(act, goal, new)
    task = act.tx.insert(
        Task, "TaskCreated",
        goal_id=goal.id, round_id=None, parent_id=new.parent, status=TaskStatus.DRAFT, block_kind=None,
        assignee_id=None, last_assignee_id=None, current_run=None, fence=0, lease_until=None, attempts=0,
        open_deps=0, offer=1, broadcasts=0, broadcast_at=None, created_by=act.label, reason="",
        **values,
    )  # fmt: skip
    for dependency in new.depends_on:
        add_dependency(act, task.id, dependency)
    if round_ is not None:
        task = join_round(act, act.tx.get(Task, task.id), round_, "TaskEnqueued", status)
    return task


def _repository_of(act: Act, goal: Goal, new: NewTask) -> str:
    """Where it is worked on: as named, else as what it comes from, else as its goal. Raises Forbidden.

    Only a person names another repository: an agent's words open no folder of this machine (F15).
    """
    before = act.tx.find(Task, new.retry_of if new.retry_of is not None else new.parent)
    inherited = goal.repository if before is None else before.repository
    if new.repository is None:
        return inherited
    if act.run is not None and new.repository not in ("", inherited, goal.repository):
        raise Forbidden(
            f"{goal.name_tag} is not about the repository {new.repository!r}.",
            f"Leave repository out, or name {goal.repository or 'none'}; the operator names others.",
        )
    return new.repository


def _kept_from(act: Act, goal: Goal, new: NewTask, risk: Risk) -> dict[str, Any]:
    """What a new attempt keeps of the ended task: its red lines and its risk, and by an agent how often it was refused.

    Else a gate or the third refusal would be left out by cancelling a task and making it again. What the operator
    decided about, after each third one, counts no more.
    """
    refusals = 0 if act.run is None else _refusals_of_like(act, goal, new)
    if new.retry_of is None:
        return {"review_attempts": refusals}
    before = act.tx.get(Task, new.retry_of)
    return {
        "tags": tuple(dict.fromkeys((*before.tags, *new.tags))),
        "risk": higher(before.risk, risk),
        "review_attempts": 0 if act.run is None else max(refusals, before.review_attempts % REVIEW_ATTEMPTS),
    }


def _refusals_of_like(act: Act, goal: Goal, new: NewTask) -> int:
    """How often a like task of the goal was refused that is cancelled, or that this one is to be a part of.

    Like is what has the same title, or is to bring about the same end for the same must-haves.
    """
    refused = act.tx.select(
        Task,
        "goal_id = :goal AND (status = 'cancelled' OR id = :parent) AND review_attempts % :most > 0",
        goal=goal.id, parent=new.parent, most=REVIEW_ATTEMPTS,
    )  # fmt: skip
    return max((task.review_attempts % REVIEW_ATTEMPTS for task in refused if _is_like(task, new)), default=0)


def _is_like(task: Task, new: NewTask) -> bool:
    if _words(task.title) == _words(new.title):
        return True
    same_end = _words(task.end_state) == _words(new.end_state) != []
    return same_end and set(task.must_haves) == set(new.must_haves)


def _words(text: str) -> list[str]:
    return text.casefold().split()


def _require_free_key(act: Act, goal: Goal, key: str | None) -> None:
    """Raises Conflict for a key that a task has already, Invalid for one that is the program's own."""
    if key is None:
        return
    known = act.tx.value("SELECT id FROM tasks WHERE idempotency_key = :key", key=key)
    if known is not None:
        raise Conflict(f"T{known} was made with the key {key!r} already; nothing was written.", "Go on with that one.")
    if key.startswith(PLACEHOLDER) and key != placeholder_key(goal.id):
        raise Invalid(f"Keys that begin with {PLACEHOLDER} are the program's own.", "Choose another key.")


def _require_known(goal: Goal, must_haves: Sequence[str]) -> None:
    known = [must["id"] for must in goal.must_haves]
    unknown = [must_id for must_id in must_haves if must_id not in known]
    if unknown:
        raise Invalid(
            f"{goal.name_tag} has no must-have {', '.join(unknown)}.", f"It has: {', '.join(known) or 'none'}."
        )


class CreateTask(NewTask, Command):
    """Make a task below a goal: a draft before the goal is active, else pending in its open round."""

    who = letters("HCAX")
    example = {"goal": 3, "title": "Count the files", "end_state": "Their number.", "must_haves": ("M1",)}
    goal: int
    draft: bool = Field(False, description="Keep it a draft even if a round is open")


@handles(CreateTask)
def create_task(act: Act, command: CreateTask) -> Answer:
    goal = act.tx.get(Goal, command.goal)
    if goal.status not in (GoalStatus.DRAFT, GoalStatus.PLANNING, GoalStatus.ACTIVE):
        raise Conflict(f"{goal.name_tag} is {goal.status}: it takes no new task.", "Make a new goal.")
    if Who.CEO in act.capacities and not (is_reviewed(goal) or is_own_draft(act, goal)):
        raise Forbidden(f"{goal.name_tag} is not reviewed.", "The CEO adds tasks only below a reviewed goal (S1-21).")
    admit_work_of_agents(act, goal)
    new = NewTask(**command.model_dump(exclude={"goal", "draft"}))
    require_shape(act, goal, [new])
    round_ = None if command.draft else open_round_of(act, goal)
    status = TaskStatus.DRAFT if round_ is None else TaskStatus.PENDING
    task = add_task(act, goal, new, status, round_)
    cover_tasks(act, goal.id)
    return {"id": task.id, "status": str(task.status), "goal": goal.id}


def admit_work_of_agents(act: Act, goal: Goal, wanted: int = 1) -> None:
    """An agent adds tasks only to the goal of its run, not without end, and never to what a person has read already."""
    if act.run is None:
        return
    act.require_own_goal(goal.id)
    made = act.tx.value(
        "SELECT count(*) FROM events WHERE run_id = :run AND kind = 'TaskCreated' AND entity = 'tasks'"
        " AND entity_id IN (SELECT id FROM tasks WHERE goal_id = :goal)",
        run=act.run.id, goal=goal.id,
    )  # fmt: skip
    if made + wanted > TASKS_PER_RUN:
        raise Conflict(f"R{act.run.id} has made {made} tasks, which is the limit.", "Leave the rest to a later run.")
    require_no_endless_work(act, open_round_of(act, goal), wanted)
    clear_review(act, goal)


def open_round_of(act: Act, goal: Goal) -> Round | None:
    """The goal's open (or stalled) round, if there is one."""
    found = act.tx.select(Round, "goal_id = :goal AND status IN ('open', 'stalled')", goal=goal.id)
    return found[0] if found else None


def enqueue(act: Act, task: Task) -> Task:
    """A draft becomes pending in the open round of its goal."""
    TASK.require(task.name_tag, task.status, TaskStatus.PENDING, "EnqueueTask", act.capacities)
    act.require_own_goal(task.goal_id)
    goal = act.tx.get(Goal, task.goal_id)
    if Who.CEO in act.capacities and not is_reviewed(goal):
        raise Forbidden(f"{goal.name_tag} is not reviewed.", "The CEO enqueues only below a reviewed goal (S1-21).")
    _require_author(act, task)
    if task.round_id is not None:
        # It was sent back to its author, and is offered anew.
        require_shape(act, goal, [task])
        return move_task(act, task, TaskStatus.PENDING, "EnqueueTask", "TaskEnqueued", reason="")
    round_ = open_round_of(act, goal)
    if round_ is None:
        raise Conflict(f"{goal.name_tag} has no open round.", "The task is taken along when the next round opens.")
    return join_round(act, task, round_, "TaskEnqueued", TaskStatus.PENDING)


class EnqueueTask(Command):
    """Make a draft task pending in its goal's open round."""

    who = letters("HCXA")
    example = {"task": 12}
    task: int


@handles(EnqueueTask)
def enqueue_task(act: Act, command: EnqueueTask) -> Answer:
    task = enqueue(act, act.tx.get(Task, command.task))
    return {"id": task.id, "status": str(task.status)}


class EditTask(Command):
    """Change what a task that nobody works on asks for, or how urgent it is; it is offered anew.

    An agent that is no coordinator mends only what it made itself and what was sent back to it.
    """

    who = letters("HCA")
    example = {"task": 12, "end_state": "The number of files, counted in two ways."}
    task: int
    title: Title | None = None
    intent: Text | None = None
    end_state: Text | None = None
    constraints: Lines | None = None
    must_haves: tuple[str, ...] | None = Field(
        None, max_length=LINES_MAX, description="Ids of the goal's must-haves that it covers"
    )
    capabilities: tuple[Slug, ...] | None = Field(None, max_length=CAPABILITIES)
    priority: int | None = Field(None, ge=0, le=4)
    repository: Repository | None = Field(None, description="For the operator: the git repository, '' for none")


@handles(EditTask)
def edit_task(act: Act, command: EditTask) -> Answer:
    task = act.tx.get(Task, command.task)
    act.require_own_goal(task.goal_id)
    _require_author(act, task)
    _require_known(act.tx.get(Goal, task.goal_id), command.must_haves or ())
    changes = command.model_dump(exclude={"task"}, exclude_none=True)
    if act.run is not None and "repository" in changes:
        raise Forbidden("Only the operator names a repository.", "Leave it out, or ask for it in a comment.")
    if task.status in TASK_FINAL:
        raise Conflict(f"{task.name_tag} is {task.status}: it stays so.", TASK.hint(task.status))
    if set(changes) - {"priority"} and task.status not in (TaskStatus.DRAFT, TaskStatus.PENDING, TaskStatus.BLOCKED):
        raise Conflict(f"{task.name_tag} is {task.status}: its text is settled.", "Cancel it and make a new one.")
    names = sorted(changes)
    edited, goal = replace(task, **changes), act.tx.get(Goal, task.goal_id)
    is_draft_of_round = task.status == TaskStatus.DRAFT and task.round_id is not None  # it is looked at when offered
    if not is_draft_of_round and set(missing_of(edited, goal)) - set(missing_of(task, goal)):
        require_shape(act, goal, [edited])
    if changes.keys() & {"intent", "end_state", "constraints", "must_haves"}:
        # Another task is judged by other criteria: they are frozen anew at its next review (F8).
        changes["criteria"] = ()
    if changes.keys() & {"title", "intent", "end_state", "constraints"}:
        changes["risk"] = _risk_of(task, changes)
    if changes:
        clear_review(act, act.tx.get(Goal, task.goal_id))
        act.tx.update(task, "TaskEdited", offer=task.offer + 1, broadcasts=0, **changes)
        cover_tasks(act, task.goal_id)
    return {"id": task.id, "changed": names}


def _require_author(act: Act, task: Task) -> None:
    if act.run is None or act.capacities & {Who.COORDINATOR, Who.CEO}:
        return
    if task.created_by != act.label or task.status != TaskStatus.DRAFT or task.round_id is None:
        raise Forbidden(f"{task.name_tag} was not sent back to you.", "Comment on it; the coordinator changes it.")


def _risk_of(task: Task, changes: dict[str, Any]) -> Risk:
    """An edit may raise a task's risk; it lowers none (S3-16)."""
    now = [changes.get(name, getattr(task, name)) for name in ("title", "intent", "end_state")]
    return raised(task.risk, (*now, *changes.get("constraints", task.constraints)), task.tags)
