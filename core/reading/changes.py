"""What was changed in a task's work tree, as git tells it: for whoever judges the task."""

import asyncio
from pathlib import Path

from pydantic import Field

from core.commands.registry import INTEGER_MAX, Answer
from core.domain.entities import WorkTree
from core.domain.errors import NotFound
from core.reading.registry import Id, Look, Query, answers
from core.reading.shapes import fit, require
from core.worktrees.changes import Changes, read_changes

PIECE, PIECE_MAX = 8_000, 16_000  # characters
DIFF_READ = 2 * 1024 * 1024  # bytes that can be paged through
_LIST = 6_000  # characters of the files, and of the commits


class ReadChanges(Query):
    """The files and the difference of a task's work tree since it began, committed or not, from a character on."""

    example = {"task": 12}
    task: Id
    number: int | None = Field(None, ge=1, le=INTEGER_MAX, description="Which of its trees; the newest unless named")
    offset: int = Field(0, ge=0, le=INTEGER_MAX, description="First character: `next` of the piece before")
    size: int = Field(PIECE, ge=1, le=PIECE_MAX, description="Characters of the piece")


@answers(ReadChanges)
async def read_task_changes(look: Look, query: ReadChanges) -> Answer:
    """{task, number, branch, base, head, is_there, commits, commits_total, files, files_total, added, removed, offset,
    diff, next, cut}.

    `files` are [{path, added, removed, committed}], lines null for what is no text; `is_there`: False when only the
    branch is left. `cut`: the difference goes on after what can be paged through. Raises NotFound for a task without a
    tree, Conflict and Invalid when git does not find it.
    """
    await require(look.readers, "tasks", "T", query.task)
    trees = await look.readers.entities(
        WorkTree, "task_id = :task AND coalesce(:number, number) = number ORDER BY number DESC LIMIT 1",
        task=query.task, number=query.number,
    )  # fmt: skip
    if not trees:
        raise NotFound(f"T{query.task} has no such work tree.", "What it delivered are its outputs: ListOutputs.")
    tree = trees[0]
    found = await asyncio.to_thread(read_changes, Path(look.readers.path).parent, tree, DIFF_READ)
    return _answer(tree, found, query)


def _answer(tree: WorkTree, found: Changes, query: ReadChanges) -> Answer:
    end = query.offset + query.size
    files = [
        {"path": file.path, "added": file.added, "removed": file.removed, "committed": file.is_committed}
        for file in found.files
    ]
    return {
        "task": tree.task_id, "number": tree.number, "branch": tree.branch, "base": tree.base, "head": found.head,
        "is_there": found.is_there, "commits": fit([line[:200] for line in found.commits], _LIST),
        "commits_total": found.commits_total, "files": fit(files, _LIST), "files_total": found.files_total,
        "added": found.added, "removed": found.removed, "offset": query.offset,
        "diff": found.diff[query.offset : end], "next": end if end < len(found.diff) else None, "cut": found.is_cut,
    }  # fmt: skip
