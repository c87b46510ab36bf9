"""Which work tree of a task belongs to whom: noted before git makes it, closed before it is taken away."""

from pydantic import Field

from core.blackboard.queries import LIVE_RUNS
from core.commands.registry import INTEGER_MAX, Act, Answer, Command, handles, letters
from core.domain.entities import Run, Task, WorkTree
from core.domain.errors import Conflict, NotFound

_LIVE_RUN = f"task_id = :task AND {LIVE_RUNS} ORDER BY id LIMIT 1"


class RecordWorkTree(Command):
    """Note the work tree that an agent's runs on a task are to have, before git makes it."""

    who = letters("S")
    task: int
    agent_id: int
    number: int = Field(ge=1, le=10_000)
    repository: str = Field(min_length=1, max_length=4000)
    path: str = Field(min_length=1, max_length=400)
    branch: str = Field(min_length=1, max_length=200)
    begins_from: str = Field(max_length=1000)
    base: str = Field(pattern=r"^[0-9a-f]{40,64}$")


@handles(RecordWorkTree)
def record_work_tree(act: Act, command: RecordWorkTree) -> Answer:
    task = act.tx.get(Task, command.task)
    values = command.model_dump(exclude={"task"})
    tree = act.tx.insert(WorkTree, "WorkTreeMade", task_id=task.id, closed_at=None, **values)
    return {"id": tree.id, "branch": tree.branch}


class CloseWorkTree(Command):
    """Let no run work in a task's work tree any more; git and the folder are left alone."""

    who = letters("H")
    task: int
    number: int | None = Field(None, ge=1, le=INTEGER_MAX, description="Which of its trees; the newest unless named")


@handles(CloseWorkTree)
def close_work_tree(act: Act, command: CloseWorkTree) -> Answer:
    task = act.tx.get(Task, command.task)
    trees = act.tx.select(
        WorkTree, "task_id = :task AND coalesce(:number, number) = number ORDER BY number DESC LIMIT 1",
        task=task.id, number=command.number,
    )  # fmt: skip
    if not trees:
        which = "work tree" if command.number is None else f"work tree {command.number}"
        raise NotFound(f"{task.name_tag} has no {which}.", "List them: opsroom worktrees list DIR.")
    # A run could begin to write again at any moment: first it ends, then its files may go (F5).
    live = act.tx.select(Run, _LIVE_RUN, task=task.id)
    if live:
        raise Conflict(
            f"{live[0].name_tag} of {task.name_tag} is {live[0].status}: nothing was closed or removed.",
            "Wait for its end, or kill it first.",
        )
    tree = trees[0]
    if tree.closed_at is None:
        tree = act.tx.update(tree, "WorkTreeClosed", closed_at=act.tx.now)
    return {"id": tree.id, "task": task.id, "number": tree.number, "branch": tree.branch}
