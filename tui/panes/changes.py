"""What was changed in a task's work tree, as blocks of the Outputs tab: files with their counts, then the difference.

It is read by git when somebody looks. Every line of it is somebody's text: shown literally, never acted on.
"""

import asyncio
import os
from collections.abc import Sequence

from core.company import OpenCompany
from core.domain.entities import WorkTree
from core.domain.errors import OpsroomError
from core.domain.worktrees import name_of
from core.worktrees.changes import Changes, FileChange, read_changes
from tui.panes.words import clock_time
from tui.rendering.diffs import UnifiedDiff
from tui.text import one_line
from tui.widgets.prose import Block
from tui.widgets.row import Cell

SHOWN_BYTES = 64 * 1024
_FILES, _COMMITS = 40, 10


async def read_task_changes(company: OpenCompany, task_id: int) -> list[Block]:
    """A block for each work tree of the task, the newest first and with its difference; none for a task without."""
    trees = await company.board.readers.entities(
        WorkTree, "task_id = :task ORDER BY number DESC LIMIT 10", task=task_id
    )
    if not trees:
        return []
    newest, *older = trees
    slug = await company.board.readers.value("SELECT slug FROM agents WHERE id = :id", id=newest.agent_id)
    blocks = [await _newest(company, newest, str(slug or ""))]
    for tree in older:
        text = f"of an earlier attempt, kept: {tree.branch} in {_from(company, tree)}\n{tree.path}"
        blocks.append(Block((("Changes", "strong"), name_of(tree.task_id, tree.number)), text, "dim"))
    return blocks


async def _newest(company: OpenCompany, tree: WorkTree, slug: str) -> Block:
    about: tuple[Cell, ...] = ((tree.branch, "info"), (f"{slug} {clock_time(tree.created_at)}", "dim"))
    try:
        found = await asyncio.to_thread(read_changes, company.folder, tree, SHOWN_BYTES)
    except OpsroomError as error:
        return Block((("Changes", "strong"), *about), f"{error.message} {error.hint}".strip(), "warn")
    counts = f"{found.files_total} {'file' if found.files_total == 1 else 'files'}  +{found.added} -{found.removed}"
    heading: tuple[Cell, ...] = (("Changes", "strong"), (counts, "strong"), *about)
    drawing = UnifiedDiff(found.diff) if found.diff else None
    return Block(heading, _summary(company, tree, found), "info", drawing)


def _summary(company: OpenCompany, tree: WorkTree, found: Changes) -> str:
    where = f"in {tree.path}" if found.is_there else "its folder is gone; the branch is not"
    parts = [f"of {_from(company, tree)} since {tree.base[:12]}, {where}"]
    if found.commits:
        parts.append("\n".join(_first(found.commits, _COMMITS, found.commits_total, "commits")))
    if found.files:
        parts.append("\n".join(_first([_file(file) for file in found.files], _FILES, found.files_total, "files")))
    else:
        parts.append("Nothing is changed yet.")
    if found.is_cut:
        parts.append(
            f"The difference is cut after {SHOWN_BYTES // 1024} KiB; all of it: "
            f"opsroom task diff DIR {name_of(tree.task_id, tree.number)}"
        )
    return "\n\n".join(parts)


def _from(company: OpenCompany, tree: WorkTree) -> str:
    """The repository as it is found from the company's folder."""
    return os.path.relpath(tree.repository, company.folder)


def _file(file: FileChange) -> str:
    counts = "binary" if file.added is None else f"+{file.added} -{file.removed}"
    return f"{one_line(file.path)}  {counts}{'' if file.is_committed else '  not committed'}"


def _first(lines: Sequence[str], most: int, total: int, what: str) -> list[str]:
    left = total - min(most, len(lines))
    return [*lines[:most], *([f"… and {left} more {what}"] if left > 0 else [])]
