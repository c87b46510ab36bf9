"""Takes a work tree away when nothing in it would be lost (F5). Its branch stays in its repository. No force."""

import os
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

import psutil

from core.domain.entities import Run, WorkTree
from core.domain.errors import Conflict
from core.domain.worktrees import BRANCHES
from core.worktrees.changes import Place, place_of, uncommitted
from core.worktrees.git import LIST_MAX, LONG_S, must
from core.worktrees.trees import common_of

_NAMED = 5
# What git keeps of a tree while something is half done there, and what that is.
_BEGUN = {
    "rebase-merge": "rebase", "rebase-apply": "rebase", "sequencer": "series of picks", "MERGE_HEAD": "merge",
    "MERGE_AUTOSTASH": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert", "BISECT_LOG": "bisect",
}  # fmt: skip


def require_removable(company: Path, tree: WorkTree, runs: Iterable[Run], *, with_ignored: bool = False) -> None:
    """Raises Conflict, which says what would be lost or who still works there, and that nothing was removed.

    `runs` are those of its task; `with_ignored`: files that git ignores may go with it.
    """
    folder = company.absolute() / tree.path
    place = place_of(company, tree)
    if not place.is_there:
        raise Conflict(f"The work tree {folder} is not there.", f"Its branch {tree.branch} is, and stays.")
    _require_nobody(folder, runs)
    admin = Path(place.variables["GIT_DIR"])
    if begun := next((what for name, what in _BEGUN.items() if os.path.lexists(admin / name)), None):
        # It may hold what was not committed, e.g. what a rebase put aside.
        raise _kept(folder, f"a {begun} is begun in it", "Bring it to its end there, or abort it.")
    loose = uncommitted(place)
    if loose:
        raise _kept(folder, f"{len(loose)} files in it are not committed: {_some(loose)}", "Commit or move them first.")
    hidden = _rows(place, "ls-files", "-v", "-z")
    if covered := [row[2:] for row in hidden if row[:1].islower() or row.startswith("S")]:
        raise _kept(folder, f"changes of {_some(covered)} are hidden from git", "Take their flags off (update-index).")
    modules = [row.partition("\t")[2] for row in _rows(place, "ls-files", "--stage", "-z") if row.startswith("160000")]
    if filled := [name for name in modules if _has_entries(folder / name)]:
        raise _kept(folder, f"it holds submodules: {_some(filled)}", "Look into them, and remove it with git yourself.")
    ignored = _rows(place, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    if ignored and not with_ignored:
        raise _kept(folder, f"git ignores {_some(ignored)} in it", "Add --with-ignored if they may go with it.")
    alone = must(
        place.folder, "rev-list", "--count", "HEAD", f"refs/heads/{tree.branch}", "--not",
        f"--exclude={BRANCHES}*", "--branches", "--remotes", "--tags", place=place.variables,
        what="Its commits cannot be counted",
    ).text  # fmt: skip
    if alone != "0":
        raise _kept(folder, f"{alone} commits of it are neither merged nor pushed", "Merge or push its branch first.")
    _require_commits_kept(folder, place, tree)


def _require_commits_kept(folder: Path, place: Place, tree: WorkTree) -> None:
    """Raises Conflict where commits would be lost with what git keeps of the tree alone: its refs, its HEAD's log."""
    what = "The tree was not removed: its commits cannot be looked for"
    refs = must(
        place.folder, "for-each-ref", "--format=%(refname)", "refs/worktree/", "refs/rewritten/",
        place=place.variables, what=what,
    ).text.splitlines()  # fmt: skip
    if refs:
        raise _kept(folder, f"{_some(refs)} would go with it", "Make a branch of each, or delete it (update-ref -d).")
    been, kept = (_logged(place, name, what) for name in ("HEAD", f"refs/heads/{tree.branch}"))
    asked = [*(been - kept), *(f"^{name}" for name in kept)]
    lost = must(
        place.folder, "rev-list", "--ignore-missing", "--max-count=100", "--stdin", "--not", "--branches", "--remotes",
        "--tags", place=place.variables, given="".join(f"{name}\n" for name in asked).encode(), what=what,
    ).text.splitlines()  # fmt: skip
    if been - kept and lost:
        raise _kept(
            folder, f"commits that its HEAD was at are in no branch: {_some([name[:10] for name in lost])}",
            "Give each a branch (git branch NAME COMMIT), or let them go:"
            f" git -C {shlex.quote(str(folder))} reflog expire --expire=all HEAD",
        )  # fmt: skip


def _logged(place: Place, name: str, what: str) -> set[str]:
    """The commits that this was at, as far as git keeps a log of it."""
    said = must(place.folder, "log", "--walk-reflogs", "--format=%H", name, "--", place=place.variables, what=what)
    return set(said.text.split())


def remove_tree(company: Path, tree: WorkTree) -> None:
    """Have git take it away; git looks once more and refuses if anything changed. Raises GitFailed."""
    folder = company.absolute() / tree.path
    must(
        Path(tree.repository), "worktree", "remove", "--", str(folder), within_s=LONG_S,
        what=f"git did not remove {folder}", hint="Look into it; what is in it was kept.",
        place={"GIT_COMMON_DIR": str(common_of(tree))},
    )  # fmt: skip


def _require_nobody(folder: Path, runs: Iterable[Run]) -> None:
    """Raises Conflict while a process of a run lives, or any process works in the tree."""
    for run in runs:
        if run.pid is not None and (_lives(run) or _in_session(run.pid, run.pid_started or 0)):
            raise _kept(folder, f"a process of {run.name_tag} ({run.pid}) still lives", "End it, then try again.")
    top = folder.resolve()
    for process in psutil.process_iter():
        try:
            inside = Path(process.cwd()).is_relative_to(top)
        except (psutil.Error, OSError):
            continue
        if inside:
            raise _kept(folder, f"process {process.pid} works in it", "End it, then try again.")


def _lives(run: Run) -> bool:
    try:
        process = psutil.Process(run.pid)
        return process.status() != psutil.STATUS_ZOMBIE and _is_at(process, run.pid_started or 0)
    except psutil.Error:
        return False


def _in_session(group: int, started: int) -> bool:
    """Whether a process of the group that this one led is left, begun after it."""
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and int(process.create_time() * 1000) >= started - 20:
                return process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            continue
    return False


def _is_at(process: psutil.Process, started: int) -> bool:
    return abs(int(process.create_time() * 1000) - started) <= 20


def _rows(place: Place, *arguments: str) -> list[str]:
    what = "The tree was not removed: its files cannot be listed"
    said = must(place.folder, *arguments, place=place.variables, most=LIST_MAX, what=what)
    return [row.decode(errors="replace") for row in said.out.split(b"\0") if row]


def _has_entries(folder: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(folder).st_mode) and any(folder.iterdir())
    except OSError:
        return False


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _kept(folder: Path, why: str, hint: str) -> Conflict:
    return Conflict(f"{folder} was not removed: {why}.", hint)
