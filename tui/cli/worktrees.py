"""`opsroom worktrees list | remove`, `opsroom task diff`, and the check of a repository before it is named."""

import argparse
import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.blackboard.checks import Check
from core.blackboard.readers import Readers
from core.commands.registry import build
from core.commands.tasks import EditTask
from core.commands.worktrees import CloseWorkTree
from core.domain.entities import Run, Task, WorkTree
from core.domain.errors import Invalid, NotFound, OpsroomError
from core.domain.worktrees import name_of
from core.worktrees.changes import Changes, Standing, read_changes, standing_of
from core.worktrees.removing import remove_tree, require_removable
from core.worktrees.trees import repository_at
from tui.cli import opening
from tui.cli.names import folder_of, number_of, quoted
from tui.cli.output import print_json, say, table

_NAME = re.compile(r"[Tt]?([0-9]{1,15})(?:-([0-9]{1,5}))?")
_RUNS = "task_id = :task AND pid IS NOT NULL ORDER BY id DESC LIMIT 500"
DIFF_MAX = 4 * 1024 * 1024  # bytes that are printed


def checked_repository(folder: Path, text: str | None) -> str | None:
    """The same text, if there is such a repository seen from the company's folder. Raises Invalid."""
    if text:
        repository_at(folder, text)
    return text


def check_repositories(folder: Path) -> Iterator[Check]:
    """Whether the repositories that open tasks name can be worked in; nothing where none is named."""
    try:
        named = opening.run(_repositories(folder))
    except OpsroomError:
        return  # what is wrong with the board is told by others
    for text, count in named.items():
        try:
            found = repository_at(folder, text)
        except OpsroomError as error:
            yield Check("repository", "warn", f"{count} open tasks name {text}: {error.message} {error.hint}".strip())
        else:
            yield Check("repository", "ok", f"{found.folder} at {found.base[:12]}, for {count} open tasks.")


async def _repositories(folder: Path) -> dict[str, int]:
    async with opening.reading(folder) as board:
        rows = await board.readers.all(
            "SELECT repository, count(*) AS n FROM tasks WHERE repository <> '' AND status NOT IN"
            " ('done', 'failed', 'cancelled') GROUP BY repository ORDER BY repository LIMIT 50"
        )
    return {row["repository"]: row["n"] for row in rows}


def list_trees(arguments: argparse.Namespace) -> int:
    """How each work tree stands, newest task last."""
    folder = folder_of(arguments.dir)
    found = opening.run(_list(folder))
    if arguments.json:
        print_json({"worktrees": found})
        return 0
    if not found:
        say(f"There is none yet: a task that names a git repository has one from its first run on, e.g."
            f" opsroom task edit {quoted(folder)} T1 --repository PATH.")  # fmt: skip
        return 0
    rows = [
        [
            each["name"], each["agent"], each["branch"], f"+{each['ahead']} -{each['behind']}",
            str(each["uncommitted"]), _megabytes(each["size"]), each["state"], each["path"],
        ]
        for each in found
    ]  # fmt: skip
    table(rows, ("tree", "agent", "branch", "commits", "loose", "size", "state", "folder"))
    return 0


async def _list(folder: Path) -> list[dict[str, Any]]:
    async with opening.reading(folder) as board:
        trees = await board.readers.entities(WorkTree, "true ORDER BY task_id, number")
        slugs = {row["id"]: row["slug"] for row in await board.readers.all("SELECT id, slug FROM agents")}
    return [await asyncio.to_thread(_line, folder, tree, slugs) for tree in trees]


def _line(folder: Path, tree: WorkTree, slugs: dict[int, str]) -> dict[str, Any]:
    try:
        stands = standing_of(folder, tree)
        state = ("closed" if tree.closed_at is not None else "open") if stands.is_there else "branch only"
    except OpsroomError as error:
        stands, state = Standing(False, 0, 0, 0, 0), f"gone: {error.message}"
    return {
        "name": name_of(tree.task_id, tree.number), "task": tree.task_id, "agent": slugs.get(tree.agent_id, ""),
        "repository": tree.repository, "branch": tree.branch, "base": tree.base, "path": tree.path, "state": state,
        "ahead": stands.ahead, "behind": stands.behind, "uncommitted": stands.uncommitted, "size": stands.size,
    }  # fmt: skip


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def remove(arguments: argparse.Namespace) -> int:
    """Take a work tree away when nothing in it would be lost; its branch stays."""
    task, number = _named(arguments.tree)
    folder = folder_of(arguments.dir)
    tree = opening.run(_removed(folder, task, number, arguments.with_ignored))
    if arguments.json:
        print_json({"name": name_of(tree.task_id, tree.number), "path": tree.path, "branch": tree.branch})
    else:
        say(f"{tree.path} is removed; its branch {tree.branch} stays in {tree.repository}.")
    return 0


