"""Names of work trees: what a task's repository says, and the branch and folder that its agent gets. Pure."""

import re
import unicodedata

from core.domain.runner_uses import PROGRAMS

FOLDER = "work/trees"  # in the company's folder
BRANCHES = "opsroom/"
HEAD = "HEAD"
_SLUG_MAX = 40
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def works_in_files(runner_kind: str) -> bool:
    """Whether agents on a runner of this kind have files; a model alone has calls on the board only."""
    return runner_kind in PROGRAMS


def split_repository(text: str) -> tuple[str, str]:
    """The path and what a branch begins from: `../site#develop` names both, `../site` means what is checked out."""
    path, mark, begins_from = text.rpartition("#")
    return (path, begins_from or HEAD) if mark else (text, HEAD)


def name_of(task_id: int, number: int) -> str:
    """T12 for the first tree of a task, T12-2 for the second."""
    return f"T{task_id}" if number == 1 else f"T{task_id}-{number}"


def branch_of(task_id: int, number: int) -> str:
    """The branch of a task's tree: no letter of it comes from anybody's text."""
    return f"{BRANCHES}{name_of(task_id, number)}"


def folder_of(task_id: int, number: int, title: str) -> str:
    """The tree's folder, from the company's: of the title only what is harmless in any path."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _NOT_IN_NAMES.sub("-", plain)[:_SLUG_MAX].strip("-")
    return f"{FOLDER}/{name_of(task_id, number)}{f'-{slug}' if slug else ''}"


def wrong_with(text: str) -> str:
    """Why this cannot be a repository's path; empty when it can."""
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Zp") for sign in text):
        return "it holds signs that cannot be seen"
    path, begins_from = split_repository(text)
    if not path:
        return "it names no path before the #"
    if begins_from.startswith("-") or any(sign in begins_from for sign in " ~^:?*[\\") or ".." in begins_from:
        return f"{begins_from!r} is no name of a branch, a tag or a commit"
    return ""
