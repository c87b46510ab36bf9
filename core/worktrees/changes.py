"""What differs in a work tree from where it began: files, counts, the difference as text. It writes nothing there."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.domain.entities import WorkTree
from core.domain.errors import Conflict
from core.worktrees.git import LIST_MAX, Said, ask, must
from core.worktrees.trees import common_of, entry_of

FILES_MAX, COMMITS_MAX = 500, 50
DIFF_MAX = 256 * 1024  # bytes
_DIFF = (
    "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--submodule=short",
    "--ignore-submodules=dirty",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that differs from the base; lines are None for one that is no text. `is_committed`: as it stands now."""

    path: str
    added: int | None
    removed: int | None
    is_committed: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs. `commits` are `abc1234 subject`, newest first; `diff` is unified, cut at so many bytes.

    `is_there` is False when only the branch is left: then only what was committed is known.
    """

    is_there: bool
    head: str
    commits: tuple[str, ...]
    commits_total: int
    files: tuple[FileChange, ...]
    files_total: int
    diff: str
    is_cut: bool

    @property
    def added(self) -> int:
        """Lines that came, in the files that are listed."""
        return sum(file.added or 0 for file in self.files)

    @property
    def removed(self) -> int:
        """Lines that went."""
        return sum(file.removed or 0 for file in self.files)


@dataclass(frozen=True, slots=True)
class Place:
    """How git is asked about a tree: where, and with which variables; `end` is what the base is compared with."""

    folder: Path
    variables: Mapping[str, str]
    is_there: bool
    end: tuple[str, ...]

    def ask(self, *arguments: str, most: int = DIFF_MAX) -> Said:
        """git's answer about this tree."""
        return ask(self.folder, *arguments, place=self.variables, most=most)


def place_of(company: Path, tree: WorkTree) -> Place:
    """Raises Conflict when neither the tree nor its branch is there, Invalid when the repository vanished."""
    common = common_of(tree)
    folder = company.absolute() / tree.path
    entry = entry_of(common, folder)
    if entry is not None and folder.is_dir() and not folder.is_symlink():
        # Named by the repository: a `.git` that somebody put into the tree could have settings of its own.
        # So could what git keeps of the tree, which an agent may write to commit.
        variables = {"GIT_DIR": str(entry.admin), "GIT_WORK_TREE": str(folder), "GIT_COMMON_DIR": str(common)}
        return Place(folder, variables, True, ())
    ref = f"refs/heads/{tree.branch}"
    if ask(common, "rev-parse", "--verify", "--quiet", ref).code != 0:
        raise Conflict(
            f"Neither the work tree {folder} nor the branch {tree.branch} is there.",
            "The next run of the task makes them anew.",
        )
    return Place(common, {"GIT_DIR": str(common)}, False, (ref,))


def read_changes(company: Path, tree: WorkTree, most: int = DIFF_MAX) -> Changes:
    """What differs from the base, committed or not. Raises Conflict, Invalid."""
    place = place_of(company, tree)
    with _with_new_files(place) as looked:
        head = looked.ask("rev-parse", "--verify", "--quiet", looked.end[0] if looked.end else "HEAD").text
        rows = _listed(looked, "--numstat", tree.base, *looked.end)
        pending = set() if looked.end else set(_listed(looked, "--name-only", "HEAD"))
        text = _require(looked.ask(*_DIFF, tree.base, *looked.end, "--", most=most))
        commits = looked.ask("log", f"-{COMMITS_MAX}", "--format=%h %s", f"{tree.base}..{head}").text.splitlines()
        total = looked.ask("rev-list", "--count", f"{tree.base}..{head}").text
    files = [row for row in rows if row.count(b"\t") >= 2]
    return Changes(
        place.is_there, head, tuple(commits), int(total) if total.isdecimal() else len(commits),
        tuple(_file(row, pending) for row in files[:FILES_MAX]), len(files), text.text, text.is_cut,
    )  # fmt: skip


@contextlib.contextmanager
def _with_new_files(place: Place) -> Iterator[Place]:
    """The same place with the files that git does not track yet, in an index of our own: the tree's stays as it is."""
    if not place.is_there:
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="opsroom-index-") as made:
        index = Path(made) / "index"
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(Path(place.variables["GIT_DIR"]) / "index", index)
        looked = Place(place.folder, {**place.variables, "GIT_INDEX_FILE": str(index)}, True, ())
        # What cannot be added (a nested repository without a commit) is left out of what is shown.
        looked.ask("-c", "advice.addEmbeddedRepo=false", "add", "--intent-to-add", "--ignore-errors", "--", ".")
        yield looked


def _require(said: Said) -> Said:
    if said.code != 0:
        raise Conflict(f"The difference cannot be read: {said.last_words}.", "Look at the tree with git itself.")
    return said


def _listed(place: Place, *arguments: str) -> list[bytes]:
    """A row for each file that differs. Raises GitFailed when there are too many: half a list would be a wrong one."""
    what = "The files that differ cannot be listed"
    said = must(place.folder, *_DIFF, *arguments, "-z", "--", place=place.variables, most=LIST_MAX, what=what)
    return said.out.split(b"\0")


def _file(row: bytes, pending: set[bytes]) -> FileChange:
    added, removed, path = row.split(b"\t", 2)
    is_text = added != b"-"
    return FileChange(
        path.decode(errors="replace"), int(added) if is_text else None, int(removed) if is_text else None,
        path not in pending,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """How a tree stands: commits since its base (`ahead`) and of its source since then (`behind`), files not committed.

    `size` is in bytes, of what lies in its folder.
    """

    is_there: bool
    ahead: int
    behind: int
    uncommitted: int
    size: int


def standing_of(company: Path, tree: WorkTree) -> Standing:
    """Raises Conflict, Invalid."""
    place = place_of(company, tree)
    tip = place.end[0] if place.end else "HEAD"
    ahead = place.ask("rev-list", "--count", f"{tree.base}..{tip}").text
    behind = ask(Path(tree.repository), "rev-list", "--count", f"{tree.base}..{tree.begins_from}").text
    loose = len(uncommitted(place)) if place.is_there else 0
    size = _size(place.folder) if place.is_there else 0
    return Standing(place.is_there, _number(ahead), _number(behind), loose, size)


def uncommitted(place: Place) -> list[str]:
    """The files of a tree that are in no commit, or are there otherwise than in the last one. Raises GitFailed."""
    said = must(
        place.folder, "status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty",
        "--untracked-files=all", place=place.variables, most=LIST_MAX, what="The tree's state cannot be read",
    )  # fmt: skip
    return [row[3:].decode(errors="replace") for row in said.out.split(b"\0") if len(row) > 3]


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total