async def _removed(folder: Path, task: int, number: int | None, with_ignored: bool) -> WorkTree:
    async with opening.reading(folder) as board:
        tree = await tree_of(board.readers, task, number)
        runs = await board.readers.entities(Run, _RUNS, task=tree.task_id)
    await asyncio.to_thread(require_removable, folder, tree, runs, with_ignored=with_ignored)
    # From here on no run begins in it; it is refused while one is at work.
    await opening.send(folder, build(CloseWorkTree, task=tree.task_id, number=tree.number))
    await asyncio.to_thread(remove_tree, folder, tree)
    return tree


def _named(text: str) -> tuple[int, int | None]:
    """The task and the number of a tree: (12, None) for T12, (12, 2) for T12-2. Raises Invalid."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise Invalid(f"{text!r} is no work tree's name.", "Type it like T12, or T12-2 for its second one.")
    return int(found[1]), None if found[2] is None else int(found[2])


async def tree_of(readers: Readers, task: int, number: int | None) -> WorkTree:
    """A task's work tree, the newest unless named. Raises NotFound."""
    if not await readers.entities(Task, "id = :id", id=task):
        raise NotFound(f"There is no T{task} on this board.", "List them: opsroom task list DIR.")
    trees = await readers.entities(
        WorkTree, "task_id = :task AND coalesce(:number, number) = number ORDER BY number DESC LIMIT 1",
        task=task, number=number,
    )  # fmt: skip
    if not trees:
        which = "work tree" if number is None else f"work tree {name_of(task, number)}"
        raise NotFound(f"T{task} has no {which}.", "List them: opsroom worktrees list DIR.")
    return trees[0]


def diff(arguments: argparse.Namespace) -> int:
    """What differs in a task's work tree from where it began."""
    task, number = _named(arguments.task)
    folder = folder_of(arguments.dir)
    tree, found = opening.run(_read(folder, task, number))
    if arguments.json:
        print_json(_as_json(tree, found))
    else:
        _tell(tree, found)
    return 0


async def _read(folder: Path, task: int, number: int | None) -> tuple[WorkTree, Changes]:
    async with opening.reading(folder) as board:
        tree = await tree_of(board.readers, task, number)
    return tree, await asyncio.to_thread(read_changes, folder, tree, DIFF_MAX)


def _as_json(tree: WorkTree, found: Changes) -> dict[str, Any]:
    return {
        "name": name_of(tree.task_id, tree.number), "branch": tree.branch, "base": tree.base, "head": found.head,
        "is_there": found.is_there, "commits": list(found.commits), "commits_total": found.commits_total,
        "files": [
            {"path": file.path, "added": file.added, "removed": file.removed, "committed": file.is_committed}
            for file in found.files
        ],
        "files_total": found.files_total, "added": found.added, "removed": found.removed, "diff": found.diff,
        "cut": found.is_cut,
    }  # fmt: skip


def _tell(tree: WorkTree, found: Changes) -> None:
    left = "" if found.is_there else "; its folder is gone, the branch is not"
    say(f"{tree.branch} since {tree.base[:12]}: {found.files_total} files, +{found.added} -{found.removed}{left}")
    for line in found.commits:
        say(f"  {line}")
    for file in found.files:
        counts = "binary" if file.added is None else f"+{file.added} -{file.removed}"
        say(f"  {file.path}  {counts}{'' if file.is_committed else '  not committed'}")
    if found.diff:
        say(f"\n{found.diff}")
    if found.is_cut:
        say(f"… cut after {DIFF_MAX:,} bytes; all of it: git -C {quoted(Path(tree.repository))} diff {tree.base[:12]}")


def edit_task(arguments: argparse.Namespace) -> int:
    """Name the repository that a task is worked on in."""
    folder = folder_of(arguments.dir)
    number = number_of(arguments.task, "task")
    repository = checked_repository(folder, arguments.repository)
    answer: dict[str, Any] = opening.run(opening.send(folder, build(EditTask, task=number, repository=repository)))
    if arguments.json:
        print_json({"id": f"T{number}", "command": "EditTask", "answer": answer})
    else:
        say(f"T{number} is worked on in {repository or 'no repository'}.")
    return 0
