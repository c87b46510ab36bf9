"""Which work tree a run works in: made at the first run of a task that names a repository, then taken up again."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from core.blackboard.readers import Readers
from core.commands.door import Door
from core.commands.worktrees import RecordWorkTree
from core.domain.actors import System
from core.domain.entities import Run, Task, WorkTree
from core.domain.states import RunKind
from core.domain.worktrees import works_in_files
from core.worktrees.trees import Planned, named_folder, open_tree, plan_tree, repository_at, written_by_commits

_NEWEST = "task_id = :task ORDER BY number DESC LIMIT 1"


async def workplace_of(
    readers: Readers, door: Door, company: Path, run: Run, task: Task | None, runner_kind: str,
    tell: Callable[[str], None],
) -> Path | None:  # fmt: skip
    """The folder that this run works in; None for a task without a repository and for agents that have no files.

    An agent finds what it left, also after a refusal; another agent begins anew on a branch of its own, and the old
    one is kept. `tell` gets what is worth knowing. Raises Invalid and Conflict, which say why no tree can be had.
    """
    if task is None or not task.repository or run.kind != RunKind.EXECUTE or not works_in_files(runner_kind):
        return None
    found = await readers.entities(WorkTree, _NEWEST, task=task.id)
    folder = await asyncio.to_thread(named_folder, company, task.repository)
    tree = found[0] if found else None
    if tree is None or tree.agent_id != run.agent_id or tree.closed_at is not None or tree.repository != str(folder):
        tree = await _recorded(readers, door, company, run, task, 1 if tree is None else tree.number + 1)
    for told in await asyncio.to_thread(open_tree, company, tree):
        tell(told)
    return await asyncio.to_thread(lambda: company.absolute() / tree.path)


async def commit_folders(readers: Readers, company: Path, workplace: Path | None) -> tuple[Path, ...]:
    """Where a sandboxed program must be able to write, beside its workplace, to commit there. Raises Invalid."""
    if workplace is None:
        return ()
    path = await asyncio.to_thread(lambda: workplace.relative_to(company.absolute()))
    found = await readers.entities(WorkTree, "path = :path ORDER BY id DESC LIMIT 1", path=str(path))
    return await asyncio.to_thread(written_by_commits, company, found[0]) if found else ()


async def _recorded(readers: Readers, door: Door, company: Path, run: Run, task: Task, number: int) -> WorkTree:
    """Noted before git makes it: a crash in between leaves a tree that is known, never one that nobody knows."""
    plan = await asyncio.to_thread(_planned, company, task, number)
    await door.execute(
        System("dispatcher"),
        RecordWorkTree(
            task=task.id, agent_id=run.agent_id, number=plan.number, repository=str(plan.repository.folder),
            path=plan.path, branch=plan.branch, begins_from=plan.repository.begins_from, base=plan.repository.base,
        ),
    )  # fmt: skip
    return (await readers.entities(WorkTree, _NEWEST, task=task.id))[0]


def _planned(company: Path, task: Task, number: int) -> Planned:
    return plan_tree(company, repository_at(company, task.repository), task.id, task.title, number)
