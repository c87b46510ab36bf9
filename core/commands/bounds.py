"""Where the work of agents that breeds work ends: a limit, or a person (F23)."""

from core.commands.registry import Act
from core.domain.entities import Round, Task
from core.domain.errors import Conflict
from core.domain.limits import RUN_ATTEMPTS, TASKS_A_ROUND, TASKS_DEEP
from core.domain.states import TaskStatus


def require_no_endless_work(act: Act, round_: Round | None, wanted: int) -> None:
    """Raises Conflict when work has bred work too long within one round (F23)."""
    if round_ is not None and round_.total_tasks + wanted > TASKS_A_ROUND:
        raise Conflict(f"{round_.name_tag} has {round_.total_tasks} tasks, which is the limit.", "Plan the next round.")
    deep, task_id = 0, act.own_run().task_id
    while task_id is not None and deep <= TASKS_DEEP:
        task_id, deep = _made_for(act, task_id), deep + 1
    if deep > TASKS_DEEP:
        raise Conflict(
            f"T{act.own_run().task_id} came of {TASKS_DEEP} tasks already, each of which made the next one.",
            "Say in the handoff what is left; the coordinator plans it.",
        )


def _made_for(act: Act, task_id: int) -> int | None:
    """The task whose run made this one; None if a person made it, or a run about no task."""
    found: int | None = act.tx.value(
        "SELECT runs.task_id FROM events JOIN runs ON runs.id = events.run_id WHERE events.entity = 'tasks'"
        " AND events.entity_id = :task AND events.kind = 'TaskCreated'",
        task=task_id,
    )
    return found


def require_no_endless_block(act: Act, task: Task) -> None:
    """Raises Conflict when agents have unblocked it as often as anything may be tried: then a person decides (F23)."""
    if act.run is None or task.status != TaskStatus.BLOCKED:
        return
    times = act.tx.value(
        "SELECT count(*) FROM events WHERE entity = 'tasks' AND entity_id = :task AND kind = 'TaskUnblocked'"
        " AND run_id IS NOT NULL AND id > coalesce((SELECT max(id) FROM events WHERE entity = 'tasks'"
        " AND entity_id = :task AND kind IN ('TaskUnblocked', 'TaskResumed') AND run_id IS NULL), 0)",
        task=task.id,
    )
    if times >= RUN_ATTEMPTS:
        raise Conflict(
            f"{task.name_tag} is blocked again, after {times} agents' attempts to unblock it.",
            "Cancel or split it, or leave it: it is in the operator's inbox.",
        )
