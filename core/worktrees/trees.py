"""A task's work tree: where it can be made, made by git, and taken up again by a later run (C-06)."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path

from core.domain.entities import WorkTree
from core.domain.errors import Conflict, Invalid
from core.domain.worktrees import BRANCHES, HEAD, branch_of, folder_of, split_repository
from core.worktrees.git import LONG_S, ask, must

_NUMBERS = 100  # so many branches of a task may be there already
_CHECK = "Name a folder that is one: opsroom goal edit DIR GOAL --repository PATH, or EditTask."
# Two trees made at once in one repository would wait for each other's locks, and could fail.
_MAKING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository: its folder, where git keeps what its trees share, and the commit that branches begin from."""

    folder: Path
    common: Path
    begins_from: str
    base: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A tree that can be made: its number, folder (from the company's) and branch are free."""

    repository: Repository
    number: int
    path: str
    branch: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What git keeps of a tree: `admin` is its folder in the repository, `locked` why it is locked, or None."""

    admin: Path
    locked: str | None


def repository_at(company: Path, text: str) -> Repository:
    """The repository that a task names, from the company's folder. Raises Invalid, which says what is wrong with it."""
    folder, (_, begins_from) = named_folder(company, text), split_repository(text)
    if not folder.is_dir():
        raise Invalid(f"The repository {folder} is not there.", _CHECK)
    said = ask(folder, "rev-parse", "--path-format=absolute", "--git-common-dir", "--is-bare-repository")
    if said.code != 0:
        raise Invalid(f"The folder {folder} is no git repository: {said.last_words}.", _CHECK)
    common, _, bare = said.text.rpartition("\n")
    if bare == "true":
        if Path(common).resolve() != folder:
            raise Invalid(f"{folder} lies within the bare repository {common}.", _CHECK)
    else:
        top = ask(folder, "rev-parse", "--show-toplevel")
        if top.code != 0 or Path(top.text).resolve() != folder:
            within = top.text if top.code == 0 else common
            raise Invalid(f"{folder} is no repository itself: it lies within {within}.", f"Name that, or: {_CHECK}")
    return Repository(folder, Path(common).resolve(), begins_from, _commit(folder, begins_from))


def named_folder(company: Path, text: str) -> Path:
    """The folder that a task's repository means, links followed. Raises Invalid."""
    named, _ = split_repository(text)
    try:
        return (company.absolute() / Path(named).expanduser()).resolve()
    except (OSError, RuntimeError) as error:
        raise Invalid(f"The repository {named} cannot be looked for: {error}.", _CHECK) from None


def _commit(folder: Path, name: str) -> str:
    found = ask(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if found.code == 0:
        return found.text
    if name == HEAD:
        raise Invalid(
            f"The repository {folder} has no commit yet.", "Make a first one; a branch has to begin somewhere."
        )
    raise Invalid(f"The repository {folder} has no branch, tag or commit {name!r}.", _CHECK)


def plan_tree(company: Path, repository: Repository, task_id: int, title: str, number: int) -> Planned:
    """The first tree of a task from this number on whose branch and folder are free. Raises Conflict."""
    taken = must(
        repository.folder, "for-each-ref", "--format=%(refname:short)", f"refs/heads/{branch_of(task_id, 1)}*",
        what=f"The branches of {repository.folder} cannot be listed",
    ).text.splitlines()  # fmt: skip
    for free in range(number, number + _NUMBERS):
        path, branch = folder_of(task_id, free, title), branch_of(task_id, free)
        if branch not in taken and not os.path.lexists(company / path):
            return Planned(repository, free, path, branch)
    raise Conflict(
        f"{repository.folder} has {_NUMBERS} branches {branch_of(task_id, 1)}… already.",
        "Remove those that are merged.",
    )


def open_tree(company: Path, tree: WorkTree) -> list[str]:
    """Have the tree there: made, or taken up as it is. Answers what is worth knowing about it.

    Raises Invalid when the repository vanished, Conflict when the tree cannot be made or is not what it was.
    """
    common = common_of(tree)
    folder = company.absolute() / tree.path
    _require_no_link(company.absolute(), folder)
    entry = entry_of(common, folder)
    if folder.is_dir():
        return _taken_up(folder, tree, entry)
    if os.path.lexists(folder):
        raise Conflict(f"{folder} is no folder; it was left as it is.", "Move it away; the next run makes the tree.")
    return _made(folder, tree, entry)


def common_of(tree: WorkTree) -> Path:
    """Where git keeps what all trees of this one's repository share. Raises Invalid when the repository vanished."""
    folder = Path(tree.repository)
    if not folder.is_dir():
        raise Invalid(f"The repository {folder} is not there any more.", "Bring it back, or name another for the task.")
    said = ask(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if said.code != 0:
        raise Invalid(f"{folder} is no git repository any more: {said.last_words}.", "Bring it back, or name another.")
    return Path(said.text).resolve()


def _require_no_link(company: Path, folder: Path) -> None:
    """Raises Conflict where a link could lead the program, or an agent, to another place than it says."""
    for place in (folder, folder.parent, folder.parent.parent):
        if place.is_symlink():
            raise Conflict(f"{place} is a symbolic link; nothing was made behind it.", "Put a folder in its place.")
    assert folder.parent.parent.parent == company


def entry_of(common: Path, folder: Path) -> Entry | None:
    """What git keeps of a tree in its repository; None when git does not know it.

    Read from the repository: what the tree says of itself could be written by whoever works in it.
    """
    try:
        admins = sorted((common / "worktrees").iterdir())
    except OSError:
        return None
    for admin in admins:
        try:
            kept, shared = _named(admin / "gitdir"), _named(admin / "commondir")
        except OSError:
            continue
        # Whoever may commit in a tree may write these: one that points to another repository has its settings.
        if kept.parent.resolve() == folder.resolve() and shared.resolve() == common.resolve():
            lock = admin / "locked"
            return Entry(admin, lock.read_text(errors="replace").strip() if lock.exists() else None)
    return None


def _named(file: Path) -> Path:
    """The path in a file of git's, from the file's folder."""
    said = file.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
    return file.parent / said


def written_by_commits(company: Path, tree: WorkTree) -> tuple[Path, ...]:
    """The folders outside of a tree that git writes when somebody commits in it; none where that cannot be bounded.

    They are what git keeps of this tree, the objects, and the branches of tasks with their logs; never the
    repository's hooks or settings, since what stands there is run by whoever uses the repository.
    """
    common = common_of(tree)
    entry = entry_of(common, company.absolute() / tree.path)
    # Then a tree has settings of its own beside what git keeps of it.
    has_settings = ask(common, "config", "--bool", "extensions.worktreeConfig").text == "true"
    if entry is None or has_settings:
        return ()
    branches, logs = (common / kept / "heads" / BRANCHES for kept in ("refs", "logs/refs"))
    for each in (branches, logs):
        each.mkdir(parents=True, exist_ok=True)  # git takes empty ones away
    return entry.admin, common / "objects", branches, logs


def _taken_up(folder: Path, tree: WorkTree, entry: Entry | None) -> list[str]:
    if entry is None or not os.path.lexists(folder / ".git"):
        raise Conflict(
            f"{folder} is no work tree of {tree.repository} any more; what is in it was kept.",
            "Move it away: the next run makes the tree anew from its branch.",
        )
    if entry.locked == "initializing":
        raise Conflict(
            f"{folder} was not made to its end.",
            f"It holds nobody's work: git -C {tree.repository} worktree remove -f -f {folder}",
        )
    head = (entry.admin / "HEAD").read_text(errors="replace").strip()
    if head != f"ref: refs/heads/{tree.branch}":
        return [f"the tree stands on {head.removeprefix('ref: refs/heads/')}, not on {tree.branch}"]
    return []


def _made(folder: Path, tree: WorkTree, entry: Entry | None) -> list[str]:
    repository = Path(tree.repository)
    told: list[str] = []
    again = []
    if entry is not None:
        if entry.locked is not None:
            raise Conflict(
                f"The tree {folder} is gone, and git keeps it locked ({entry.locked or 'no reason given'}).",
                f"Bring it back, or: git -C {repository} worktree unlock {folder}",
            )
        again = ["--force"]  # of this one tree: git knows that its folder is missing
    with _MAKING:
        _hide(folder.parent)
        known = ask(repository, "rev-parse", "--verify", "--quiet", f"refs/heads/{tree.branch}")
        if known.code == 0:
            _require_free(repository, tree, folder)
            told.append(f"the folder was gone: it is made anew from {tree.branch}; what was not committed is not in it")
            what = ["--", str(folder), tree.branch]
        else:
            told += _dirty(repository)
            what = ["--no-track", "-b", tree.branch, "--", str(folder), tree.base]
        must(
            repository, "worktree", "add", "--quiet", *again, *what, within_s=LONG_S,
            what=f"The work tree of {tree.branch} was not made in {repository}",
            hint="Mend it there; the next run tries again.",
        )  # fmt: skip
    if (folder / ".gitmodules").exists():
        told.append("it has submodules: they are not there until somebody runs `git submodule update --init` in it")
    return told


def _hide(trees: Path) -> None:
    """A company's folder may lie in a repository itself: its trees are none of that one's files."""
    try:
        trees.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = trees / ".gitignore"
        if not os.path.lexists(ignore):
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise Conflict(f"The folder {trees} cannot be made: {error.strerror}.", "Make room for it.") from None


def _require_free(repository: Path, tree: WorkTree, folder: Path) -> None:
    listed = must(repository, "worktree", "list", "--porcelain", what="The work trees cannot be listed").text
    place = ""
    for line in listed.splitlines():
        place = line.removeprefix("worktree ") if line.startswith("worktree ") else place
        if line == f"branch refs/heads/{tree.branch}" and Path(place).resolve() != folder.resolve():
            raise Conflict(f"{tree.branch} is checked out in {place}.", "Check out another branch there.")


def _dirty(repository: Path) -> list[str]:
    changed = ask(repository, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
    if changed.code == 0 and changed.out:
        return [f"changes in {repository} that are not committed are not in the tree"]
    return []
