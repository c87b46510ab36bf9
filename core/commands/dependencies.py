"""What a task waits for: edges that are counted in the same transaction, never in a circle."""

from pydantic import BaseModel, ConfigDict

from core.commands.moves import meet_dependency
from core.commands.registry import Act, Answer, Command, handles, letters
from core.commands.shaping import clear_review, cover_tasks
from core.domain.entities import Goal, Task, TaskDep
from core.domain.errors import Conflict, Invalid
from core.domain.lifecycles import TASK
from core.domain.states import TASK_FINAL, OnFail, TaskStatus


class Dependency(BaseModel):
    """What must be done first."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    task: int
    on_fail: OnFail = OnFail.CANCEL


def add_dependency(act: Act, task_id: int, dependency: Dependency) -> TaskDep:
    """An edge, counted in the same transaction; a cycle is refused."""
    tx = act.tx
    task = tx.get(Task, task_id)
    target = tx.get(Task, dependency.task)
    if target.goal_id != task.goal_id:
        raise Invalid(f"{target.name_tag} belongs to another goal.", "Depend on a task of the same goal.")
    cycle = tx.value(
        "WITH RECURSIVE up(id) AS (SELECT :target UNION SELECT depends_on FROM task_deps JOIN up ON task_id = up.id)"
        " SELECT 1 FROM up WHERE id = :task",
        target=target.id,
        task=task.id,
    )
    if cycle is not None:
        raise Conflict(
            f"{task.name_tag} cannot wait for {target.name_tag}: that would be a circle.", "Leave this dependency out."
        )
    if tx.value("SELECT 1 FROM task_deps WHERE task_id = :t AND depends_on = :d", t=task.id, d=target.id) is not None:
        raise Conflict(f"{task.name_tag} waits for {target.name_tag} already.", "Nothing is to be done.")
    failed = target.status in TASK_FINAL and target.status != TaskStatus.DONE
    if failed and dependency.on_fail == OnFail.CANCEL:
        raise Conflict(f"{target.name_tag} is {target.status} and will never be done.", "Depend on its retry instead.")
    met = target.status == TaskStatus.DONE or (failed and dependency.on_fail == OnFail.PROCEED)
    edge = tx.insert(
        TaskDep,
        "DependencyAdded",
        task_id=task.id,
        depends_on=target.id,
        on_fail=dependency.on_fail,
        met=met,
    )
    if not met:
        tx.update(task, "TaskDependencyAdded", open_deps=task.open_deps + 1)
    return edge


class AddDependency(Command):
    """Let a task wait for another one; a circle is refused."""

    who = letters("HCA")
    example = {"task": 13, "depends_on": 12, "on_fail": "hold"}
    task: int
    depends_on: int
    on_fail: OnFail = OnFail.CANCEL


@handles(AddDependency)
def add_dependency_command(act: Act, command: AddDependency) -> Answer:
    task = act.tx.get(Task, command.task)
    act.require_own_goal(task.goal_id)
    if task.status not in (TaskStatus.DRAFT, TaskStatus.PENDING):
        raise Conflict(f"{task.name_tag} is {task.status}: it waits for nothing any more.", TASK.hint(task.status))
    clear_review(act, act.tx.get(Goal, task.goal_id))
    edge = add_dependency(act, task.id, Dependency(task=command.depends_on, on_fail=command.on_fail))
    cover_tasks(act, task.goal_id)
    return {"task": task.id, "depends_on": edge.depends_on, "met": edge.met}


class WaiveDependency(Command):
    """Let a task go on without what it waits for (e.g. held because that failed)."""

    who = letters("HC")
    example = {"task": 13, "depends_on": 12}
    task: int
    depends_on: int


@handles(WaiveDependency)
def waive_dependency(act: Act, command: WaiveDependency) -> Answer:
    goal_id = act.tx.get(Task, command.task).goal_id
    act.require_own_goal(goal_id)
    edges = act.tx.select(
        TaskDep, "task_id = :task AND depends_on = :on AND met = 0", task=command.task, on=command.depends_on
    )
    if not edges:
        raise Conflict(f"T{command.task} does not wait for T{command.depends_on}.", "Read what it waits for: ReadTask.")
    clear_review(act, act.tx.get(Goal, goal_id))
    meet_dependency(act, edges[0])
    cover_tasks(act, goal_id)
    return {"task": command.task, "waived": command.depends_on}
